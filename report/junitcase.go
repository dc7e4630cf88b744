package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/junit"
	"github.com/looprun/looprun/internal/lazy"
	"github.com/looprun/looprun/internal/termsafe"
)

// cases returns the checks that failed at any time, or the command if none has a name.
func (r *Report) cases() []junit.Case {
	last := r.lastNamed()
	if last == nil {
		return r.commandCase()
	}
	failed := map[string][]*Iteration{} // by check, oldest first
	var names []string
	for _, it := range r.counted() {
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
	return convert.Each(names, func(name string) junit.Case { return r.checkCase(name, failed[name], last) })
}

func (r *Report) counted() (list []*Iteration) {
	for i := range r.History {
		if it := &r.History[i]; it.Counted {
			list = append(list, it)
		}
	}
	return list
}

// lastNamed returns the last iteration whose failing checks are known: because it names them,
// or because none failed. It returns nil if no iteration named any.
func (r *Report) lastNamed() *Iteration {
	var last *Iteration
	named := false
	for _, it := range r.counted() {
		named = named || len(it.Checks) > 0
		if len(it.Checks) > 0 || it.Failing == 0 || it.Outcome == core.OutcomeDone {
			last = it
		}
	}
	if !named {
		return nil
	}
	return last
}

func (r *Report) checkCase(name string, failed []*Iteration, last *Iteration) junit.Case {
	now := failed[len(failed)-1]
	c := junit.Case{Name: name, Class: r.suite()}
	if now.suite != "" {
		c.Class = now.suite
	}
	if class, own := classOf(name); class != "" {
		c.Class, c.Name = class, own
	}
	for _, it := range failed {
		if f := it.failure(name); f != nil {
			c.File, c.Line, c.Time = f.File, f.Line, junit.Seconds(f.Seconds)
		}
	}
	c.Time = cmp.Or(c.Time, junit.Seconds(0))
	if now != last && last.Outcome != core.OutcomeDone && last.Failing > len(last.Checks) {
		c.Skipped = &junit.Skipped{Message: fmt.Sprintf("How it ended is not known: iteration %d names %d of its %d failing checks. It failed last in iteration %d.",
			last.Iteration, len(last.Checks), last.Failing, now.Iteration)}
		return c
	}
	settle(&c, name, failed, last)
	return c
}

// settle says in the case how what failed ended: it fails in the last iteration, or passed then.
func settle(c *junit.Case, name string, failed []*Iteration, last *Iteration) {
	now := failed[len(failed)-1]
	if now != last {
		c.Output = "passed after " + message(now, name) + "\n"
		return
	}
	result := junit.Result{Message: message(now, name), Type: kindOf(now), Text: trace(now, name)}
	if name == "" && now.Outcome == core.OutcomeError {
		c.Error = &result
	} else {
		c.Failures = []junit.Result{result}
	}
}

// dotted matches a name with its class, such as com.x.AuthTest.login.
var dotted = lazy.Regexp(`^((?:[A-Za-z_$][\w$]*\.)+[A-Za-z_$][\w$]*)\.([A-Za-z_$][\w$]*)$`)

// classOf splits a check's name into its class and its own name, at a dot or at :: as in
// tests/test_auth.py::TestLogin::test_it. The class is empty if there is none.
func classOf(name string) (class, own string) {
	if i := strings.LastIndex(name, "::"); i > 0 && i+2 < len(name) {
		return strings.NewReplacer(".py::", ".", "/", ".", "::", ".").Replace(strings.TrimSuffix(name[:i], ".py")), name[i+2:]
	}
	if m := dotted().FindStringSubmatch(name); m != nil {
		return m[1], m[2]
	}
	return "", name
}

// failure returns the iteration's failure of the check, or nil.
func (it *Iteration) failure(name string) *core.FailingCheck {
	for i := range it.Failures {
		if it.Failures[i].Check == name {
			return &it.Failures[i]
		}
	}
	return nil
}

// commandCase returns the judge as a testcase, for when no checks are known.
func (r *Report) commandCase() []junit.Case {
	judge := r.Check
	if len(judge) == 0 {
		judge = r.Command
	}
	c := junit.Case{Name: commandLine(judge), Class: r.suite(), Time: junit.Seconds(0)}
	var failed []*Iteration
	var last *Iteration
	for _, it := range r.counted() {
		last = it
		if it.Outcome == core.OutcomeNotDone || it.Outcome == core.OutcomeError {
			failed = append(failed, it)
		}
	}
	if last != nil && len(r.Check) == 0 { // else it is that of the command as well
		c.Time = junit.Seconds(float64(last.DurationMS) / 1000)
	}
	switch {
	case len(failed) > 0:
		settle(&c, "", failed, last)
	case last == nil && r.Status != core.StatusDone:
		c.Skipped = &junit.Skipped{Message: "No iteration has ended."}
	}
	return []junit.Case{c}
}

// kindOf returns the type of a failure: the kind of its signature, or its outcome.
func kindOf(it *Iteration) string {
	kind, _, found := strings.Cut(it.Label, ":")
	if !found {
		kind = string(it.Outcome)
	}
	return kind
}

// message returns one line: the line that tells why the check fails, or else the label.
func message(it *Iteration, name string) string {
	text := cmp.Or(it.Why, it.Label, fmt.Sprintf("exit code %d", it.ExitCode))
	if f := it.failure(name); f != nil && f.Why != "" {
		text = f.Why
	}
	return fmt.Sprintf("iteration %d: %s", it.Iteration, text)
}

// trace returns the output with a failure, or what is known in its place.
func trace(it *Iteration, name string) string {
	return termsafe.Cut(cmp.Or(it.lines(name), fmt.Sprintf("exit code %d, no output", it.ExitCode)), maxTrace)
}

// lines returns why the check fails; for the only check and for the command, the error lines and
// the end of the output.
func (it *Iteration) lines(name string) string {
	if name == "" || len(it.Checks) < 2 {
		return strings.Trim(strings.Join(it.Errors, "\n")+"\n\n"+it.Excerpt, "\n")
	}
	if f := it.failure(name); f != nil && f.Why != "" {
		return f.Why
	}
	return "The output does not say why."
}
