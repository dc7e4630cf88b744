package assistant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
)

// Defaults for [Options].
const (
	// DefaultTimeout is how long each run of the command may take.
	DefaultTimeout = 60 * time.Second
	// DefaultKillAfter is how long the command may then take to clean up.
	DefaultKillAfter = time.Second
)

// Source is where a question comes from, by the names of --assistant-for.
type Source string

// The sources of questions.
const (
	FromAsk    Source = "ask"    // the command that runs in the loop has asked it
	FromGuards Source = "guards" // a guard has tripped
)

// Options configures which command answers which questions. Only Command is required; without
// it no question is answered.
type Options struct {
	// Command is a shell line, run by sh -c.
	Command string
	// Dir is the directory in which it runs; empty means the caller's. Env is its whole
	// environment; nil means the caller's.
	Dir string
	Env []string
	// Timeout is how long each run of it may take; zero is [DefaultTimeout].
	Timeout time.Duration
	// KillAfter is the time between the signal that ends it at a limit and
	// SIGKILL; zero is [DefaultKillAfter].
	KillAfter time.Duration
	// Delays are the pauses before the retries after a failure that may be temporary. Nil
	// means 1, 2 and 4 seconds; an empty slice disables retries.
	Delays []time.Duration
	// Escalation turns its rejections into an [Escalated] instead of an answer. A question
	// that requests escalation (To) is escalated even without it.
	Escalation bool
	// As is the assistant named in its answers; if zero, they name none.
	As core.Assistant
	// OnlyKinds and OnlyFrom restrict the questions that it answers; empty means all.
	OnlyKinds []core.Kind
	OnlyFrom  []Source
	// Stderr receives its standard error; nil discards it. The slice is valid only during the
	// call.
	Stderr func([]byte)
}

// New returns the responder that asks the command. Its Respond returns:
//
//   - [core.ErrNoAnswer] for a question that is not put to the command, with the
//     reason, unless that is the lack of a command or OnlyKinds or OnlyFrom;
//   - [*Escalated] for a rejection, if Options.Escalation or the question
//     requests it;
//   - the cause of the context, if it ended;
//   - another error if the command failed or its reply was invalid.
//
// For a confirm question the option of the answer is [core.Yes] or [core.No]. For a text
// question it is empty and the text is in Text, so text can never be mistaken for an option.
// Replies are less expressive than answers: a select question is always answered with one of
// its options, even if it allows text, and no question is declined.
func New(o Options) core.Responder { return core.Vouch(newResponder(o)) }

func newResponder(o Options) *responder {
	o.Timeout = positive(o.Timeout, DefaultTimeout)
	o.KillAfter = positive(o.KillAfter, DefaultKillAfter)
	if o.Delays == nil {
		o.Delays = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}
	}
	return &responder{o}
}

func positive(d, otherwise time.Duration) time.Duration { return cmp.Or(max(d, 0), otherwise) }

type responder struct{ Options }

// Respond asks the command.
func (r *responder) Respond(ctx context.Context, q core.Question, s *core.State) (core.Answer, error) {
	none := core.Answer{Responder: core.RespondedByAssistant}
	if !r.answers(q) {
		return none, core.ErrNoAnswer
	}
	req, err := NewRequest(q, s)
	if err != nil {
		return none, err
	}
	if r.As != (core.Assistant{}) {
		req.As = &r.As
	}
	reply, err := r.ask(ctx, req)
	if err != nil {
		return none, err
	}
	a := reply.answer(q.Kind)
	a.Assistant = r.As
	if (r.Escalation || q.To == toAssistantWithEscalation) && rejects(q, a) {
		return none, &Escalated{QuestionID: q.ID, Option: a.Option, Reason: a.Reason, By: r.As}
	}
	return a, nil
}

// answers reports whether the question is put to the command at all.
func (r *responder) answers(q core.Question) bool {
	from := FromAsk
	if byGuard(q) {
		from = FromGuards
	}
	switch {
	case strings.TrimSpace(r.Command) == "":
		return false
	case len(r.OnlyKinds) > 0 && !slices.Contains(r.OnlyKinds, q.Kind):
		return false
	}
	return len(r.OnlyFrom) == 0 || slices.Contains(r.OnlyFrom, from)
}

// byGuard reports whether a guard asks, and not the command in the loop.
func byGuard(q core.Question) bool { return q.Guard != "" && q.From != core.FromCommand }

// The possible addressees of a question ([core.Question].To).
const (
	toUser                    = "user"
	toAssistantWithEscalation = "assistant_with_escalation"
)

// ask runs the command until it replies. It retries failures that may be temporary, and an
// invalid reply once.
func (r *responder) ask(ctx context.Context, req Request) (Reply, error) {
	delays := r.Delays
	for {
		out, err := r.run(ctx, req)
		switch f, failed := errors.AsType[*failure](err); {
		case failed && f.passes && len(delays) > 0:
			if err := wait(ctx, delays[0]); err != nil {
				return Reply{}, err
			}
			delays = delays[1:]
			continue
		case err != nil:
			return Reply{}, err
		}
		reply, err := req.check(out)
		switch {
		case err == nil:
			return reply, nil
		case req.Problem != "":
			return Reply{}, fmt.Errorf("the assistant's reply was wrong twice: %w", err)
		}
		req.PreviousReply, req.Problem = cut(clean(string(out.text)), previousKept), err.Error()
	}
}

// wait returns after d, or with the context's cause when ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
