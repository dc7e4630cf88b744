package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/core"
)

func testModel(t *testing.T) *kong.Application {
	t.Helper()
	model := model()
	return model
}

// manPages returns the pages of all commands by their titles.
func manPages(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	if code, said := executed(t, "man", dir); code != 0 {
		t.Fatal(said)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		pages[strings.TrimSuffix(file.Name(), ".1")] = string(text)
	}
	return pages
}

// Every command has a page, and every flag is on the page of its command.
func TestManualIsComplete(t *testing.T) {
	texts := manPages(t)
	for _, n := range testModel(t).Leaves(true) {
		name := manTitle(n)
		text := texts[name]
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"} {
			if !strings.Contains(text, `.SH "`+section+`"`) {
				t.Errorf("%s has no %s", name, section)
			}
		}
		for _, f := range n.Flags {
			if !f.Hidden && f.Tag.Negatable == "" && !strings.Contains(text, roff("--"+f.Name)) {
				t.Errorf("%s does not mention --%s", name, f.Name)
			}
		}
	}
	for name, text := range texts {
		if strings.Contains(text, "__complete") {
			t.Errorf("%s mentions what is hidden", name)
		}
	}
}

// The exit codes of the pages are those that runs end with.
func TestManualExitCodes(t *testing.T) {
	page := manPages(t)["looprun"]
	codes := []int{core.ExitFailed, 126, 127, 129, 130, 143}
	for _, s := range core.Statuses() {
		codes = append(codes, s.ExitCode())
	}
	for _, g := range core.GuardIDs() {
		codes = append(codes, g.ExitCode())
		if !strings.Contains(page, string(g)) {
			t.Errorf("the guard %s is not mentioned", g)
		}
	}
	for _, code := range codes {
		if found := regexp.MustCompile(fmt.Sprintf(`(?m)^  %d  `, code)).FindAllString(page, -1); len(found) != 1 {
			t.Errorf("exit code %d stands there %d times", code, len(found))
		}
	}
}

// TestManualIsRoff: whatever a text has, no line of a page is a request that was not meant, and
// none is wider than a screen of 80 columns.
func TestManualIsRoff(t *testing.T) {
	requests := regexp.MustCompile(`^\.(TH|SH|nf|fi)( ("[^"]*"))*$`)
	escapes := regexp.MustCompile(`\\(e|-|&|\((?:aq|dq|ga|ha|ti)|\[u[0-9A-F]{4,6}\])`)
	pages := manPages(t)
	pages["hostile"] = string(manPage(&kong.Node{
		Name: "x", Help: ".so /etc/passwd", Detail: "'quoted' \"double\" back\\slash\n\n  .so x\n  'y\n", Type: kong.CommandNode, Parent: &kong.Node{},
	}, ""))
	for name, page := range pages {
		asIs := false
		for line := range strings.Lines(page) {
			line = strings.TrimSuffix(line, "\n")
			shown := escapes.ReplaceAllString(line, "x")
			switch {
			case strings.ContainsRune(shown, '\\'), strings.HasPrefix(line, "'"), strings.HasPrefix(line, ".") && !requests.MatchString(line):
				t.Errorf("%s: a formatter would read more than text in %q", name, line)
			case asIs && len(shown) > 73: // indented by 7
				t.Errorf("%s: %q takes %d columns", name, line, len(shown))
			}
			asIs = line == ".nf" || asIs && line != ".fi"
		}
	}
}

func TestManualFormats(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for name, text := range manPages(t) {
		file := filepath.Join(dir, name+".1")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	for _, tool := range [][]string{{"mandoc", "-Tlint", "-Wwarning"}, {"groff", "-man", "-ww", "-Tutf8", "-z"}} {
		t.Run(tool[0], func(t *testing.T) {
			if _, err := exec.LookPath(tool[0]); err != nil {
				t.Skipf("%s is not installed", tool[0])
			}
			if out, err := exec.Command(tool[0], append(tool[1:], files...)...).CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
