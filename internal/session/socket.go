package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/escalate/assistant"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/origin"
	"github.com/looprun/looprun/internal/socket"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// The messages on a run's socket, by type.
const (
	KindAsk     = "ask"     // an [ask.Request]; the reply is an [ask.Response]
	kindBubble  = "bubble"  // the question of a run inside this one
	kindAdvice  = "advice"  // whether an assistant has rejected that before; the reply is a [core.Advice] or null
	kindAdvised = "advised" // that an assistant has rejected that, in a run inside this one
	KindSignal  = "signal"
	KindReject  = "reject"
	KindAnswer  = "answer" // from another terminal
	KindGoOn    = "go_on"  // from there too: a wait is to end early; the body is a [GoOn]
	kindOrder   = "order"  // from there too: an [Ordered]
)

// The error codes that a client acts on.
const (
	CodeNobody      = "nobody"
	CodeAdvised     = "advised" // nobody, and an assistant recommended rejecting it
	CodeDeferred    = "deferred"
	codeEnded       = "ended"
	CodeInterrupted = "interrupted"
	codeRefused     = "refused"
	codeInvalid     = "invalid"
)

// SocketName is the file in a run's directory that contains its socket's path.
const SocketName = "socket"

// talk is the run's end of its socket.
type talk struct {
	s      *Session
	server *socket.Server
	// role is the running helper that may not ask: an expert, debug or verify command.
	role  atomic.Value
	token origin.Word
}

type bubbled struct {
	Question core.Question `json:"question"`
	Key      string        `json:"key"`
	Path     []string      `json:"path"`
}

type Signalled struct {
	Signal json.RawMessage `json:"signal"`
}

type RejectedMessage struct {
	Rejection json.RawMessage `json:"rejection"`
}

// RejectedReply reports the outcome of a rejection.
type RejectedReply struct {
	Valid  bool              `json:"valid"`
	Issues []rejection.Issue `json:"issues,omitempty"`
}

// Answered is an answer with its question.
type Answered struct {
	QuestionID string      `json:"question_id"`
	Answer     core.Answer `json:"answer"`
	// Token is the word on the person's screen, needed where the system cannot identify who
	// answers.
	Token string `json:"token,omitempty"`

	Words string `json:"-"` // of the question, for a person
}

// listen opens the run's socket. The command finds it through its variable, other terminals
// through a file in the run's directory.
func (s *Session) listen() error {
	t := &talk{s: s}
	t.role.Store("")
	var err error
	t.server, err = socket.Listen(socket.Options{
		Handle: t.handle, Dir: s.run.Dir,
		Trouble: func(text string) {
			if strings.Contains(text, `"`+kindBubble+`"`) { // it was answered in the run inside
				s.app.Say.Detail("the socket of this run: %s", text)
				return
			}
			s.app.Say.Warn("the socket of this run: %s", text)
		},
	})
	if err != nil { // nobody can let it go on then, and it goes on alone as far as it may
		s.app.Say.Warn("the command cannot ask, signal or reject in this run, and nobody can answer it from elsewhere: %v", err)
		return nil
	}
	s.talk = t
	t.showToken(origin.Known, console.IsTerminal(s.app.Stderr))
	return atomicfile.Write(filepath.Join(s.run.Dir, SocketName), []byte(t.server.Path()+"\n"), false)
}

// showToken creates the word that an answer needs where origins cannot be identified, and
// shows it on a screen. The command could read it from a file or a log, so then there is none,
// and nobody can answer before the run has paused.
func (t *talk) showToken(known, screen bool) {
	if known || !screen || t.s.opts.Interactive {
		return
	}
	t.s.app.Say.Printf("an answer from another terminal needs --token %s", t.token.Make())
}

// path returns the socket's path for commands; empty if there is none.
func (t *talk) path() string {
	if t == nil {
		return ""
	}
	return t.server.Path()
}

// hangUp closes the socket.
func (s *Session) hangUp() {
	if s.talk != nil {
		_ = os.Remove(filepath.Join(s.run.Dir, SocketName))
		_ = s.talk.server.Close()
	}
}

func (t *talk) handle(ctx context.Context, peer socket.Peer, kind string, body json.RawMessage) (any, error) {
	var known []string
	for _, of := range []struct {
		kind string
		take func(context.Context, socket.Peer, json.RawMessage) (any, error)
	}{
		{KindAsk, takes(t.ask)},
		{kindBubble, takes(t.bubble)},
		{kindAdvice, takes(t.advice)},
		{kindAdvised, takes(t.advised)},
		{KindSignal, takes(t.signal)},
		{KindReject, takes(t.reject)},
		{KindAnswer, takes(t.answer)},
		{KindGoOn, takes(t.goOn)},
		{kindOrder, takes(t.order)},
	} {
		if of.kind == kind {
			reply, err := of.take(ctx, peer, body)
			return reply, coded(err)
		}
		known = append(known, of.kind)
	}
	return nil, &socket.Error{Code: codeRefused, Text: fmt.Sprintf("unknown message type %q; there are %s", kind, strings.Join(known, ", "))}
}

// takes decodes the body of a message for its handler.
func takes[M any](do func(context.Context, socket.Peer, M) (any, error)) func(context.Context, socket.Peer, json.RawMessage) (any, error) {
	return func(ctx context.Context, peer socket.Peer, body json.RawMessage) (any, error) {
		var m M
		if err := json.Unmarshal(body, &m); err != nil {
			return nil, invalid(err)
		}
		return do(ctx, peer, m)
	}
}

// coded gives an error the code that clients act on.
func coded(err error) error {
	var already *socket.Error
	if err == nil || errors.As(err, &already) {
		return err
	}
	code := codeRefused
	switch {
	case errors.Is(err, core.ErrAdvised):
		code = CodeAdvised
	case errors.Is(err, core.ErrNoAnswer):
		code = CodeNobody
	case errors.Is(err, core.ErrDeferred):
		code = CodeDeferred
	case errors.Is(err, core.ErrEnded):
		code = codeEnded
	case errors.Is(err, core.ErrInterrupted):
		code = CodeInterrupted
	}
	if _, ok := errors.AsType[*engine.Interrupt](err); ok {
		code = CodeInterrupted
	}
	text := err.Error()
	if of, ok := errors.AsType[*core.Refusal](err); ok {
		text = of.Why
	}
	return &socket.Error{Code: code, Text: text}
}

func invalid(err error) error { return &socket.Error{Code: codeInvalid, Text: err.Error()} }

// mayAsk rejects questions from commands that may not ask.
func (t *talk) mayAsk() error {
	if role, _ := t.role.Load().(string); role != "" {
		return &socket.Error{Code: codeRefused, Text: CannotAsk(role)}
	}
	return nil
}

// CannotAsk returns why a command that is not the work may not ask questions.
func CannotAsk(role string) string {
	article := "a"
	if strings.HasPrefix(role, "e") {
		article = "an"
	}
	return fmt.Sprintf("%s %s cannot ask, escalate or delegate: it has to decide with what it knows", article, role)
}

func (t *talk) ask(ctx context.Context, _ socket.Peer, body json.RawMessage) (any, error) {
	if err := t.mayAsk(); err != nil {
		return nil, err
	}
	r, err := ask.Parse(body)
	if err != nil {
		return nil, invalid(err)
	}
	response := ask.Response{Schema: ask.AnswerSchema, ID: r.ID}
	var kept error
	for _, q := range r.Questions {
		a, err := t.put(ctx, q, r.To)
		if errors.Is(err, core.ErrDeferred) { // the others are kept with it, to be answered together
			kept = err
			continue
		}
		if err != nil {
			return nil, err
		}
		response.Answers = append(response.Answers, a)
	}
	if kept != nil {
		return nil, kept
	}
	return response, nil
}

// put asks one question. If somebody else asks an equal question at the same time, their
// answer counts here too, unless it is not valid for this question, which is then asked
// separately.
func (t *talk) put(ctx context.Context, q ask.Question, to string) (ask.Answer, error) {
	key := strings.Join([]string{ask.Key(q), to, fmt.Sprint(q.Exclusive)}, " ")
	for alone := false; ; alone = true {
		if alone {
			key += fmt.Sprint(" ", q.MultiSelect, q.TakesText(), q.AllowCancel)
		}
		asked, err := t.s.loop.Ask(ctx, key, questionOf(q, to))
		if err != nil {
			return ask.Answer{}, err
		}
		from := asQuestion(asked.Question)
		if from.ID == q.ID { // a deferred answer goes by the name, whatever the words are now
			from.Header, from.Question = q.Header, q.Question
		}
		a, err := ask.Transfer(from, q, answerOf(from, *asked.Answer))
		a.Earlier = asked.Earlier
		if err == nil || alone {
			return a, err
		}
	}
}

func (t *talk) bubble(ctx context.Context, _ socket.Peer, b bubbled) (any, error) {
	if err := t.mayAsk(); err != nil {
		return nil, err
	}
	b.Question.Path = b.Path
	asked, err := t.s.loop.Ask(ctx, strings.Join(append(b.Path, b.Key), " "), b.Question)
	if err != nil {
		return nil, err
	}
	return *asked.Answer, nil
}

// advice returns an assistant's advice against a question of a nested run, if it reached this
// run or one of its parents before.
func (t *talk) advice(ctx context.Context, _ socket.Peer, b bubbled) (any, error) {
	b.Question.Path = b.Path
	known, err := t.s.loop.Advice(ctx, b.Question)
	if err == nil && known == nil && t.s.parent != "" {
		known, err = adviceAbove(ctx, t.s.parent, t.s.bubble(b.Question, &core.State{RunID: t.s.run.ID}))
	}
	return known, err
}

// advised records what an assistant rejected in a nested run, here and in the parents: another
// nested run may ask the same.
func (t *talk) advised(ctx context.Context, _ socket.Peer, b bubbled) (any, error) {
	q, advice := b.Question, b.Question.Advice
	if advice == nil {
		return nil, invalid(errors.New("it lacks the assistant's answer"))
	}
	q.From, q.Path, q.Advice = core.FromCommand, b.Path, nil
	err := t.s.loop.Tell(ctx, core.AdviceGiven{Question: &q, Responder: core.RespondedByAssistant, Advice: *advice})
	return nil, errors.Join(err, t.s.tellAdvice(ctx, advice, q, &core.State{RunID: t.s.run.ID}))
}

func (t *talk) signal(ctx context.Context, _ socket.Peer, m Signalled) (any, error) {
	ctx = context.WithoutCancel(ctx) // what was said holds, whoever is gone
	sig, err := signal.Parse(m.Signal)
	if err != nil {
		var named struct {
			Name signal.Name `json:"name"`
		}
		_ = json.Unmarshal(m.Signal, &named) // the name is only for the record
		d := core.SignalReceived{Signal: signal.Signal{Name: named.Name, Via: signal.ViaSocket}, Problem: err.Error()}
		return nil, errors.Join(invalid(err), t.s.loop.Tell(ctx, d))
	}
	sig.Via = signal.ViaSocket
	if sig.Name == signal.Done && !t.s.executor.MakePromise() {
		return nil, &socket.Error{Code: codeRefused, Text: "this run has no promise to make; it was started without --promise"}
	}
	return nil, t.s.loop.Tell(ctx, core.SignalReceived{Signal: sig})
}

func (t *talk) reject(ctx context.Context, _ socket.Peer, m RejectedMessage) (any, error) {
	r, err := rejection.Parse(m.Rejection)
	if err != nil {
		return nil, invalid(err)
	}
	r.Task = cmp.Or(r.Task, t.s.opts.Name)
	d := rejected(r, "socket")
	if err := t.s.loop.Tell(context.WithoutCancel(ctx), d); err != nil {
		return nil, err
	}
	if bad, ok := d.(core.RejectionInvalid); ok {
		return RejectedReply{Issues: bad.Issues}, nil
	}
	return RejectedReply{Valid: true}, nil
}

// admit admits clients outside the run. Clients that may be inside it need the word that the
// run's terminal shows.
func (t *talk) admit(peer socket.Peer, word string) error {
	ours := func(pid int) bool { return pid == os.Getpid() }
	err := t.token.Admit(origin.Below(peer.PID, ours), word)
	said := map[error]error{
		origin.ErrInside: errInside,
		origin.ErrNoWord: errors.New("it is not known whether this comes from the run's own command; add --token WORD, which the run shows on its terminal, or wait until it has paused"),
		origin.ErrTries:  errors.New("too many wrong tokens; use the run's own terminal, or wait until it has paused"),
		origin.ErrWrong:  errors.New("wrong token; the run's terminal shows it"),
	}
	return cmp.Or(said[err], err)
}

// answer accepts an answer from another terminal, never from the run's own command, which
// would be answering itself.
func (t *talk) answer(ctx context.Context, peer socket.Peer, m Answered) (any, error) {
	if err := t.admit(peer, m.Token); err != nil {
		return nil, err
	}
	if m.QuestionID == "" {
		return nil, invalid(errors.New("question_id is missing: an answer names its question"))
	}
	err := t.s.loop.Answer(ctx, m.QuestionID, m.Answer.ByPerson())
	if errors.Is(err, core.ErrEnded) { // the journal takes the answer once this process has gone
		return nil, &socket.Error{Code: socket.CodeClosed, Text: err.Error()}
	}
	return nil, err
}

// GoOn lets a run continue that waits for someone else's limit.
type GoOn struct {
	Token string `json:"token,omitempty"` // as in [Answered]
}

func (t *talk) goOn(ctx context.Context, peer socket.Peer, m GoOn) (any, error) {
	if err := t.admit(peer, m.Token); err != nil {
		return nil, err
	}
	return nil, t.s.loop.GoOn(ctx)
}

// questionOf converts a question of the command for the loop.
func questionOf(q ask.Question, to string) core.Question {
	out := core.Question{
		From: core.FromCommand, AskID: q.ID, Kind: q.Kind, Header: cmp.Or(q.Header, "Question"), Short: q.Header,
		Text: q.Question, Default: q.Default, Exclusive: q.Exclusive, To: to,
		Multi: q.MultiSelect, AllowText: q.TakesText(), AllowCancel: q.AllowCancel, Again: q.Again,
	}
	for _, o := range q.Options {
		out.Options = append(out.Options, core.Option{ID: o.ID, Label: o.Label, Description: o.Description})
	}
	return out
}

// asQuestion does the reverse of questionOf.
func asQuestion(q core.Question) ask.Question {
	text := q.AllowText
	out := ask.Question{
		ID: q.AskID, Header: q.Short, Question: q.Text, Kind: q.Kind, MultiSelect: q.Multi,
		AllowText: &text, AllowCancel: q.AllowCancel, Exclusive: q.Exclusive, Default: q.Default,
	}
	for _, o := range q.Options {
		out.Options = append(out.Options, ask.Option{ID: o.ID, Label: o.Label, Description: o.Description})
	}
	return out
}

// answerOf converts the loop's answer for the command.
func answerOf(q ask.Question, a core.Answer) ask.Answer {
	out := ask.Answer{ID: q.ID, Text: a.Text, Cancelled: a.Cancelled, Responder: a.Responder, Person: a.Person, Reason: a.Reason, Assistant: a.Assistant}
	if a.Responder == core.RespondedByAssistant && q.Kind == core.KindConfirm && a.Option == core.No {
		out.Reason = strings.TrimSpace(assistant.Rejection(questionOf(q, ""), a))
	}
	switch {
	case a.Cancelled || a.Text != nil:
	case q.MultiSelect && len(a.Options) == 0:
		out.Selected = ask.Several(a.Option)
	case q.MultiSelect:
		out.Selected = ask.Several(a.Options...)
	default:
		out.Selected = ask.One(a.Option)
	}
	return out
}

// loopAnswer converts an answer of the protocol for the loop.
func loopAnswer(a ask.Answer) core.Answer {
	out := core.Answer{Text: a.Text, Cancelled: a.Cancelled, Reason: a.Reason}
	ids := a.Selected.IDs()
	switch {
	case a.Selected.IsList():
		out.Options = slices.Clone(ids)
	case len(ids) == 1:
		out.Option = ids[0]
	}
	return out
}
