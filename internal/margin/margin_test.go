package margin

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// split returns the margins and messages of a text.
func split(text string) (cuts []Cut, messages []string) {
	s := &Splitter{}
	s.Line = func(line []byte, cut *Cut) {
		c := *cut
		c.Name = slices.Clone(c.Name)
		cuts, messages = append(cuts, c), append(messages, string(line[c.Len:]))
		if n := s.longest(line); n != c.Len {
			panic(fmt.Sprintf("%q is cut at %d, and its columns end at %d", line, c.Len, n))
		}
	}
	for l := range strings.Lines(text) {
		s.Add([]byte(strings.TrimSuffix(l, "\n")))
	}
	s.Flush()
	return cuts, messages
}

// longest is where the longest margin of a line ends, whatever lines there were before.
func (l *Learner) longest(line []byte) (n int) {
	for i := range l.chains {
		var at places
		l.chains[i].places(line, &at, new([]byte))
		n = max(n, at.end)
	}
	return n
}

func TestMargins(t *testing.T) {
	tests := []struct {
		name, text string
		names      []string // of each line
		messages   []string
	}{
		{"one line", "[pod/api-7d9f8b6c5-x2x4z/app] --- FAIL: TestLogin\n", []string{"pod/api-7d9f8b6c5-x2x4z/app"}, []string{"--- FAIL: TestLogin"}},
		{"services", "web-1  | a\ndb-1   |   b\nweb-1  |\nweb-1 exited with code 1\n", []string{"web-1", "db-1", "web-1", ""}, []string{"a", "  b", "", "web-1 exited with code 1"}},
		{"a table of marks", "✔ | F | suite\n⠋ | 1 | geo\n⠙ | 2 | geo\n✖ | 3 | geo\n", []string{"", "", "", ""}, []string{"✔ | F | suite", "⠋ | 1 | geo", "⠙ | 2 | geo", "✖ | 3 | geo"}},
		{"a margin in a margin", "10:00:01 web.1 | [api] a\n10:00:02 web.1 | [api]   b\n10:00:02 web.1 | [api] c\n", []string{"web.1 api", "web.1 api", "web.1 api"}, []string{"a", "  b", "c"}},
		{"the host and the pid are dropped", "Nov  2 09:00:01 build-host unit[17]: a\nNov  2 09:00:01 build-host unit[17]: b\nNov  2 09:00:02 build-host unit[18]: c\n", []string{"unit", "unit", "unit"}, []string{"a", "b", "c"}},
		{"fewer lines than not, of a composed name", "Scope: 3 of 4\npackages/util test: a\npackages/util test: Failed\nExit status 1\n", []string{"", "packages/util test", "packages/util test", ""}, []string{"Scope: 3 of 4", "a", "Failed", "Exit status 1"}},
		{"the few lines of the other stream", "2026-11-02T10:00:00Z stdout F a\n2026-11-02T10:00:01Z stdout F b\n2026-11-02T10:00:02Z stderr F c\n2026-11-02T10:00:03Z stdout F d\n", []string{"", "", "", ""}, []string{"a", "b", "c", "d"}},
		{"what all begin with", "1,I,a: x\n2,I,a: y\n3,I,a:   z\n4,I,a: u\n5,I,a: v\n6,I,a: w\n", []string{"0,I,a:", "0,I,a:", "0,I,a:", "0,I,a:", "0,I,a:", "0,I,a:"}, []string{"x", "y", "  z", "u", "v", "w"}},
		{"a name with another number in every line", "=== RUN   case_1 x\n=== RUN   case_2 y\n=== RUN   case_3 z\n=== RUN   case_4 u\n=== RUN   case_5 v\n", []string{"case_0", "case_0", "case_0", "case_0", "case_0"}, []string{"x", "y", "z", "u", "v"}},
		{"a time that goes on in some lines", "10:00:01 a\n10:00:02 PM b\n10:00:03 c\n10:00:04 PM d\n", []string{"", "", "", ""}, []string{"a", "b", "c", "d"}},
		{"places behind a time", "10:00:01 a.v:4: error: no b\n10:00:02 a.v:4: error: no c\n10:00:03 a.v:3: error: no d\n10:00:04 Stop\n", []string{"", "", "", ""}, []string{"a.v:4: error: no b", "a.v:4: error: no c", "a.v:3: error: no d", "Stop"}},
		{"a number that is a time in some lines", "1800000000 a\n1800000001 b\n1800000002 c\n1800000003 d\n2800000000 e\n", []string{"", "", "", "", ""}, []string{"a", "b", "c", "d", "2800000000 e"}},
		{"lines with a part of the margin", "10:00:01 [api] a\n10:00:02 b\n10:00:03 [api] c\n10:00:04 [api] d\n", []string{"api", "", "api", "api"}, []string{"a", "b", "c", "d"}},
		{"what all begin with, set in", "  12 : [0.0s] | a\n  12 : [0.1s] | b\n  12 : [0.1s] | c\n  12 : [0.2s] | d\n  12 : [0.3s] | e\n  12 : [0.4s] | f\n", []string{"00 : [0.0s] |", "00 : [0.0s] |", "00 : [0.0s] |", "00 : [0.0s] |", "00 : [0.0s] |", "00 : [0.0s] |"}, []string{"a", "b", "c", "d", "e", "f"}},
		{"a level behind a name, and messages of a tool", "x ERR! a\nx ERR! \nx ERR!   b\nx ERR! c\nx ERR! d\nx ERR! e\n", []string{"x ERR!", "x ERR!", "x ERR!", "x ERR!", "x ERR!", "x ERR!"}, []string{"a", "", "  b", "c", "d", "e"}},
		{"records", `{"t":1,"m":"a b"}` + "\n" + `{"t":2,"m":"  \"c\""}` + "\n" + `{"t":3,"m":"d\ne\n"}` + "\n", []string{"", "", "", ""}, []string{"a b", `  "c"`, "d", "e"}},
		{"records behind what is the same", "x-1 | {\"m\":\"a\"}\nx-2 | {\"m\": \"  b\"}\nx-3 | {\"m\":\"\"}\n", []string{"", "", ""}, []string{"a", "  b", ""}},
		{"records in lists", "[0] x: [[1.5, {}], {\"m\"=>\"a\"}]\n[1] x: [[1.6, {}], {\"m\"=>\"b\"}]\n[2] x: [[1.7, {}], {\"m\"=>\"c\"}]\n", []string{"", "", ""}, []string{"a", "b", "c"}},
		{"records behind what differs", "x {\"m\":\"a\"}\ny {\"m\":\"b\"}\nz {\"m\":\"c\"}\n", []string{"", "", ""}, []string{`x {"m":"a"}`, `y {"m":"b"}`, `z {"m":"c"}`}},
		{"records that count", "{\"m\":\"a\",\"n\":3}\n{\"m\":\"b\",\"n\":1}\n{\"m\":\"c\",\"n\":10}\n", []string{"", "", ""}, []string{`{"m":"a","n":3}`, `{"m":"b","n":1}`, `{"m":"c","n":10}`}},
		{"records with a number that rises", "{\"m\":\"a\",\"n\":8}\n{\"m\":\"b\",\"n\":9}\n{\"m\":\"c\",\"n\":10}\n", []string{"", "", ""}, []string{"a", "b", "c"}},
		{"records with names", "t=1 m=a\nt=2 m=\"b c\"\nt=3 m=\"\"\n", []string{"", "", ""}, []string{"a", "b c", ""}},
		{"records of which more than the text differs", `{"n":"a","m":"x"}` + "\n" + `{"n":"b","m":"y"}` + "\n" + `{"n":"c","m":"z"}` + "\n", []string{"", "", ""}, []string{`{"n":"a","m":"x"}`, `{"n":"b","m":"y"}`, `{"n":"c","m":"z"}`}},
		{"records of several levels", `{"l":"info","m":"x"}` + "\n" + `{"l":"info","m":"y"}` + "\n" + `{"l":"error","m":"z"}` + "\n", []string{"", "", ""}, []string{`{"l":"info","m":"x"}`, `{"l":"info","m":"y"}`, `{"l":"error","m":"z"}`}},
		{"a service's own log", `{"l":1,"level":"info","m":"x"}` + "\n" + `{"l":2,"level":"info","m":"y"}` + "\n" + `{"l":3,"level":"info","m":"z"}` + "\n", []string{"", "", ""}, []string{`{"l":1,"level":"info","m":"x"}`, `{"l":2,"level":"info","m":"y"}`, `{"l":3,"level":"info","m":"z"}`}},
		{"a tool's output in a log", `{"l":1,"level":"info","m":"x"}` + "\n" + `{"l":2,"level":"info","m":"  y"}` + "\n" + `{"l":3,"level":"info","m":"z"}` + "\n", []string{"", "", ""}, []string{"x", "  y", "z"}},
		{"two records", `{"t":1,"m":"a b"}` + "\n" + `{"t":2,"m":"c"}` + "\n", []string{"", ""}, []string{`{"t":1,"m":"a b"}`, `{"t":2,"m":"c"}`}},
		{"a number that runs", "[test:L1:0s] a\n[test:L2:0s] b\n[test:L3:1s] c\n[test:L4:1s] d\n", []string{"test:L0:0s", "test:L0:0s", "test:L0:0s", "test:L0:0s"}, []string{"a", "b", "c", "d"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cuts, messages := split(tt.text)
			var names []string
			for _, c := range cuts {
				names = append(names, string(c.Name))
			}
			if !slices.Equal(names, tt.names) || !slices.Equal(messages, tt.messages) {
				t.Errorf("names %q, messages %q; want %q, %q", names, messages, tt.names, tt.messages)
			}
		})
	}
}

// What a message begins with is no margin, however many lines begin like it.
func TestNoMargin(t *testing.T) {
	for _, text := range []string{
		"src/a.c:3:5: error: x\nsrc/a.c:4:5: error: y\nsrc/a.c:9:1: error: z\n",
		"a.c: In function\na.c: In function\na.c: At top level\n",
		"./deploy.sh: line 8: x\n./deploy.sh: line 9: y\n./deploy.sh: line 9: z\n",
		"error: a\nerror: b\nerror: c\n",
		"Warning: a\nWarning: b\nWarning: c\n",
		"TypeError: a\nTypeError: b\nTypeError: c\n",
		"ok 1 - a\nok 2 - b\nnot ok 3 - c\nok 4 - d\nok 5 - e\nok 6 - f\n",
		"test a ... ok\ntest b ... ok\ntest c ... FAILED\ntest d ... ok\n",
		"login: BAD\nlogout: good\nrefresh: good\norders: BAD\n",
		"ok  \tpkg/a\t0.1s\nok  \tpkg/b\t0.1s\nFAIL\tpkg/c\t0.1s\n",
		"  5:12  error  a\n  6:3   error  b\n  7:1   error  c\n",
		"   12 | a\n   13 | b\n   14 | c\n",
		"[INFO] a\n[INFO] b\n[ERROR] c\n",
		"[  FAILED  ] A.a\n[  FAILED  ] A.b\n[       OK ] A.c\n",
		" id | name\n  1 | alice\n  2 | bob\n",
		"--- FAIL: A\n--- FAIL: B\n--- FAIL: C\n",
		"FAILED a.py::x\nFAILED a.py::y\nFAILED a.py::z\nFAILED a.py::u\n",
		"a.c:1: error: a\na.c:2: error: b\na.c:3: error: c\na.c:4: error: d\na.c:5: error: e\na.c:6: error: f\n",
		"error: a\nerror: b\nerror: c\nerror: d\nerror: e\nerror: f\nerror: g\n",
		"error: a\nerror: \nerror:   b\nerror: c\nerror: d\nerror: e\nerror: f\n",
		"x ERR! a\nx ERR! b\nx ERR! c\nx ERR! d\nx ERR! e\nx ERR! f\n",
		"a.c:1: a\na.c:2: b\na.c:3: c\na.c:4: d\na.c:5: e\na.c:6: f\n",
		"    --- FAIL: a\n    --- FAIL: b\n    --- FAIL: c\n    --- FAIL: d\n    --- FAIL: e\n    --- FAIL: f\n",
		"part a of b\npart c of b\npart d of b\npart e of b\npart f of b\npart g of b\n",
		"a > b: x\na > b: y\na > b: z\na > c: u\na > d: v\n",
		"Suite > a FAILED\nSuite > b FAILED\nSuite > c FAILED\nSuite > d FAILED\n",
	} {
		cuts, _ := split(text)
		for i, c := range cuts {
			if c.Len > 0 {
				t.Errorf("line %d of %q is cut at %d, name %q", i+1, text, c.Len, c.Name)
			}
		}
	}
}

// A margin that begins in the middle of a long output is learned there, and one that
// has ended is forgotten.
func TestMarginsComeAndGo(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		switch {
		case i < 1000:
			fmt.Fprintf(&b, "building part %c of the image\n", 'a'+i%26)
		case i < 2000:
			fmt.Fprintf(&b, "2026-11-02 10:%02d:%02d web: said %d\n", i/60%60, i%60, i)
		default:
			fmt.Fprintf(&b, "unpacking part %c of the image\n", 'a'+i%26)
		}
	}
	cuts, messages := split(b.String())
	if len(cuts) != 3000 {
		t.Fatalf("%d lines, want 3000", len(cuts))
	}
	for i, c := range cuts {
		switch {
		case (i < 1000 || i >= 2000) && c.Len > 0:
			t.Fatalf("line %d is cut: %q is left", i, messages[i])
		case i >= 1100 && i < 2000 && (string(c.Name) != "web" || !c.Time):
			t.Fatalf("line %d: %+v, want the time and web cut off", i, c)
		}
	}
}

// Whatever the lines are, each comes back once, in order, and whole.
func FuzzSplitter(f *testing.F) {
	f.Add("web-1  | a\nweb-1  | b\n[x] y\n")
	f.Add("Nov  2 09:00:01 h u[1]: a\n<14>1 2026-11-02T10:00:00Z h a 1 - - b\n[ 1.5] x\n#9 0.380 y\n")
	f.Add("{\"t\":1,\"m\":\"a\\n\"}\n{\"t\":2,\"m\":\"\"}\n{\"t\":3,\"m\":\"\\u00\"}\n")
	f.Add("t=1 m=a\nt=2 m=\"b\"\nt=3 m=\n1>a\n1>b\n1>c\n1>d\n1>e\n")
	f.Add(" : \n : \n: :\n[]\n[ ]\n|\n | \n\t\n10:\n")
	f.Add(strings.Repeat("0", 39) + " \n0")
	f.Fuzz(func(t *testing.T, text string) {
		var want, got []string
		opened := false
		s := &Splitter{}
		s.Line = func(line []byte, cut *Cut) {
			opened = opened || cut.Record
			if n := s.longest(line); cut.Len != n || n > len(line) {
				t.Fatalf("%q is cut at %d, and its columns end at %d", line, cut.Len, n)
			}
			got = append(got, string(line))
		}
		for l := range strings.SplitSeq(text, "\n") {
			want = append(want, l)
			s.Add([]byte(l))
		}
		s.Flush()
		if opened || len(got) < len(want) && strings.Join(got, "") == strings.Join(want, "") { // pieces of lines, and lines that were cut
			return
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// Of many services whose names have the same width, each line keeps its own name.
func TestManyNamesOfOneWidth(t *testing.T) {
	services := []string{"api-1", "cache-1", "db-1", "mail-1", "proxy-1", "web-1", "worker-1"}
	var text strings.Builder
	var want []string
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 4000 {
		name := services[r.IntN(len(services))]
		fmt.Fprintf(&text, "%-9s| message %d\n", name, i)
		want = append(want, name)
	}
	cuts, _ := split(text.String())
	for i, c := range cuts {
		if string(c.Name) != want[i] {
			t.Fatalf("line %d: %q, want %q", i, c.Name, want[i])
		}
	}
}

// A margin that comes midway is found, and one that has gone cuts no line.
func TestAMarginThatChangesMidway(t *testing.T) {
	for name, c := range map[string]struct{ before, after, cut, rest string }{
		"names":      {"web-%d | line %d is here", "[job %d] line %d is here", "job 3", "line 2999 is here"},
		"from none":  {"x%d was %d", "web-%d | line %d is here", "web-3", "line 2999 is here"},
		"from words": {"INFO app%d: line %d", "12:00:%02d app | line %d", "12:00:03 app", "line 2999"},
		"to none":    {"web-%d | line %d", "went %d, was %d", "", "went 3, was 2999"},
	} {
		t.Run(name, func(t *testing.T) {
			cut, rest := "", ""
			s := Splitter{Line: func(line []byte, c *Cut) { cut, rest = string(c.Name), string(line[c.Len:]) }}
			for i := range 3000 {
				form := c.before
				if i >= 1500 {
					form = c.after
				}
				s.Add(fmt.Appendf(nil, form, i%4, i))
			}
			if s.Flush(); cut != c.cut || rest != c.rest {
				t.Errorf("the last line has the margin %q before %q", cut, rest)
			}
		})
	}
}

// The oldest margin makes room for another one if there are many.
func TestManyMargins(t *testing.T) {
	l := Learner{chains: make([]known, maxChains)}
	var lines [][]byte
	for i := range 100 {
		lines = append(lines, fmt.Appendf(nil, "web-%d | line %d is here", i%3, i))
	}
	l.Learn(lines)
	if cut := l.Cut(lines[0]); string(cut.Name) != "web-0" || len(l.chains) != maxChains {
		t.Errorf("the margin %q of %d", cut.Name, len(l.chains))
	}
}
