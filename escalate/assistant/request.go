package assistant

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
)

// RequestSchemaID is the value of [Request.Schema]: the version of the protocol.
const RequestSchemaID = "looprun.dev/assistant-request/v1"

// How much of the past a request contains, in entries or in bytes.
const (
	errorsTold    = 3
	decisionsTold = 10
	outputTold    = 16 << 10
	excerptTold   = 2 << 10
	questionTold  = 300
	previousKept  = 4 << 10
	reasonKept    = 4 << 10
	lineKept      = 300
)

// Request is the document on the command's standard input. Its texts contain no control
// characters or escape sequences. Create it with [NewRequest].
type Request struct {
	Schema      string          `json:"schema"` // always [RequestSchemaID]
	Question    Asked           `json:"question" doc:"The question to answer."`
	Context     Context         `json:"context" doc:"The state of the run."`
	As          *core.Assistant `json:"assistant,omitempty" doc:"Who is asked, by name and model, where the configuration names them."`
	ReplySchema json.RawMessage `json:"reply_schema" doc:"The JSON Schema of the reply to this question."`
	// PreviousReply is the command's previous reply if it was invalid, and Problem is what was
	// wrong with it. Both are empty the first time.
	PreviousReply string `json:"previous_reply,omitempty" doc:"What the command printed before, if that was wrong."`
	Problem       string `json:"problem,omitempty" doc:"What was wrong with it."`
}

// Asked is the question, with the options that the command may choose.
type Asked struct {
	ID      string    `json:"id" doc:"Names the question within the run."`
	Kind    core.Kind `json:"kind" doc:"Says what the answer is: the id of an option, true or false, or text."`
	Header  string    `json:"header" doc:"A few words."`
	Text    string    `json:"question" doc:"What is asked."`
	Details []string  `json:"details,omitempty" doc:"The evidence."`
	Options []Option  `json:"options,omitempty" doc:"What can be chosen, for select."`
}

// Option is one answer that may be chosen, identified by its id.
type Option struct {
	ID          string `json:"id" doc:"What the reply names."`
	Label       string `json:"label" doc:"What a person would choose."`
	Description string `json:"description,omitempty" doc:"What it does."`
}

// Context is information about the run. Outside a run it is empty.
type Context struct {
	Run          Run         `json:"run" doc:"The run that asks."`
	Iteration    int         `json:"iteration" doc:"The last one that ended."`
	Runtime      string      `json:"runtime" doc:"Active time so far, such as 4m10s."`
	Limits       core.Limits `json:"limits" doc:"When the guards trip; off: never."`
	Summary      string      `json:"summary" doc:"How far the work is."`
	CurrentState string      `json:"current_state" doc:"What passes."`
	// Guard is the guard that tripped; empty when the command in the loop asks.
	Guard      core.GuardID   `json:"guard,omitempty" doc:"The guard that tripped; left out when the command in the loop asks."`
	Also       []core.GuardID `json:"also,omitempty" doc:"Guards that tripped with it."`
	Reason     string         `json:"reason,omitempty" doc:"Why it tripped."`
	Errors     []Failed       `json:"errors,omitempty" doc:"The last iterations that were not done, oldest first."`
	LastOutput string         `json:"last_output,omitempty" doc:"The end of the last iteration's output."`
	// Decisions are the answers carried out earlier in the run. Given are the answers that
	// this question has already had.
	Decisions []Decision   `json:"decisions,omitempty" doc:"What was decided before, oldest first."`
	Given     []core.Given `json:"given,omitempty" doc:"Answers that this question has had already."`
}

// Run identifies the run.
type Run struct {
	ID      string   `json:"id" doc:"The run."`
	Name    string   `json:"name,omitempty" doc:"The task."`
	Command []string `json:"command,omitempty" doc:"What runs in the loop."`
	Check   []string `json:"check,omitempty" doc:"What judges it."`
}

// Failed is an iteration that was not done.
type Failed struct {
	Iteration int          `json:"iteration" doc:"Its number."`
	Outcome   core.Outcome `json:"outcome" doc:"not_done or error."`
	ExitCode  int          `json:"exit_code" doc:"That of what judged it."`
	Label     string       `json:"label,omitempty" doc:"What it was, in short."`
	Output    string       `json:"output,omitempty" doc:"The end of its output."`
}

// Decision is an answer of earlier in the run: to a guard's question, or to one of the
// command's. It tells an assistant that it has refused something before.
type Decision struct {
	Iteration int          `json:"iteration" doc:"The last one before it."`
	Guard     core.GuardID `json:"guard,omitempty" doc:"What had tripped."`
	Question  string       `json:"question,omitempty" doc:"What the command in the loop had asked."`
	Option    string       `json:"option" doc:"What was chosen."`
	Responder string       `json:"responder" doc:"By whom."`
	Reason    string       `json:"reason,omitempty" doc:"Why."`
}

// NewRequest returns the request for a question. It does not modify the state; nil means that
// there is no run. It fails with [core.ErrNoAnswer] if the question is for a person, was
// rejected earlier, allows several options, has no option left to choose, or cannot be put to
// a command.
func NewRequest(q core.Question, s *core.State) (Request, error) {
	if s == nil {
		s = &core.State{}
	}
	asked := Asked{ID: q.ID, Kind: q.Kind, Header: termsafe.Line(q.Header), Text: clean(q.Text), Details: convert.Each(q.Details, clean)}
	var err error
	switch {
	case q.Advice != nil:
		return Request{}, fmt.Errorf("%s: %w", strings.ReplaceAll(q.Advice.Text, "\n", " "), core.ErrNoAnswer)
	case q.Exclusive, q.Mandatory:
		err = errors.New("the question is a person's alone")
	case q.To == toUser:
		err = errors.New("the question is for a person")
	case q.Multi:
		err = errors.New("several options can be chosen, and an assistant's reply names one")
	case q.Kind == core.KindSelect:
		asked.Options, err = choices(q, s)
	case q.Kind == core.KindConfirm:
		err = confirmable(q)
	case q.Kind != core.KindText:
		err = fmt.Errorf("questions of the kind %q are not put to an assistant", q.Kind)
	}
	if err != nil {
		return Request{}, fmt.Errorf("question %s: %w: %w", q.ID, err, core.ErrNoAnswer)
	}
	return Request{
		Schema: RequestSchemaID, Question: asked,
		Context: contextOf(q, s), ReplySchema: replySchema(asked),
	}, nil
}

// choices returns the options that the command may choose. It leaves out review, which only a
// person can do, options already chosen in this trip, and options that cannot be carried out.
func choices(q core.Question, s *core.State) ([]Option, error) {
	var out []Option
	for i, o := range q.Options {
		switch {
		case slices.ContainsFunc(q.Options[:i], func(p core.Option) bool { return p.ID == o.ID }):
			return nil, fmt.Errorf("two options have the id %q", o.ID)
		case o.ID == "" || o.ID != termsafe.Line(o.ID), o.Action == core.ActionReview, given(q, o.ID), !possible(q, o, s):
			continue
		}
		out = append(out, Option{o.ID, termsafe.Line(o.Label), clean(o.Description)})
	}
	if len(out) == 0 {
		return nil, errors.New("no option is left for an assistant to choose")
	}
	return out, nil
}

// given reports whether the assistant has already given that answer in this trip.
func given(q core.Question, id string) bool {
	return slices.Contains(q.Given, core.Given{Option: id, Responder: core.RespondedByAssistant})
}

// possible reports whether the option of a trip's question can be carried out.
func possible(q core.Question, o core.Option, s *core.State) bool {
	if !byGuard(q) || s.Trip == nil || o.Action == core.ActionRun {
		return true
	}
	_, err := s.Effect(o, core.Answer{Option: o.ID, Responder: core.RespondedByAssistant, Reason: "what it will say"})
	return err == nil
}

// confirmable returns why a confirm question cannot be put to the command; nil if it can.
func confirmable(q core.Question) error {
	for _, id := range []string{core.Yes, core.No} {
		if _, ok := q.Option(id); !ok && len(q.Options) > 0 {
			return fmt.Errorf("it has no option %q", id)
		}
		if given(q, id) {
			return fmt.Errorf("it was answered with %s already", id)
		}
	}
	return nil
}

func contextOf(q core.Question, s *core.State) Context {
	c := Context{
		Run:       Run{ID: s.RunID, Name: termsafe.Line(s.Name), Command: cleanAll(s.Command), Check: cleanAll(s.Check)},
		Iteration: s.Iterations, Runtime: s.Elapsed.Round(time.Millisecond).String(), Limits: s.Limits,
		Summary: clean(s.Summary()), CurrentState: clean(s.CurrentState()), Guard: q.Guard,
	}
	if q.Guard != "" && s.Trip != nil {
		c.Also, c.Reason = s.Trip.Also, clean(s.Trip.Reason)
	}
	for _, e := range s.Errors[max(0, len(s.Errors)-errorsTold):] {
		c.Errors = append(c.Errors, Failed{
			e.Iteration, e.Outcome, e.ExitCode, termsafe.Line(e.Signature.Label), lastOf(clean(e.Excerpt), excerptTold),
		})
	}
	if s.Last != nil {
		c.LastOutput = lastOf(clean(s.Last.Excerpt), outputTold)
	}
	c.Decisions = decisions(s)
	c.Given = convert.Each(q.Given, func(g core.Given) core.Given {
		return core.Given{Option: termsafe.Line(g.Option), Responder: g.Responder, Rule: termsafe.Line(g.Rule)}
	})
	return c
}

// decisions returns the latest decisions of the run, oldest first.
func decisions(s *core.State) []Decision {
	type dated struct {
		at time.Time
		Decision
	}
	var all []dated
	for _, d := range s.Decisions {
		all = append(all, dated{d.Time, Decision{d.Iteration, d.Guard, "", termsafe.Line(d.Option), d.Responder, clean(d.Reason)}})
	}
	for _, a := range s.Answered {
		if a.Asked != nil && !a.Masked { // a masked one holds a secret
			all = append(all, dated{a.Time, Decision{a.Iteration, "", cut(clean(a.Asked.Text), questionTold), cut(termsafe.Line(a.Answer.String()), questionTold), a.Responder, clean(a.Reason)}})
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return a.at.Compare(b.at) })
	return convert.Each(all[max(0, len(all)-decisionsTold):], func(d dated) Decision { return d.Decision })
}

// clean returns the text in a form that is safe to show, without surrounding white space.
func clean(text string) string { return strings.TrimSpace(termsafe.Text(text)) }

func cleanAll(texts []string) []string {
	return convert.Each(texts, termsafe.Text)
}

// cut returns at most the first n bytes of text, and a sign if more follows.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return termsafe.CutBytes(text, n) + " …"
}

// lastOf returns at most the last n bytes of text, and a sign if more precedes.
func lastOf(text string, n int) string {
	if len(text) <= n {
		return text
	}
	from := len(text) - n
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return "… " + text[from:]
}
