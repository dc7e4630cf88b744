package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/junit"
	"github.com/looprun/looprun/internal/plural"
)

// Bounds of a JUnit file.
const (
	maxCases = 2000 // checks
	maxTrace = 2000 // characters of output with one failure
)

// JUnit writes the run as a JUnit file, in the form of Maven Surefire. The run is a testsuite.
// Its first testcase is the loop itself; the others are the checks that the output names, or
// the command if it names none:
//
//   - failed in the last iteration that named its checks: a failure;
//   - failed earlier and passed then: it passes, and its output names the last iteration in
//     which it failed;
//   - not known, because the last iteration failed in more checks than it
//     names: skipped, with the reason.
//
// The loop's testcase passes if the run is done, is skipped if the run was accepted or has not
// ended, is an error if looprun failed, and is a failure otherwise, with the guard as its
// type. A check has the time, the file and the line that its output gives.
func (r *Report) JUnit(w io.Writer) error {
	return junit.Suite{
		Name: r.suite(), Time: junit.Seconds(r.Runtime), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: r.properties(), Cases: append([]junit.Case{r.loopCase()}, r.cases()...),
	}.Write(w)
}

// suite returns the name of the testsuite, and of checks that have no other: it is the same in
// each run of a task, whatever the command is.
func (r *Report) suite() string { return cmp.Or(r.Name, "looprun") }

func (r *Report) properties() []junit.Property {
	var list []junit.Property
	put := func(name, value string) {
		if value != "" {
			list = append(list, junit.Property{Name: name, Value: value})
		}
	}
	put("looprun.run_id", r.RunID)
	put("looprun.status", string(r.Status))
	put("looprun.guard", string(r.Guard))
	if r.over() {
		put("looprun.exit_code", fmt.Sprint(r.ExitCode))
	}
	put("looprun.iterations", fmt.Sprint(r.Iterations))
	put("looprun.trips", fmt.Sprint(r.TripCount))
	put("looprun.command", commandLine(r.Command))
	put("looprun.check", commandLine(r.Check))
	put("looprun.subtasks", r.Subtasks.String())
	for _, w := range r.Warnings {
		put("looprun.warning", w)
	}
	if n := r.omitted().Iterations; n > 0 {
		put("looprun.note", fmt.Sprintf("%d earlier iterations are left out", n))
	}
	return list
}

// loopCase returns the testcase of the loop itself.
func (r *Report) loopCase() junit.Case {
	c := junit.Case{Name: "loop", Class: "looprun", Time: junit.Seconds(r.Runtime)}
	message := r.verdict()
	kind := string(r.Status)
	if r.Guard != "" {
		kind = string(r.Guard)
	}
	switch r.Status {
	case core.StatusDone:
	case core.StatusAccepted, core.StatusPaused, core.StatusSuperseded, core.StatusRunning, core.StatusAwaiting:
		c.Skipped = &junit.Skipped{Message: message}
	case core.StatusFailed, core.StatusCrashed:
		c.Error = &junit.Result{Message: message, Type: kind, Text: r.story()}
	default:
		c.Failures = []junit.Result{{Message: message, Type: kind, Text: r.story()}}
	}
	return c
}

// verdict describes in one line how the run ended.
func (r *Report) verdict() string { return r.standing() + " " + r.course() }

// course is the verdict without the status.
func (r *Report) course() string {
	text := fmt.Sprintf("after %s in %s", plural.Count(r.Iterations, "iteration"), plural.Seconds(r.Runtime))
	if r.Decision != "" {
		text += fmt.Sprintf("; %s decided %s", r.who(), r.Decision)
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// story lists the trips and who answered what.
func (r *Report) story() string {
	var b strings.Builder
	for i := range r.Trips {
		t := &r.Trips[i]
		fmt.Fprintf(&b, "%s: %s\n", t.place(), t.what())
		if i == len(r.Trips)-1 {
			for _, l := range t.Evidence {
				fmt.Fprintf(&b, "  %s\n", l)
			}
		}
		for _, a := range t.Answers {
			fmt.Fprintf(&b, "  %s\n", a.sentence())
		}
		if t.Closed != "" {
			fmt.Fprintf(&b, "  %s\n", t.Closed)
		}
	}
	fmt.Fprintf(&b, "%s\n", r.Progress)
	return b.String()
}
