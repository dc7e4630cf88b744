package core

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/rejection"
)

// Action is what looprun does because of an answer.
type Action string

// Actions returns all actions, in the order in which they are documented.
func Actions() []Action {
	return []Action{ActionContinue, ActionAccept, ActionReview, ActionDebug, ActionPause, ActionSkip, ActionCancel, ActionRun, ActionReject, ActionDecompose, ActionReformulate, ActionDone}
}

// Continues reports whether the run can continue after the action.
func (a Action) Continues() bool {
	return a == ActionContinue || a == ActionDebug || a == ActionSkip || a.Retasks()
}

// Retasks reports whether the action replaces a rejected task with another. Only the question
// about a rejection has such options.
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
	// ActionReview shows the history to a person, who is then asked again. It never reaches
	// the state: the responder that talks to the person handles it.
	ActionReview Action = "review"
	// ActionDebug runs the debug command, or a turn of the agent that only looks, or a shell.
	// If it exits with 0, its findings become guidance and the run resumes; otherwise the
	// question is asked again with them.
	ActionDebug Action = "debug"
	// ActionPause checkpoints the run and ends as paused.
	ActionPause Action = "pause"
	// ActionSkip turns the signatures of the tripping window into known issues, which from
	// then on count neither for nor against a streak.
	ActionSkip Action = "skip"
	// ActionCancel ends the run as cancelled.
	ActionCancel Action = "cancel"
	// ActionRun runs the option's command, shows its first line and asks again.
	ActionRun Action = "run"
	// ActionReject ends the run as rejected: the task cannot be done as given.
	ActionReject Action = "reject"
	// ActionDecompose continues with the first of the sub-tasks that a rejection names,
	// ActionReformulate with the feasible task that it suggests. Both reset the task's
	// counters.
	ActionDecompose   Action = "decompose"
	ActionReformulate Action = "reformulate"
	// ActionDone ends the run as done: the pass was correct. Only the question of [Weakened]
	// offers it, and no assistant may choose it.
	ActionDone Action = "done"
)

// Kind is the kind of a question.
type Kind string

// The kinds of questions. The question of a trip is always a select.
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
	// Key selects the option at a terminal, like its number does; if empty, it is the first
	// free letter of the label.
	Key    string `json:"key,omitempty" mask:"own"`
	Extend Extend `json:"extend,omitzero"`
	// Guidance is passed to the next iteration if the option continues.
	Guidance string `json:"guidance,omitempty"`
	// Command is the shell line of [ActionRun].
	Command string `json:"command,omitempty" mask:"command"`
	// Restore is the iteration whose files [ActionAccept] takes instead of the last one's;
	// zero takes the files as they are.
	Restore int `json:"restore,omitempty"`
	// Shell means that [ActionDebug] opens a shell, which needs a person at a terminal.
	Shell bool `json:"shell,omitempty"`
}

// Misnamed returns the action after which the option is named, if it has another one; empty
// if it has that one, or another name. About a rejection the ids accept, override and defer
// name decisions: accepting a rejection means rejecting the task.
func (o Option) Misnamed(guard GuardID) Action {
	named := Action(o.ID)
	if guard == Rejection {
		decided := map[rejection.Decision]Action{rejection.Override: ActionContinue, rejection.Accept: ActionReject, rejection.Defer: ActionPause}
		named = cmp.Or(decided[rejection.Decision(o.ID)], named)
	}
	if named == o.Action || !slices.Contains(Actions(), named) {
		return ""
	}
	return named
}

// Question is a question for the responders, asked because a guard tripped or because the
// command asks (From is then [FromCommand] and there is no Guard).
type Question struct {
	ID     string  `json:"id" mask:"own"`
	Guard  GuardID `json:"guard,omitempty"`
	Kind   Kind    `json:"kind"`
	Header string  `json:"header"`
	// Short is the header for interfaces that limit it to 12 characters.
	Short string `json:"short,omitempty"`
	Text  string `json:"question"`
	// Details are lines to show below the text: the evidence in words. An empty line separates
	// its parts. Evidence is the same as data; nil if there is none.
	Details  []string  `json:"details,omitempty"`
	Evidence *Evidence `json:"evidence,omitempty"`
	Options  []Option  `json:"options"`
	// Default is the option chosen by detached mode defaults, or several, one per line; empty
	// if there is none.
	Default string `json:"default,omitempty" mask:"option"`
	// Never lists the actions that only a person may take; see [Question.Forbids].
	Never []Action `json:"never,omitempty"`
	// Exclusive means that only a person may answer.
	Exclusive bool `json:"exclusive,omitempty"`
	// Mandatory also means that only a person may answer, except that a policy rule may name
	// ladder_exhausted.
	Mandatory bool `json:"mandatory,omitempty"`

	// From is who asks; empty for a guard. AskID is the command's own name for its question,
	// and Path lists the runs it came through, innermost last.
	From  string   `json:"from,omitempty" mask:"own"`
	AskID string   `json:"ask_id,omitempty"`
	Path  []string `json:"path,omitempty"`
	// Returned means that the command ended without waiting for the answer, which goes to the
	// next iteration.
	Returned bool `json:"returned,omitempty"`
	// To restricts who may answer: user, assistant, assistant_with_escalation.
	To string `json:"to,omitempty" mask:"own"`
	// Multi allows several options, AllowText allows free text instead of one, and AllowCancel
	// allows no answer at all. Open means that nothing is preselected for a person, because an
	// assistant has advised against it.
	Multi       bool `json:"multi_select,omitempty"`
	AllowText   bool `json:"allow_text,omitempty"`
	AllowCancel bool `json:"allow_cancel,omitempty"`
	Open        bool `json:"open,omitempty"`

	// Again means that the question is asked even if the same one was answered before.
	Again bool `json:"again,omitempty"`

	// Advice is an assistant's advice against it, given now or when it was asked before; nil
	// if there is none. With advice, only a person can let the question through.
	Advice *Advice `json:"advice,omitempty"`

	// CI describes where a guard's question was asked.
	CI CI `json:"ci,omitzero"`

	// Given lists the answers that this trip has already had, oldest first. A rule or an
	// assistant may not give the same one twice.
	Given []Given `json:"given,omitempty"`
}

// CI describes where a run takes place. A zero field is not known.
type CI struct {
	// In means that this is a CI job. Name is the CI system as looprun's --ci names it, Event
	// is what started the job, in that system's own words, and Attempt is the number of the
	// attempt, from 1.
	In      bool   `json:"in,omitempty"`
	Name    string `json:"name,omitempty" mask:"own"`
	Event   string `json:"event,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	// Branch is the branch being worked on, with or without CI. BaseBranch is the target
	// branch of a pull request.
	Branch     string `json:"branch,omitempty"`
	BaseBranch string `json:"base_branch,omitempty"`
	Tag        string `json:"tag,omitempty"`
	// PullRequest is the pull request's number.
	PullRequest int `json:"pull_request,omitempty"`
	// ChangedFiles is how many files differ in git from the last commit before the run, new
	// ones included; nil if that is not known.
	ChangedFiles *int `json:"changed_files,omitempty"`
}

// FromCommand marks a question asked by the command in the loop.
const FromCommand = "command"

// AgentAsks is the id of the question with which a coding agent ended a turn, in its own words.
// It is asked only if the agent has not told looprun what it needs.
const AgentAsks = "agent_question"

// The options of a confirm question.
const (
	Yes = "yes"
	No  = "no"
)

// The possible values of [Answer.Responder].
const (
	RespondedByWhenStuck = "when_stuck" // the run's configuration: another command works now
	RespondedByPolicy    = "policy"
	RespondedByAssistant = "assistant"
	RespondedByParent    = "parent"
	RespondedByUser      = "user"
	RespondedByProgram   = "program" // the one that runs the loop, as a library
	RespondedByDetached  = "detached"
)

// The places other than the command line from which a run gets answers and orders.
const (
	ViaWeb = "web" // the page of looprun serve
	ViaMCP = "mcp" // an agent's tools

	// A phone, with the service of that name.
	ViaNtfy     = "ntfy"
	ViaMatrix   = "matrix"
	ViaTelegram = "telegram"
	ViaMail     = "smtp"
)

// places describes each place, as an addition to who gave an answer or an order.
var places = map[string]string{
	ViaWeb: " in the browser", ViaMCP: " over MCP", ViaNtfy: " over ntfy", ViaMatrix: " over Matrix", ViaTelegram: " over Telegram", ViaMail: " by e-mail",
}

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

// WantsWords reports whether a person's answer with the option is useless without guidance,
// because the command asked what to do.
func (q *Question) WantsWords(o Option) bool {
	return q.Guard == Clarification && q.Guard.wantsWords(o)
}

// AsksWords reports whether a person who chooses the option is asked for words, which may stay
// empty: something outside may have changed.
func (q *Question) AsksWords(o Option) bool {
	return (q.Guard == Blocked || q.Guard == LadderExhausted) && o.Action == ActionContinue && o.Guidance == ""
}

// TakesReason reports whether the reason of an answer is passed to the work if the answer has
// no other words.
func (q *Question) TakesReason(o Option) bool { return q.Guard.takesReason(o) }

func (id GuardID) wantsWords(o Option) bool {
	return (id == Blocked || id == Clarification) && o.Action == ActionContinue && o.Guidance == ""
}

func (id GuardID) takesReason(o Option) bool {
	return o.Action == ActionContinue && (id == Blocked || id == Clarification || id == Rejection || id == LadderExhausted)
}

// GoesOn returns the first option that continues the run. Words without an option choose it.
// It returns false if there is none.
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

// acceptBest is the id of the option that accepts the iteration with the fewest failures.
const acceptBest = "accept_best"

// TakenKeys are the characters with a fixed meaning at every terminal question, so no option
// can use them: words, pause, review, edit, explain, yes and no.
const TakenKeys = "wpre?yn"

// takesBack, in place of guidance, withdraws earlier guidance that is still in effect.
const takesBack = "-"

func errWordless(o Option) error {
	return fmt.Errorf("option %q answers in words, and there are none; add --guidance TEXT", o.ID)
}

// OptionIDs returns the ids of the options in order.
func (q *Question) OptionIDs() []string {
	return convert.Each(q.Options, func(o Option) string { return o.ID })
}

// Answer is what a responder decided, and why.
type Answer struct {
	// Option is the id of the option, or yes or no; empty if Options, Text or Cancelled
	// answers the question.
	Option string `json:"option" mask:"option"`
	// Options are the chosen ids for a question with Multi.
	Options []string `json:"options,omitempty"`
	// Text answers a text question, or a select question that allows text.
	Text *string `json:"text,omitempty"`
	// Cancelled declines to answer a question that allows it.
	Cancelled bool `json:"cancelled,omitempty"`
	// Responder is who answered: when_stuck, policy, assistant, parent, user, detached.
	Responder string `json:"responder" mask:"own"`
	Reason    string `json:"reason,omitempty"`
	// Escalate is for how many iterations another command works in place of the run's own;
	// zero for every answer but that of when_stuck.
	Escalate int `json:"escalate,omitempty"`
	// Rule is the location of the deciding rule, as file:line; Assistant is the assistant that
	// answered.
	Rule      string    `json:"rule,omitempty" mask:"own"`
	Assistant Assistant `json:"assistant,omitzero"`
	// Notify means that the rule that answered asks to notify the run's services.
	Notify bool `json:"notify,omitempty"`
	// Guidance is passed to the next iteration in addition to the option's.
	Guidance string `json:"guidance,omitempty"`
	// OwnWords means that Guidance replaces the guidance of the option.
	OwnWords bool `json:"own_words,omitempty"`
	// Person reports that a person gave the answer, and Via where: [ViaWeb], a service such as
	// [ViaNtfy], or empty for anywhere else. Both are part of the JSON form, so an answer
	// received over a wire can claim them: set Person yourself on such an answer, as
	// [Answer.ByPerson] and [OfProgram] do.
	Person bool   `json:"person,omitempty"`
	Via    string `json:"via,omitempty" mask:"own"`
	// Mandatory is set by a policy rule that names ladder_exhausted. Only such a rule may
	// answer a mandatory question in a person's place.
	Mandatory bool `json:"mandatory,omitempty"`
	// Unlisted is set by a policy that answers accept, pause or cancel to a question that does
	// not list that option; Option is then the action.
	Unlisted bool `json:"unlisted,omitempty"`
}

// Who returns who answered, with the rule, the assistant or the place: “policy (p.yaml:3)”,
// “assistant reviewer (claude-haiku-4-5)”, “user in the browser”.
func (a Answer) Who() string { return a.Assistant.who(a.Responder, a.Rule) + places[a.Via] }

// Assistant identifies one of several assistants. The zero value means that its answers do not
// identify it.
type Assistant struct {
	Name  string `json:"name,omitempty" mask:"own" doc:"What it is called."`
	Model string `json:"model,omitempty" mask:"own" doc:"The model that it asked."`
}

// String returns the name with the model, “reviewer (claude-haiku-4-5)”; empty if there is
// neither.
func (a Assistant) String() string {
	model := termsafe.Line(a.Model)
	if model != "" {
		model = "(" + model + ")"
	}
	return strings.TrimSpace(termsafe.Line(a.Name) + " " + model)
}

func (a Assistant) who(responder, rule string) string {
	if responder == RespondedByParent {
		responder = "the run above"
	}
	if rule != "" {
		rule = "(" + rule + ")"
	}
	return strings.Join(strings.Fields(responder+" "+a.String()+" "+rule), " ")
}

// AdviseAgainst returns the assistant's advice to reject a question for that reason, which may
// be empty.
func (a Assistant) AdviseAgainst(reason string) Advice {
	advice := Advice{Reason: strings.TrimSpace(termsafe.Text(reason)), Assistant: a}
	said := "(no reason given)"
	if advice.Reason != "" {
		said = "“" + advice.Reason + "”"
	}
	advice.Text = "The " + a.who(RespondedByAssistant, "") + " recommended rejecting this: " + said
	return advice
}

// unlisted are the actions that a policy may answer to any guard's question, even if its
// template does not offer them.
var unlisted = []Action{ActionAccept, ActionPause, ActionCancel}

// Resolve returns the option that the answer chooses. It fails if the question does not have
// it, or if it is review, which only a person can do.
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

// CanForbid returns the actions that never: in a policy or a template can contain.
func CanForbid() []Action { return []Action{ActionAccept, ActionContinue} }

// Forbids reports whether Never contains the action. In Never, continue means every action
// that continues the run, and accept also means done.
func (q *Question) Forbids(a Action) bool {
	switch {
	case a.Continues():
		a = ActionContinue
	case a == ActionDone:
		a = ActionAccept
	}
	return slices.Contains(q.Never, a)
}

// personal reports whether the question needs a person and the answer is not from one.
func (q *Question) personal(a Answer) bool {
	if a.Person {
		return false
	}
	ruled := a.Mandatory && a.Responder == RespondedByPolicy
	return q.Exclusive || q.Mandatory && !ruled
}

// Questions makes the question for a trip. It must not modify the state.
type Questions interface {
	Question(*State, Trip) (Question, error)
}

// Responder answers questions. Respond returns [ErrNoAnswer] if it does not answer this
// question, [ErrDeferred] to keep it for later, or [ErrInterrupted] if a person interrupted.
// Any other error is recorded and the next responder is asked. Respond must return soon after
// its context ends, because the run waits for it; the context ends when the run is to end or
// another answer arrived first. Respond must not modify the state or the question's options.
type Responder interface {
	Respond(context.Context, Question, *State) (Answer, error)
}

// ResponderFunc is a function that acts as a [Responder].
type ResponderFunc func(context.Context, Question, *State) (Answer, error)

// Respond calls f.
func (f ResponderFunc) Respond(ctx context.Context, q Question, s *State) (Answer, error) {
	return f(ctx, q, s)
}

// String returns the answer in words: the options, the text, or that it was cancelled.
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

// Accepts checks that an answer fits a question of the command.
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
		return fmt.Errorf("%s answered with an option, but the question needs a text (looprun answer --text)", by)
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

// offersAs reports whether both questions offer the same choices. Unnamed questions are named
// by their position (q1 and so on), which identifies nothing, so they must also have the same
// text.
func (q *Question) offersAs(other Question) bool {
	if q.ownName() == "" && q.AskID != "" && q.Text != other.Text {
		return false
	}
	same := func(a, b Option) bool { return a.ID == b.ID && a.Label == b.Label }
	return q.Kind == other.Kind && q.Multi == other.Multi && slices.EqualFunc(q.Options, other.Options, same)
}

// fromCommand returns the question as recorded in the event with that number.
func (q Question) fromCommand(seq int64) Question {
	q.From, q.ID = FromCommand, fmt.Sprintf("ask-%d", seq)
	return q
}

// Vouch marks a responder as trusted to state who gave its answers: their Responder, Person,
// Rule, Mandatory and Unlisted fields are used unchanged. The answers of every other responder
// given to looprun.Run count as the program's; see [OfProgram].
func Vouch(r Responder) Responder { return vouched{r} }

type vouched struct{ Responder }

// OfProgram makes the responder's answers count as the program's, whoever they claim to be
// from: they may have come over a wire. A responder marked by [Vouch] is returned unchanged.
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

// ByProgram returns the answer as given by the program that runs the loop.
func (a Answer) ByProgram() Answer { return a.by(RespondedByProgram, false) }

// ByPerson returns the answer as given by a person, for a caller that knows a person gave it.
func (a Answer) ByPerson() Answer {
	by := a.by(RespondedByUser, true)
	if a.Via != ViaMCP && places[a.Via] != "" { // an agent is no person
		by.Via = a.Via
	}
	return by
}

func (a Answer) by(responder string, person bool) Answer {
	return Answer{
		Option: a.Option, Options: a.Options, Text: a.Text, Cancelled: a.Cancelled, Reason: a.Reason, Guidance: a.Guidance, OwnWords: a.OwnWords,
		Responder: responder, Person: person,
	}
}
