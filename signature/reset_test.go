package signature

import (
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/lines"
)

// An iteration leaves nothing to the next one, wherever its output broke off.
func TestAnIterationLeavesNothing(t *testing.T) {
	const next = "not ok 1 - parses a date\n"
	want := sign(next, 1)
	for name, before := range map[string]string{
		"UTF-16":                "\xff\xfeF\x00A\x00I\x00L\x00",
		"half of an encoding":   "\xff",
		"a document in XML":     "<testsuites>\n<testcase name=\"a\">\n",
		"an attribute in XML":   "<testsuites>\n<testcase name=\"a",
		"a document in JSON":    "{\n\"a\": [\n",
		"an agent's object":     `{"type":"assistant","message":{"content":[{"type":"text","text":"not`,
		"a log's object":        `{"log":"not ok 2 - x\n","stream":"stdout","time":"2026-01-02T03:04:05Z"}` + "\n" + `{"log":"not`,
		"a line without an end": "not ok 1 ",
		"a margin":              strings.Repeat("web-1 | not ok 7 - x\nweb-1 |   y\n", 40),
	} {
		s := New(Options{})
		s.Stdout().Write([]byte(before))
		s.Sum(1)
		s.Reset()
		s.Stdout().Write([]byte(next))
		if got := s.Sum(1); got.Hash != want.Hash {
			t.Errorf("%s: %q, want %q", name, got.Facts, want.Facts)
		}
		s.Reset()
		s.Stdout().Write([]byte(before)) // nobody asked for the sum of this one
		s.Reset()
		s.Stdout().Write([]byte(next))
		if got := s.Sum(1); got.Hash != want.Hash {
			t.Errorf("%s, without a sum: %q, want %q", name, got.Facts, want.Facts)
		}
	}
}

// What ends without a line end, or before its encoding is known, counts, and so does a line
// that is too long to keep.
func TestTheEndOfAnOutput(t *testing.T) {
	for _, text := range []string{"no", "not ok 1 - a", "\xff\xfen\x00o\x00", `{"type":"thread.started","thread_id":"a"}` + "\nno", "no\r", strings.Repeat("x", lines.Max+10)} {
		if sig := sign(text, 1); sig.Kind == KindSilent {
			t.Errorf("%.20q is silent", text)
		}
	}
	long := strings.Repeat("x", lines.Max)
	if sign("a"+long+"\n", 1).Hash == sign("b"+long+"\n", 1).Hash {
		t.Error("the beginnings of two long lines are the same")
	}
	doc := func(name string) string {
		return "<testsuite>\n<testcase name=\"" + name + "\"><failure message=\"no\"/></testcase>\n</testsuite>\n"
	}
	if sig := sign("<testsuite>\n<testcase name=\"a\"><failure message=\"no\"/>\n</testsuite></x>\n"+doc("b"), 1); !strings.Contains(strings.Join(sig.Checks, " "), "b") {
		t.Errorf("the second document has %q", sig.Checks)
	}
	if n := len(sign("not ok 1 - a\n● Bash(make test)\n", 1).Checks); n != 1 {
		t.Errorf("%d checks: what an agent calls is one", n)
	}
}

// Below the checkout a path is what it is from there, wherever the checkout is.
func TestThePathOfTheCheckout(t *testing.T) {
	at := func(dir, file string) Hash {
		s := New(Options{Dir: dir})
		s.Stdout().Write([]byte("cannot read " + strings.TrimRight(dir, "/") + "/" + file + " at all\n"))
		return s.Sum(1).Hash
	}
	if at("/srv/run7", "data/one.txt") != at("/home/ann/src/", "data/one.txt") {
		t.Error("another checkout is another failure")
	}
	if at("/srv/run7", "data/one.txt") == at("/srv/run7", "other/one.txt") {
		t.Error("another directory is the same failure")
	}
}
