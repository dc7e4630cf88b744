package engine

import (
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/carrier"
)

// said is a text that is read for a promise.
type said struct{ speech }

func newSaid(promise string, anywhere bool) *said {
	s := &said{speech{promise: newPromises(promise, anywhere, stdoutStream)}}
	s.init()
	return s
}

func (s *said) write(b []byte) { s.take(carrier.Part{Role: carrier.Plain, Text: b}) }

func (s *said) end() (made bool, why string) {
	s.speech.end()
	return s.promise.end()
}

func TestPromise(t *testing.T) {
	for _, c := range []struct {
		name, output string
		anywhere     bool
		want         bool
	}{
		{"alone", "DONE\n", false, true},
		{"last line unfinished", "x\nDONE", false, true},
		{"white space", "x\n  DONE \t\r\n\n", false, true},
		{"tags", "<promise>DONE</promise>\n", false, true},
		{"tags with space", " <promise> DONE </promise> \n", false, true},
		{"bold", "**DONE**\n", false, true},
		{"bold tags", "**<promise>DONE</promise>**\n", false, true},
		{"backticks", "`DONE`\n", false, true},
		{"underscores", "__DONE__\n", false, true},
		{"colour", "\x1b[32mDONE\x1b[0m\n", false, true},
		{"in a sentence", "I will print DONE at the end\n", false, false},
		{"tags in a sentence", "say <promise>DONE</promise> when done\n", false, false},
		{"longer word", "DONELY\n", false, false},
		{"other case", "done\n", false, false},
		{"half a tag", "<promise>DONE\n", false, false},
		{"two on one line", "DONE DONE\n", false, false},
		{"nothing", "", false, false},
		{"in a long line", strings.Repeat("x", 100000) + "DONE\n", false, false},
		{"after a long line", strings.Repeat("x", 100000) + "\nDONE\n", false, true},
		{"redrawn", "working\rDONE\n", false, true},
		{"anywhere", "so it is DONE, really\n", true, true},
		{"anywhere, not", "so it is over\n", true, false},
		{"anywhere, in a title", "\x1b]0;it is DONE now\a\n", true, false},
		{"anywhere, after a title", "\x1b]0;working\aso it is DONE\n", true, true},
		{"NUL", "DO\x00NE\n", false, false},
		{"bell", "DONE\a\n", false, false},
		{"backspace", "x\bDONE\n", false, false},
		{"zero width", "DO\u200bNE\n", false, false},
		{"zero width before", "\u200bDONE\n", false, false},
		{"reading direction", "\u202eDONE\n", false, false},
		{"soft hyphen in tags", "<promise>DO\u00adNE</promise>\n", false, false},
		{"byte order mark of the output", "\ufeffDONE\n", false, true},
		{"byte order mark later", "x\n\ufeffDONE\n", false, false},
		{"invalid UTF-8", "DO\xffNE\n", false, false},
		{"lines in a title", "\x1b]0;\nDONE\n\a", false, false},
		{"lines in an eight bit title", "\u009d0;\nDONE\n\u009c", false, false},
		{"lines in a title of screen", "\x1bk\nDONE\n\x1b\\", false, false},
		{"lines in a device command with a bell", "\x1bP\a\nDONE\n\x1b\\", false, false},
		{"lines in an application command", "\x1b_\nDONE\n\x1b\\", false, false},
		{"title that never ends", "\x1b]0;\nDONE\n", false, false},
		{"title that ends", "\x1b]0;\nx\n\a\nDONE\n", false, true},
		{"title that is cancelled", "\x1b]0;x\x18\nDONE\n", false, true},
		{"title that a colour ends", "\x1b]0;x\x1b[32m\nDONE\n", false, true},
		{"hyperlink", "\x1b]8;;http://x\x1b\\DONE\x1b]8;;\x1b\\\n", false, true},
		{"title before it", "\x1b]0;working\aDONE\n", false, true},
		{"letters whose UTF-8 begins like a control", "°\nDONE\n", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for cut := 1; cut <= 7; cut++ { // however the stream is cut
				p := newSaid("DONE", c.anywhere)
				for rest := []byte(c.output); len(rest) > 0; {
					n := min(cut, len(rest))
					p.write(rest[:n])
					rest = rest[n:]
				}
				if got, _ := p.end(); got != c.want {
					t.Errorf("cut every %d bytes: %v, want %v", cut, got, c.want)
				}
			}
		})
	}
}

func TestPromiseThatIsDecoratedItself(t *testing.T) {
	p := newSaid("*ok*", false)
	p.write([]byte("**ok**\n"))
	if made, _ := p.end(); !made {
		t.Error("a promise with its own emphasis is not found in emphasis")
	}
}

// Neither what was promised nor a title without an end reaches the next iteration.
func TestPromiseOfTheNextIteration(t *testing.T) {
	p := newSaid("DONE", false)
	p.write([]byte("x\n\x1b]0;a title"))
	p.reset()
	p.write([]byte("\ufeffDONE\n"))
	if made, _ := p.end(); !made {
		t.Error("a title without an end hides the output of the next iteration")
	}
	p.reset()
	if made, _ := p.end(); made {
		t.Error("it was promised before")
	}
}

// Text that joins its letters by hidden characters is a promise like any other.
func TestPromiseWithJoiners(t *testing.T) {
	const text = "می\u200cشود"
	p := newSaid(text, false)
	p.write([]byte("**" + text + "**\n"))
	if made, _ := p.end(); !made {
		t.Error("it is not found")
	}
}

func TestCheckPromise(t *testing.T) {
	for text, ok := range map[string]bool{"DONE": true, "all done": true, "": false, "  ": false, "a\nb": false, "a\x1b[1mb": false, "a\u009bb": false, "a\tb": true, "a\u200db": true} {
		if err := CheckPromise(text); (err == nil) != ok {
			t.Errorf("CheckPromise(%q) = %v", text, err)
		}
	}
}

func TestCodes(t *testing.T) {
	for _, c := range []struct{ in, out string }{{"0", "0"}, {"0,3", "0,3"}, {"70-78,2", "2,70-78"}, {"none", "none"}, {"126-255", "126-255"}, {" 1 , 2 ", "1-2"}} {
		got, err := ParseCodes(c.in)
		if err != nil || got.String() != c.out {
			t.Errorf("ParseCodes(%q) = %s, %v; want %s", c.in, got, err, c.out)
		}
	}
	for _, in := range []string{"", "x", "256", "-1", "3-1", "1,", "1-2-3", "1-x"} {
		if got, err := ParseCodes(in); err == nil {
			t.Errorf("ParseCodes(%q) = %s; want an error", in, got)
		}
	}
}
