package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// licensed makes a folder with a licence.
func licensed(t *testing.T, licence string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(licence), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRenderRefusesWhatIsNotAllowed(t *testing.T) {
	good := licensed(t, mit)
	for licence, want := range map[string]string{
		mit:                          "",
		"GNU GENERAL PUBLIC LICENSE": "example.test/b is under GPL, which is not on the list",
		"ask me":                     "is not a licence that is known here",
	} {
		p := program{std: module{path: "std", folders: []string{good}}, modules: []module{
			{path: "example.test/a", version: "v1.2.3", folders: []string{good}},
			{path: "example.test/b", version: "v0.1.0", folders: []string{licensed(t, licence)}},
		}}
		page, err := p.licencesPage()
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
		if !strings.Contains(page, "| example.test/a | v1.2.3 | MIT |\n") {
			t.Errorf("%s", page)
		}
	}
}

// TestCheck compares with the page of this very program.
func TestCheck(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := licences(self, "", &page); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "licences.md")
	for text, same := range map[string]bool{page.String(): true, page.String() + "x": false} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := licences(self, file, nil); (err == nil) != same {
			t.Errorf("%v", err)
		}
	}
}
