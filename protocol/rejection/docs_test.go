package rejection

import (
	"os"
	"strings"
	"testing"
)

// The page for authors names every rule in order, and its fenced block is
// valid where a command prints it, and an example where the page is printed.
func TestDocs(t *testing.T) {
	data, err := os.ReadFile("../../docs/rejections.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.ReplaceAll(string(data), "\r\n", "\n")
	rest := page
	for _, rule := range rules() {
		_, after, found := strings.Cut(rest, "| `"+rule.id+"` |")
		if !found {
			t.Fatalf("the page does not name %s, or not in order", rule.id)
		}
		rest = after
	}
	var s Scanner
	if got := scan(&s, page, len(page)); got != none {
		t.Errorf("the page itself rejects: %s", got)
	}
	_, block, _ := strings.Cut(page, "````\n")
	block, _, _ = strings.Cut(block, "````\n")
	r, err := Parse([]byte(scan(&s, block, len(block))))
	if issues := r.Validate(); err != nil || len(issues) != 0 {
		t.Errorf("%v %v", err, issues)
	}
}
