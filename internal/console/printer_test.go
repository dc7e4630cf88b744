package console

import (
	"strings"
	"testing"
)

func TestProseFitsTheTerminal(t *testing.T) {
	text := "the last 3 iterations failed in the same way\n\n    check TestOne\n    diag a.go one two three four five\n"
	p := NewPrinter(nil, nil, "never")
	p.Prose(text)
	if p.String() != text {
		t.Errorf("in a pipe: %q", p.String())
	}
	p = &Printer{width: 24}
	p.Prose(text)
	want := []string{"the last 3 iterations", "  failed in the same way", "", "    check TestOne", "    diag a.go one two", "      three four five", ""}
	if got := strings.Split(p.String(), "\n"); strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("at 24 columns: %q, want %q", got, want)
	}
}
