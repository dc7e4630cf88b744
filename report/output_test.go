package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// plainText is what of an output is shown, with its mark for what is not.
func plainText(s *shown) string {
	var b strings.Builder
	write := func(lines [][]span) {
		for _, l := range lines {
			for _, sp := range l {
				b.WriteString(sp.Text)
			}
			b.WriteByte('\n')
		}
	}
	write(s.Head)
	if s.Left != "" {
		fmt.Fprintf(&b, "[%s]\n", s.Left)
	}
	write(s.Tail)
	return b.String()
}

// showing makes an output file and shows it.
func showing(t *testing.T, content string, budget int) *shown {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.log"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := openOutputs(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	return o.show("x.log", budget)
}

func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %06d\n", i)
	}
	return b.String()
}

func TestShowAll(t *testing.T) {
	for _, content := range []string{"", "a\nb\n", "no line break", numberedLines(1000)} {
		want := content
		if want != "" && !strings.HasSuffix(want, "\n") {
			want += "\n"
		}
		if got := plainText(showing(t, content, 1<<20)); got != want {
			t.Errorf("%.20q shows %.40q", content, got)
		}
	}
}

// Both sides of the budget; past it the end is worth more than the beginning.
func TestShowWithinABudget(t *testing.T) {
	content := numberedLines(100) // 12 bytes a line
	if s := showing(t, content, 1200); s.Left != "" || s.size != 1200 {
		t.Errorf("%d bytes of 1200, left out: %q", s.size, s.Left)
	}
	s := showing(t, content, 1199)
	got := plainText(s)
	if s.size > 1199 || !strings.Contains(got, "[1 lines are left out here; more is in x.log]") {
		t.Errorf("%d bytes: %s", s.size, got)
	}
	s = showing(t, content, 120)
	if len(s.Head) != 2 || len(s.Tail) != 8 || s.Left != "90 lines are left out here; more is in x.log" || !strings.HasSuffix(plainText(s), "line 000099\n") {
		t.Errorf("%d and %d lines, %s", len(s.Head), len(s.Tail), s.Left)
	}
	if s := showing(t, content, 0); s.size != 0 || s.Left == "" {
		t.Errorf("%+v", s)
	}
}

// Of a large file only the head and the tail are read, in whole lines.
func TestShowALargeFile(t *testing.T) {
	lines := (readHead + readTail) / 12
	if s := showing(t, numberedLines(lines), 1<<20); s.Left != "" {
		t.Errorf("all of it fits, and yet %s", s.Left)
	}
	content := numberedLines(3 * lines)
	s := showing(t, content, 1<<20)
	got := plainText(s)
	if !strings.HasPrefix(got, "line 000000\n") || !strings.HasSuffix(got, content[len(content)-120:]) || !strings.Contains(s.Left, "KiB are left out here; more is in x.log") {
		t.Errorf("%.40q … %q: %s", got, got[len(got)-40:], s.Left)
	}
	for l := range strings.SplitSeq(strings.TrimSpace(got), "\n") {
		if len(l) != 11 && l[0] != '[' {
			t.Errorf("a part of a line: %q", l)
		}
	}
	if s := showing(t, content, 1200); !strings.Contains(s.Left, "lines and more are left out") || s.size > 1200 {
		t.Errorf("%d bytes, %s", s.size, s.Left)
	}
}

// What is not a regular file in the run's directory is not read: a pipe would wait
// for ever, and a link leads elsewhere.
func TestShowReadsFilesOfTheRunOnly(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	o, err := openOutputs(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for _, name := range []string{"link", "folder", "none", "../secret"} {
		s := o.show(name, 1000)
		if s.Lines() || !strings.HasPrefix(s.Problem, name+" cannot be read: ") || strings.Contains(s.Problem, dir) {
			t.Errorf("%s: %+v", name, s)
		}
		if n := o.size(name); n != 0 {
			t.Errorf("%s has %d bytes", name, n)
		}
	}
}
