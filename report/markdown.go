package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// MarkdownLimit is the maximum size of a job's summary page, in bytes: GitHub accepts 1 MiB
// for each step.
const MarkdownLimit = 1 << 20

// markdownLeast is the smallest limit that fits the essential parts of a report.
const markdownLeast = 4 << 10

// Markdown writes the report for a page such as that of GITHUB_STEP_SUMMARY: the verdict, the
// history as a table, the trips and answers, and the end of the last output.
// It is at most limit bytes long; 0 means [MarkdownLimit], and a limit under 4 KiB is an
// error. If not everything fits, Markdown leaves out older iterations and trips and notes how
// many.
func (r *Report) Markdown(w io.Writer, limit int) error {
	limit = cmp.Or(limit, MarkdownLimit)
	if limit < markdownLeast {
		return fmt.Errorf("a report of %d bytes is too short; give it at least %d", limit, markdownLeast)
	}
	var page string
	for _, rows := range []int{MaxIterations, 500, 200, 100, 50, 20, 10, 5, 2, 0} {
		page = r.markdown(rows)
		if len(page) <= limit {
			break
		}
	}
	if len(page) > limit { // a very long task or command
		page = shortenBytes(page, limit-len(cutMark)) + cutMark
	}
	_, err := io.WriteString(w, page)
	return err
}

const cutMark = "\n\nThe rest is omitted.\n"

// shortenBytes cuts s after the last whole line that fits.
func shortenBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = s[:limit]
	return s[:strings.LastIndexByte(s, '\n')+1]
}

type printer func(format string, args ...any)

// markdown returns the page with at most that many iterations and trips.
func (r *Report) markdown(rows int) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("## %s looprun: %s\n\n", r.mark(), prose(r.standing()))
	p("%s\n\n", prose(fullStop(upperFirst(r.verdict()))))
	if lines := r.Morning(); lines != nil {
		for _, line := range lines {
			p("- %s\n", prose(line))
		}
		p("\n")
	}
	for _, w := range r.Warnings {
		p("⚠️ %s\n\n", prose(fullStop(upperFirst(w))))
	}
	if t := r.stopped(); t != nil {
		p("%s\n", fenced(strings.Join(append([]string{t.Question, ""}, t.Evidence...), "\n")))
	}
	r.markdownFacts(p)
	history := r.History[max(0, len(r.History)-rows):]
	if len(r.History) > 0 {
		r.markdownHistory(p, history)
		r.markdownSignatures(p, rows)
	}
	r.markdownTrips(p, r.Trips[max(0, len(r.Trips)-rows):])
	if rows > 0 {
		r.markdownOutput(p)
	}
	return b.String()
}

// stopped returns the trip that ended the run, if its question has evidence that the verdict
// lacks; otherwise nil.
func (r *Report) stopped() *Trip {
	for i := len(r.Trips) - 1; i >= 0 && r.Guard != ""; i-- {
		if t := &r.Trips[i]; t.Guard == r.Guard {
			if len(t.Evidence) == 0 {
				return nil
			}
			return t
		}
	}
	return nil
}

// mark returns a symbol for the status, shown next to its name and never instead of it.
func (r *Report) mark() string {
	if r.Status == core.StatusAccepted {
		return "☑️"
	}
	return map[string]string{"good": "✅", "wait": "⏸️", "bad": "❌"}[r.tone()]
}

func (r *Report) markdownFacts(p printer) {
	p("| | |\n|---|---|\n")
	if r.Name != "" {
		p("| Task | %s |\n", cell(r.Name))
	}
	for _, f := range r.facts() {
		if f.Code {
			p("| %s | %s |\n", f.Name, cell(f.Value))
		} else {
			p("| %s | %s |\n", f.Name, prose(f.Value))
		}
	}
	p("\n")
}

func (r *Report) iterationsText() string {
	if r.Limits.Iterations > 0 {
		return fmt.Sprintf("%d of %d", r.Iterations, r.Limits.Iterations)
	}
	return fmt.Sprint(r.Iterations)
}

func (r *Report) runtimeText() string {
	if r.Limits.Runtime > 0 {
		return fmt.Sprintf("%s of %s", plural.Seconds(r.Runtime), plural.Seconds(r.Limits.Runtime.Seconds()))
	}
	return plural.Seconds(r.Runtime)
}

func (r *Report) markdownHistory(p printer, list []Iteration) {
	p("### Iterations\n\n")
	if left := len(r.History) - len(list) + r.omitted().Iterations; left > 0 {
		p("%s before these are omitted.\n\n", plural.Count(left, "iteration"))
	}
	if len(list) == 0 {
		return
	}
	p("| # | Outcome | Exit | Took | Failing | | What |\n|--:|---|--:|--:|--:|---|---|\n")
	for i := range list {
		it := &list[i]
		p("| %s | %s | %d | %s | %s | %s | %s |\n", it.number(), prose(words(it.Outcome)), it.ExitCode,
			console.RoundMS(it.DurationMS), it.failingText(), prose(it.Letter), cell(it.summary()))
	}
	p("\n")
}

// number identifies the iteration in a list.
func (it *Iteration) number() string {
	if it.Iteration == 0 {
		return "precheck"
	}
	return fmt.Sprint(it.Iteration)
}

// failingText returns “2 of 5”, “2”, or a dash if unknown.
func (it *Iteration) failingText() string {
	switch {
	case it.Failing < 0:
		return "–"
	case it.Total > 0:
		return fmt.Sprintf("%d of %d", it.Failing, it.Total)
	}
	return fmt.Sprint(it.Failing)
}

// summary returns the iteration's result, or why it was cut off.
func (it *Iteration) summary() string { return cmp.Or(it.Why, it.Says, it.Label) }

func (r *Report) markdownSignatures(p printer, rows int) {
	again := convert.Where(r.Signatures, func(s Signature) bool { return s.Count > 1 })
	again = again[max(0, len(again)-rows):]
	if len(again) == 0 {
		return
	}
	p("Seen more than once:\n\n")
	for _, s := range again {
		p("- %s: %s %d times, in iterations %d to %d\n", prose(s.Letter), cell(cmp.Or(s.Says, s.Label)), s.Count, s.First, s.Last)
	}
	p("\n")
}

func (r *Report) markdownTrips(p printer, list []Trip) {
	if len(r.Trips) == 0 {
		return
	}
	p("### Decisions\n\n")
	if left := r.omitted().Trips + len(r.Trips) - len(list); left > 0 {
		p("%d before these are omitted.\n\n", left)
	}
	for i := len(list) - 1; i >= 0; i-- { // the newest first
		t := &list[i]
		p("- %s, %s: %s\n", t.Time.UTC().Format("2006-01-02 15:04 UTC"), t.place(), prose(t.what()))
		for _, a := range t.Answers {
			p("  - %s\n", prose(a.sentence()))
		}
		for _, f := range t.Refused {
			p("  - not taken from %s: %s\n", prose(cmp.Or(f.Responder, "somebody")), prose(f.Reason))
		}
		if t.Closed != "" {
			p("  - %s\n", prose(t.Closed))
		}
	}
	p("\n")
}

// omitted counts what the report does not list.
func (r *Report) omitted() Earlier { return *cmp.Or(r.Earlier, &Earlier{}) }

// markdownOutput shows the end of the last available output.
func (r *Report) markdownOutput(p printer) {
	for i := len(r.History) - 1; i >= 0; i-- {
		if it := &r.History[i]; it.Excerpt != "" {
			p("<details><summary>The end of the output of %s</summary>\n\n%s\n</details>\n", iterationName(it), fenced(it.Excerpt))
			return
		}
	}
}

func iterationName(it *Iteration) string {
	if it.Iteration == 0 {
		return "the precheck"
	}
	return fmt.Sprintf("iteration %d", it.Iteration)
}

// fullStop ends a sentence with a full stop unless it already has an end.
func fullStop(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// upperFirst capitalizes the first letter of a sentence.
func upperFirst(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// cell formats a text from outside as inline code for a table: inside code, nothing is a link,
// a mention or markup. "" stays "".
func cell(s string) string {
	s = termsafe.Cut(termsafe.Line(s), maxLabel)
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	// A table is split into cells before its code is recognised, so a bar needs a backslash,
	// which is removed again. A backslash already before a bar would interfere.
	s = strings.ReplaceAll(s, `\|`, `\ |`)
	return fence + strings.ReplaceAll(s, "|", `\|`) + fence
}

// proseEscapes are the strings that could begin markup in a sentence. An invisible comment
// breaks up whatever GitHub would turn into a mention, a reference or an address.
var proseEscapes = []string{
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"|", `\|`, "~", `\~`, "$", `\$`, "://", `\://`,
	"#", `#<!-- -->`, "@", `@<!-- -->`, "GH-", "GH<!-- -->-", "gh-", "gh<!-- -->-", "www.", "www<!-- -->.",
}

// prose escapes a text from outside for a sentence or a table.
func prose(s string) string {
	s = strings.NewReplacer(proseEscapes...).Replace(termsafe.Cut(termsafe.Line(s), maxProse))
	switch { // what only means something where a line begins
	case strings.HasPrefix(s, "-"), strings.HasPrefix(s, "+"), strings.HasPrefix(s, "#"), strings.HasPrefix(s, "="):
		s = `\` + s
	case len(s) > 0 && s[0] >= '0' && s[0] <= '9':
		s = strings.Replace(s, ". ", `\. `, 1)
	}
	return s
}

// fenced formats a text from outside as a block that nothing in it can end.
func fenced(s string) string {
	s = strings.TrimRight(termsafe.Text(s), "\n")
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "text\n" + s + "\n" + fence + "\n"
}
