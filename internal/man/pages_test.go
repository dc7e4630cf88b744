package man_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/man"
)

const nasty = ".so /etc/passwd 'quoted' \"double\" back\\slash \\fBbold\\fR `tick` ~^ – “é漢” \x1b[31m --flag"

// grammar has texts that roff would make something of.
type grammar struct {
	Work struct {
		Flag  string   `short:"f" placeholder:"A\\B|\"C\"" help:"${nasty}" group:"g"`
		Plain bool     `help:".dot at the beginning." env:"PROG_PLAIN"`
		Fancy bool     `negatable:"" help:"'quote at the beginning."`
		Mode  string   `enum:"one,two" default:"one" help:"How."`
		Never bool     `hidden:"" help:"Nobody sees it."`
		File  []string `arg:"" optional:"" help:"Files."`
	} `cmd:"" help:"Work."`
	Deep struct {
		Er struct{} `cmd:"" help:"Deeper."`
	} `cmd:"" help:"Deep."`
	Secret struct{} `cmd:"" hidden:"" help:"Nobody sees it."`
	Loud   bool     `help:"Louder."`
}

func (g *grammar) Help() string { return "" }

func pages(t testing.TB, m man.Manual) []man.Page {
	t.Helper()
	p, err := kong.New(&grammar{}, kong.Name("prog"), kong.Description("prog works.\n\nMore about it.\n\nExamples:\n  .prog 'x'\n\n    prog \\n"),
		kong.Vars{"nasty": nasty}, kong.ExplicitGroups([]kong.Group{{Key: "g", Title: "How it works:"}}))
	if err != nil {
		t.Fatal(err)
	}
	p.Model.Children[0].Detail = "First.\n\nSecond: " + nasty + "\n  .literal\n\n  'literal\nThird.\n\nExample:\n  prog work\n    --flag x"
	return slices.Collect(man.Pages(p.Model, m))
}

func full() man.Manual {
	entries := func(*kong.Node) []man.Entry { return []man.Entry{{Term: ".0", Text: nasty}, {Term: "1", Text: "'no"}} }
	return man.Manual{Version: "1.2-rc.1 \"x\"", ExitStatus: entries, Environment: entries, Files: entries}
}

func TestPages(t *testing.T) {
	var names []string
	for _, p := range pages(t, full()) {
		names = append(names, p.Name)
		lint(t, p)
	}
	if want := []string{"prog.1", "prog-work.1", "prog-deep.1", "prog-deep-er.1"}; !slices.Equal(names, want) {
		t.Errorf("pages %q, want %q", names, want)
	}
}

func TestSections(t *testing.T) {
	all := pages(t, full())
	for i, want := range [][]string{
		{"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"},
		{"NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "OPTIONS", "OPTIONS OF EVERY COMMAND", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"},
	} {
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^\.SH "(.*)"$`).FindAllSubmatch(all[i].Text, -1) {
			got = append(got, string(m[1]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", all[i].Name, got, want)
		}
	}
	work := string(all[1].Text)
	for _, want := range []string{
		`prog\-work \- Work` + "\n", `.SS "How it works"`, `\fB\-f\fR, \fB\-\-flag\fR=\fIA\eB|\(dqC\(dq\fR`, `\fB\-\-[no\-]fancy\fR` + "\n",
		`\fB\-\-mode\fR=\fIone|two\fR`, "\n" + `\&.dot at the beginning.`, `Variable: \fBPROG_PLAIN\fR.`, `\fBprog\-deep\fR(1)`, ".nf\n",
		"\n" + `\&.literal` + "\n\n" + `\(aqliteral` + "\n.fi\n.PP\nThird.", `\fBprog\fR \fBwork\fR \fI[OPTION\[u2026]]\fR \fI[FILE\[u2026]]\fR`,
	} {
		if !strings.Contains(work, want) {
			t.Errorf("%q is not in\n%s", want, work)
		}
	}
	for _, p := range all {
		if strings.Contains(string(p.Text), "secret") || strings.Contains(string(p.Text), "never") {
			t.Errorf("%s shows what is hidden", p.Name)
		}
	}
}

func TestReproducible(t *testing.T) {
	for i, p := range pages(t, full()) {
		if again := pages(t, full())[i]; !bytes.Equal(p.Text, again.Text) {
			t.Errorf("%s differs the second time", p.Name)
		}
		if !bytes.HasPrefix(p.Text, []byte(`.TH "`)) || !bytes.Contains(p.Text, []byte(`" "1" "" "prog 1.2`)) {
			t.Errorf("%s has a date: %s", p.Name, p.Text[:80])
		}
	}
	m := full()
	m.Date = time.Date(2026, 1, 2, 23, 0, 0, 0, time.FixedZone("", -5*3600))
	if p := pages(t, m)[0]; !bytes.Contains(p.Text, []byte(`"1" "2026-01-03"`)) {
		t.Errorf("the date is not there, in UTC: %s", p.Text[:80])
	}
}

// lint says what no formatter should be given. Each line is a request that is
// known, or text; text begins neither with a dot nor with a quote, holds ASCII
// alone, and a backslash begins nothing but what text needs.
func lint(t *testing.T, p man.Page) {
	t.Helper()
	requests := regexp.MustCompile(`^\.(TH|SH|SS|TP|PP|nf|fi|br)( ("[^"]*"))*$`)
	escapes := regexp.MustCompile(`\\(e|-|&|fB|fI|fR|\((?:aq|dq|ga|ha|ti)|\[u[0-9A-F]{4,6}\])`)
	open := map[string]int{}
	for i, line := range strings.Split(string(p.Text), "\n") {
		rest := escapes.ReplaceAllString(line, "")
		switch {
		case strings.ContainsRune(rest, '\\'):
			t.Errorf("%s:%d: a backslash: %q", p.Name, i+1, line)
		case strings.HasPrefix(line, ".") && !requests.MatchString(line):
			t.Errorf("%s:%d: no request: %q", p.Name, i+1, line)
		case strings.HasPrefix(line, "'"):
			t.Errorf("%s:%d: a request: %q", p.Name, i+1, line)
		}
		for _, r := range line {
			if r < ' ' || r > '~' {
				t.Errorf("%s:%d: the character %q", p.Name, i+1, r)
			}
		}
		switch line {
		case ".nf":
			open[".nf"]++
		case ".fi":
			open[".nf"]--
		}
	}
	if open[".nf"] != 0 {
		t.Errorf("%s: not closed: %v", p.Name, open)
	}
}

// What mandoc and groff say of the pages, where they are installed.
func TestFormatters(t *testing.T) {
	dir := t.TempDir()
	m := full()
	m.Date = time.Unix(0, 0)
	var files []string
	for _, p := range pages(t, m) {
		name := filepath.Join(dir, p.Name)
		if err := os.WriteFile(name, p.Text, 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	for _, tool := range [][]string{{"mandoc", "-Tlint", "-Wwarning"}, {"groff", "-man", "-ww", "-Tutf8", "-z"}} {
		t.Run(tool[0], func(t *testing.T) {
			if _, err := exec.LookPath(tool[0]); err != nil {
				t.Skipf("%s is not installed", tool[0])
			}
			if out, err := exec.Command(tool[0], append(tool[1:], files...)...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	t.Run("what is read", func(t *testing.T) {
		if _, err := exec.LookPath("mandoc"); err != nil {
			t.Skip("mandoc is not installed")
		}
		out, err := exec.Command("mandoc", "-Tutf8", "-Owidth=400", files[1]).Output()
		if err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile(".\x08").ReplaceAllString(string(out), "")
		for _, want := range []string{strings.ReplaceAll(nasty, "\x1b", " "), ".literal", "'literal", `A\B|"C"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
	})
}

// FuzzPages: whatever the texts are, each page passes lint.
func FuzzPages(f *testing.F) {
	for _, seed := range []string{nasty, "", ".", "'", "\\", "  .x\n\n  'y", "a\n\n\nb\n  c", "\xff\x00", "\u200b\u2028"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := &kong.Node{Name: "prog", Help: text, Detail: text, Type: kong.ApplicationNode}
		entries := func(*kong.Node) []man.Entry { return []man.Entry{{Term: text, Text: text}} }
		for p := range man.Pages(&kong.Application{Node: n}, man.Manual{Version: text, Files: entries}) {
			lint(t, p)
		}
	})
}
