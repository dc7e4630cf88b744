package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/jsontext"
	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/strictjson"
)

// document is one whose question is the text.
func document(text string) string {
	return `{"status":"paused_awaiting_choices","pending_user_choices":[{"kind":"text","question":"` + text + `"}]}`
}

// scan is the question that the scanner finds when the output comes in pieces of
// n bytes: empty for none, "error: …" for a broken document.
func scan(output string, n int) string {
	var s ChoicesScanner
	return scanWith(&s, output, n)
}

func scanWith(s *ChoicesScanner, output string, n int) string {
	text := lines.Shown{To: s.Line}
	for piece := range pieces([]byte(output), n) {
		_, _ = text.Write(piece)
	}
	text.End()
	return outcome(s.Result())
}

func pieces(p []byte, n int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(p) > 0 {
			k := min(n, len(p))
			if !yield(p[:k:k]) {
				return
			}
			p = p[k:]
		}
	}
}

func outcome(c *Choices, err error) string {
	switch {
	case err != nil:
		return "error: " + err.Error()
	case c == nil:
		return ""
	}
	return c.PendingUserChoices[0].Question
}

func TestScanner(t *testing.T) {
	pretty := func(text string) string {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(document(text)), "", "  "); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	flat := func(text string) string {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(document(text)), "", ""); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for name, c := range map[string]struct{ output, want string }{
		"nothing":                 {"", ""},
		"no object":               {"a\nb { c }\n", ""},
		"alone":                   {document("a"), "a"},
		"with a line break":       {document("a") + "\n", "a"},
		"between lines":           {"log {\n" + document("a") + "\nmore }\n", "a"},
		"not at column 0":         {" " + document("a") + "\n\t" + document("b") + "\nx" + document("c"), ""},
		"behind a mark":           {"\ufeff" + document("a"), "a"},
		"behind a later mark":     {"log\n\ufeff" + document("a"), "a"},
		"behind two marks":        {"x\n\ufeff\ufeff" + document("a"), ""},
		"behind half a mark":      {"\xef\xbb" + document("a"), ""},
		"a mark not at column 0":  {"x\ufeff" + document("a"), ""},
		"second on its line":      {document("a") + document("b") + "\n", "a"},
		"the last counts":         {document("a") + "\n" + document("b") + "\n", "b"},
		"the last complete":       {document("a") + "\n" + document("b")[:40], "a"},
		"the last with status":    {document("a") + "\n{\"status\":\"done\"}\n{}\n", "a"},
		"pretty":                  {"x\n" + pretty("a") + "\ny\n", "a"},
		"carriage returns":        {strings.ReplaceAll(pretty("a"), "\n", "\r\n"), "a"},
		"no indentation":          {flat("a"), "a"},
		"after a broken one":      {"{\"status\":\n" + document("a") + "x\n", "a"},
		"after a brace":           {"int main()\n{\n  return 0;\n}\n" + document("a"), "a"},
		"after an open brace":     {"{\n" + document("a") + "\n", "a"},
		"after an open value":     {"{\"log\":[1,\n" + document("a") + "\n", "a"},
		"after two open values":   {"{\"x\":\n{\"y\":\n" + document("a") + "\n", "a"},
		"two in an open value":    {"{\"log\":[\n" + document("a") + ",\n" + document("b") + "\n", "b"},
		"open, then broken":       {"{\"log\":[\n" + document("a") + "\n[1]", "a"},
		"in a complete value":     {"{\"log\":[\n" + document("a") + "\n]}\n", ""},
		"before that":             {document("b") + "\n{\"log\":[\n" + document("a") + "\n]}\n", "b"},
		"in complete in open":     {"{\"x\":[\n{\"log\":\n" + document("a") + "}\n", ""},
		"status inside":           {`{"result":{"status":"paused_awaiting_choices"},"pending_user_choices":[]}`, ""},
		"status in a list":        {`{"status":["paused_awaiting_choices"]}`, ""},
		"status as a key":         {`{"paused_awaiting_choices":"status"}`, ""},
		"status in text":          {`{"a":"\"status\":\"paused_awaiting_choices\""}`, ""},
		"status twice, last good": {strings.Replace(document("a"), "{", `{"status":"paused_awaiting_choices",`, 1), `error: status: the key is there twice; leave one of them out`},
		"status twice, last bad":  {strings.TrimSuffix(document("a"), "}") + `,"status":null}`, ""},
		"status escaped":          {strings.Replace(document("a"), "paused", `\u0070ause\u0064`, 1), "a"},
		"key escaped":             {strings.Replace(document("a"), "status", `st\u0061tus`, 1), "a"},
		"longer status":           {strings.Replace(document("a"), "_choices", "_choicess", 1), ""},
		"braces in text":          {document(`}{\"}\n{`), "}{\"}\n{"},
		"a line break in text":    {strings.Replace(document("a"), `"a"`, "\"a\n\"", 1), ""},
		"numbers":                 {strings.Replace(document("a"), "{", `{"partial_result":[-0.5e+10,0,1E3,true,false,null,{},[]],`, 1), "a"},
		"a fenced block":          {"```json\n" + document("a") + "\n```\n", "a"},
		"empty list":              {`{"status":"paused_awaiting_choices","pending_user_choices":[]}`, "error: pending_user_choices: it is empty; name at least one question, or exit without this document when there is nothing to decide"},
	} {
		for _, n := range []int{1, 2, 3, 7, 1 << 20} {
			if got := scan(c.output, n); got != c.want {
				t.Errorf("%s, in pieces of %d: %q, want %q", name, n, got, c.want)
			}
		}
	}
}

// The limit holds to the byte, and a document above it is not lost silently.
func TestScannerLimit(t *testing.T) {
	sized := func(n int) string { return document(strings.Repeat("x", n-len(document("")))) }
	for name, c := range map[string]struct {
		output string
		want   func(string) bool
	}{
		"at the limit":    {sized(choicesLimit), func(got string) bool { return strings.HasPrefix(got, "xxx") }},
		"above":           {sized(choicesLimit + 1), func(got string) bool { return strings.Contains(got, "longer than 65536 bytes; write it to") }},
		"then a good one": {sized(choicesLimit+1) + "\n" + document("a"), func(got string) bool { return got == "a" }},
		"after a good one": {document("a") + "\n" + sized(choicesLimit+1), func(got string) bool {
			return strings.Contains(got, "longer than")
		}},
		"then an open one":   {sized(choicesLimit+1) + "\n{\"a\":", func(got string) bool { return strings.Contains(got, "longer than") }},
		"not a document":     {strings.Replace(sized(1<<20), "paused", "PAUSED", 1) + "\n" + document("a"), func(got string) bool { return got == "a" }},
		"late status":        {"{\"x\":[\n\"" + strings.Repeat(strings.Repeat("y", 1<<10)+"\",\n\"", 1<<10) + "\"],\n" + document("a")[1:], func(got string) bool { return strings.Contains(got, "longer than") }},
		"too late on a line": {`{"x":"` + strings.Repeat("y", 1<<20) + `",` + document("a")[1:], func(got string) bool { return got == "" }},
		"cut":                {document("a") + "\n" + sized(1 << 20)[:1<<19], func(got string) bool { return strings.Contains(got, "longer than") }},
		"a long key":         {`{"` + strings.Repeat("k", 1<<20) + `":1}` + "\n" + document("a"), func(got string) bool { return got == "a" }},
		"a long status":      {`{"status":"` + strings.Repeat("p", 1<<20) + `"}` + "\n" + document("a"), func(got string) bool { return got == "a" }},
		"very deep":          {"{\"a\":" + strings.Repeat("[", 1<<20) + "\n" + document("a"), func(got string) bool { return got == "a" }},
		"as deep as it goes": {
			strings.Replace(document("a"), "{", `{"partial_result":`+strings.Repeat("[", jsontext.MaxDepth-1)+strings.Repeat("]", jsontext.MaxDepth-1)+",", 1),
			func(got string) bool { return got == "a" },
		},
		"deeper": {
			strings.Replace(document("a"), "{", `{"partial_result":`+strings.Repeat("[", jsontext.MaxDepth)+strings.Repeat("]", jsontext.MaxDepth)+",", 1),
			func(got string) bool { return got == "" },
		},
	} {
		for _, n := range []int{100, 4096, 1 << 22} {
			var s ChoicesScanner
			if got := scanWith(&s, c.output, n); !c.want(got) {
				t.Errorf("%s, in pieces of %d: %.100q", name, n, got)
			}
			if cap(s.buf) > 2*choicesLimit || cap(s.found) > 2*choicesLimit || cap(s.machine.word) > 2*longestWord {
				t.Errorf("%s: %d, %d and %d bytes are held", name, cap(s.buf), cap(s.found), cap(s.machine.word))
			}
		}
	}
}

func TestScannerReset(t *testing.T) {
	var s ChoicesScanner
	if got := scanWith(&s, document("a")+"\n{\"x\":", 5); got != "a" {
		t.Fatal(got)
	}
	s.Reset()
	if got := outcome(s.Result()); got != "" {
		t.Errorf("%q is left", got)
	}
	if got := scanWith(&s, document("b"), 5); got != "b" {
		t.Errorf("%q; the first byte after Reset begins a line", got)
	}
	// Result changes nothing: the document is completed after it.
	s.Reset()
	text := lines.Shown{To: s.Line}
	for _, piece := range []string{"{\"log\":[\n" + document("c") + "\n", "]}\n"} {
		_, _ = text.Write([]byte(piece))
		want := "c"
		if strings.HasPrefix(piece, "]") {
			want = ""
		}
		if got := outcome(s.Result()); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// reference finds the document the slow way: each object at a column 0 that is not
// inside a complete one is decoded.
func reference(output []byte) []byte {
	var last []byte
	for i := 0; i < len(output); {
		line := output[bytes.LastIndexByte(output[:i], '\n')+1 : i]
		if output[i] != '{' || len(line) > 0 && string(line) != "\ufeff" {
			i++
			continue
		}
		d := json.NewDecoder(bytes.NewReader(output[i:]))
		var raw json.RawMessage
		if d.Decode(&raw) != nil || depthOf(raw) > jsontext.MaxDepth {
			i++
			continue
		}
		var status string
		members, _ := strictjson.Members(raw)
		for _, m := range members {
			if m.Key == "status" {
				status = ""
				_ = json.Unmarshal(m.Value, &status)
			}
		}
		if status == StatusChoices {
			last = raw
		}
		i += int(d.InputOffset())
	}
	return last
}

func depthOf(raw []byte) (deepest int) {
	d := json.NewDecoder(bytes.NewReader(raw))
	depth := 0
	for {
		token, err := d.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		deepest = max(deepest, depth)
	}
}

// FuzzScanner: however the output is cut, the scanner finds what the reference
// finds; with a small limit it holds no more than that and finds nothing longer.
func FuzzScanner(f *testing.F) {
	f.Add([]byte("{\n"+document("a")+"\n{\"x\":["+document("b")), 3)
	f.Add([]byte("{\"log\":[\n"+document("a")+",\n{}\n]}x\n{\"status\":\"paused_awaiting_choices\"}"), 1)
	f.Add([]byte("{\"status\":\"\\u0070aused_awaiting_choices\",\"a\":[-0.1e5,true,null,\"\\\"\"]}"), 100)
	f.Add([]byte("{\"a\":\n{\"status\":\"paused_awaiting_choices\"}\n,\"b\":0}}\n{\"a\":01}"), 2)
	f.Add([]byte("\ufeff"+document("a")+"\n\xef\xbb\ufeff"+document("b")+"\n\ufeff"+document("c")), 2)
	f.Fuzz(func(t *testing.T, output []byte, n int) {
		if n < 1 || len(output) > choicesLimit {
			return
		}
		var s, small ChoicesScanner
		small.limit = 50
		scanWith(&s, string(output), n)
		scanWith(&small, string(output), n)
		var shown []byte
		text := lines.Shown{To: func(line []byte, _ bool) { shown = append(append(shown, line...), '\n') }}
		_, _ = text.Write(output)
		text.End()
		want := reference(shown)
		got := s.found
		if part, ok := s.machine.nested(); ok && s.inside {
			got = s.buf[part.from:part.to]
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
		if c, err := s.Result(); (c == nil && err == nil) != (want == nil) {
			t.Fatalf("%v, %v for %q", c, err, want)
		}
		_, _ = small.Result()
		if len(small.buf) > 51 || len(small.found) > 50 {
			t.Fatalf("%d and %d bytes are held", len(small.buf), len(small.found))
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	line := "2026-01-02T15:04:05Z INFO  server: handled request {id: 17} in 12ms with status 200\n"
	for name, output := range map[string]string{
		"NoBrace":  strings.Repeat(strings.ReplaceAll(line, "{", "("), 1000),
		"Braces":   strings.Repeat(line, 1000),
		"Code":     strings.Repeat("func f() {\n\tif x {\n\t\treturn map[string]int{}\n\t}\n}\n", 1000),
		"JSONLine": strings.Repeat(`{"time":"2026-01-02T15:04:05Z","level":"info","msg":"handled request","id":17,"ms":12.5}`+"\n", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			p := []byte(output)
			var s ChoicesScanner
			text := lines.Shown{To: s.Line}
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				for piece := range pieces(p, 32<<10) {
					_, _ = text.Write(piece)
				}
			}
			if c, err := s.Result(); c != nil || err != nil {
				b.Fatal(fmt.Sprint(c, err))
			}
		})
	}
}
