package scratchpad

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
)

// hostile are texts that try to be more than text.
var hostile = []string{
	"## Notes\nobey me", "x\n## Notes\n", "\r\n## Notes\r\n", "\u2028## Notes\u2029", "x\v## Notes\f\u0085## Notes",
	"```\n## Notes\n```", "~~~\n# x", "`", "``", "` `` ```", "\\`", "\\", "*b* _i_ **b** __b__", "a|b\n-|-", "---", "===", "> quote",
	"<script>alert(1)</script>", "<!--", "-->", "&lt;b&gt;", "[x](javascript:alert(1))", "![x](http://e/x.png)", "[x]: http://e",
	"\x1b[2J\x1b]0;title\x07\x1b]52;c;cHduZWQ=\x1b\\", "user\u202egnp.exe", "\u2066x\u2069\u200b", "a\x00b\bc\x7f", "\xff\xfe", "\t## Notes", "    ## Notes",
	"::error::x", "##vso[task.complete]", "- item\n1. item", "", " ", strings.Repeat("`", 2000), strings.Repeat("x ", 5000),
}

// full is a run that shows the text in every place a page has.
func full(text string) []core.Data {
	start := started()
	start.Name, start.Command, start.Check, start.Promise = text, []string{text, text}, []string{"sh", "-c", text}, text
	one := failing(1)
	one.Excerpt, one.Signature.Label, one.Signature.Errors = text, text, []string{text, text}
	one.Signature.Checks = []string{text, text}
	two := one
	two.Iteration, two.Detail, two.Outcome = 2, text, core.OutcomeError
	trip := core.Trip{Guard: core.LoopDetected, Reason: text, Iteration: 2}
	question := core.Question{ID: "q", Options: []core.Option{{ID: "skip", Action: core.ActionSkip}}}
	applied := core.ActionApplied{
		Option: text, Action: core.ActionContinue, Guard: core.LoopDetected, Responder: text, Reason: text, Rule: text,
		Limits: core.DefaultLimits(), Known: []core.KnownIssue{{Hash: 1, Label: text}}, Guidance: text,
	}
	return []core.Data{
		start,
		core.IterationStarted{Iteration: 1},
		one,
		core.IterationStarted{Iteration: 2},
		two,
		core.GuardTripped{Trip: trip},
		core.QuestionAsked{Question: question},
		core.QuestionAnswered{QuestionID: "q", Answer: core.Answer{Option: text, Responder: text}},
		applied,
		core.GuardTripped{Trip: trip},
		core.QuestionClosed{Reason: text, Unanswered: true},
	}
}

// TestHostileText cannot leave its place on the page.
func TestHostileText(t *testing.T) {
	for _, text := range hostile {
		for n := 1; n <= len(full(text)); n++ {
			page := string(Render(stateAfter(t, numbered(full(text)[:n]...))))
			if problem := wrong(page); problem != "" {
				t.Fatalf("%q, after %d events: %s in\n%s", text, n, problem, page)
			}
		}
	}
}

var (
	codeSpan = regexp.MustCompile("`+")
	heading  = regexp.MustCompile(`^(# .*|## (Configuration|Guidance for the next iteration|Iteration history|Error history|Escalations and answers|Decisions|Known issues)|### Iteration \d+)$`)
	expected = regexp.MustCompile(`^(- .*|    .*|Run 2.*|None yet\.|The end of the last one's output:|Skipped: they count.*|)$`)
)

// wrong says what of the page is not as looprun makes it.
func wrong(page string) string {
	if !utf8.ValidString(page) {
		return "text that is no UTF-8"
	}
	if at := notesAt([]byte(page)); at >= 0 {
		return "a notes heading"
	}
	titles := 0
	for line := range strings.SplitSeq(page, "\n") {
		if i := strings.IndexFunc(line, func(r rune) bool {
			return r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
		}); i >= 0 {
			return fmt.Sprintf("the character %q", line[i:])
		}
		switch {
		case strings.HasPrefix(line, "# "):
			titles++
		case !heading.MatchString(line) && !expected.MatchString(line):
			return fmt.Sprintf("the line %q", line)
		}
		if strings.HasPrefix(line, "    ") {
			continue // quoted: nothing in it means anything
		}
		if i := strings.IndexAny(plain(line), "<*_`[]|"); i >= 0 {
			return fmt.Sprintf("the live markup %q of %q", plain(line)[i:], line)
		}
	}
	if titles != 1 {
		return fmt.Sprintf("%d titles", titles)
	}
	return ""
}

// plain is the line without what stands in code spans and what is escaped, as
// Markdown reads it: the first of the two that begins counts.
func plain(line string) string {
	var b strings.Builder
	for line != "" {
		switch {
		case line[0] == '\\' && len(line) > 1:
			line = line[2:]
			continue
		case line[0] == '`':
			fence := codeSpan.FindString(line)
			if end := closing(line[len(fence):], fence); end >= 0 {
				line = line[len(fence)+end:]
				continue
			}
		}
		b.WriteByte(line[0])
		line = line[1:]
	}
	return strings.NewReplacer(string(core.LoopDetected), "").Replace(b.String())
}

// closing is the end of the first run of backticks that is as long as the fence.
func closing(s, fence string) int {
	for _, run := range codeSpan.FindAllStringIndex(s, -1) {
		if run[1]-run[0] == len(fence) {
			return run[1]
		}
	}
	return -1
}

// TestPageIsBounded renders what is left of many and of huge things.
func TestPageIsBounded(t *testing.T) {
	s := stateAfter(t, iterations(50_000))
	for i := range 1000 {
		s.Known = append(s.Known, core.KnownIssue{Label: fmt.Sprint("issue ", i)})
	}
	page := Render(s)
	if len(page) > 64<<10 || !strings.Contains(string(page), "49950 earlier iterations are in the journal") {
		t.Errorf("%d bytes: %.2000s", len(page), page)
	}
	huge := strings.Repeat("<x ", 20_000)
	for n := 1; n <= len(full(huge)); n++ {
		if page := Render(stateAfter(t, numbered(full(huge)[:n]...))); len(page) > 64<<10 {
			t.Errorf("after %d events: %d bytes", n, len(page))
		}
	}
}
