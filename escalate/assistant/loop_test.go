package assistant

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/templates"
)

// ends runs a loop of 3 iterations that never succeeds, with these responders.
func ends(t *testing.T, responders ...core.Responder) core.Result {
	t.Helper()
	set, err := templates.Load()
	if err != nil {
		t.Fatal(err)
	}
	r, err := looprun.Run(t.Context(), looprun.Config{
		Work:   engine.Func(func(context.Context, engine.Invocation) error { return errors.New("error: it is locked") }),
		Limits: core.Limits{Iterations: 3, Runtime: core.Off, Loop: core.Off, Errors: core.Off},
		Guards: guards.Default(), Questions: set, Responders: responders,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestInALoop(t *testing.T) {
	goOn := `say {"reason": "Once more.", "answer": "continue"}`
	stop := `say {"reason": "Stuck.", "answer": "cancel"}`
	person := core.Vouch(core.ResponderFunc(func(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
		return core.Answer{Option: "accept", Responder: core.RespondedByUser, Person: true, Reason: q.ForPerson().Text}, nil
	}))
	for name, c := range map[string]struct {
		parts      []string
		escalation bool
		others     []core.Responder
		status     core.Status
		iterations int
		by         string
	}{
		"goes on, then stops":      {[]string{goOn, stop}, false, nil, core.StatusCancelled, 8, "assistant"},
		"garbage goes nowhere":     {[]string{"say continue"}, false, nil, core.StatusTripped, 3, ""},
		"garbage goes to person":   {[]string{"say continue"}, false, []core.Responder{person}, core.StatusAccepted, 3, "user"},
		"a rejection goes on":      {[]string{stop}, true, []core.Responder{person}, core.StatusAccepted, 3, "user"},
		"a rejection goes nowhere": {[]string{stop}, true, nil, core.StatusTripped, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.parts...)
			f.Escalation = c.escalation
			r := ends(t, append([]core.Responder{New(f.Options)}, c.others...)...)
			if r.Status != c.status || r.Iterations != c.iterations || r.Responder != c.by {
				t.Errorf("%+v, want %s after %d by %q", r, c.status, c.iterations, c.by)
			}
			if advised := strings.Contains(r.Reason, "The assistant recommended rejecting this: “Stuck.”"); advised != c.escalation {
				t.Errorf("the reason is %q", r.Reason)
			}
		})
	}
}
