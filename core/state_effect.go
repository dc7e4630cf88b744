package core

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/protocol/rejection"
)

// Effect computes the effect of an answer to the open question. It fails if the answer would
// continue past a limit without extending it, because the guard would ask the same question
// forever.
func (s *State) Effect(o Option, a Answer) (ActionApplied, error) {
	d := ActionApplied{
		Option: o.ID, Label: o.Label, Action: o.Action, Guard: s.Trip.Guard,
		Responder: a.Responder, Reason: a.Reason, Rule: a.Rule, Assistant: a.Assistant, Limits: s.Limits,
	}
	if o.Action == ActionPause && s.Trip.Guard == Rejection && s.Rejected != nil {
		d.Blocker = s.Rejected.Rejection.BlockerTask()
	}
	if o.Restore != 0 {
		if s.Best == nil || s.Best.Checkpoint == "" || s.Best.Iteration != o.Restore {
			return d, fmt.Errorf("option %q takes iteration %d, which is not kept", o.ID, o.Restore)
		}
		d.Restore, d.Checkpoint = o.Restore, s.Best.Checkpoint
	}
	if o.Action == ActionDone && (s.Trip.Guard != Weakened || !s.Passed) {
		return d, fmt.Errorf("option %q ends the run as done, and nothing has passed", o.ID)
	}
	words := a.Guidance
	if d.Unsaid = strings.TrimSpace(words) == takesBack; d.Unsaid {
		words = ""
	}
	if words == "" && !a.Person && s.Trip.Guard.takesReason(o) {
		words = a.Reason // a rule or an assistant has no others
	}
	if o.Action == ActionPause { // for when the run goes on
		d.Guidance, d.Words = words, words
	}
	if !o.Action.Continues() {
		return d, nil
	}
	if o.Action.Retasks() {
		if err := s.retask(o.Action, &d); err != nil {
			return d, fmt.Errorf("option %q: %w", o.ID, err)
		}
	}
	d.Limits = s.Extended(o.Extend)
	if d.Escalate = a.Escalate; d.Escalate > 0 {
		if s.Escalated != nil || s.Trip.During || o.Action != ActionContinue || a.Responder != RespondedByWhenStuck {
			return d, errors.New("another command can work only once in a run, between two iterations")
		}
		d.Resets = counting()
	}
	if !s.lifts(d.Limits) {
		return d, fmt.Errorf("option %q does not extend the limit that %s guards", o.ID, s.Trip.Guard)
	}
	d.Resets = append(append([]GuardID{s.Trip.Guard}, s.Trip.Also...), d.Resets...)
	d.Resets = distinct(d.Resets)
	if !s.Trip.Mandatory { // what only a person can answer stays to be asked
		d.Resets = slices.DeleteFunc(d.Resets, func(id GuardID) bool { return id == LadderExhausted })
	}
	if d.Words, d.OwnWords = words, a.OwnWords && words != ""; d.OwnWords {
		o.Guidance = ""
	}
	d.Holds = o.Guidance
	if d.Guidance = joinLines(o.Guidance, words); d.Guidance != "" { // the work tries something else now
		d.Resets = distinct(append(d.Resets, counting()...))
	}
	if a.Person && s.Trip.Guard == Blocked && d.Guidance == "" {
		d.Guidance = goOn
	}
	if s.Trip.Guard.wantsWords(o) && d.Guidance == "" {
		return d, errWordless(o)
	}
	if d.Guidance != "" {
		d.Guidance = s.delivered(d.Guidance)
	}
	if o.Action == ActionSkip {
		d.Known = s.WindowIssues(*s.Trip)
		if len(d.Known) == 0 {
			return d, fmt.Errorf("option %q has nothing to skip: the output of the last iterations has no signature", o.ID)
		}
	}
	d.Guidance = joinLines(d.Guidance, s.Findings)
	return d, nil
}

// Resolve returns the option that an answer to the open question chooses, and checks that it
// can be carried out. An answer with anything besides one option is invalid: a cancellation or
// a text must not continue the run.
func (s *State) Resolve(a Answer) (Option, error) {
	if a.Cancelled || a.Text != nil || len(a.Options) > 0 {
		return Option{}, fmt.Errorf("%s answered with something else than one option; the question has %s", a.Responder, strings.Join(s.Question.OptionIDs(), ", "))
	}
	o, err := s.Question.Resolve(a)
	if err == nil && o.Action != ActionRun { // which has no effect of its own
		_, err = s.Effect(o, a)
	}
	return o, err
}

// distinct returns the list without duplicates.
func distinct[T comparable](list []T) (out []T) {
	for _, item := range list {
		if !slices.Contains(out, item) {
			out = append(out, item)
		}
	}
	return out
}

// joinLines joins the texts that are not blank.
func joinLines(texts ...string) string {
	texts = slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return strings.TrimSpace(t) == "" })
	return strings.Join(texts, "\n")
}

// Extended returns the limits after an extension. It counts from what is spent, which can be
// more than the limit.
func (s *State) Extended(e Extend) Limits {
	l := s.Limits
	for _, g := range specs {
		if x := g.extended(); x != nil {
			x.extend(s, &l, e)
		}
	}
	return l
}

// lifts reports whether the limit that tripped has room left under the new limits.
func (s *State) lifts(l Limits) bool {
	x := s.Trip.Guard.Spec().extended()
	return x == nil || x.lifted(s, l)
}

// raised reports whether the guard's limit is higher in now.
func (l Limits) raised(id GuardID, now Limits) bool {
	x := id.Spec().extended()
	return x != nil && x.raised(l, now)
}

// Note is a remark of the loop itself in a question: the key of its wording, and the values
// that it can mention.
type Note struct {
	Key    string
	Values map[string]any
}

// Texts provides the wording of the notes. [Questions] without this method get English.
type Texts interface {
	Text(key string, values map[string]any) string
}

// The keys of the notes.
const (
	NoteCapped   = "note_capped"     // Cap, Flag: answers can add no more
	NoteRoom     = "note_room"       // Room, Flag: the cap leaves less than an option promises
	NoteKnown    = "note_known"      // nothing but skipped issues came
	NoteNotGiven = "note_not_given"  // Label, Why: the rejection gives no ground for the option
	NoteFindings = "note_findings"   // what debug found follows
	NoteBest     = "note_best"       // Iteration, FailingOf: an earlier iteration was better than the last
	noteKilled   = "error_killed"    // Signal
	noteNotFound = "error_not_found" // Label: the command
	noteSilent   = "error_silent"
	noteCode     = "error_code"      // Code
	NoteProgress = "summary_failing" // how many fail and which, see messages.yaml
	LabelBest    = "label_best"      // Iteration: the option that takes it
)

// english has the notes, with the names of their values in braces.
var english = map[string]string{
	NoteCapped:   "The cap of {Cap} is reached, so continuing is not offered ({Flag}).",
	NoteRoom:     "The cap leaves room for {Room} more ({Flag}).",
	NoteKnown:    "Only skipped issues came since, so skipping is not offered again.",
	NoteNotGiven: "{Label} is not offered: {Why}.",
	NoteFindings: "Findings:",
	NoteBest:     "Iteration {Iteration} had the fewest failures: {FailingOf}.",
	noteKilled:   "killed by {Signal}",
	noteNotFound: "{Label} was not found",
	noteSilent:   "printed nothing",
	noteCode:     "exit code {Code}",
	NoteProgress: "{Text}",
	LabelBest:    "Accept iteration {Iteration}",
}

// String returns the note in English.
func (n Note) String() string {
	said, text := "", cmp.Or(english[n.Key], n.Key)
	for {
		before, after, found := strings.Cut(text, "{")
		if !found {
			return said + text
		}
		name, rest, _ := strings.Cut(after, "}")
		said, text = said+before+fmt.Sprint(n.Values[name]), rest
	}
}

// in returns the note in the words of texts, or in English if they have none.
func (n Note) in(texts Texts) string {
	if texts != nil {
		if text := texts.Text(n.Key, n.Values); text != "" {
			return text
		}
	}
	return n.String()
}

// Capped reports whether answers can add nothing more to that guard's limit.
func (s *State) Capped(id GuardID) (Note, bool) {
	if x := id.Spec().extended(); x != nil {
		if ceiling, full := x.full(s); full {
			return Note{NoteCapped, map[string]any{"Cap": ceiling, "Flag": "--cap-" + x.key()}}, true
		}
	}
	return Note{}, false
}

// room returns a note if the cap leaves less than an option promises.
func (s *State) room(q Question) (Note, bool) {
	x := s.Trip.Guard.Spec().extended()
	for _, o := range q.Options {
		if x == nil || !o.Action.Continues() {
			continue
		}
		if left, less := x.room(s, o.Extend); less {
			return Note{NoteRoom, map[string]any{"Room": left, "Flag": "--cap-" + x.key()}}, true
		}
	}
	return Note{}, false
}

// offer removes the options that cannot be carried out now from the question, and gives the
// reason in the words of texts.
func (s *State) offer(q Question, texts Texts) Question {
	say := func(n Note) string { return n.in(texts) }
	drop := func(why Note, gone func(Option) bool) {
		if !slices.ContainsFunc(q.Options, gone) {
			return
		}
		q.Options = slices.DeleteFunc(slices.Clone(q.Options), gone)
		q.Details = append(q.Details, say(why))
	}
	if why, capped := s.Capped(s.Trip.Guard); capped {
		drop(why, func(o Option) bool { return o.Action.Continues() })
	}
	if room, cut := s.room(q); cut {
		q.Details = append(q.Details, say(room))
	}
	if s.Trip.Known {
		drop(Note{Key: NoteKnown}, func(o Option) bool { return o.Action == ActionSkip })
	}
	for _, o := range q.Options {
		if !o.Action.Retasks() {
			continue
		}
		if err := s.retask(o.Action, &ActionApplied{}); err != nil {
			drop(Note{NoteNotGiven, map[string]any{"Label": o.Label, "Why": err.Error()}}, func(other Option) bool { return other.ID == o.ID })
		}
	}
	q = s.offerBest(q, say)
	if _, ok := q.Option(q.Default); !ok {
		q.Default = ""
	}
	if s.Findings != "" {
		q.Details = append(q.Details, say(Note{Key: NoteFindings}), s.Findings)
	}
	q.Given = s.Given
	q.Mandatory = s.Trip.Mandatory
	return q
}

// offerBest names the iteration with the fewest failures if that is not the last, and offers
// to accept it if the last one can be accepted.
func (s *State) offerBest(q Question, say func(Note) string) Question {
	if !s.BestIsEarlier() || s.Best.Checkpoint == "" {
		return q
	}
	values := map[string]any{"Iteration": s.Best.Iteration, "FailingOf": say(s.Best.Progress.Note())}
	q.Details = append(q.Details, say(Note{NoteBest, values}))
	at := slices.IndexFunc(q.Options, func(o Option) bool { return o.Action == ActionAccept })
	if _, taken := q.Option(acceptBest); at >= 0 && !taken {
		q.Options = slices.Insert(slices.Clone(q.Options), at, Option{
			ID: acceptBest, Label: say(Note{LabelBest, values}), Action: ActionAccept, Restore: s.Best.Iteration,
			Description: values["FailingOf"].(string),
		})
	}
	return q
}

// goOn reaches a blocked command when a person lets it go on without words: what was in the way
// may be gone.
const goOn = "Go on."

// delivered formats guidance as the command receives the answer to a signal: Task, Agent,
// Question, Guidance.
func (s *State) delivered(guidance string) string {
	sig := s.Signal
	if sig == nil || s.Trip == nil || (s.Trip.Guard != Blocked && s.Trip.Guard != Clarification) {
		return guidance
	}
	var b strings.Builder
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, text)
		}
	}
	line("Task", cmp.Or(sig.Task, s.Task))
	line("Agent", sig.Agent)
	line("Question", joinLines(sig.Question, sig.Text))
	line("Guidance", guidance)
	return strings.TrimSpace(b.String())
}

// consequences returns the events to record before the answer is carried out.
func (s *State) consequences(o Option, a Answer, d ActionApplied) []Data {
	var list []Data
	if s.Trip.Guard == Rejection && s.Rejected != nil && !s.Decided {
		list = append(list, s.decision(o, a, d))
	}
	if len(s.Rungs) > 0 && s.restarts(a, d) && !s.Restarted {
		list = append(list, CountersReset{Task: s.LadderTask()})
	}
	return list
}

// restarts reports whether the answer resets the attempts at the task. A person's words do so,
// and so does any answer that continues after the last attempt. Otherwise a policy, an
// assistant or the work itself does not reset them, nor does overriding a rejection.
func (s *State) restarts(a Answer, d ActionApplied) bool {
	switch {
	case !d.Action.Continues():
		return false
	case s.Trip.Guard == LadderExhausted:
		return true
	case s.Trip.Guard == Rejection && d.Action.Retasks():
		return true
	}
	return a.Person && d.Guidance != ""
}

// decision returns the record of the decision about the rejection.
func (s *State) decision(o Option, a Answer, d ActionApplied) RejectionDecided {
	r := RejectionDecided{
		RejectionID: s.Rejected.RejectionID, Decision: rejection.Decision(o.ID),
		Responder: a.Responder, Assistant: a.Assistant, Reason: a.Reason,
	}
	r.Rationale = rejection.Rationale(r.Decision, s.Rejected.Rejection)
	if d.Task != "" {
		r.Created = append(r.Created, d.Task)
	}
	for _, t := range d.Subtasks[:max(0, len(d.Subtasks)-len(s.Subtasks))] { // those after them were there
		r.Created = append(r.Created, taskText(t))
	}
	if d.Blocker != "" {
		r.Created = append(r.Created, d.Blocker)
	}
	return r
}
