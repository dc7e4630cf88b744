package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/looprun/looprun/core"
)

// inbox holds the requests of other goroutines to a loop: from the command, from people at
// other terminals, and from a responder that runs a command of its own. The goroutine that
// runs the loop takes them out and passes them to handle.
type inbox struct {
	messages chan message
	over     chan struct{} // closed when the loop has ended
	waiting  []message     // those that came while a responder was asked
}

// message is a *post, an *asker or an *elsewhere.
type message any

func newInbox() inbox {
	return inbox{messages: make(chan message), over: make(chan struct{})}
}

// send leaves a message. It returns an error if nobody will take it.
func (b *inbox) send(ctx context.Context, m message) error {
	if ctx.Err() != nil { // else chance would decide whether it is taken
		return context.Cause(ctx)
	}
	select {
	case b.messages <- m:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-b.over:
		return core.ErrEnded
	}
}

// next yields the next message: the oldest one waiting, before new ones.
func (b *inbox) next() <-chan message {
	if len(b.waiting) == 0 {
		return b.messages
	}
	next := make(chan message, 1)
	next <- b.waiting[0]
	return next
}

// keep makes a message wait until no responder is being asked.
func (b *inbox) keep(m message) { b.waiting = append(b.waiting, m) }

// remove removes the waiting messages for which holds returns true.
func (b *inbox) remove(holds func(message) bool) {
	b.waiting = slices.DeleteFunc(b.waiting, holds)
}

// asks reports whether holds returns true for a question that waits for its turn.
func (b *inbox) asks(holds func(*asker) bool) bool {
	return slices.ContainsFunc(b.waiting, func(m message) bool {
		a, ok := m.(*asker)
		return ok && holds(a)
	})
}

// handle carries out a message. While a responder is being asked, only messages about its
// question are handled; the others wait.
func (l *Loop) handle(ctx context.Context, m message) error {
	l.inbox.remove(func(w message) bool { return w == m })
	switch m := m.(type) {
	case *post:
		if l.prompt != nil && !m.urgent {
			l.inbox.keep(m)
			return nil
		}
		return m.carryOut()
	case *asker:
		if l.prompt != nil {
			return l.queue(m)
		}
		return l.askForCommand(ctx, m)
	case *elsewhere:
		m.answer.Responder = cmp.Or(m.answer.Responder, core.RespondedByProgram)
		switch {
		case l.prompt != nil && l.prompt.question.ID == m.questionID:
			l.prompt.take(m)
		case l.inbox.asks(func(a *asker) bool { return a.recorded == m.questionID }):
			m.done <- l.driver.Answer(m.questionID, m.answer) // its asker has it in its turn
		default:
			m.done <- l.state.NotWaiting(m.questionID)
		}
	}
	return nil
}

// drain handles messages that were sent during an iteration that has already ended. If all
// iterations are short, nobody else would take them before the run ends.
func (l *Loop) drain(ctx context.Context) error {
	for {
		select {
		case m := <-l.inbox.next():
			if err := l.handle(ctx, m); err != nil || l.state.Interrupt != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// post is a function to be called by the goroutine that runs the loop.
type post struct {
	do     func() error
	done   chan error
	urgent bool        // from the responder who is asked: it waits for no answer
	taken  atomic.Bool // it was begun, or withdrawn
}

func (p *post) carryOut() error {
	if !p.taken.CompareAndSwap(false, true) {
		return nil
	}
	err := p.do()
	p.done <- err
	return err
}

// elsewhere is an answer from another terminal.
type elsewhere struct {
	questionID string
	answer     core.Answer
	done       chan error
}

// asker waits for the answer to a question of the command.
type asker struct {
	ctx      context.Context
	key      string
	question core.Question
	reply    chan reply
	recorded string // the id of the question; empty if it is not in the journal
}

// reply is an answer, and the channel that is told when it counts.
type reply struct {
	core.Answer
	err      error
	counted  chan error // nil: nobody waits for that
	question core.Question
	earlier  bool   // it was given when the same was asked before
	panicked *Panic // of the responder
}

func (h reply) asked() (core.Asked, error) {
	if h.err != nil {
		return core.Asked{Question: h.question}, h.err
	}
	return core.Asked{Question: h.question, Answer: &h.Answer, Earlier: h.earlier}, nil
}

func (h reply) confirm(err error) {
	if h.counted != nil {
		h.counted <- err
	}
}

// tooLate rejects an answer that came as the run ended: it is not recorded, and the question
// is asked again when the run is resumed.
func (h reply) tooLate() {
	h.confirm(fmt.Errorf("%w: it was interrupted before the answer counted", core.ErrEnded))
}

// Tell records a message from the command: a signal, a rejection, a cost. It returns when the
// message is recorded, which does not happen while a question is being asked. It returns
// [core.ErrEvent] if the event cannot happen now, and [core.ErrEnded] if the loop has ended.
// It may be called from any goroutine once Start or Resume has returned.
func (l *Loop) Tell(ctx context.Context, d core.Data) error {
	return l.request(ctx, func() error { return l.driver.Tell(d) })
}

// Order records an order from outside the run: words, or a pause. For a stop, end the run's
// context instead, with an [Interrupt] that holds the order as the cause. Order returns when
// the order has been recorded, which does not happen while a question is being asked. It fails
// with [core.ErrEvent] if the run cannot take the order now, and with [core.ErrEnded] if the
// loop has ended. Any goroutine may call it once Start or Resume has returned.
func (l *Loop) Order(ctx context.Context, d core.OrderReceived) error {
	return l.request(ctx, func() error {
		if err := l.driver.Refuse(d); err != nil {
			return err
		}
		return l.record(d)
	})
}

// request posts something that may be refused. A refusal is returned to the caller and is not
// a failure of the loop.
func (l *Loop) request(ctx context.Context, do func() error) error {
	var refused error
	err := l.post(ctx, func() error {
		err := do()
		if errors.Is(err, core.ErrEvent) {
			refused, err = err, nil
		}
		return err
	})
	return cmp.Or(refused, err)
}

// post has the goroutine that runs the loop call a function, and returns when it has done so
// or never will. An error from the function is looprun's own.
func (l *Loop) post(ctx context.Context, do func() error) error {
	return l.await(ctx, &post{do: do, done: make(chan error, 1)})
}

func (l *Loop) await(ctx context.Context, p *post) error {
	_ = l.inbox.send(ctx, p) // what keeps it from being taken ends the wait too
	var gone error
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		gone = context.Cause(ctx)
	case <-l.inbox.over:
		gone = core.ErrEnded
	}
	if p.taken.CompareAndSwap(false, true) { // it waited, and is withdrawn
		return gone
	}
	return <-p.done
}

// Ask puts a question of the command to the responders and returns its answer, with the
// question that was asked. Questions with the same key that wait at the same time are asked
// once, and the first of them is returned. A select or text question that the command asks
// again, with the same AskID and the same words, gets its earlier answer, unless Again is set.
// The error is [core.ErrNoAnswer] if nobody answered, [core.ErrDeferred] if the question is
// kept and the run pauses after the iteration, and [core.ErrEnded] if the loop has ended. Ask
// may be called from any goroutine once Start or Resume has returned.
func (l *Loop) Ask(ctx context.Context, key string, q core.Question) (core.Asked, error) {
	a := &asker{ctx: ctx, key: key, question: q, reply: make(chan reply, 1)}
	_ = l.inbox.send(ctx, a) // what keeps it from being taken ends the wait too
	var gone error
	select {
	case h := <-a.reply:
		return h.asked()
	case <-ctx.Done(): // the question is withdrawn, or never asked
		gone = context.Cause(ctx)
	case <-l.inbox.over:
		gone = core.ErrEnded
	}
	select {
	case h := <-a.reply:
		return h.asked()
	default:
		return core.Asked{}, gone
	}
}

// Answer passes an answer from elsewhere to the question with that id, which must be the open
// one: an answer counts only for the question that it names. The first valid answer counts; a
// later one is refused with [core.ErrAnswered], which names who was first. Answer may be
// called from any goroutine.
func (l *Loop) Answer(ctx context.Context, questionID string, a core.Answer) error {
	e := &elsewhere{questionID, a, make(chan error, 1)}
	if err := l.inbox.send(ctx, e); err != nil {
		return err
	}
	return <-e.done
}

// errGone ends a prompt when nobody waits for its answer any longer.
var errGone = errors.New("the client that asked has disconnected")

// queue keeps a question that arrives while another is being asked. If it is the same
// question, its asker waits for the same answer. Any other is recorded now, so that it is
// asked on resume if the run ends before its turn.
func (l *Loop) queue(a *asker) error {
	if l.askers != nil && l.askers.key == a.key {
		l.askers.join(a)
		return nil
	}
	twin := l.inbox.asks(func(w *asker) bool { return w.key == a.key })
	l.inbox.keep(a)
	if twin || a.ctx.Err() != nil || l.state.Kept(a.question) != nil {
		return nil
	}
	q := l.driver.FromCommand(a.question)
	if l.state.Remembered(q) != nil || l.driver.Refuse(core.QuestionAsked{Question: q}) != nil {
		return nil // its turn decides
	}
	a.recorded = q.ID
	return l.record(core.QuestionAsked{Question: q})
}

// askers are all askers that wait for the answer to the same question.
type askers struct {
	key    string
	ctx    context.Context
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	left   int
	all    []*asker
}

func newAskers(ctx context.Context, key string) *askers {
	g := &askers{key: key}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	return g
}

// join adds an asker. When the last of them is gone, the question is withdrawn.
func (g *askers) join(a *asker) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = append(g.all, a)
	g.left++
	context.AfterFunc(a.ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.left--; g.left == 0 {
			g.cancel(errGone)
		}
	})
}

func (g *askers) reply(h reply) {
	for _, a := range g.all {
		a.reply <- h
	}
}

// Advice returns an assistant's advice against a question of the command, given when it was
// asked earlier, here or in a nested run; nil if there is none. It returns once no question is
// being asked, and with [core.ErrEnded] if the loop has ended. It may be called from any
// goroutine once Start or Resume has returned.
func (l *Loop) Advice(ctx context.Context, q core.Question) (*core.Advice, error) {
	var known *core.Advice
	err := l.post(ctx, func() error {
		q.From = core.FromCommand
		known = l.driver.WithAdvice(q).Advice
		return nil
	})
	return known, err
}
