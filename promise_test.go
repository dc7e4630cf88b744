package looprun

import (
	"strings"
	"testing"
)

func TestPromise(t *testing.T) {
	for _, c := range []struct {
		name, output string
		anywhere     bool
		want         bool
	}{
		{"alone", "DONE\n", false, true},
		{"last line unfinished", "x\nDONE", false, true},
		{"white space", "x\n  DONE \t\r\ny\n", false, true},
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
	} {
		t.Run(c.name, func(t *testing.T) {
			for cut := 1; cut <= 7; cut++ { // however the stream is cut
				p := newPromiseScanner("DONE", c.anywhere)
				for rest := []byte(c.output); len(rest) > 0; {
					n := min(cut, len(rest))
					p.write(rest[:n])
					rest = rest[n:]
				}
				if got := p.end(); got != c.want {
					t.Errorf("cut every %d bytes: %v, want %v", cut, got, c.want)
				}
			}
		})
	}
}

func TestPromiseThatIsDecoratedItself(t *testing.T) {
	p := newPromiseScanner("*ok*", false)
	p.write([]byte("**ok**\n"))
	if !p.end() {
		t.Error("a promise with its own emphasis is not found in emphasis")
	}
}

func TestCheckPromise(t *testing.T) {
	for text, ok := range map[string]bool{"DONE": true, "all done": true, "": false, "  ": false, "a\nb": false} {
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
	for _, in := range []string{"", "x", "256", "-1", "3-1", "1,", "1-2-3"} {
		if got, err := ParseCodes(in); err == nil {
			t.Errorf("ParseCodes(%q) = %s; want an error", in, got)
		}
	}
}
