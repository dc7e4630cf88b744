package redact

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// reference masks as the documentation says, the long way.
func reference(r *Redactor, text string) string {
	if r == nil {
		return text
	}
	covered := make([]bool, len(text)+1)
	begins := make([]bool, len(text)+1)
	mark := func(from, to int) {
		begins[from] = true
		for i := from; i < to; i++ {
			covered[i] = true
		}
	}
	var ends []span
	add := func(from, to int) { mark(from, to); ends = append(ends, span{from, to}) }
	if r.values != nil {
		for _, v := range r.values.values {
			for i := range len(text) - len(v) + 1 {
				if text[i:i+len(v)] == v {
					add(i, i+len(v))
				}
			}
		}
	}
	at := 0
	for _, line := range regexp.MustCompile(`[^\r\n]*[\r\n]?`).FindAllString(text, -1) {
		for rest, from := strings.TrimRight(line, "\r\n"), at; rest != ""; {
			piece := rest[:min(len(rest), maxLine)]
			for _, p := range r.patterns {
				for _, m := range p.re.FindAllStringSubmatchIndex(piece, -1) {
					if a, b := m[2*p.group], m[2*p.group+1]; a >= 0 && a < b {
						add(from+a, from+b)
					}
				}
			}
			rest, from = rest[len(piece):], from+len(piece)
		}
		at += len(line)
	}
	// A new mask begins where a span does that no other one reaches into.
	var out strings.Builder
	for i := range len(text) {
		reaches := slices.ContainsFunc(ends, func(s span) bool { return s.from < i && i < s.to })
		switch {
		case !covered[i]:
			out.WriteByte(text[i])
		case begins[i] && !reaches:
			out.WriteString(Mask)
		}
	}
	return out.String()
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, text, want string }{
		{`ghp_[A-Za-z0-9]{8,}`, "a ghp_abcdefgh12 b ghp_short\nghp_12345678", "a *** b ghp_short\n***"},
		{`password=(?P<secret>\S+)`, "password=hunter2 x password=\n", "password=*** x password=\n"},
		{`(?i)Bearer (?P<secret>[a-z0-9]+)`, "BEARER abc, bearer: x", "BEARER ***, bearer: x"},
		{`(?i)Bearer (?P<secret>[a-z0-9]+)`, "bearer abc", "bearer ***"},
		{`(?i)X-ſtoken`, "x-stoken", "***"},
		{`(?i)éa`, "éa", "***"},
		{`(?:token: )?[0-9]{6}`, "123456 token: 123456", "*** ***"},
		{`(?:token: ){0,2}x[0-9]+`, "x12", "***"},
		{`(?:one|two): [0-9]`, "two: 1", "***"},
		{`^id: .*$`, "id: 1\nmy id: 2\r\nid: 3\rid: 4", "***\nmy id: 2\r\n***\r***"},
		{`a(?P<secret>b)?c`, "abc ac", "a***c ac"},
		{`one\ntwo`, "one\ntwo", "one\ntwo"},
		{`(a|bb)+c`, "xaabbc", "x***"},
		{`key: (\d{4}-){2}`, "key: 1234-1234-", "***"},
		{`é+`, "né!", "n***!"},
	} {
		allCuts(t, newRedactor(t, nil, c.pattern), c.text, c.want)
	}
}

func TestPatternsAndValues(t *testing.T) {
	r := newRedactor(t, []string{"X_TOKEN=abcdefgh", "Y_KEY=first line\nsecond line"}, `token=(?P<secret>[a-z]{10})`, `line x+`)
	for text, want := range map[string]string{
		"token=abcdefghij":                       "token=***",
		"token=xxabcdefgh":                       "token=***",
		"token=xxxxabcdefgh":                     "token=***",
		"a first line\nsecond line xxx":          "a ***",
		"a first line\nsecond lin token=abcdefg": "a ***\nsecond lin token=abcdefg",
	} {
		if got := reference(r, text); got != want {
			t.Errorf("the reference gives %q for %q, want %q", got, text, want)
		}
		allCuts(t, r, text, want)
	}
}

func TestALongLineIsCut(t *testing.T) {
	r := newRedactor(t, nil, `pin=\d{4}`)
	for _, at := range []int{maxLine - 9, maxLine - 8, maxLine - 7, maxLine - 1, maxLine, 2*maxLine - 8} {
		text := strings.Repeat("x", at) + "pin=1234" + strings.Repeat("y", 100)
		want := strings.Replace(text, "pin=1234", Mask, 1)
		if within := at % maxLine; within > maxLine-8 {
			want = text // the cut goes through it
		}
		for _, size := range []int{len(text), 1000, maxLine, maxLine + 1, 7} {
			var pieces []string
			for p := range slices.Chunk([]byte(text), size) {
				pieces = append(pieces, string(p))
			}
			if got := inPieces(r, pieces...); got != want {
				t.Errorf("at %d, pieces of %d: not as expected", at, size)
			}
		}
	}
	s := r.Stream(func([]byte) {})
	for range 100 {
		s.Write(make([]byte, 10_000))
		if s.Pending() > maxLine {
			t.Fatalf("%d bytes are held back", s.Pending())
		}
	}
}

func TestBadPatterns(t *testing.T) {
	for text, want := range map[string]string{
		"":      "looprun.yaml:7: the redact pattern is empty",
		"(":     `looprun.yaml:7: the redact pattern "(" is not a regular expression`,
		"a*":    `looprun.yaml:7: the redact pattern "a*" matches the empty text`,
		`(?=a)`: `looprun.yaml:7: the redact pattern "(?=a)" is not a regular expression`,
	} {
		for _, off := range []bool{false, true} {
			r, err := New(Options{Patterns: []Pattern{{Text: "good"}, {Text: text, Position: "looprun.yaml:7"}}, Off: off})
			if r != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q: %v, %v; want the error %q", text, r, err, want)
			}
		}
	}
}

// TestWhatIsHeldBack: no more than what a value may begin with.
func TestWhatIsHeldBack(t *testing.T) {
	r := newRedactor(t, []string{"X_KEY=abcdefghijkl", "Y_KEY=defgxxxx"})
	for _, c := range []struct{ text, shown string }{
		{"Password: ", "Password: "},
		{"a", ""},
		{"xa", "x"},
		{"ab", ""},
		{"ac", "ac"},
		{"xabcdefghijk", "x"},
		{"xabcdefghijkl", "x***"},
		{"abcdefghijklabc", "***"},
		{"abcdefgx", "abc"}, // the other value may begin in the middle
		{"abcdefgy", "abcdefgy"},
		{"abcdefghijkl\x1b[K", "***\x1b[K"},
	} {
		var out []byte
		s := r.Stream(func(b []byte) { out = append(out, b...) })
		s.Write([]byte(c.text))
		shown := string(out)
		s.Idle() // changes nothing without patterns
		if shown != c.shown || string(out) != shown {
			t.Errorf("%q: %q is shown, %q when idle; want %q", c.text, shown, out, c.shown)
		}
		held := s.Pending()
		end := c.text[len(c.text)-held:]
		if held > 0 && !slices.ContainsFunc(r.values.values, func(v string) bool { return len(v) > held && strings.HasPrefix(v, end) }) {
			t.Errorf("%q: %q is held back, and no value begins so", c.text, end)
		}
		s.Flush()
		if want := reference(r, c.text); string(out) != want {
			t.Errorf("%q: %q in the end, want %q", c.text, out, want)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	r := newRedactor(t, []string{"X_KEY=abcdefghijkl", "Y_KEY=" + strings.Repeat("abcdefghijkl", 50)}, `pin=\d+`)
	s := r.Stream(func([]byte) {})
	for range 10_000 {
		s.Write([]byte("abcdefghijkl pin=123\nabcdefghijklabcdefghijkl"))
	}
	s.Write([]byte("x\nabc"))
	s.Write(append([]byte("defghijkl"), make([]byte, 8<<20)...))
	s.Write([]byte("\n"))
	if len(s.spans) > 200 || cap(s.text) > 1<<20 || cap(s.out) > 1<<20 {
		t.Errorf("%d spans, %d and %d bytes are kept", len(s.spans), cap(s.text), cap(s.out))
	}
}

func TestIdleShowsALineThatHasNotEnded(t *testing.T) {
	r := newRedactor(t, []string{"X_KEY=abcdefghijkl"}, `pin=\d+`)
	var out bytes.Buffer
	s := r.Stream(func(b []byte) { out.Write(b) })
	shows := func(write, want string) {
		t.Helper()
		s.Write([]byte(write))
		if out.String() != want {
			t.Errorf("after %q: %q, want %q", write, &out, want)
		}
		out.Reset()
	}
	idle := func(want string, pending int) {
		t.Helper()
		s.Idle()
		if out.String() != want || s.Pending() != pending {
			t.Errorf("idle: %q and %d held back, want %q and %d", &out, s.Pending(), want, pending)
		}
		out.Reset()
	}
	shows("one\nname? pin=1", "one\n")
	idle("name? ***", 0)
	idle("", 0)
	shows("2 abc", "")
	idle("2 ", 3)
	shows("defghijkl pin=3\nx", "*** ***\n")
	s.Flush()
	shows("", "x")
	shows("y\n", "y\n")
}

func TestEveryRandomCutGivesTheSame(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	environ := []string{"A_KEY=abcabcabcabd", "B_KEY=bcabcabc", "C_KEY=aaaaaaaaa", "D_KEY=cab\ncabcabca\nabcabcab"}
	for _, patterns := range [][]string{nil, {`ca+b`, `b(?P<secret>c+)\b`}} {
		r := newRedactor(t, environ, patterns...)
		for range 3000 {
			text := make([]byte, rnd.IntN(200))
			for i := range text {
				text[i] = "aaaabbbcccd\n"[rnd.IntN(12)]
				if rnd.IntN(12) == 0 {
					v := environ[rnd.IntN(len(environ))][6:]
					copy(text[i:], v[:rnd.IntN(len(v)+1)])
				}
			}
			var pieces []string
			for rest := string(text); rest != ""; {
				n := 1 + rnd.IntN(min(len(rest), 30))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			want := reference(r, string(text))
			if got := inPieces(r, pieces...); got != want {
				t.Fatalf("%q in pieces %q gives\n%q, want\n%q", text, pieces, got, want)
			}
			if got := r.Text(string(text)); got != want {
				t.Fatalf("%q gives\n%q, want\n%q", text, got, want)
			}
		}
	}
}

// FuzzStream: whatever the secrets and the text are, and however the text is cut, the
// result is what the reference gives, no secret is in it (unless it has an asterisk
// itself), and a text without one stays as it is.
func FuzzStream(f *testing.F) {
	f.Add("abcdefgh", "cdefghijkl", "x abcdefghijkl y", uint64(0x1234))
	f.Add("aaaaaaaa", "aaaaaaaab", "aaaaaaaaaaaaaaaaaaaab", uint64(7))
	f.Add("line one\nline two", "line two\nline", "line one\nline two\nline", uint64(1<<63))
	f.Add(key, "päßwörter", "päßwört er"+key+key, uint64(0))
	f.Fuzz(func(t *testing.T, a, b, text string, cuts uint64) {
		if len(a)+len(b) > 200 || len(text) > 2000 || strings.ContainsAny(a+b, "\x00") {
			t.Skip()
		}
		r := newRedactor(t, []string{"A_KEY=" + a, "B_KEY=" + b})
		want := reference(r, text)
		got := r.Text(text)
		if got != want {
			t.Fatalf("%q gives %q, want %q", text, got, want)
		}
		var pieces []string
		for rest := text; rest != ""; {
			n := 1 + int(cuts&15)
			cuts = cuts>>4 | cuts<<60
			n = min(n, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if in := inPieces(r, pieces...); in != want {
			t.Fatalf("in pieces %q it gives %q, want %q", pieces, in, want)
		}
		if r == nil {
			return
		}
		there := false
		for _, v := range r.values.values {
			there = there || strings.Contains(text, v)
			if !strings.Contains(v, "*") && strings.Contains(got, v) {
				t.Fatalf("%q is still in %q", v, got)
			}
		}
		if !there && got != text {
			t.Fatalf("%q has no secret and became %q", text, got)
		}
	})
}
