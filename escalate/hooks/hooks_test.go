package hooks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

// TestDocument has what each event gives its hook.
func TestDocument(t *testing.T) {
	b := newBench(t)
	b.OnQuestion, b.OnTrip, b.OnEnd = "cat >>got", "cat >>got", "cat >>got"
	paused := event(8, core.RunPaused{Reason: "the question is kept", Pending: true})
	rested := event(8, core.RunPaused{Reason: "checkpoint"})
	done := event(8, core.RunFinished{Ending: core.Ending{Status: core.StatusDone}})
	b.observe(event(1, core.RunStarted{}), event(2, core.IterationStarted{Iteration: 1}), event(3, core.RunAlive{}),
		tripped, asked, paused, rested, over, done)
	b.Close(t.Context())
	if text := b.text(); text != "" {
		t.Errorf("warned: %s", text)
	}
	all := documents(t, b.read(t, "got"))
	want := []Document{
		{Hook: OnTrip, Summary: "max_iterations tripped: 5 of 5 iterations are used.", Next: "looprun explain " + runID},
		{Hook: OnQuestion, Summary: "Iteration limit: 5 of 5 are used. How to proceed?", Next: "looprun answer " + runID + " OPTION --question q"},
		{Hook: OnEnd, Summary: "paused after 5 iterations: the question is kept", Next: "looprun answer " + runID + " OPTION --question q"},
		{Hook: OnEnd, Summary: "paused after 5 iterations: checkpoint", Next: "looprun resume " + runID},
		{Hook: OnEnd, Summary: "tripped (max_iterations) after 5 iterations; progress: printed nothing", Next: "looprun resume " + runID},
		{Hook: OnEnd, Summary: "done after 5 iterations", Next: "looprun show " + runID},
	}
	if len(all) != len(want) {
		t.Fatalf("hooks ran for %q", names(all))
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range []core.Event{tripped, asked, paused, rested, over, done} {
		want[i].Name, want[i].Dir, want[i].Host = "nightly", "/src/shop", host
		want[i].Schema, want[i].RunID, want[i].Event = Schema, runID, all[i].Event
		if !reflect.DeepEqual(all[i], want[i]) {
			t.Errorf("%+v, want %+v", all[i], want[i])
		}
		var back core.Event
		if err := back.UnmarshalJSON(all[i].Event); err != nil || !reflect.DeepEqual(back, e) {
			t.Errorf("the event came as %s: %v", all[i].Event, err)
		}
	}
}

// TestEndedAfterOne is English.
func TestEndedAfterOne(t *testing.T) {
	r := core.Result{Ending: core.Ending{Status: core.StatusDone}, Iterations: 1}
	if got, want := ended(r, nil), "done after 1 iteration"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNoHooks starts nothing and waits for nothing.
func TestNoHooks(t *testing.T) {
	for name, h := range map[string]*Hooks{"none": {}, "others": {OnTrip: "exit 1"}} {
		h.Observe(asked, state(asked))
		h.Observe(over, state(over))
		if h.idle != nil {
			t.Errorf("%s: a worker runs", name)
		}
		h.Close(t.Context())
	}
}

// TestOrder is that of the events, also when the first hook is slow.
func TestOrder(t *testing.T) {
	b := newBench(t)
	b.OnTrip = "until test -e go; do sleep 0.01; done; cat >>got"
	b.OnQuestion, b.OnEnd = "cat >>got", "cat >>got"
	b.observe(tripped, asked, tripped, asked)
	if err := os.WriteFile(b.file("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.observe(over)
	b.Close(t.Context())
	if got, want := names(documents(t, b.read(t, "got"))), []string{OnTrip, OnQuestion, OnTrip, OnQuestion, OnEnd}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestObserveWaitsForNothing: the hook ends only after Observe has returned.
func TestObserveWaitsForNothing(t *testing.T) {
	b := newBench(t)
	b.OnTrip = "until test -e go; do sleep 0.01; done; touch done"
	b.observe(tripped)
	if _, err := os.Stat(b.file("done")); err == nil {
		t.Error("Observe waited for the hook")
	}
	if err := os.WriteFile(b.file("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.Close(t.Context())
	b.read(t, "done")
}

// TestQueueIsBounded leaves out and counts what is too much, but never the end.
func TestQueueIsBounded(t *testing.T) {
	for _, more := range []int{0, 1, 5} {
		b := newBench(t)
		b.OnTrip, b.OnEnd = "until test -e go; do sleep 0.01; done; echo trip >>got", "echo end >>got"
		b.observe(tripped)
		until(t, "the first hook runs", func() bool {
			b.Hooks.mu.Lock()
			defer b.Hooks.mu.Unlock()
			return len(b.queue) == 0
		})
		for range queueLimit + more {
			b.observe(tripped)
		}
		b.observe(over)
		if len(b.queue) != queueLimit+1 {
			t.Errorf("%d are queued", len(b.queue))
		}
		if err := os.WriteFile(b.file("go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		b.drained(t)
		if want := strings.Repeat("trip\n", queueLimit+1) + "end\n"; b.read(t, "got") != want {
			t.Errorf("%d more: %d bytes, want %d", more, len(b.read(t, "got")), len(want))
		}
		said := strings.HasPrefix(b.text(), fmt.Sprintf("%d events were left out", more))
		if said != (more > 0) {
			t.Errorf("%d more: %q", more, b.text())
		}
	}
}

// TestEndRunsAlthoughAnotherHangs: it has half of the time for itself.
func TestEndRunsAlthoughAnotherHangs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Timeout = 10 * time.Second // half of it is for the end
	b.OnQuestion, b.OnEnd = "touch hangs; sleep 600", "cat >end"
	b.observe(asked)
	until(t, "the hook hangs", func() bool { _, err := os.Stat(b.file("hangs")); return err == nil })
	b.observe(asked, over)
	b.Close(t.Context())
	if all := documents(t, b.read(t, "end")); len(all) != 1 || all[0].Hook != OnEnd {
		t.Errorf("%+v", all)
	}
	for _, want := range []string{"hook on_question (touch hangs; sleep 600): it was ended with the run", "1 events were left out"} {
		if !strings.Contains(b.text(), want) {
			t.Errorf("%q is not in %q", want, b.text())
		}
	}
}

// TestCloseWaitsForTheEnd and ignores what comes after.
func TestCloseWaitsForTheEnd(t *testing.T) {
	b := newBench(t)
	b.OnEnd = "cat >got.tmp; mv got.tmp got; echo ran >>times"
	b.observe(over)
	b.Close(t.Context())
	b.read(t, "got")
	b.observe(over)
	b.Close(t.Context())
	if b.read(t, "times") != "ran\n" {
		t.Error("a hook ran after Close")
	}
}

func TestCloseEndsWithItsContext(t *testing.T) {
	b := newBench(t)
	b.Timeout, b.OnEnd = time.Hour, "touch hangs; sleep 600"
	b.observe(over)
	until(t, "the hook hangs", func() bool { _, err := os.Stat(b.file("hangs")); return err == nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.Close(ctx)
	if !strings.Contains(b.text(), "it was ended with the run") {
		t.Errorf("%q", b.text())
	}
}

// sent keeps what a notifier is given.
type sent struct {
	titles, bodies []string
	err            error
	hang           bool
}

func (s *sent) Notify(ctx context.Context, title, body string) error {
	s.titles, s.bodies = append(s.titles, title), append(s.bodies, body)
	if s.hang {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return s.err
}

// asker brings answers back too.
type asker struct {
	sent
	questions []string
}

func (a *asker) Ask(_ context.Context, question, _, _ string) error {
	a.questions = append(a.questions, question)
	return nil
}

// A question goes to Ask where answers come back, and nothing else does.
func TestAsker(t *testing.T) {
	b := newBench(t)
	to := &asker{}
	b.Notify = to
	b.observe(tripped, asked, event(8, core.RunPaused{Reason: "the question is kept", Pending: true}), over)
	b.Close(t.Context())
	if !reflect.DeepEqual(to.questions, []string{"q"}) || !reflect.DeepEqual(to.titles, []string{"looprun: tripped (nightly)"}) {
		t.Errorf("%q, %q", to.questions, to.titles)
	}
}

func TestNotify(t *testing.T) {
	b := newBench(t)
	to := &sent{}
	b.Notify = to
	b.observe(tripped, asked, event(8, core.RunPaused{Reason: "the question is kept", Pending: true}), over)
	b.Close(t.Context())
	if want := []string{"looprun asks (nightly)", "looprun: tripped (nightly)"}; !reflect.DeepEqual(to.titles, want) {
		t.Errorf("%q", to.titles)
	}
	host, _ := os.Hostname()
	if want := "Iteration limit: 5 of 5 are used. How to proceed?\nmake test · /src/shop\nFAIL login\ncontinue: Continue +5\nin /src/shop on " + host + "\nlooprun answer " + runID + " OPTION --question q"; to.bodies[0] != want {
		t.Errorf("%q", to.bodies[0])
	}
	if b.text() != "" {
		t.Error(b.text())
	}
}

// A pause is told where its question was not: it was asked by an earlier looprun, or its message failed.
func TestNotifyOfAPause(t *testing.T) {
	paused := event(8, core.RunPaused{Reason: "the question is kept", Pending: true})
	for name, c := range map[string]struct {
		fails  error
		events []core.Event
		want   []string
	}{
		"it was told":      {nil, []core.Event{asked, paused}, []string{"looprun asks (nightly)"}},
		"asked by another": {nil, []core.Event{paused}, []string{"looprun: paused (nightly)"}},
		"its message fails": {
			errors.New("no network"),
			[]core.Event{asked, paused},
			[]string{"looprun asks (nightly)", "looprun: paused (nightly)"},
		},
	} {
		b := newBench(t)
		to := &sent{err: c.fails}
		b.Notify = to
		b.observe(c.events...)
		b.Close(t.Context())
		if !reflect.DeepEqual(to.titles, c.want) {
			t.Errorf("%s: %q", name, to.titles)
		}
	}
}

// TestNotifierThatFails is reported; the hook of the same event runs.
func TestNotifierThatFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to   *sent
		want string
	}{
		{&sent{err: errors.New("\x1b[31mno\nluck")}, "could not notify for on_end: no luck; the run continues"},
		{&sent{hang: true}, "could not notify for on_end: it took longer than 3s"},
	} {
		b := newBench(t)
		b.Notify, b.OnEnd = c.to, "cat >got"
		if c.to.hang {
			b.Timeout = short
		}
		b.observe(over)
		b.drained(t)
		b.read(t, "got")
		if !strings.Contains(b.text(), c.want) {
			t.Errorf("%q is not in %q", c.want, b.text())
		}
	}
}

// deaf is a notifier that does not look at its context.
type deaf chan struct{}

func (d deaf) Notify(context.Context, string, string) error {
	<-d
	return nil
}

// TestNotifierThatDoesNotReturn is left behind; the hooks go on.
func TestNotifierThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	to := make(deaf)
	defer close(to)
	b.Notify, b.Timeout, b.OnTrip = to, short, "cat >got"
	b.observe(over, tripped)
	b.drained(t)
	b.read(t, "got")
	if !strings.Contains(b.text(), "it took longer than 3s") {
		t.Errorf("%q", b.text())
	}
}

// TestMask takes secrets out of everything that leaves.
func TestMask(t *testing.T) {
	const secret = "hunter2"
	b := newBench(t)
	to := &sent{err: errors.New("with " + secret)}
	b.Notify, b.OnQuestion = to, "cat >>got; echo "+secret+"; exit 1"
	b.Mask = func(s string) string { return strings.ReplaceAll(s, secret, "[secret]") }
	e := asked
	q := e.Data.(core.QuestionAsked)
	q.Text = "the password is " + secret + " or hunter\x1b[0m2"
	q.Details = []string{"a " + secret}
	q.Options = []core.Option{{ID: "x", Label: secret, Description: `"` + secret + `"`}}
	e.Data = q
	b.observe(e)
	b.Close(t.Context())
	all := b.read(t, "got") + b.text() + strings.Join(to.titles, "") + strings.Join(to.bodies, "")
	if strings.Contains(all, secret) || strings.Count(all, "[secret]") < 7 {
		t.Errorf("%s", all)
	}
	var back core.Event
	if err := back.UnmarshalJSON(documents(t, b.read(t, "got"))[0].Event); err != nil || back.Seq != e.Seq || back.Elapsed != e.Elapsed {
		t.Errorf("%+v, %v", back, err)
	}
}
