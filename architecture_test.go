package looprun_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each arrow of ARCHITECTURE.md is an import, and each package in internal is on the page.
func TestArchitectureIsTrue(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	arrows := 0
	for line := range strings.Lines(string(page)) {
		parts := strings.Split(line, " ──► ")
		for i := range parts[1:] {
			from, to := strings.TrimSpace(parts[i]), strings.Fields(parts[i+1])[0]
			if arrows++; !imports(t, from, to) {
				t.Errorf("%s does not import %s", from, to)
			}
		}
	}
	if arrows < 20 {
		t.Errorf("%d arrows were found in the picture", arrows)
	}

	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`internal/(?:\{([a-z,]+)\}|([a-z]+))`).FindAllStringSubmatch(string(page), -1) {
		for name := range strings.SplitSeq(m[1]+m[2], ",") {
			named[name] = true
			if _, err := os.Stat(filepath.Join("internal", name)); err != nil {
				t.Errorf("the page names internal/%s: %v", name, err)
			}
		}
	}
	dirs, err := os.ReadDir("internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if d.IsDir() && !named[d.Name()] {
			t.Errorf("the page does not name internal/%s", d.Name())
		}
	}
}

// imports reports whether a package imports another one in code that is no test.
func imports(t *testing.T, from, to string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no files: %v", from, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), `"`+module+"/"+to+`"`) {
			return true
		}
	}
	return false
}
