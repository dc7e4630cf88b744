package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/termsafe"
)

// tracer makes the testcases of checks, with as much output as it may.
type tracer struct{ left int }

// cases are the checks that failed at any time; the command when none has a name.
func (t *tracer) cases(r *Report) []testcase {
	last := r.lastNamed()
	if last == nil {
		return t.commandCase(r)
	}
	failed := map[string][]*Iteration{} // by check, oldest first
	var names []string
	for i := range r.History {
		it := &r.History[i]
		if !it.Counted {
			continue
		}
		for _, name := range it.Checks {
			if failed[name] == nil && len(names) == maxCases {
				continue
			}
			if n := len(failed[name]); n == 0 {
				names = append(names, name)
			} else if failed[name][n-1] == it {
				continue // named twice
			}
			failed[name] = append(failed[name], it)
		}
	}
	slices.Sort(names)
	var cases []testcase
	for _, name := range names {
		cases = append(cases, t.checkCase(r, name, failed[name], last))
	}
	return cases
}

// lastNamed is the last iteration that says which checks fail: because it names
// them, or because none does. nil: no iteration named any.
func (r *Report) lastNamed() *Iteration {
	var last *Iteration
	named := false
	for i := range r.History {
		it := &r.History[i]
		if !it.Counted {
			continue
		}
		named = named || len(it.Checks) > 0
		if len(it.Checks) > 0 || it.Failing == 0 || it.Outcome == looprun.OutcomeDone {
			last = it
		}
	}
	if !named {
		return nil
	}
	return last
}

func (t *tracer) checkCase(r *Report, name string, failed []*Iteration, last *Iteration) testcase {
	c := testcase{Name: name, Class: r.title(), Time: seconds(0)}
	again := func(list []*Iteration) []rerun { return t.reruns(list, name, "failed") }
	switch now := failed[len(failed)-1]; {
	case now == last:
		c.Failures = []result{{message(now, name), kindOf(now), t.trace(now)}}
		c.RerunFailures = again(failed[:len(failed)-1])
	case last.Outcome != looprun.OutcomeDone && last.Failing > len(last.Checks):
		c.Skipped = &skipped{fmt.Sprintf("It is not known how it ended: iteration %d names %d of its %d failing checks. It failed last in iteration %d.",
			last.Iteration, len(last.Checks), last.Failing, now.Iteration)}
	default:
		c.FlakyFailures = again(failed)
	}
	return c
}

// commandCase is the judge as a testcase, when nothing is known about checks.
func (t *tracer) commandCase(r *Report) []testcase {
	judge := r.Check
	if len(judge) == 0 {
		judge = r.Command
	}
	c := testcase{Name: commandLine(judge), Class: r.title(), Time: seconds(0)}
	var failures, errors []*Iteration
	var last *Iteration
	for i := range r.History {
		it := &r.History[i]
		if !it.Counted {
			continue
		}
		last = it
		switch it.Outcome {
		case looprun.OutcomeNotDone:
			failures = append(failures, it)
		case looprun.OutcomeError:
			errors = append(errors, it)
		}
	}
	switch {
	case last == nil && r.Status == looprun.StatusDone:
	case last == nil:
		c.Skipped = &skipped{"No iteration has ended."}
	case last.Outcome == looprun.OutcomeDone:
		c.FlakyFailures, c.FlakyErrors = t.reruns(failures, "", "failed"), t.reruns(errors, "", "ended as an error")
	case last.Outcome == looprun.OutcomeError:
		c.Error = &result{message(last, ""), kindOf(last), t.trace(last)}
		c.RerunFailures, c.RerunErrors = t.reruns(failures, "", "failed"), t.reruns(errors[:len(errors)-1], "", "ended as an error")
	default:
		c.Failures = []result{{message(last, ""), kindOf(last), t.trace(last)}}
		c.RerunFailures, c.RerunErrors = t.reruns(failures[:len(failures)-1], "", "failed"), t.reruns(errors, "", "ended as an error")
	}
	return []testcase{c}
}

// reruns are the earlier failures, the last of them when there are many.
func (t *tracer) reruns(list []*Iteration, name, what string) []rerun {
	var out []rerun
	left := max(0, len(list)-maxReruns)
	for _, it := range list[left:] {
		out = append(out, rerun{message(it, name), kindOf(it), t.trace(it)})
	}
	if left > 0 {
		out[0].Message += fmt.Sprintf(" (it %s %s before, not listed)", what, times(left))
	}
	return out
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// kindOf is the type of a failure: the kind of its signature, or its outcome.
func kindOf(it *Iteration) string {
	kind, _, found := strings.Cut(it.Label, ":")
	if !found {
		kind = string(it.Outcome)
	}
	return kind
}

// message is one line: the error line that mentions the check, else the label.
func message(it *Iteration, name string) string {
	text := it.Label
	if it.Why != "" {
		text = it.Why
	}
	for _, e := range it.Errors {
		if name != "" && strings.Contains(e, name) {
			text = e
			break
		}
	}
	if text == "" {
		text = fmt.Sprintf("exit code %d", it.ExitCode)
	}
	return fmt.Sprintf("iteration %d: %s", it.Iteration, text)
}

// trace is what is known of the failure: its error lines and the end of the
// output, as long as there is room.
func (t *tracer) trace(it *Iteration) string {
	text := strings.Join(it.Errors, "\n")
	if it.Excerpt != "" {
		text = strings.TrimPrefix(text+"\n\n"+it.Excerpt, "\n\n")
	}
	if text == "" {
		text = fmt.Sprintf("exit code %d, no output", it.ExitCode)
	}
	text = termsafe.Cut(text, maxTrace)
	if len(text) > t.left {
		return "The output is left out: the file would be too large."
	}
	t.left -= len(text)
	return text
}
