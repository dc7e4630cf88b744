package rejection

import (
	"bytes"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/termsafe"
)

const none = "(none)"

// scan gives the scanner the lines of an output, which comes in pieces of n bytes.
func scan(s *Scanner, output string, n int) string {
	text := lines.Shown{To: s.Line}
	for len(output) > 0 {
		piece := []byte(output[:min(n, len(output))])
		output = output[len(piece):]
		_, _ = text.Write(piece)
	}
	text.End()
	document, ok := s.Result()
	if !ok {
		if document != nil {
			return "a document that is none"
		}
		return none
	}
	return string(document)
}

func TestScanner(t *testing.T) {
	const open, end = "```looprun-rejection\n", "```\n"
	for _, c := range []struct{ name, output, want string }{
		{"nothing", "", none},
		{"no block", "a\nb `c` ``d``\n", none},
		{"block", "a\n" + open + "{\n}\n" + end + "b\n", "{\n}\n"},
		{"no line break at the end", open + "{}\n```", "{}\n"},
		{"blanks after the last fence", open + "{}\n```  ", "{}\n"},
		{"empty", open + end, ""},
		{"tildes", "~~~looprun-rejection\n{}\n```\n~~~\n", "{}\n```\n"},
		{"longer fence", "````looprun-rejection\n{}\n```\n````\n", "{}\n```\n"},
		{"closed by a longer one", open + "{}\n`````\n", "{}\n"},
		{"closed by other marks", open + "{}\n~~~\n", none},
		{"closed with a text", open + "{}\n``` x\n", none},
		{"blank before the tag", "``` looprun-rejection \n{}\n" + end, "{}\n"},
		{"words after the tag", "```looprun-rejection\tv1 x\n{}\n" + end, "{}\n"},
		{"longer tag", "```looprun-rejections\n{}\n" + end, none},
		{"other case", "```Looprun-Rejection\n{}\n" + end, none},
		{"indented by 3", "   ```looprun-rejection\n   {}\n   ```\n", "   {}\n"},
		{"indented by 4", "    ```looprun-rejection\n{}\n    ```\n", none},
		{"closed with 4 blanks before", open + "{}\n    ```\n", none},
		{"two marks", "``looprun-rejection\n{}\n``\n", none},
		{"in a sentence", "write ```looprun-rejection\n{}\n" + end, none},
		{"CRLF", "```looprun-rejection\r\n{\r\n}\r\n```\r\n", "{\n}\n"},
		{"colours", "\x1b[1m```looprun-rejection\x1b[0m\n\x1b[32m{}\x1b[0m\n\x1b[2K```\x1b[0m\n", "{}\n"},
		{"hyperlink before", "\x1b]8;;http://x\x1b\\```looprun-rejection\n{}\n" + end, "{}\n"},
		{"after a redraw", "10%\r20%\r```looprun-rejection\n{}\nx\r```\n", "{}\n"},
		{"the last one", open + "1\n" + end + "x\n" + open + "2\n" + end, "2\n"},
		{"the last complete one", open + "1\n" + end + open + "2\n", "1\n"},
		{"the last complete one, cut in its fence", open + "1\n" + end + open + "2\n``", "1\n"},
		{"block in a block", "```` markdown\n" + open + "1\n" + end + "````\n", none},
		{"block in tildes", "~~~\n" + open + "1\n" + end + "~~~\n", none},
		{"block after a block", "```go\nx\n```\n" + open + "1\n" + end, "1\n"},
		{"block in a block that stays open", "~~~text\n" + open + "1\n" + end, none},
		{"an opening fence in ours", open + "```looprun-rejection\n1\n" + end, "```looprun-rejection\n1\n"},
		{"not closed by an info text", "```go\n```go\n" + end + open + "1\n" + end, "1\n"},
		{"carets under an error", "~~~~^~~~\n" + open + "1\n" + end, "1\n"},
		{"caret after a blank", "~~~~ ^\n" + open + "1\n" + end, "1\n"},
		{"backtick in the info text", "``` a`b\n" + open + "1\n" + end, "1\n"},
		{"8 marks", strings.Repeat("~", 8) + "\n" + open + "1\n" + end, none},
		{"ruler of 9", strings.Repeat("~", 9) + "\n" + open + "1\n" + end, "1\n"},
		{"in a list", "1. ```looprun-rejection\n   {}\n   ```\n", "   {}\n"},
		{"invalid UTF-8", open + "\xff\n" + end, "\ufffd\n"},
		{"byte order mark", "\ufeff" + open + "1\n" + end, "1\n"},
		{"long line before", strings.Repeat("x", 3*lineLimit) + "\n" + open + "1\n" + end, "1\n"},
		{"long line that ends like a fence", strings.Repeat("x", lineLimit) + "```looprun-rejection\n1\n" + end, none},
		{"long redraw", strings.Repeat("x\r", lineLimit) + open + "1\n" + end, "1\n"},
		{"long info text", "```looprun-rejection " + strings.Repeat("x", lineLimit) + "\n1\n" + end, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{len(c.output), 1, 2, 3, 7, 64} {
				var s Scanner
				if got := scan(&s, c.output, max(1, n)); got != c.want {
					t.Errorf("in pieces of %d: %q, want %q", n, got, c.want)
				}
				s.Reset()
				if got := scan(&s, c.output, max(1, n)); got != c.want {
					t.Errorf("in pieces of %d after Reset: %q, want %q", n, got, c.want)
				}
			}
		})
	}
}

// Reset forgets a block that is open, one that is complete, and half a line.
func TestScannerReset(t *testing.T) {
	var s Scanner
	for _, output := range []string{"```looprun-rejection\n1\n```\n", "```looprun-rejection\n1\n", "~~~\n", "``", strings.Repeat("x", 2*lineLimit)} {
		scan(&s, output, len(output))
		s.Reset()
		if got := scan(&s, "```looprun-rejection\n2\n```\n", 100); got != "2\n" {
			t.Errorf("after %.20q: %q", output, got)
		}
		s.Reset()
		if got := scan(&s, "looprun-rejection\n2\n```\n", 100); got != none {
			t.Errorf("after %.20q: %q", output, got)
		}
		s.Reset()
	}
}

// A block that is too large is refused by Parse, and no older one is taken.
func TestScannerBounds(t *testing.T) {
	block := func(body string) string { return "```looprun-rejection\n" + body + "\n```\n" }
	for _, c := range []struct {
		name, body string
		fits       bool
	}{
		{"one line at the limit", strings.Repeat("x", MaxSize-1), true},
		{"one line above", strings.Repeat("x", MaxSize), false},
		{"many lines at the limit", strings.Repeat("x\n", MaxSize/2-1) + "x", true},
		{"many lines above", strings.Repeat("x\n", MaxSize/2) + "x", false},
		{"colours do not count", strings.Repeat("\x1b[1mx", MaxSize/8), true},
		{"a line that is all colours", strings.Repeat("\x1b[1m", MaxSize), true},
		{"far above", strings.Repeat(strings.Repeat("x", 1000)+"\n", 1000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1 << 30, 4096, 1000} {
				var s Scanner
				got := scan(&s, block("old")+block(c.body), n)
				if fits := len(got) <= MaxSize; fits != c.fits || len(got) > MaxSize+1 {
					t.Errorf("in pieces of %d: %d bytes, fits: %v", n, len(got), fits)
				}
				if c.fits && got != termsafe.Text(c.body)+"\n" {
					t.Errorf("in pieces of %d: it is another text", n)
				}
				if held := cap(s.body) + cap(s.last); held > 8*MaxSize {
					t.Errorf("it holds %d bytes", held)
				}
			}
		})
	}
}

func BenchmarkScanner(b *testing.B) {
	const chunk = 32 << 10
	for _, c := range []struct{ name, line string }{
		{"log", "2026-01-02T15:04:05Z INFO  worker 7 finished batch 12 of 40 in 318 ms\n"},
		{"markdown", "Run `make test` and look at ``the log``; **then** go on.\n"},
		{"fences", "```go\nfmt.Println()\n```\n"},
		{"long lines", strings.Repeat("x", 4000) + "\n"},
		{"carets", "    ~~~~~~~^~~~~~~\n"},
		{"no line breaks", "x"},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := bytes.Repeat([]byte(c.line), chunk/len(c.line)+1)[:chunk]
			var s Scanner
			text := lines.Shown{To: s.Line}
			b.SetBytes(chunk)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = text.Write(data)
			}
		})
	}
}
