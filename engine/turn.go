package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/turnloop"
	"github.com/looprun/looprun/signature"
)

// repeatedTurn is the cause with which the work is ended that repeated itself.
type repeatedTurn struct{ core.TurnRepeated }

func (r *repeatedTurn) Error() string { return "ended since " + r.String() }

// errTurnLoop is the cause with which an iteration is ended when nobody let it go on past
// a repetition.
var errTurnLoop = errors.New("turn_loop tripped")

// Repeater is a [Runner] that sees the work repeat itself while it runs. One to whom
// nobody listens ends the work itself, and says so in its result.
type Repeater interface {
	// Repeats gives each repetition once. What nobody has taken by the end of the work is
	// in the result of the iteration.
	Repeats() <-chan core.TurnRepeated
	// EndTurn ends the work because of it. What it did before is judged.
	EndTurn(core.TurnRepeated)
}

// turn is what an [Executor] knows of the work that runs.
type turn struct {
	iteration int
	told      chan core.TurnRepeated // nil: nobody listens
	end       context.CancelCauseFunc
	known     bool        // it repeats itself: until somebody lets it go on, that is no news
	said      []core.Data // the repetitions that nobody was told
}

// Repeats implements [Repeater].
func (x *Executor) Repeats() <-chan core.TurnRepeated {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.turn.told == nil {
		x.turn.told = make(chan core.TurnRepeated, 1)
	}
	return x.turn.told
}

// EndTurn implements [Repeater].
func (x *Executor) EndTurn(r core.TurnRepeated) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.endTurn(r)
}

func (x *Executor) endTurn(r core.TurnRepeated) {
	if x.turn.end != nil {
		x.turn.end(&repeatedTurn{r})
	}
}

// beginTurn prepares for the work of an iteration.
func (x *Executor) beginTurn(it core.Iteration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn = turn{iteration: it.Number, told: x.turn.told}
	select { // of the iteration before
	case <-x.turn.told:
	default:
	}
	for i := range x.work.streams {
		x.work.streams[i].turn.Times = max(0, it.TurnLoop)
	}
	x.work.repeated = x.repeated
}

// inTurn is the context for the work; over says that the work has ended. Of an iteration
// that is cut off nothing more is said.
func (x *Executor) inTurn(iteration context.Context) (ctx context.Context, over func()) {
	ctx, end := context.WithCancelCause(iteration)
	x.mu.Lock()
	x.turn.end = end
	x.mu.Unlock()
	return ctx, func() {
		x.mu.Lock()
		x.turn.end = nil
		select {
		case r := <-x.turn.told:
			if iteration.Err() == nil {
				x.turn.said = append(x.turn.said, r)
			}
		default:
		}
		x.mu.Unlock()
		end(nil)
	}
}

// repeated passes a repetition on, or ends the work where nobody takes it.
func (x *Executor) repeated(f turnloop.Found) {
	r := core.TurnRepeated{Iteration: x.turn.iteration, Times: f.Times, Error: f.Error}
	if f.Calls {
		r.Calls = f.What
	} else {
		r.Text = strings.Join(f.What, " ")
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.turn.known {
		return
	}
	x.turn.known = true
	select {
	case x.turn.told <- r:
	default:
		x.turn.said = append(x.turn.said, r)
		x.endTurn(r)
	}
}

// call looks whether the agent repeats this call. Results are compared as those of
// iterations are: times, ids and the like may differ.
func (s *stream) call(c carrier.Call) {
	if s.turn.Times == 0 || c.Name == "" || c.InputHash == 0 { // nobody knows what it was
		return
	}
	a := s.of
	if a.results == nil {
		a.results = signature.New(a.options)
	}
	a.results.Reset()
	_, _ = a.results.Stdout().Write(c.Output)
	code := 0
	if c.Failed {
		code = 1
	}
	result := a.results.SumContent(code)
	call := turnloop.Call{
		Key:   xxhash.Sum64String(fmt.Sprint(c.Agent, "\x00", c.Name, "\x00", c.InputHash, result.Hash)),
		Shown: strings.TrimSpace(c.Name + " " + termsafe.Short(string(c.Input), callShown)),
	}
	if !c.Silent && (c.Failed || result.Kind == signature.KindError) {
		call.Failed = xxhash.Sum64String(fmt.Sprint(c.Agent, "\x00", c.Name, "\x00", result.Hash))
		call.Error = termsafe.Short(string(c.Output), callShown)
	}
	if f, ok := s.turn.Call(call, time.Now()); ok {
		a.repeated(f)
	}
}

// callShown is how many characters of a call's input are shown.
const callShown = 120

// say looks whether the agent repeats what it says.
func (s *stream) say(p []byte) {
	if s.turn.Times == 0 {
		return
	}
	if f, ok := s.turn.Say(p); ok {
		s.of.repeated(f)
	}
}

// repeats are those of the runner; nil: it has none.
func (l *Loop) repeats() <-chan core.TurnRepeated {
	if r, ok := l.Runner.(Repeater); ok && l.state.Limits.TurnLoop > 0 {
		return r.Repeats()
	}
	return nil
}

// repeated puts a repetition on record and ends the turn, or has the guard's trip settled
// while the turn stands still, and says whether the iteration goes on. What has ended
// meanwhile is judged by what it did.
func (l *Loop) repeated(ctx context.Context, r *running, what core.TurnRepeated) (bool, error) {
	if err := l.record(what); err != nil {
		return false, err
	}
	runner, _ := l.Runner.(Repeater)
	switch {
	case r.over():
		return true, nil
	case !l.driver.Due():
		runner.EndTurn(what)
		return true, nil
	}
	return l.overtime(ctx, r)
}
