package session

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/socket"
	"github.com/looprun/looprun/scratchpad"
)

// errInside refuses answers, orders and stops that come from the run's own command, or from
// anything that the command started.
var errInside = errors.New("a run's own command cannot answer, guide or stop it; use another terminal")

// Ordered is an order from outside to an active run.
type Ordered struct {
	Order core.Order `json:"order"`
	Words string     `json:"words,omitempty"`
	Via   string     `json:"via,omitempty"`
	Token string     `json:"token,omitempty"` // as in [Answered]
}

// order takes an order from another process, but never from the run's own command.
func (t *talk) order(ctx context.Context, peer socket.Peer, m Ordered) (any, error) {
	if err := t.admit(peer, m.Token); err != nil {
		return nil, err
	}
	d := core.OrderReceived{Order: m.Order, Words: m.Words, Responder: core.RespondedByUser}
	switch m.Via {
	case core.ViaWeb:
		d.Via = m.Via
	case core.ViaMCP: // an agent is no person
		d.Via, d.Responder = m.Via, core.RespondedByProgram
	}
	if d.Order != core.OrderStop {
		return nil, t.s.loop.Order(ctx, d)
	}
	stop := t.s.interrupt.Load()
	if stop == nil {
		return nil, errors.New("the run is just starting or ending; try again")
	}
	(*stop)(&engine.Interrupt{Signal: "SIGINT", Code: 128 + int(syscall.SIGINT), Order: &d})
	return nil, nil
}

// Order sends an order to an active run, on behalf of somebody outside the run.
func (t TrustFlag) Order(dir string, o Ordered) error {
	if InsideOf(dir) {
		return errInside
	}
	if err := t.Check(dir); err != nil {
		return err
	}
	w, err := Look(dir)
	switch {
	case err != nil:
		return err
	case !w.Live:
		return w.rests(o.Order)
	case o.Order != core.OrderStop && len(w.Questions) > 0:
		return config.Usage(fmt.Sprintf("run %s waits with a question: %s", w.State.RunID, w.List()),
			fmt.Sprintf("answer it: looprun answer %s, with --guidance WORDS for what it should do", w.State.RunID))
	}
	err = Tell(dir, kindOrder, o)
	if gone(err) { // meanwhile
		if again, lookErr := Look(dir); lookErr == nil && !again.Live {
			return again.rests(o.Order)
		}
	}
	return err
}

// rests returns the error that the run is not active, with what can be done instead.
func (w *Waiting) rests(o core.Order) error {
	id, end := w.State.RunID, w.State.Ending
	text := fmt.Sprintf("run %s is not active: ", id)
	resume := "looprun resume " + id
	switch {
	case scratchpad.Locked(w.Dir):
		return config.Usage(fmt.Sprintf("run %s is alive and cannot be reached", id), "use its own terminal")
	case end == nil:
		text += "it was killed"
	default:
		text += "it is " + string(end.Status)
		if end.Status.Reopens() {
			resume += " --reopen"
		} else if !end.Status.Resumable() {
			return config.Usage(text, "start a new one")
		}
	}
	switch {
	case o == core.OrderSay && len(w.Questions) > 0:
		return config.Usage(text, fmt.Sprintf("answer with looprun answer %s --guidance WORDS --resume", id))
	case o == core.OrderSay:
		return config.Usage(text, resume+" continues it, and then looprun say works")
	}
	return config.Usage(text, "there is nothing to "+string(o)+"; continue it with "+resume)
}
