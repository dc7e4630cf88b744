package looprun

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ears are where a loop hears from outside: the command that talks back, and
// people at other terminals. Everything is carried out by the goroutine that
// runs the loop, when it comes to it.
type ears struct {
	calls   chan func()       // from a responder, while it is asked
	answers chan *elsewhere   // from another terminal
	posts   chan func() error // from the command, while nobody is asked
	asks    chan *asking      // the command's questions
	over    chan struct{}     // closed when the loop has ended
	waiting []*asking         // those that came while somebody was asked
}

func newEars() ears {
	return ears{
		calls: make(chan func()), answers: make(chan *elsewhere), posts: make(chan func() error),
		asks: make(chan *asking), over: make(chan struct{}),
	}
}

// elsewhere is an answer from another terminal.
type elsewhere struct {
	questionID string
	answer     Answer
	told       chan error
}

// asking is one who waits for the answer to a question of the command.
type asking struct {
	ctx      context.Context
	key      string
	question Question
	reply    chan heard
}

// heard is an answer, and whom to tell that it counts.
type heard struct {
	Answer
	err      error
	told     chan error // nil: nobody waits for that
	question Question
}

func (h heard) asked() (Asked, error) {
	if h.err != nil {
		return Asked{Question: h.question}, h.err
	}
	return Asked{Question: h.question, Answer: &h.Answer}, nil
}

func (h heard) tell(err error) {
	if h.told != nil {
		h.told <- err
	}
}

// tooLate is for an answer that came with the end of the run: it is not put on
// record, and the question is asked again when the run is resumed.
func (h heard) tooLate() {
	h.tell(fmt.Errorf("%w: it was interrupted before the answer counted", ErrEnded))
}

// Tell puts something on record that the command said: a signal, a rejection, a
// cost. It returns when that is on record, which is not while a question is
// asked. [ErrEvent] says that it cannot happen now, [ErrEnded] that the loop has
// ended. Any goroutine may call it once Start or Resume has returned.
func (l *Loop) Tell(ctx context.Context, d Data) error {
	told := ""
	err := l.post(ctx, func() error {
		if told = l.refuses(d); told != "" {
			return nil
		}
		return l.record(identified(d, l.state.Seq+1))
	})
	if told != "" {
		return fmt.Errorf("%w: %s", ErrEvent, told)
	}
	return err
}

// post lets the goroutine that runs the loop carry something out, and returns when it
// has. An error of it is looprun's own.
func (l *Loop) post(ctx context.Context, do func() error) error {
	told := make(chan error, 1)
	post := func() error {
		err := do()
		told <- err
		return err
	}
	select {
	case l.ears.posts <- post:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.ears.over:
		return ErrEnded
	}
	return <-told
}

// identified gives a rejection its name.
func identified(d Data, seq int64) Data {
	id := fmt.Sprintf("rejection-%d", seq)
	switch d := d.(type) {
	case RejectionSubmitted:
		d.RejectionID = id
		return d
	case RejectionInvalid:
		d.RejectionID = id
		return d
	case QuestionAsked:
		d.Question = d.Question.fromCommand(seq)
		return d
	}
	return d
}

// fromCommand is the question as the record of that number has it.
func (q Question) fromCommand(seq int64) Question {
	q.From, q.ID = FromCommand, fmt.Sprintf("ask-%d", seq)
	return q
}

// Ask puts a question of the command to the responders and returns its answer,
// with the question that was asked: questions with the same key that wait at the
// same time are asked once, and then it is the first of them. The
// error is [ErrNoAnswer] when nobody answered, [ErrDeferred] when the question
// is kept and the run pauses after the iteration, [ErrEnded] when the loop has
// ended. Any goroutine may call it once Start or Resume has returned.
func (l *Loop) Ask(ctx context.Context, key string, q Question) (Asked, error) {
	a := &asking{ctx: ctx, key: key, question: q, reply: make(chan heard, 1)}
	select {
	case l.ears.asks <- a:
	case <-ctx.Done():
		return Asked{}, context.Cause(ctx)
	case <-l.ears.over:
		return Asked{}, ErrEnded
	}
	var gone error
	select {
	case h := <-a.reply:
		return h.asked()
	case <-ctx.Done(): // the question is withdrawn, or never asked
		gone = context.Cause(ctx)
	case <-l.ears.over:
		gone = ErrEnded
	}
	select {
	case h := <-a.reply:
		return h.asked()
	default:
		return Asked{}, gone
	}
}

// Answer brings an answer from elsewhere to the question with that id, which has
// to be the one that is open: an answer is for one question, and never for the
// next. The first valid answer counts; a later one is refused with [ErrAnswered]
// and who was first. Any goroutine may call it.
func (l *Loop) Answer(ctx context.Context, questionID string, a Answer) error {
	e := &elsewhere{questionID, a, make(chan error, 1)}
	select {
	case l.ears.answers <- e:
		return <-e.told
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.ears.over:
		return ErrEnded
	}
}

// errGone ends a prompt when nobody waits for its answer any more.
var errGone = errors.New("whoever asked is gone")

// queue keeps a question that comes while another one is asked. When it is the
// same one its asker waits for the same answer.
func (l *Loop) queue(a *asking) {
	if l.asked != nil && l.asked.key == a.key {
		l.asked.join(a)
		return
	}
	l.ears.waiting = append(l.ears.waiting, a)
}

// group are all who wait for the answer to the same question.
type group struct {
	key    string
	ctx    context.Context
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	left   int
	all    []*asking
}

func newGroup(ctx context.Context, key string) *group {
	g := &group{key: key}
	g.ctx, g.cancel = context.WithCancelCause(ctx)
	return g
}

// join adds one who waits. When the last of them is gone the question is
// withdrawn.
func (g *group) join(a *asking) {
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

func (g *group) reply(h heard) {
	for _, a := range g.all {
		a.reply <- h
	}
}

// asking is the next question of the command: one that came while another was
// asked, before new ones.
func (l *Loop) asking() <-chan *asking {
	if len(l.ears.waiting) == 0 {
		return l.ears.asks
	}
	next := make(chan *asking, 1)
	next <- l.ears.waiting[0]
	return next
}

// hear takes in what was said to an iteration that is over already. Where all are
// short, nobody else would hear of it before the run has ended.
func (l *Loop) hear(ctx context.Context) error {
	for {
		var err error
		select {
		case f := <-l.ears.posts:
			err = f()
		case a := <-l.asking():
			err = l.converse(ctx, a)
		case e := <-l.ears.answers:
			e.told <- l.state.late(e.questionID)
		default:
			return nil
		}
		if err != nil || l.state.Interrupt != nil {
			return err
		}
	}
}

// Advice is what an assistant said against a question of the command when it was
// asked before, here or by a run inside this one; nil: nothing. It returns when nobody
// is asked, with [ErrEnded] when the loop has ended. Any goroutine may call it once
// Start or Resume has returned.
func (l *Loop) Advice(ctx context.Context, q Question) (*Advice, error) {
	var known *Advice
	err := l.post(ctx, func() error {
		q.From = FromCommand
		known = l.advised(q).Advice
		return nil
	})
	return known, err
}
