package ci

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// annotationLimit bounds the text of an annotation, in characters. CI systems show the first
// lines and cut the rest; the report has the whole text.
const annotationLimit = 1000

// level is the severity of the verdict.
type level string

const (
	silent  level = ""
	warning level = "warning"
	failure level = "error"
)

// levelOf returns the severity of a run: that of its status, or that of its warnings if
// higher.
func levelOf(r core.Result) level {
	how := levelOfStatus(r.Status)
	if how == silent && len(r.Warnings) > 0 {
		return warning
	}
	return how
}

// levelOfStatus returns silent for a run that is done, a warning if there is something usable
// or the run can continue later, and a failure otherwise.
func levelOfStatus(s core.Status) level {
	switch s {
	case core.StatusDone:
		return silent
	case core.StatusAccepted, core.StatusPaused, core.StatusSuperseded, core.StatusInterrupted:
		return warning
	}
	return failure
}

// headline summarizes the verdict in a few words.
func headline(r core.Result) string { return "looprun: " + r.String() }

// verdict returns the verdict on one line. If there never was a run, it has only the reason.
func verdict(r core.Result, limit int) string {
	if r.RunID == "" && r.Status == core.StatusFailed {
		return annotationText(fmt.Sprintf("%s; exit %d", r.Reason, r.ExitCode))
	}
	var b strings.Builder
	iterations := plural.Of(r.Iterations, limit, "iteration")
	fmt.Fprintf(&b, "after %s, %s", iterations, plural.Round(r.Runtime))
	if r.Says != "" {
		b.WriteString(": " + r.Says)
	}
	fmt.Fprintf(&b, "; exit %d", r.ExitCode)
	if r.Decision != "" {
		fmt.Fprintf(&b, "; %s by %s", r.Decision, r.Who())
	}
	if reason := strings.TrimPrefix(strings.TrimPrefix(r.Reason, iterations+" are used"), "; "); reason != "" {
		b.WriteString(": " + reason)
	}
	return annotationText(b.String())
}

// annotationText prepares text from outside for an annotation.
func annotationText(s string) string { return termsafe.Short(s, annotationLimit) }

// annotate writes an annotation with the verdict and, unless the run is done, one for each of
// the first failing checks; then one for each of the first warnings.
func (l *Log) annotate(v Verdict) {
	r := v.Result
	if how := levelOfStatus(r.Status); how != silent {
		l.annotation(how, headline(r), verdict(r, v.Limit), core.FailingCheck{})
		for _, f := range v.Failing[:min(len(v.Failing), listed)] {
			if f.Check != "" || f.File != "" { // else the verdict says as much
				l.annotation(how, "looprun: "+cmp.Or(annotationText(f.Check), "failing"), cmp.Or(annotationText(f.Why), "it fails"), f)
			}
		}
	}
	for _, w := range r.Warnings[:min(len(r.Warnings), listed)] {
		l.annotation(warning, "looprun: warning", annotationText(w), core.FailingCheck{})
	}
}

// listed is the maximum number of checks, and of warnings, that become annotations: GitHub
// shows 10 errors and 10 warnings per step.
const listed = 5

// annotation writes one annotation, at the location of the failure if known. The text's prefix
// is data too.
func (l *Log) annotation(how level, title, text string, at core.FailingCheck) {
	place := func(escape func(string) string, sep, file, line string) string {
		switch {
		case at.File == "":
			return ""
		case at.Line == 0:
			return sep + file + "=" + escape(at.File)
		}
		return fmt.Sprintf("%s%s=%s%s%s=%d", sep, file, escape(at.File), sep, line, at.Line)
	}
	if own := newWords(l.provider); own != nil { // they are read in any line
		title, text = own.apart(title), own.apart(text)
	}
	switch l.provider {
	case GitHub:
		l.say(fmt.Sprintf("::%s title=%s%s::%s", how, escapeProperty(title), place(escapeProperty, ",", "file", "line"), escapeData(text)))
	case Azure:
		l.say(fmt.Sprintf("##vso[task.logissue type=%s%s]%s", how, place(escapeAzureProperty, ";", "sourcepath", "linenumber"), escapeAzure(title+" "+text)))
	case Buildkite: // a group that is open, so that it is seen
		l.say("+++ " + title)
		l.say("looprun: " + text)
	}
}

// ErrorAt returns GitHub's workflow command that annotates a place in a file with an error. Lines
// and columns begin at 1; zero means that the place is not known better, and an empty file that
// there is none.
func ErrorAt(file string, line, column int, text string) string {
	at := ""
	if file != "" {
		at = fmt.Sprintf(" file=%s,line=%d,col=%d", escapeProperty(file), max(1, line), max(1, column))
	}
	return fmt.Sprintf("::error%s::%s", at, escapeData(text))
}

// escapeData and escapeProperty escape text for a workflow command, as GitHub's toolkit does:
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// escapeAzure escapes text for a logging command of Azure Pipelines. The text after the
// bracket may contain brackets and semicolons:
// https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands.
func escapeAzure(s string) string {
	return strings.NewReplacer("%", "%AZP25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// escapeAzureProperty escapes text for use within the brackets.
func escapeAzureProperty(s string) string {
	return strings.NewReplacer(";", "%3B", "]", "%5D").Replace(escapeAzure(s))
}
