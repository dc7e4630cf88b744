package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// The one to blame names an iteration in which both failed; what the check counted stays, and
// each of the two changes the hash.
func TestWhoNamesTheFailure(t *testing.T) {
	check := signature.Signature{Hash: 1, Loose: 2, Core: 3, Label: "check", Kind: signature.KindTestFail, Failing: 2, Passed: 3, Total: 5, Checks: []string{"a"}}
	work := signature.Signature{Hash: 4, Loose: 5, Core: 6, Label: "work", Kind: signature.KindError}
	silent := signature.Signature{Hash: 4, Loose: 5, Label: "work", Kind: signature.KindSilent}
	for _, c := range []struct {
		work   signature.Signature
		blamed bool
		label  string
	}{{work, true, "work"}, {work, false, "check"}, {silent, true, "check"}} {
		got := both(check, c.work, c.blamed)
		if got.Label != c.label || got.Failing != 2 || got.Total != 5 || !slices.Equal(got.Checks, check.Checks) {
			t.Errorf("%+v, want it named by the %s", got, c.label)
		}
	}
	other := work
	other.Core = 7
	if a, b := both(check, work, false).Core, both(check, other, false).Core; a == b || a == 0 {
		t.Errorf("the cores are %d and %d", a, b)
	}
	check.Core = 0
	if got := both(check, work, false).Core; got != 0 {
		t.Errorf("a check without a core got %d", got)
	}
}

// A promise by signal ends with work that fails after it, unless that counts as no failure or
// as done.
func TestASignalIsKept(t *testing.T) {
	j := DefaultJudge()
	none, err := ParseCodes("none")
	if err != nil {
		t.Fatal(err)
	}
	three, err := ParseCodes("3")
	if err != nil {
		t.Fatal(err)
	}
	lenient, passing := j, j
	lenient.WorkErrors, passing.Done = none, three
	for name, c := range map[string]struct {
		j    Judge
		work Exit
		want bool
	}{
		"exit 0":             {j, Exit{Cause: core.CauseExited}, true},
		"failed":             {j, Exit{Cause: core.CauseExited, Code: 3}, false},
		"no failure":         {lenient, Exit{Cause: core.CauseExited, Code: 3}, true},
		"a code that passes": {passing, Exit{Cause: core.CauseExited, Code: 3}, true},
		"killed":             {lenient, Exit{Cause: core.CauseExited, Code: 137, Signal: 9}, false},
		"cut off by time":    {j, Exit{Cause: core.CauseIterationTimeout, Code: -1}, true},
		"the run is over":    {j, Exit{Cause: core.CauseMaxRuntime, Code: -1}, false},
		"its turn failed":    {j, Exit{Cause: core.CauseExited, Failure: "no credit"}, false},
	} {
		if got := c.j.keepsSignal(&c.work); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What an assistant recommended to reject is not let through because nobody answered: the
// answer is no where the question takes one.
func TestUnadvised(t *testing.T) {
	advice := &core.Advice{Text: "it deletes the data"}
	confirm := core.Question{ID: "q", Kind: core.KindConfirm, From: core.FromCommand, Options: []core.Option{{ID: core.Yes}, {ID: core.No}}}
	selects := core.Question{ID: "q", Kind: core.KindSelect, From: core.FromCommand, Options: []core.Option{{ID: core.Yes}, {ID: core.No}}}
	with := func(q core.Question, change func(*core.Question)) core.Question {
		q.Advice = advice
		change(&q)
		return q
	}
	for name, c := range map[string]struct {
		q       core.Question
		answer  bool
		advised bool
		reason  string
	}{
		"no advice":                 {confirm, false, false, ""},
		"advice":                    {with(confirm, func(*core.Question) {}), true, false, advice.Text},
		"advice with a reason":      {with(confirm, func(q *core.Question) { q.Advice = &core.Advice{Text: "no", Reason: "too risky"} }), true, false, "too risky"},
		"for a run inside":          {with(confirm, func(q *core.Question) { q.Path = []string{"inner"} }), false, false, ""},
		"a person's alone":          {with(confirm, func(q *core.Question) { q.Exclusive = true }), false, true, ""},
		"no question of yes and no": {with(selects, func(*core.Question) {}), false, true, ""},
	} {
		a, err := unadvised(c.q, "nobody answered")
		if (err == nil) != c.answer || err != nil && !errors.Is(err, core.ErrNoAnswer) || errors.Is(err, core.ErrAdvised) != c.advised || errors.Is(err, core.ErrInterrupted) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (a.Option != core.No || a.Reason != c.reason) {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// Each way to be told to stop is recorded as what it was.
func TestWhoInterrupts(t *testing.T) {
	order := core.OrderReceived{Order: core.OrderSay}
	for name, c := range map[string]struct {
		err  error
		want core.Data
	}{
		"a signal": {&Interrupt{Signal: "SIGTERM", Code: 143}, core.InterruptReceived{Signal: "SIGTERM", Code: 143}},
		"an order": {&Interrupt{Order: &order}, order},
		"a key":    {core.ErrInterrupted, core.InterruptReceived{Signal: "SIGINT", Code: 130}},
		"a client": {context.Canceled, core.InterruptReceived{Reason: context.Canceled.Error(), Code: 130}},
	} {
		if got := interruptedBy(c.err); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if says := (&Interrupt{Order: &order}).Error(); !strings.HasPrefix(says, "stopped by ") {
		t.Errorf("an order says %q", says)
	}
	for code, want := range map[int]syscall.Signal{143: syscall.SIGTERM, 130: syscall.SIGINT, 101: syscall.SIGTERM} {
		if got := stopSignal(&Interrupt{Code: code}); got != want {
			t.Errorf("%d is sent as %s", code, got)
		}
	}
}

// says is a step that prints and ends.
type says struct {
	text string
	end  Exit
}

func (says) Argv() []string { return nil }

func (s says) Run(_ context.Context, in Invocation) Exit {
	in.Stdout([]byte(s.text))
	return s.end
}

// Work that a time limit ended says nothing about what its check found, and a tree that cannot
// be read is not known to be unmoved.
func TestTheCheckSignsAfterATimeLimit(t *testing.T) {
	run := func(check string) (core.IterationResult, *Executor) {
		x := &Executor{
			Work:  says{"", Exit{Code: -1, Cause: core.CauseIterationTimeout}},
			Check: says{check, Exit{Code: 1, Cause: core.CauseExited}},
			Agent: "agent", Tree: func() signature.Hash { return 0 },
		}
		d, err := x.Run(t.Context(), core.Iteration{Number: 1})
		if err != nil {
			t.Fatal(err)
		}
		return d, x
	}
	a, x := run("Error: disk full\n")
	if b, _ := run("Error: no route to host\n"); a.Signature.Hash == b.Signature.Hash {
		t.Errorf("two failures have one signature: %+v", a.Signature)
	}
	if x.Unmoved() {
		t.Error("the tree is not known, and counts as unmoved")
	}
}
