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

// inbox is where other goroutines leave what they want of a loop: the command that
// talks back, people at other terminals, and a responder that runs a command of its
// own. The goroutine that runs the loop takes it out, with handle.
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

// send leaves a message. Its error says that nobody will take it.
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

// next is the next message: of those that waited the first, before new ones.
func (b *inbox) next() <-chan message {
	if len(b.waiting) == 0 {
		return b.messages
	}
	next := make(chan message, 1)
	next <- b.waiting[0]
	return next
}

// keep lets a message wait until no responder is asked.
func (b *inbox) keep(m message) { b.waiting = append(b.waiting, m) }

// remove takes those out of the waiting messages for which it holds.
func (b *inbox) remove(holds func(message) bool) {
	b.waiting = slices.DeleteFunc(b.waiting, holds)
}

// handle carries out what a message wants. While a responder is asked that is only
// what belongs to its question; all else waits.
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
			l.queue(m)
			return nil
		}
		return l.askForCommand(ctx, m)
	case *elsewhere:
		if l.prompt == nil || l.prompt.question.ID != m.questionID {
			m.done <- l.state.NotWaiting(m.questionID)
			return nil
		}
		l.prompt.take(m)
	}
	return nil
}

// drain handles what was sent during an iteration that is over already. Where all are
// short, nobody else would take it before the run has ended.
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

// post is something to be carried out by the goroutine that runs the loop.
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

// asker is one who waits for the answer to a question of the command.
type asker struct {
	ctx      context.Context
	key      string
	question core.Question
	reply    chan reply
}

// reply is an answer, and whom to tell that it counts.
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

// tooLate is for an answer that came with the end of the run: it is not put on
// record, and the question is asked again when the run is resumed.
func (h reply) tooLate() {
	h.confirm(fmt.Errorf("%w: it was interrupted before the answer counted", core.ErrEnded))
}

// Tell puts something on record that the command said: a signal, a rejection, a
// cost. It returns when that is on record, which is not while a question is
// asked. [core.ErrEvent] says that it cannot happen now, [core.ErrEnded] that the loop has
// ended. Any goroutine may call it once Start or Resume has returned.
func (l *Loop) Tell(ctx context.Context, d core.Data) error {
	return l.request(ctx, func() error { return l.driver.Tell(d) })
}

// Order puts on record what somebody outside tells the run: words, or a pause. A stop is the
// end of the run's context, with an [Interrupt] that has it as the cause. It returns when that
// is on record, which is not while a question is asked. [core.ErrEvent] says that the run
// cannot be told that now, [core.ErrEnded] that the loop has ended. Any goroutine may call it
// once Start or Resume has returned.
func (l *Loop) Order(ctx context.Context, d core.OrderReceived) error {
	return l.request(ctx, func() error {
		if err := l.driver.Refuse(d); err != nil {
			return err
		}
		return l.record(d)
	})
}

// request posts what may be refused. A refusal is for the caller, and no failure of the loop.
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

// post lets the goroutine that runs the loop carry something out, and returns when it
// has, or when it never will. An error of it is looprun's own.
func (l *Loop) post(ctx context.Context, do func() error) error {
	return l.await(ctx, &post{do: do, done: make(chan error, 1)})
}

func (l *Loop) await(ctx context.Context, p *post) error {
	if err := l.inbox.send(ctx, p); err != nil {
		return err
	}
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

// Ask puts a question of the command to the responders and returns its answer,
// with the question that was asked: questions with the same key that wait at the
// same time are asked once, and then it is the first of them. One to choose from or for
// a text that the command asks again, under the same AskID and in the same words, has
// the answer that it had, unless it says Again. The
// error is [core.ErrNoAnswer] when nobody answered, [core.ErrDeferred] when the question
// is kept and the run pauses after the iteration, [core.ErrEnded] when the loop has
// ended. Any goroutine may call it once Start or Resume has returned.
func (l *Loop) Ask(ctx context.Context, key string, q core.Question) (core.Asked, error) {
	a := &asker{ctx: ctx, key: key, question: q, reply: make(chan reply, 1)}
	if err := l.inbox.send(ctx, a); err != nil {
		return core.Asked{}, err
	}
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

// Answer brings an answer from elsewhere to the question with that id, which has
// to be the one that is open: an answer is for one question, and never for the
// next. The first valid answer counts; a later one is refused with [core.ErrAnswered]
// and who was first. Any goroutine may call it.
func (l *Loop) Answer(ctx context.Context, questionID string, a core.Answer) error {
	e := &elsewhere{questionID, a, make(chan error, 1)}
	if err := l.inbox.send(ctx, e); err != nil {
		return err
	}
	return <-e.done
}

// errGone ends a prompt when nobody waits for its answer any more.
var errGone = errors.New("whoever asked is gone")

// queue keeps a question that comes while another one is asked. When it is the
// same one its asker waits for the same answer.
func (l *Loop) queue(a *asker) {
	if l.askers != nil && l.askers.key == a.key {
		l.askers.join(a)
		return
	}
	l.inbox.keep(a)
}

// askers are all who wait for the answer to the same question.
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

// join adds one who waits. When the last of them is gone the question is
// withdrawn.
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

// Advice is what an assistant said against a question of the command when it was
// asked before, here or by a run inside this one; nil: nothing. It returns when nobody
// is asked, with [core.ErrEnded] when the loop has ended. Any goroutine may call it once
// Start or Resume has returned.
func (l *Loop) Advice(ctx context.Context, q core.Question) (*core.Advice, error) {
	var known *core.Advice
	err := l.post(ctx, func() error {
		q.From = core.FromCommand
		known = l.driver.WithAdvice(q).Advice
		return nil
	})
	return known, err
}
