package ci

import (
	"fmt"
	"strings"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/termsafe"
)

// annotationLimit bounds the text of an annotation, in characters. CI systems
// show the first lines and cut the rest; the report has it all.
const annotationLimit = 1000

// level is how loud the verdict is.
type level string

const (
	silent  level = ""
	warning level = "warning"
	failure level = "error"
)

// levelOf is how loud a run is: its status, and no less than its warnings.
func levelOf(r looprun.Result) level {
	how := levelOfStatus(r.Status)
	if how == silent && len(r.Warnings) > 0 {
		return warning
	}
	return how
}

// levelOfStatus is nothing for a run that is done, a warning where something usable is
// there or the run goes on later, an error otherwise.
func levelOfStatus(s looprun.Status) level {
	switch s {
	case looprun.StatusDone:
		return silent
	case looprun.StatusAccepted, looprun.StatusPaused, looprun.StatusInterrupted:
		return warning
	}
	return failure
}

// headline is the verdict in a few words.
func headline(r looprun.Result) string {
	text := "looprun: " + string(r.Status)
	if r.Guard != "" {
		text += " (" + string(r.Guard) + ")"
	}
	return text
}

// verdict is the verdict on one line.
func verdict(r looprun.Result, limit int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "after %d", r.Iterations)
	if limit > 0 {
		fmt.Fprintf(&b, " of %d", limit)
	}
	fmt.Fprintf(&b, " iterations, %s", r.Runtime.Round(100*time.Millisecond))
	if r.Signature != "" {
		b.WriteString(": " + r.Signature)
	}
	fmt.Fprintf(&b, "; exit %d", r.ExitCode)
	if r.Decision != "" {
		fmt.Fprintf(&b, "; %s by %s", r.Decision, r.Responder)
	}
	if r.Reason != "" {
		b.WriteString(": " + r.Reason)
	}
	return annotationText(b.String())
}

// annotationText is text from outside as an annotation can have it.
func annotationText(s string) string { return termsafe.Cut(termsafe.Line(s), annotationLimit) }

// annotate writes an annotation with the verdict, unless that is done, and one for
// each of the first warnings.
func (l *Log) annotate(r looprun.Result, limit int) {
	if how := levelOfStatus(r.Status); how != silent {
		l.annotation(how, headline(r), verdict(r, limit))
	}
	for _, w := range r.Warnings[:min(len(r.Warnings), warningsShown)] {
		l.annotation(warning, "looprun: warning", annotationText(w))
	}
}

// warningsShown is how many warnings are annotations: GitHub shows 10 of a step.
const warningsShown = 5

func (l *Log) annotation(how level, title, text string) {
	switch l.provider {
	case GitHub:
		l.say(fmt.Sprintf("::%s title=%s::%s", how, escapeProperty(title), escapeData(text)))
	case Azure:
		l.say(fmt.Sprintf("##vso[task.logissue type=%s]%s", how, escapeAzure(title+" "+text)))
	case Buildkite: // a group that is open, so that it is seen
		l.say("+++ " + title)
		l.say("looprun: " + text)
	}
}

// escapeData and escapeProperty write text into a workflow command, as GitHub's
// toolkit does: https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// escapeAzure writes text into a logging command of Azure Pipelines. What
// stands behind the bracket may have brackets and semicolons:
// https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands.
func escapeAzure(s string) string {
	return strings.NewReplacer("%", "%AZP25", "\r", "%0D", "\n", "%0A").Replace(s)
}
