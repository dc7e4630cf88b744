package engine

import (
	"context"
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

// repeatedTurn is the cause of work that was ended because it repeated itself.
type repeatedTurn struct{ core.TurnRepeated }

func (r *repeatedTurn) Error() string { return "ended because " + r.String() }

// Repeater is a [Runner] that notices when the running work repeats itself. If nobody listens,
// it ends the work itself and reports that in its result.
type Repeater interface {
	// Repeats yields each repetition once. Repetitions that nobody has received by the end of
	// the work are in the result of the iteration.
	Repeats() <-chan core.TurnRepeated
	// EndTurn ends the work because of it. The work done until then is judged.
	EndTurn(core.TurnRepeated)
}

// turn is the data that an [Executor] keeps about the running work.
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

// inTurn returns the context for the work; over must be called when the work has ended. For an
// iteration that was cut off, no further repetition is reported.
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

// repeated passes a repetition on, or ends the work if nobody takes it.
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

// call checks whether the agent repeats this call. Results are compared like those of
// iterations: times, ids and the like may differ.
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

// say checks whether the agent repeats its messages.
func (s *stream) say(p []byte) {
	if s.turn.Times == 0 {
		return
	}
	if f, ok := s.turn.Say(p); ok {
		s.of.repeated(f)
	}
}

// repeats returns the runner's repetitions; nil if it reports none.
func (l *Loop) repeats() <-chan core.TurnRepeated {
	if r, ok := l.Runner.(Repeater); ok && l.state.Limits.TurnLoop > 0 {
		return r.Repeats()
	}
	return nil
}

// repeated records a repetition. It ends the turn, or suspends it while the guard's trip is
// settled, and reports whether the iteration continues. If the turn has ended meanwhile, it is
// judged by its work.
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
