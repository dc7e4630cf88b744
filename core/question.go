package core

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// Action is what an answer makes looprun do.
type Action string

// Actions are all actions, in the order in which they are documented.
func Actions() []Action {
	return []Action{ActionContinue, ActionAccept, ActionReview, ActionDebug, ActionPause, ActionSkip, ActionCancel, ActionRun, ActionReject, ActionDecompose, ActionReformulate, ActionDone}
}

// Continues reports whether the run can go on through the action.
func (a Action) Continues() bool {
	return a == ActionContinue || a == ActionDebug || a == ActionSkip || a.Retasks()
}

// Retasks reports whether the action puts another task in the place of a
// rejected one. Only the question about a rejection has such options.
func (a Action) Retasks() bool { return a == ActionDecompose || a == ActionReformulate }

// Stops reports whether the action can only end or pause the run.
func (a Action) Stops() bool {
	return a == ActionPause || a == ActionCancel || a == ActionReject
}

// The actions an option can name.
const (
	// ActionContinue extends the limit that tripped, or resets the guard's
	// counter, hands the option's guidance to the next iteration and resumes.
	ActionContinue Action = "continue"
	// ActionAccept ends the run as accepted, with a partial result.
	ActionAccept Action = "accept"
	// ActionReview shows the history to a person, who is then asked again. It
	// never reaches the state: the responder that talks to a person does it.
	ActionReview Action = "review"
	// ActionDebug runs the debug command: exit 0 makes its output guidance and
	// resumes, anything else asks again with its findings.
	ActionDebug Action = "debug"
	// ActionPause checkpoints and ends as paused.
	ActionPause Action = "pause"
	// ActionSkip makes the signatures of the tripping window known issues,
	// which from then on count neither for nor against a streak.
	ActionSkip Action = "skip"
	// ActionCancel ends the run as cancelled.
	ActionCancel Action = "cancel"
	// ActionRun runs the option's command, shows its first line and asks again.
	ActionRun Action = "run"
	// ActionReject ends the run as rejected: the task cannot be done as given.
	ActionReject Action = "reject"
	// ActionDecompose goes on with the first of the sub-tasks that a rejection
	// names, ActionReformulate with the feasible task that it suggests. Both
	// start the task's counters over.
	ActionDecompose   Action = "decompose"
	ActionReformulate Action = "reformulate"
	// ActionDone ends the run as done: what the judge passed is correct. Only the question
	// of [Weakened] has it, and no assistant may choose it.
	ActionDone Action = "done"
)

// Kind is the kind of a question.
type Kind string

// The kinds of questions. A trip is always a select.
const (
	KindSelect  Kind = "select"
	KindConfirm Kind = "confirm"
	KindText    Kind = "text"
)

// Option is one answer that a question allows.
type Option struct {
	ID          string `json:"id" mask:"option"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Action      Action `json:"action"`
	// Key chooses it at a terminal, beside its number; empty: the first letter of the
	// label that is free.
	Key    string `json:"key,omitempty" mask:"own"`
	Extend Extend `json:"extend,omitzero"`
	// Guidance reaches the next iteration when the option continues.
	Guidance string `json:"guidance,omitempty"`
	// Command is the shell line of [ActionRun].
	Command string `json:"command,omitempty" mask:"command"`
	// Restore is the iteration that [ActionAccept] takes in the place of the last; zero:
	// it takes what is there.
	Restore int `json:"restore,omitempty"`
}

// Question is what is put to the responders: because a guard tripped, or because
// the command asks (From is then [FromCommand] and there is no Guard).
type Question struct {
	ID     string  `json:"id" mask:"own"`
	Guard  GuardID `json:"guard,omitempty"`
	Kind   Kind    `json:"kind"`
	Header string  `json:"header"`
	// Short is the header for interfaces that limit it to 12 characters.
	Short string `json:"short,omitempty"`
	Text  string `json:"question"`
	// Details are lines to show below the text: the evidence in words. An empty line
	// is between its parts. Evidence is the same as data; nil: there is none.
	Details  []string  `json:"details,omitempty"`
	Evidence *Evidence `json:"evidence,omitempty"`
	Options  []Option  `json:"options"`
	// Default is the option that detached mode defaults takes; empty: none.
	Default string `json:"default,omitempty" mask:"option"`
	// Never are the actions that nobody but a person may take; see [Question.Forbids].
	Never []Action `json:"never,omitempty"`
	// Exclusive questions are a person's alone.
	Exclusive bool `json:"exclusive,omitempty"`
	// Mandatory questions are a person's too, except that a policy rule may name
	// ladder_exhausted.
	Mandatory bool `json:"mandatory,omitempty"`

	// From says who asks; empty: a guard. AskID is the name the command gave its
	// question, and Path the runs it came through, the innermost last.
	From  string   `json:"from,omitempty" mask:"own"`
	AskID string   `json:"ask_id,omitempty"`
	Path  []string `json:"path,omitempty"`
	// Returned says that the command left the question behind when it ended: the
	// answer goes to the next iteration.
	Returned bool `json:"returned,omitempty"`
	// To narrows who may answer: user, assistant, assistant_with_escalation.
	To string `json:"to,omitempty" mask:"own"`
	// Multi allows several options, AllowText free text instead of one, and
	// AllowCancel no answer at all. Open says that a person gets nothing
	// preselected: an assistant has advised against it.
	Multi       bool `json:"multi_select,omitempty"`
	AllowText   bool `json:"allow_text,omitempty"`
	AllowCancel bool `json:"allow_cancel,omitempty"`
	Open        bool `json:"open,omitempty"`

	// Again says that it is to be asked although the same one was answered before.
	Again bool `json:"again,omitempty"`

	// Advice is what an assistant said against it, now or when it was asked before;
	// nil: nothing. Then only a person can let it through.
	Advice *Advice `json:"advice,omitempty"`

	// CI is where a guard's question was asked.
	CI CI `json:"ci,omitzero"`

	// Given are the answers this trip has had already, oldest first. A rule or
	// an assistant may not give the same one twice.
	Given []Given `json:"given,omitempty"`
}

// CI is where a run takes place. A zero field is not known.
type CI struct {
	// In says that this is a CI job, Name the CI system as looprun's --ci calls it, Event
	// what started the job in that system's own words, and Attempt how often, from 1.
	In      bool   `json:"in,omitempty"`
	Name    string `json:"name,omitempty" mask:"own"`
	Event   string `json:"event,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Branch is the branch that is worked on, with or without CI, and BaseBranch the
	// one that a pull request goes to.
	Branch     string `json:"branch,omitempty"`
	BaseBranch string `json:"base_branch,omitempty"`
	Tag        string `json:"tag,omitempty"`
	// PullRequest is its number.
	PullRequest int `json:"pull_request,omitempty"`
}

// FromCommand marks a question that the command in the loop asks.
const FromCommand = "command"

// The options of a confirm question.
const (
	Yes = "yes"
	No  = "no"
)

// Who can answer, as [Answer.Responder] names them.
const (
	RespondedByPolicy    = "policy"
	RespondedByAssistant = "assistant"
	RespondedByParent    = "parent"
	RespondedByUser      = "user"
	RespondedByProgram   = "program" // the one that runs the loop, as a library
	RespondedByDetached  = "detached"
)

// The places from which a run is answered and told, beside the command line.
const (
	ViaWeb = "web" // the page of looprun serve
	ViaMCP = "mcp" // an agent's tools
)

// Given is an answer that was given earlier in the same trip.
type Given struct {
	Option    string `json:"option" mask:"option"`
	Responder string `json:"responder" mask:"own"`
	Rule      string `json:"rule,omitempty" mask:"own"`
}

// Option returns the option with that id.
func (q *Question) Option(id string) (Option, bool) {
	i := slices.IndexFunc(q.Options, func(o Option) bool { return o.ID == id })
	if i < 0 {
		return Option{}, false
	}
	return q.Options[i], true
}

// WantsWords reports whether the option is of no use without guidance: the command
// asked what it should do.
func (q *Question) WantsWords(o Option) bool { return q.Guard.wantsWords(o) }

// TakesReason reports whether the reason of an answer is what the work is told, where the
// answer has no other words.
func (q *Question) TakesReason(o Option) bool { return q.Guard.takesReason(o) }

func (id GuardID) wantsWords(o Option) bool {
	return (id == Blocked || id == Clarification) && o.Action == ActionContinue && o.Guidance == ""
}

func (id GuardID) takesReason(o Option) bool {
	return o.Action == ActionContinue && (id == Blocked || id == Clarification || id == Rejection || id == LadderExhausted)
}

// GoesOn is the first option that goes on, which words without an option answer;
// false: none is offered.
func (q *Question) GoesOn() (Option, bool) {
	i := slices.IndexFunc(q.Options, func(o Option) bool { return o.Action.Continues() })
	if i < 0 || q.From == FromCommand && q.Guard == "" {
		return Option{}, false
	}
	return q.Options[i], true
}

// Ends reports whether the action ends the run for good, unless a person reopens it.
func (a Action) Ends() bool {
	return a == ActionAccept || a == ActionCancel || a == ActionReject || a == ActionDone
}

// acceptBest is the id of the option that takes the iteration with the fewest failures.
const acceptBest = "accept_best"

// TakenKeys are the characters that mean the same at every question at a terminal, so
// that no option can have them: words, pause, review, edit, explain, yes and no.
const TakenKeys = "wpre?yn"

// takesBack in place of guidance takes back what was said before and holds still.
const takesBack = "-"

func errWordless(o Option) error {
	return fmt.Errorf("option %q answers in words, and there are none; add --guidance TEXT", o.ID)
}

// OptionIDs lists the ids of the options in their order.
func (q *Question) OptionIDs() []string {
	ids := make([]string, len(q.Options))
	for i, o := range q.Options {
		ids[i] = o.ID
	}
	return ids
}

// Answer is what a responder decided, and why.
type Answer struct {
	// Option is the id of the option, or yes or no; empty where Options, Text or
	// Cancelled answers the question.
	Option string `json:"option" mask:"option"`
	// Options are the ids chosen of a question with Multi.
	Options []string `json:"options,omitempty"`
	// Text answers a text question, or a select one that allows text.
	Text *string `json:"text,omitempty"`
	// Cancelled declines to answer a question that allows it.
	Cancelled bool `json:"cancelled,omitempty"`
	// Responder is who answered: policy, assistant, parent, user, detached.
	Responder string `json:"responder" mask:"own"`
	Reason    string `json:"reason,omitempty"`
	// Rule is where the deciding rule stands, as file:line; Assistant which assistant it
	// was.
	Rule      string    `json:"rule,omitempty" mask:"own"`
	Assistant Assistant `json:"assistant,omitzero"`
	// Notify says that the rule that answered wants the run's services told.
	Notify bool `json:"notify,omitempty"`
	// Guidance is given to the next iteration beside that of the option.
	Guidance string `json:"guidance,omitempty"`
	// OwnWords says that Guidance stands alone, without the guidance of the option.
	OwnWords bool `json:"own_words,omitempty"`
	// Person says that a person gave the answer, and Via where: [ViaWeb], or empty for
	// anywhere else. It is in the JSON form, and so in what comes over a wire: give an
	// answer from there a Person of your own, as [Answer.ByPerson] does and [OfProgram].
	Person bool   `json:"person,omitempty"`
	Via    string `json:"via,omitempty" mask:"own"`
	// Mandatory is set by a policy rule that names ladder_exhausted: it alone may
	// answer a mandatory question in a person's place.
	Mandatory bool `json:"mandatory,omitempty"`
	// Unlisted is set by a policy that answers accept, pause or cancel to a
	// question which does not list that option; Option is then the action.
	Unlisted bool `json:"unlisted,omitempty"`
}

// Who is who answered, with the rule or the assistant that it was: “policy (p.yaml:3)”,
// “assistant reviewer (claude-haiku-4-5)”.
func (a Answer) Who() string { return a.Assistant.who(a.Responder, a.Rule) }

// Assistant names one among several assistants. Zero: its answers do not say which.
type Assistant struct {
	Name  string `json:"name,omitempty" mask:"own" doc:"What it is called."`
	Model string `json:"model,omitempty" mask:"own" doc:"The model that it asked."`
}

// String is the name with the model, “reviewer (claude-haiku-4-5)”; empty for none.
func (a Assistant) String() string {
	model := termsafe.Line(a.Model)
	if model != "" {
		model = "(" + model + ")"
	}
	return strings.TrimSpace(termsafe.Line(a.Name) + " " + model)
}

func (a Assistant) who(responder, rule string) string {
	if rule != "" {
		rule = "(" + rule + ")"
	}
	return strings.Join(strings.Fields(responder+" "+a.String()+" "+rule), " ")
}

// AdviseAgainst is its advice to reject a question for that reason, which can be empty.
func (a Assistant) AdviseAgainst(reason string) Advice {
	advice := Advice{Reason: strings.TrimSpace(termsafe.Text(reason)), Assistant: a}
	said := "(no reason given)"
	if advice.Reason != "" {
		said = "“" + advice.Reason + "”"
	}
	advice.Text = "The " + a.who(RespondedByAssistant, "") + " recommended rejecting this: " + said
	return advice
}

// unlisted are the answers a policy may give to any guard's question.
var unlisted = []Action{ActionAccept, ActionPause, ActionCancel}

// Resolve finds the option that the answer takes. It fails when the question
// does not have it, and when it is review, which only a person can do.
func (q *Question) Resolve(a Answer) (Option, error) {
	o, ok := q.Option(a.Option)
	if !ok && a.Unlisted && a.Responder == RespondedByPolicy && slices.Contains(unlisted, Action(a.Option)) {
		o, ok = Option{ID: a.Option, Label: a.Option, Action: Action(a.Option)}, true
	}
	switch {
	case !ok:
		return Option{}, fmt.Errorf("%s answered %q; the question has %s", a.Responder, a.Option, strings.Join(q.OptionIDs(), ", "))
	case o.Action == ActionReview:
		return Option{}, fmt.Errorf("%s answered %q, which only shows the history", a.Responder, a.Option)
	case o.Action == ActionDone && !a.Person && a.Responder != RespondedByPolicy:
		return Option{}, fmt.Errorf("%s answered %q, which only a person or a rule may", a.Responder, a.Option)
	case !a.Person && q.Forbids(o.Action):
		return Option{}, fmt.Errorf("%s answered %q, which is never allowed here but to a person", a.Responder, a.Option)
	case q.personal(a):
		return Option{}, fmt.Errorf("%s answered a question that only a person may answer", a.Responder)
	case !a.Person && slices.Contains(q.Given, Given{a.Option, a.Responder, a.Rule}):
		return Option{}, fmt.Errorf("%s answered %q a second time within one trip", a.Responder, a.Option)
	}
	return o, q.againstAdvice(a)
}

// CanForbid are the actions that never: of a policy or a template can have.
var CanForbid = []Action{ActionAccept, ActionContinue}

// Forbids reports whether the action is one of Never: continue stands for all that go on,
// accept for all that take what is there.
func (q *Question) Forbids(a Action) bool {
	switch {
	case a.Continues():
		a = ActionContinue
	case a == ActionDone:
		a = ActionAccept
	}
	return slices.Contains(q.Never, a)
}

// personal reports whether the question needs a person and the answer is not
// one's.
func (q *Question) personal(a Answer) bool {
	if a.Person {
		return false
	}
	ruled := a.Mandatory && a.Responder == RespondedByPolicy
	return q.Exclusive || q.Mandatory && !ruled
}

// Questions makes the question for a trip. The state is read only.
type Questions interface {
	Question(*State, Trip) (Question, error)
}

// Responder answers questions. Respond returns [ErrNoAnswer] when the question
// is not one it answers, [ErrDeferred] to keep it for later, [ErrInterrupted]
// when a person interrupted. Any other error is recorded and the next
// responder is asked. It has to return soon after the context ends, which it does when the run
// is to end, or when an answer came from elsewhere: the run waits for it. The state and the
// question's options are read only.
type Responder interface {
	Respond(context.Context, Question, *State) (Answer, error)
}

// ResponderFunc makes a function a [Responder].
type ResponderFunc func(context.Context, Question, *State) (Answer, error)

// Respond calls the function.
func (f ResponderFunc) Respond(ctx context.Context, q Question, s *State) (Answer, error) {
	return f(ctx, q, s)
}

// String is the answer in words: the options, the text, or that it was cancelled.
func (a Answer) String() string {
	switch {
	case a.Cancelled:
		return "cancelled"
	case a.Text != nil:
		return *a.Text
	case len(a.Options) > 0:
		return strings.Join(a.Options, ", ")
	}
	return a.Option
}

// Accepts checks the answer to a question of the command against the question.
func (q *Question) Accepts(a Answer) error {
	by := a.Responder
	if err := q.againstAdvice(a); err != nil {
		return err
	}
	switch {
	case q.personal(a):
		return fmt.Errorf("%s answered a question that only a person may answer", by)
	case a.Cancelled && !q.AllowCancel:
		return fmt.Errorf("%s cancelled a question that has to be answered", by)
	case a.Cancelled:
		return nil // a cancel beats whatever else was given
	case a.Text != nil:
		return q.acceptsText(a)
	case q.Kind == KindText:
		return fmt.Errorf("%s answered with an option where a text is wanted", by)
	case len(a.Options) > 0:
		return q.acceptsSeveral(a)
	case q.Kind == KindConfirm:
		if a.Option != Yes && a.Option != No {
			return fmt.Errorf("%s answered %q; the question takes yes or no", by, a.Option)
		}
		return nil
	}
	if err := q.has(by, a.Option); err != nil {
		return err
	}
	if o, _ := q.Option(a.Option); q.WantsWords(o) && a.Guidance == "" { // of a run inside this one
		return errWordless(o)
	}
	return nil
}

func (q *Question) acceptsText(a Answer) error {
	switch {
	case q.Kind != KindText && !q.AllowText:
		return fmt.Errorf("%s answered with a text, which the question does not take", a.Responder)
	case a.Option != "" || len(a.Options) > 0:
		return fmt.Errorf("%s answered with an option and with a text", a.Responder)
	case strings.TrimSpace(*a.Text) == "":
		return fmt.Errorf("%s answered with an empty text", a.Responder)
	}
	return nil
}

func (q *Question) acceptsSeveral(a Answer) error {
	if !q.Multi || a.Option != "" {
		return fmt.Errorf("%s answered with several options, and the question takes one", a.Responder)
	}
	for i, id := range a.Options {
		if slices.Contains(a.Options[:i], id) {
			return fmt.Errorf("%s answered with %q twice", a.Responder, id)
		}
		if err := q.has(a.Responder, id); err != nil {
			return err
		}
	}
	return nil
}

func (q *Question) has(by, id string) error {
	if _, ok := q.Option(id); !ok {
		return fmt.Errorf("%s answered %q; the question has %s", by, id, strings.Join(q.OptionIDs(), ", "))
	}
	return nil
}

// offersAs reports whether both questions offer the same to choose from. Those
// that the command gave no name have one by their place, q1 and so on, which says
// nothing: they have to ask the same as well.
func (q *Question) offersAs(other Question) bool {
	if q.ownName() == "" && q.AskID != "" && q.Text != other.Text {
		return false
	}
	same := func(a, b Option) bool { return a.ID == b.ID && a.Label == b.Label }
	return q.Kind == other.Kind && q.Multi == other.Multi && slices.EqualFunc(q.Options, other.Options, same)
}

// fromCommand is the question as the record of that number has it.
func (q Question) fromCommand(seq int64) Question {
	q.From, q.ID = FromCommand, fmt.Sprintf("ask-%d", seq)
	return q
}

// Vouch is the responder as one whose answers say themselves who gave them: Responder,
// Person, Rule, Mandatory and Unlisted count as they are. Those of every other responder
// that is given to looprun.Run are a program's; see [OfProgram].
func Vouch(r Responder) Responder { return vouched{r} }

type vouched struct{ Responder }

// OfProgram is the responder as one whose answers are a program's, whatever they say of who
// gave them: they may have come over a wire. One of [Vouch] stays as it is.
func OfProgram(r Responder) Responder {
	if _, ok := r.(vouched); ok {
		return r
	}
	return ofProgram{r}
}

type ofProgram struct{ Responder }

func (r ofProgram) Respond(ctx context.Context, q Question, s *State) (Answer, error) {
	a, err := r.Responder.Respond(ctx, q, s)
	return a.ByProgram(), err
}

// ByProgram is what the answer says, as the program's that runs the loop.
func (a Answer) ByProgram() Answer { return a.by(RespondedByProgram, false) }

// ByPerson is what the answer says, as a person's: for whoever knows that one gave it.
func (a Answer) ByPerson() Answer {
	by := a.by(RespondedByUser, true)
	if a.Via == ViaWeb {
		by.Via = ViaWeb
	}
	return by
}

func (a Answer) by(responder string, person bool) Answer {
	return Answer{
		Option: a.Option, Options: a.Options, Text: a.Text, Cancelled: a.Cancelled, Reason: a.Reason, Guidance: a.Guidance, OwnWords: a.OwnWords,
		Responder: responder, Person: person,
	}
}
