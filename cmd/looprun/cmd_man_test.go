package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/core"
)

func testModel(t *testing.T) *kong.Application {
	t.Helper()
	model, err := model()
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// Every command has a page, and every flag stands on the page of its command.
func TestManualIsComplete(t *testing.T) {
	model := testModel(t)
	texts := map[string]string{}
	for p := range manualPages(model, time.Time{}) {
		texts[p.Name] = string(p.Text)
	}
	for _, n := range model.Leaves(true) {
		name := "looprun-" + strings.ReplaceAll(n.Path(), " ", "-") + ".1"
		text := texts[name]
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"} {
			if !strings.Contains(text, `.SH "`+section+`"`) {
				t.Errorf("%s has no %s", name, section)
			}
		}
		for _, f := range n.Flags {
			if !f.Hidden && f.Tag.Negatable == "" && !strings.Contains(text, strings.ReplaceAll("--"+f.Name, "-", `\-`)+`\fR`) {
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

// What is printed is the first of the pages, though no command is described for it.
func TestManualIsPrinted(t *testing.T) {
	var out bytes.Buffer
	if err := new(manCmd).Run(&app{stdout: &out}); err != nil {
		t.Fatal(err)
	}
	if want := slices.Collect(manualPages(testModel(t), time.Time{}))[0].Text; !bytes.Equal(out.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", out.Bytes(), want)
	}
}

// The exit codes of the pages are those that runs end with.
func TestManualExitCodes(t *testing.T) {
	page := string(slices.Collect(manualPages(testModel(t), time.Time{}))[0].Text)
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
		if term := fmt.Sprintf("\n\\fB%d\\fR\n", code); strings.Count(page, term) != 1 {
			t.Errorf("exit code %d stands there %d times", code, strings.Count(page, term))
		}
	}
}

func TestManualFormats(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for p := range manualPages(testModel(t), time.Unix(1_700_000_000, 0)) {
		file := filepath.Join(dir, p.Name)
		if err := os.WriteFile(file, p.Text, 0o644); err != nil {
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

// TestManualExamplesFitTheScreen: roff breaks prose at 80 columns and leaves examples as they are.
func TestManualExamplesFitTheScreen(t *testing.T) {
	escapes := regexp.MustCompile(`\\(\(..|.)`)
	for p := range manualPages(testModel(t), time.Time{}) {
		asIs := false
		for line := range strings.Lines(string(p.Text)) {
			switch line = strings.TrimSuffix(line, "\n"); line {
			case ".nf":
				asIs = true
			case ".fi":
				asIs = false
			default:
				if n := len([]rune(escapes.ReplaceAllString(line, "x"))); asIs && n > 73 { // indented by 7
					t.Errorf("%s: %q takes %d columns", p.Name, line, n)
				}
			}
		}
	}
}
