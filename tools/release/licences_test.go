package main

import (
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
		p := program{modules: []module{
			{path: "std", folders: []string{good}},
			{path: "example.test/a", version: "v1.2.3", folders: []string{good}},
			{path: "example.test/b", version: "v0.1.0", folders: []string{licensed(t, licence)}},
		}}
		var page string
		err := attempt(func() { page = p.licencesPage() })
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
		if strings.Contains(page, "| example.test/a | v1.2.3 | MIT |\n") != (want == "") {
			t.Errorf("%s", page)
		}
	}
}
