package report

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file; the run's id is masked, which is made of the clock.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	got = regexp.MustCompile(`20260102-150405-[0-9a-f]{4}`).ReplaceAllString(got, "20260102-150405-XXXX")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s differs; if that is meant, run go test -update. Got:\n%s", file, got)
	}
}

func TestMarkdown(t *testing.T) {
	golden(t, "story.md", markdown(t, story(t).load()))
}

func TestMarkdownOfATrippedRun(t *testing.T) {
	r := record(t, nil)
	for range 3 {
		r.iterate(core.IterationFinished{Outcome: core.OutcomeNotDone, ExitCode: 1, DurationMS: 61_500}, "")
	}
	r.add(core.GuardTripped{Trip: core.Trip{Guard: core.MaxIterations, Iteration: 3, Reason: "3 of 3 iterations are used"}})
	r.add(core.QuestionClosed{Reason: "nobody answered", Unanswered: true})
	r.add(ended(core.StatusTripped, core.MaxIterations, "nobody answered"))
	golden(t, "tripped.md", markdown(t, r.load()))
}

func TestMarkdownOfARunWithoutIterations(t *testing.T) {
	r := record(t, nil)
	r.add(done())
	golden(t, "nothing.md", markdown(t, r.load()))
}

// hostile is text that would be markup nearly anywhere.
const hostile = "</script><script>alert(1)</script>\"><img src=x onerror=alert(1)> ]]>&lt; `` ` | a|b \\| [link](javascript:alert(1)) ![i](http://e.example/x) " +
	"@everyone #123 GH-1 http://e.example www.e.example **b** _i_ $x$ ~~s~~ <!-- --> {{.}} \x00\xff\u202egnp.exe\x1b[31mred\x1b]0;t\x07 \ufffe\n# heading\n- list\n```\nfence\n~~~~\n</details>"

// hostileRun has it in every text that comes from outside.
func hostileRun(t testing.TB) *Report {
	r := record(t, func(d *core.RunStarted) {
		d.Name, d.Command, d.Check = hostile, []string{hostile, "--" + hostile}, []string{"sh", "-c", hostile}
		d.Promise, d.Version, d.Parent = hostile, hostile, hostile
	})
	d := failing(hostile, "plain"+hostile)
	d.Signature.Label, d.Signature.Errors, d.Excerpt, d.Detail = hostile, []string{hostile}, hostile, hostile
	r.iterate(d, hostile+"\n"+strings.Repeat("\x1b[38;2;1;2;3m"+hostile, 3))
	r.iterate(d, hostile)
	r.add(core.GuardTripped{Trip: core.Trip{Guard: core.GuardID(hostile), Iteration: 2, Reason: hostile}})
	r.add(core.QuestionAsked{Question: core.Question{
		ID: "q", Guard: hostile, Header: hostile, Text: hostile, Options: []core.Option{{ID: hostile, Label: hostile}},
	}})
	r.add(core.AnswerInvalid{QuestionID: "q", Responder: hostile, Reason: hostile})
	r.add(core.VerifyFinished{Rule: hostile, Command: hostile})
	r.add(core.QuestionAnswered{QuestionID: "q", Answer: core.Answer{Option: hostile, Responder: hostile, Reason: hostile, Rule: hostile}})
	r.add(core.DebugFinished{Action: core.ActionRun, Findings: hostile})
	r.add(core.QuestionAsked{Question: core.Question{ID: "q2", Guard: hostile, Text: hostile}})
	r.add(core.QuestionAnswered{QuestionID: "q2", Answer: core.Answer{Option: hostile, Responder: hostile, Reason: hostile}})
	r.add(core.ActionApplied{
		Option: hostile, Action: core.ActionContinue, Responder: hostile, Limits: core.DefaultLimits(), Guidance: hostile,
		Known: []core.KnownIssue{{Hash: 1, Label: hostile}}, Resets: []core.GuardID{core.MaxIterations},
	})
	r.add(core.InterruptReceived{Signal: hostile})
	r.add(ended(core.StatusTripped, hostile, hostile))
	return r.load()
}

// Nothing of it is markup: what is outside of code has neither tags, links,
// mentions nor references; and no text ends its table row, code or block.
func TestMarkdownInjection(t *testing.T) {
	page := markdown(t, hostileRun(t))
	outside := withoutCode(t, page)
	for _, bad := range []string{
		`<script`, `<img`, `(?m)^# heading`, `(?m)^- list`, `[^\\]\]\(`, `(^|[^\\])[][]`, `@\w`, `#\d`, `(^|\W)GH-\d`, `[^\\]://`, `www\.`, `[^\\]\$`, `[^\\]~~`, `[^\\*]\*\*b`,
		"\x00", "\x1b", "\u202e",
	} {
		if m := regexp.MustCompile(bad).FindString(outside); m != "" {
			t.Errorf("%s stands in the page outside of code: %q", bad, m)
		}
	}
	tables := regexp.MustCompile(`(?m)^\|.*\|$`).FindAllString(page, -1)
	for _, row := range tables {
		if cells := len(regexp.MustCompile(`(^|[^\\])\|`).FindAllString(row, -1)); cells != 3 && cells != 8 {
			t.Errorf("a row of %d cells: %s", cells-1, row)
		}
	}
	if len(tables) < 10 {
		t.Errorf("%d rows of tables", len(tables))
	}
}

// withoutCode takes blocks and spans of code out of a page, as a reader of
// Markdown finds them.
func withoutCode(t *testing.T, page string) string {
	t.Helper()
	var b strings.Builder
	fence := ""
	for line := range strings.SplitSeq(page, "\n") {
		ticks := len(line) - len(strings.TrimLeft(line, "`"))
		switch {
		case fence == "" && ticks >= 3:
			fence = line[:ticks]
		case fence != "" && line == fence:
			fence = ""
		case fence == "":
			b.WriteString(withoutSpans(t, line) + "\n")
		}
	}
	if fence != "" {
		t.Error("a block of code has no end")
	}
	return b.String()
}

func withoutSpans(t *testing.T, line string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(line); {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			b.WriteString(line[i : i+2])
			i += 2
		case line[i] != '`':
			b.WriteByte(line[i])
			i++
		default:
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			end := closing(line[i+n:], n)
			if end < 0 {
				t.Errorf("a span of code has no end: %s", line)
				return b.String()
			}
			b.WriteString("CODE")
			i += n + end + n
		}
	}
	return b.String()
}

// closing is where a run of exactly n backticks begins.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

func TestMarkdownText(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"code", cell("go test"), "`go test`"},
		{"nothing", cell(""), ""},
		{"bars", cell("a | b"), "`a \\| b`"},
		{"a bar with a backslash", cell(`a\|b`), "`a\\ \\|b`"},
		{"backticks", cell("`a``b"), "``` `a``b ```"},
		{"lines", cell("a\nb"), "`a b`"},
		{"prose", prose("a_b (c): d."), `a\_b (c): d.`},
		{"mention", prose("@me #1 www.x http://x"), `@<!-- -->me #<!-- -->1 www<!-- -->.x http\://x`},
		{"tag", prose("<b>&amp;"), "&lt;b&gt;&amp;amp;"},
		{"list", prose("- a"), `\- a`},
		{"numbered", prose("1. a"), `1\. a`},
		{"fence", fenced("a\n```\n````x"), "`````text\na\n```\n````x\n`````\n"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

// A page keeps to its limit, whatever the limit is, and says what it left out.
func TestMarkdownLimit(t *testing.T) {
	r := record(t, func(d *core.RunStarted) { d.Limits.Iterations = core.Off })
	for i := range 600 {
		r.iterate(failing(fmt.Sprintf("check%d", i), strings.Repeat("x", 200)), "")
	}
	report := r.load()
	whole := markdown(t, report)
	for _, limit := range []int{markdownLeast, 10_000, 40_000, len(whole) - 1} {
		page := written(t, func(w io.Writer) error { return report.Markdown(w, limit) })
		if len(page) > limit || !strings.Contains(page, "iterations before these are omitted.") {
			t.Errorf("limit %d: %d bytes", limit, len(page))
		}
		if limit > markdownLeast && !strings.Contains(page, "check599") {
			t.Errorf("limit %d: the last iteration is not there", limit)
		}
	}
	if page := written(t, func(w io.Writer) error { return report.Markdown(w, len(whole)) }); page != whole {
		t.Error("what fits is not all there")
	}
	if err := report.Markdown(io.Discard, markdownLeast-1); err == nil {
		t.Error("a limit that leaves no room is taken")
	}
	hostile := hostileRun(t)
	hostile.Progress = strings.Repeat("@", maxProse)
	if page := written(t, func(w io.Writer) error { return hostile.Markdown(w, markdownLeast) }); len(page) > markdownLeast || !strings.HasSuffix(page, "The rest is omitted.\n") {
		t.Errorf("%d bytes", len(page))
	}
}
