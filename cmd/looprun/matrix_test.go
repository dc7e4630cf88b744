//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/templates"
)

// effect is what an action does to a run of the matrix: it ends it with a status,
// or lets it go on, and the next iteration is then done.
type effect struct {
	status core.Status
	goesOn bool
}

// effects are those of SPEC §5 and PROTOCOLS D.
var effects = map[core.Action]effect{
	core.ActionContinue:    {core.StatusDone, true},
	core.ActionDebug:       {core.StatusDone, true},
	core.ActionSkip:        {core.StatusDone, true},
	core.ActionDecompose:   {core.StatusDone, true},
	core.ActionReformulate: {core.StatusDone, true},
	core.ActionAccept:      {core.StatusAccepted, false},
	core.ActionDone:        {core.StatusDone, false},
	core.ActionCancel:      {core.StatusCancelled, false},
	core.ActionPause:       {core.StatusPaused, false},
	core.ActionReject:      {core.StatusRejected, false},
	core.ActionReview:      {}, // shows the history; it never is an answer
}

// codes are the exit codes of SPEC §6.
var codesOf = map[core.Status]int{
	core.StatusDone: 0, core.StatusAccepted: 100, core.StatusCancelled: 101,
	core.StatusPaused: 102, core.StatusRejected: 103,
}

// cell is one square of the matrix: a guard trips, and somebody gives one of the
// answers that its question offers.
type cell struct {
	way
	guard  core.GuardID
	option core.Option
	dir    string // looprun runs here; its state is in state
	home   string // the run under test runs here
	reason string
}

const debugFindings = "the cause is a missing semicolon"

// newCell writes the command's files.
func newCell(t *testing.T, guard core.GuardID, o core.Option, sub string) *cell {
	t.Helper()
	w, ok := ways[guard]
	if !ok {
		t.Fatalf(addWay, guard)
	}
	if _, ok := effects[o.Action]; !ok && o.ID != "" {
		t.Fatalf(addEffect, o.Action)
	}
	c := &cell{way: w, guard: guard, option: o, dir: t.TempDir(), reason: strings.ReplaceAll(fmt.Sprintf("It says %s to %s", o.ID, guard), "_", " ")}
	c.home = filepath.Join(c.dir, sub)
	if err := os.MkdirAll(c.home, 0o700); err != nil {
		t.Fatal(err)
	}
	goOn := fmt.Sprintf("if test $LOOPRUN_ITERATION -gt %d; then test -e guidance || cp $LOOPRUN_GUIDANCE_FILE guidance; exit 0; fi\n", c.after)
	if c.during {
		goOn = ""
	}
	c.write(t, "work.sh", goOn+c.work+fmt.Sprintf("\nexit %d\n", max(c.exit, 1)))
	for name, text := range c.files {
		c.write(t, name, text)
	}
	return c
}

func (c *cell) write(t *testing.T, name, text string) {
	t.Helper()
	writeFile(t, c.home, name, text)
}

// writeFile writes a file for a run; LOOPRUN in a script is the binary.
func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(text, "LOOPRUN ", "'"+file+"' ")
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// command is the command line of the run under test.
func (c *cell) command(flags ...string) []string {
	args := append([]string{"--debug", "echo " + debugFindings}, c.way.flags...)
	return append(append(args, flags...), "--", "sh", "work.sh")
}

// TestMatrix lets every responder give every answer to every guard; but for the long form, one
// of them an answer, each time another.
func TestMatrix(t *testing.T) {
	t.Parallel()
	set := builtin(t)
	names := slices.Sorted(maps.Keys(responders))
	most, next := 1, 0
	if everyCombination {
		most = len(names)
	}
	for _, guard := range tried() {
		for _, o := range set.Template(guard).Options {
			for range most {
				name := names[next%len(names)]
				next++
				t.Run(fmt.Sprintf("%s/%s/%s", guard, o.ID, name), func(t *testing.T) {
					t.Parallel()
					r := responders[name]
					c := newCell(t, guard, o.Option, r.sub)
					out := r.run(t, c)
					c.check(t, r, out)
				})
			}
		}
	}
}

// builtin are the templates that looprun brings along.
func builtin(t *testing.T) *templates.Set {
	t.Helper()
	set, err := templates.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, guard := range everyGuard() {
		if set.Template(guard) == nil {
			t.Fatalf("%s has no template", guard)
		}
	}
	for _, tpl := range set.Templates() {
		if tpl.Guard != templates.AnyGuard && !slices.Contains(everyGuard(), tpl.Guard) {
			t.Fatalf("the template of %s belongs to no guard", tpl.Guard)
		}
	}
	return set
}

func everyGuard() []core.GuardID { return slices.Concat(core.GuardIDs(), core.ProtocolIDs()) }

// tried are the guards of the matrix; with -short one of each sort: a limit, what
// repeats, and what the command says.
func tried() []core.GuardID {
	if testing.Short() {
		return []core.GuardID{core.MaxIterations, core.LoopDetected, core.Rejection}
	}
	return everyGuard()
}

// sampled reports whether case n is tried: in the long form each one, and otherwise one in so
// many.
func sampled(n, of int) bool { return everyCombination || n%of == 0 }

// oneShort is the whole list; with -short one of it, another for each n.
func oneShort[T any](list []T, n int) []T {
	if testing.Short() {
		n %= len(list)
		return list[n : n+1]
	}
	return list
}

// answers reports whether this responder may give this answer.
func (c *cell) answers(r responder) bool {
	personal := c.personal || c.option.Action == core.ActionDone
	return c.option.Action != core.ActionReview && (!personal || r.person || r.rule)
}

// check compares what happened with what the answer should have done.
func (c *cell) check(t *testing.T, r responder, out outcome) {
	t.Helper()
	if r.rule && c.option.Action == core.ActionReview {
		c.refusedBeforeAnythingRan(t, out)
		return
	}
	j := readJournal(t, out.dir)
	j.failsClosed(t)
	if !c.answers(r) {
		if c.option.Action == core.ActionReview && r.person {
			return // the responder has looked: it is refused, or asked again
		}
		c.unanswered(t, out, j)
		return
	}
	e := effects[c.option.Action]
	if want := codesOf[e.status]; out.code != want {
		t.Errorf("exit code %d, want %d (%s)", out.code, want, e.status)
	}
	applied, at := j.applied(t)
	if applied == nil {
		t.Fatal("nothing was applied")
	}
	if applied.Guard != c.guard || applied.Option != c.option.ID || applied.Action != c.option.Action {
		t.Errorf("applied %s %q (%s) to %s", applied.Responder, applied.Option, applied.Action, applied.Guard)
	}
	if applied.Responder != r.as || r.reasons && applied.Reason != c.reason {
		t.Errorf("answered by %s, %q; want %s, %q", applied.Responder, applied.Reason, r.as, c.reason)
	}
	if want := map[bool]string{true: "policy.yaml:3"}[r.rule]; applied.Rule != want {
		t.Errorf("rule %q, want %q", applied.Rule, want)
	}
	c.checkCourse(t, j, at, e)
	c.checkEffect(t, j, applied)
	c.audit(t, j, applied, out)
}

// checkCourse checks that the run went on after the answer, once, or not at all.
func (c *cell) checkCourse(t *testing.T, j *journal, at int, e effect) {
	t.Helper()
	if got := j.state.Ending; got == nil || got.Status != e.status {
		t.Errorf("ended as %+v, want %s", got, e.status)
	}
	before, after := j.finished(at)
	want := 1
	if list := j.state.Decomposed(); list != nil {
		want = list.Of() // one for each part
	}
	switch {
	case before != c.after && !(c.judged && before == c.after+1): // answered when it was over
		t.Errorf("%d iterations were finished when the answer came, want %d", before, c.after)
	case e.goesOn && (after != want || j.state.Last.Outcome != core.OutcomeDone):
		t.Errorf("%d iterations after the answer, the last %s; want %d, the last done", after, j.state.Last.Outcome, want)
	case !e.goesOn && after != 0 && !c.during:
		t.Errorf("%d iterations after an answer that ends the run", after)
	case !e.goesOn && j.startedAfter(at) != 0:
		t.Error("an iteration was started after an answer that ends the run")
	}
	if c.during && !e.goesOn && j.state.Last != nil && j.state.Last.Outcome == core.OutcomeDone {
		t.Error("the iteration went on after an answer that ends the run")
	}
}

// checkEffect checks what the action is for.
func (c *cell) checkEffect(t *testing.T, j *journal, d *core.ActionApplied) {
	t.Helper()
	if d.Action.Continues() {
		c.checkLimits(t, j, d)
		c.checkGuidance(t, d)
	}
	switch d.Action {
	case core.ActionSkip:
		if len(d.Known) == 0 || len(j.state.Known) == 0 {
			t.Error("nothing was recorded as a known issue")
		}
	case core.ActionDebug:
		if n := len(j.of(core.TypeDebugFinished)); n != 1 || !strings.Contains(d.Guidance, debugFindings) {
			t.Errorf("%d debug commands, guidance %q", n, d.Guidance)
		}
	case core.ActionReformulate:
		if !strings.HasPrefix(j.state.Task, "Do the parser first") {
			t.Errorf("the task is %q", j.state.Task)
		}
	case core.ActionDecompose:
		if list := j.state.Decomposed(); list.Left() > 0 || list.Of() < 2 || !strings.HasPrefix(list.Done[0], "Parser") {
			t.Errorf("the sub-tasks are: %s", list)
		}
	}
	if c.guard == core.Rejection && len(j.of(core.TypeRejectionDecided)) != 1 && d.Action != core.ActionCancel {
		t.Error("the decision about the rejection is not on record")
	}
	if c.guard == core.LadderExhausted && d.Action == core.ActionContinue && len(j.of(core.TypeCountersReset)) != 1 {
		t.Error("the attempts were not started over")
	}
}

// checkLimits checks that a limit was extended to what is spent and the extension.
func (c *cell) checkLimits(t *testing.T, j *journal, d *core.ActionApplied) {
	t.Helper()
	x, l := c.option.Extend, d.Limits
	switch {
	case x.Iterations > 0 && l.Iterations != c.after+x.Iterations,
		x.Runtime > 0 && (l.Runtime < x.Runtime || l.Runtime > x.Runtime+j.state.Elapsed),
		x.CostPercent > 0 && l.Cost != 1.25+x.CostPercent/100,
		x.TokensPercent > 0 && l.Tokens != 1250+int64(1000*x.TokensPercent/100):
		t.Errorf("the limits became %+v by %+v", l, x)
	}
	if !slices.Contains(d.Resets, c.guard) {
		t.Errorf("the counters of %v were reset", d.Resets)
	}
}

// checkGuidance checks that the next iteration was told what the answer said.
func (c *cell) checkGuidance(t *testing.T, d *core.ActionApplied) {
	t.Helper()
	q := core.Question{Guard: c.guard}
	if (c.option.Guidance != "" || q.WantsWords(c.option)) && d.Guidance == "" {
		t.Error("the guidance is lost")
	}
	if c.during {
		return // the iteration that goes on began before the answer
	}
	got, err := os.ReadFile(filepath.Join(c.home, "guidance"))
	if err != nil || !strings.Contains(string(got), strings.TrimSpace(d.Guidance)) {
		t.Errorf("the next iteration was told %q (%v), want %q", got, err, d.Guidance)
	}
}

// unanswered checks a run that nobody answered for.
func (c *cell) unanswered(t *testing.T, out outcome, j *journal) {
	t.Helper()
	if out.code != c.code {
		t.Errorf("exit code %d, want the guard's %d", out.code, c.code)
	}
	if d, _ := j.applied(t); d != nil {
		t.Errorf("%s by %s was applied, and nobody may answer so", d.Option, d.Responder)
	}
	if e := j.state.Ending; e == nil || e.Status != core.StatusTripped || e.Guard != c.guard || e.Decision != "" {
		t.Errorf("ended as %+v", e)
	}
	want := c.after
	if c.judged {
		want++
	}
	if n := j.state.Iterations; n != want {
		t.Errorf("%d iterations, want %d", n, want)
	}
}

// refusedBeforeAnythingRan checks a policy that answers what only a person can.
func (c *cell) refusedBeforeAnythingRan(t *testing.T, out outcome) {
	t.Helper()
	if out.code != core.ExitFailed || !strings.Contains(out.stderr, "policy.yaml:") {
		t.Errorf("exit code %d, want 125 and the place", out.code)
	}
	if out.dir != "" {
		t.Error("a run was started")
	}
}
