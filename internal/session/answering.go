package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/socket"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/templates"
)

// Waiting is a run that waits for an answer, as seen by someone answering from outside.
type Waiting struct {
	Dir       string
	State     *core.State
	Live      bool            // it is going on, so questions come and go
	Questions []core.Question // that an answer can be for
}

// Look reads a run that may be waiting.
func Look(dir string) (*Waiting, error) {
	live := Reachable(dir) // before the look: what it shows is no older
	state, _, err := scratchpad.Load(dir)
	if err != nil {
		return nil, err
	}
	return &Waiting{dir, state, live || Reachable(dir), state.Answerable()}, nil
}

// Texts returns the words of the prompt in the packs of the run; nil, which means the built-in
// ones, if they cannot be read here.
func (w *Waiting) Texts() core.Texts {
	if r, err := RecordedOf(w.Dir); err == nil {
		if set, err := templates.Load(r.Options.Templates...); err == nil {
			return set
		}
	}
	return nil
}

// QuestionsIn returns the questions that a run is waiting on, and none if the run above asks
// them. If the run ended in a way that leaves none, it does not read the whole run.
func QuestionsIn(dir string) []core.Question {
	if s := scratchpad.Summarize(dir); s.Problem != "" || !s.Status.Resumable() {
		return nil
	}
	state, _, err := scratchpad.Load(dir)
	if err != nil || len(state.Answerable()) == 0 || scratchpad.AskedAbove(dir) != "" {
		return nil
	}
	return state.Answerable()
}

// Question returns the waiting question with that id. If the run is at rest, the id may also
// be the one that the command gave the question, which a later question or one of looprun's
// own may share. The error names who answered the question and lists what is waiting.
func (w *Waiting) Question(id string) (core.Question, error) {
	if i := slices.IndexFunc(w.Questions, func(q core.Question) bool { return q.ID == id }); i >= 0 {
		return w.Questions[i], nil
	}
	if found := convert.Where(w.Questions, func(q core.Question) bool { return q.AskID == id && !w.Live }); len(found) == 1 {
		return found[0], nil
	}
	text := fmt.Sprintf("no question %q waits in run %s", id, w.State.RunID)
	for _, answer := range slices.Backward(w.State.Answered) {
		if answer.QuestionID == id {
			text = fmt.Sprintf("question %s of run %s no longer waits: %s", id, w.State.RunID, console.Settled(answer, "it"))
			break
		}
	}
	if len(w.Questions) > 0 {
		text += "; what waits now is another: " + w.List()
	}
	return core.Question{}, errors.New(text)
}

// Concludes reports whether the answer ends or pauses the run.
func (w *Waiting) Concludes(a Answered) bool {
	for _, q := range w.Questions {
		if o, err := q.Resolve(a.Answer); q.ID == a.QuestionID && q.From != core.FromCommand && err == nil {
			return o.Action.Ends() || o.Action == core.ActionPause
		}
	}
	return false
}

// List returns the questions with their ids and texts.
func (w *Waiting) List() string {
	list := convert.Each(w.Questions, func(q core.Question) string { return q.ID + " is " + console.WordsOfQuestion(q) })
	return strings.Join(list, ", ")
}

// Nothing returns the error that no question is waiting: who answered the last one, and what
// the caller can do next.
func (w *Waiting) Nothing() error {
	text := fmt.Sprintf("run %s has no question that waits for an answer", w.State.RunID)
	if n := len(w.State.Answered); n > 0 {
		last := w.State.Answered[n-1]
		text += "; " + console.Settled(last, last.QuestionID)
	}
	id := w.State.RunID
	switch {
	case w.State.Ending != nil && w.State.Ending.Status == core.StatusSuperseded:
		text = w.superseded()
	case w.Live:
		text += "; it is running: looprun say " + id + " 'WORDS' gives guidance to its next iteration"
	case w.State.Ending != nil && !w.State.Ending.Status.Resumable():
		text += "; it has ended: see looprun explain " + id
	case w.State.Ending != nil && slices.Contains([]core.Status{core.StatusTripped, core.StatusFailed}, w.State.Ending.Status):
		text += "; see looprun explain " + id
	default:
		text += "; continue with looprun resume " + id
	}
	return errors.New(text)
}

// superseded names the run that took the place of this one, if there is one yet, and says how to
// continue this one.
func (w *Waiting) superseded() string {
	id, why := w.State.RunID, w.State.Ending.Reason
	state, by := filepath.Dir(w.Dir), ""
	ids, _ := scratchpad.IDs(state) // latest first
	for _, later := range ids[:max(0, slices.Index(ids, id))] {
		first, _ := scratchpad.First(filepath.Join(state, later))
		if began, ok := first.Data.(core.RunStarted); ok && (core.RunSuperseded{By: began.Name}).Reason() == why {
			by = " (run " + later + ")"
		}
	}
	return fmt.Sprintf("run %s was superseded: %s%s; looprun resume %s --reopen asks again", id, why, by, id)
}

// AnswerTo pairs a person's answer with its question.
func AnswerTo(q core.Question, answer core.Answer) Answered {
	return Answered{QuestionID: q.ID, Answer: answer.ByPerson(), Words: console.WordsOfQuestion(q)}
}

// Read parses a document of answers from standard input. It matches questions by text or id,
// or reads the short form, which answers one question; only returns that question if the
// document does not name it.
func (w *Waiting) Read(text []byte, only func() (core.Question, error)) ([]Answered, error) {
	if isShortAnswer(text) {
		one, err := w.short(text, only)
		return []Answered{one}, err
	}
	// Match by the run's ids, or by the command's ids where those are unambiguous; and by the
	// text, with and without an assistant's advice.
	asked := map[string]int{}
	for _, q := range w.Questions {
		asked[q.AskID]++
	}
	byID := func(q core.Question) string { return q.ID }
	byName := func(q core.Question) string {
		if asked[q.AskID] > 1 || w.Live {
			return q.ID
		}
		return cmp.Or(q.AskID, q.ID)
	}
	chat := func(q core.Question) string { return ChatQuestion(q).Question }
	told := func(q core.Question) string { return q.ForPerson().Text }
	plain := func(q core.Question) string { return q.Text }
	own := make(map[string]core.Question, len(w.Questions))
	var err error
	for _, words := range []func(core.Question) string{chat, told, plain} {
		for _, id := range []func(core.Question) string{byID, byName} {
			var questions []ask.Question
			for _, q := range w.Questions {
				put := ChatQuestion(q)
				put.ID, put.Question = id(q), words(q)
				own[put.ID] = q
				questions = append(questions, put)
			}
			var list []ask.Answer
			if list, err = ask.ParseAnswers(text, questions); err != nil {
				continue
			}
			var given []Answered
			for _, one := range list {
				q := own[one.ID]
				answer, err := spokenAnswer(q, loopAnswer(one))
				if err != nil {
					return nil, err
				}
				given = append(given, AnswerTo(q, answer))
			}
			return given, nil
		}
	}
	return nil, fmt.Errorf("standard input: %w", err)
}

// short reads the short form of the document.
func (w *Waiting) short(text []byte, only func() (core.Question, error)) (Answered, error) {
	var one ask.ShortAnswer
	if ps := ask.ShortAnswerShape().Read(text, &one); len(ps) > 0 {
		return Answered{}, fmt.Errorf("standard input: %w", ps)
	}
	if one.Question != "" {
		only = func() (core.Question, error) { return w.Question(one.Question) }
	}
	q, err := only()
	if err != nil {
		return Answered{}, err
	}
	a := core.Answer{Option: one.Option, Options: one.Options, Text: one.Text, Cancelled: one.Cancel, Reason: one.Reason, Guidance: one.Guidance}
	if a.Option == "" {
		a, err = spokenAnswer(q, a)
	}
	return AnswerTo(q, a), err
}

// isShortAnswer reports whether the document has only keys of the short form, including one
// that answers.
func isShortAnswer(document []byte) bool {
	if strictjson.Readable(document) != nil {
		return false
	}
	members, _ := strictjson.Members(document)
	known := ask.ShortAnswerShape().Names()
	answers := false
	for _, m := range members {
		i := slices.Index(known, m.Key)
		if i < 0 {
			return false
		}
		answers = answers || i < slices.Index(known, "reason")
	}
	return answers
}

// ChatQuestion converts a question for interfaces that show only its text and its options: the
// details become part of the text. If the run can continue, a text in reply means what to do.
func ChatQuestion(q core.Question) ask.Question {
	put := asQuestion(q.ForPerson())
	lines := convert.Each(q.ForPerson().Details, func(d string) string { return strings.TrimRight(termsafe.Text(d), " \n") })
	if len(lines) > 0 {
		put.Question += "\n\n" + strings.Join(lines, "\n")
	}
	if q.From == "" {
		put.Question += "\n\nHow to proceed?"
	}
	if _, ok := q.GoesOn(); ok {
		put.AllowText = new(true)
	}
	return put
}

// spokenAnswer turns a text given in reply to a guard's question into guidance for the option
// that continues the run. It fails if the text may be meant for an option.
func spokenAnswer(q core.Question, a core.Answer) (core.Answer, error) {
	if a.Text == nil {
		return a, nil
	}
	o, ok := q.GoesOn()
	if !ok {
		names := append(q.OptionIDs(), convert.Each(q.Options, func(o core.Option) string { return o.Label })...)
		if near := nearest.Word(*a.Text, names); near != "" {
			return a, fmt.Errorf("“%s” could mean the option %q; write the option, or other words", console.Short(*a.Text, 60), near)
		}
		return a, nil
	}
	if said := wordsOfText(*a.Text); maySlip(q, o, said) {
		near := nearest.DidYouMean(strings.Join(said, "_"), q.OptionIDs())
		return a, fmt.Errorf(`“%s” could mean an option, so it is not used as guidance; %s; words for the next iteration are {"option": %q, "guidance": "TEXT"}`,
			console.Short(*a.Text, 60), cmp.Or(near, "choose one"), o.ID)
	}
	a.Option, a.Guidance, a.OwnWords, a.Text = o.ID, *a.Text, true, nil
	return a, nil
}

// maySlip reports whether the text may be meant for an option other than the one that
// continues the run: it is a single word where no words were asked for, or it begins as
// another option does.
func maySlip(q core.Question, on core.Option, said []string) bool {
	if len(said) == 0 || len(said) == 1 && !q.WantsWords(on) {
		return true
	}
	for _, o := range q.Options {
		if o.ID == on.ID {
			continue
		}
		texts := []string{o.ID, o.Label}
		if o.Action.Ends() {
			texts = append(texts, o.Description)
		}
		for _, text := range texts {
			first := wordsOfText(text)
			if len(first) > 0 && (said[0] == first[0] || len(said[0]) > 3 && nearest.Word(said[0], first[:1]) != "") {
				return true
			}
		}
	}
	return false
}

// wordsOfText returns the text's words (letters and digits) in lower case.
func wordsOfText(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// Reachable reports whether a run is in progress and accepts answers.
func Reachable(dir string) bool {
	_, err := socketOf(dir)
	return err == nil && scratchpad.Locked(dir)
}

// socketOf returns the path of a run's socket.
func socketOf(dir string) (string, error) {
	f, err := scratchpad.OpenWithin(dir, filepath.Join(dir, SocketName))
	if err != nil {
		return "", err
	}
	defer f.Close()
	name, err := inputfile.ReadLimited(f, 4<<10)
	return strings.TrimSpace(string(name)), err
}

// Tell sends a message to a run in progress.
func Tell(dir, kind string, message any) error {
	name, err := socketOf(dir)
	if err != nil {
		return socket.ErrNoServer
	}
	return socket.Call(context.Background(), name, kind, message, nil)
}

// busyFor is how long an answer waits while another process has the run open: to record
// another answer, or to start or end the run.
const busyFor = 10 * time.Second

// Give delivers an answer: to the run that waits for it, in which case told is true, or to the
// journal of a run that has exited.
func (t TrustFlag) Give(say *console.Observer, dir string, a Answered) (told bool, err error) {
	for since := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if Reachable(dir) {
			if err = Tell(dir, KindAnswer, a); err == nil || !gone(err) {
				return err == nil, err
			}
		}
		if err = t.keep(say, dir, a); !errors.Is(err, scratchpad.ErrLocked) {
			return false, err
		}
		if time.Since(since) > busyFor {
			return false, config.Usage(fmt.Sprintf("run %s is alive and cannot be reached", filepath.Base(dir)), "answer at its own terminal")
		}
	}
}

// gone reports whether a message did not count because the run has ended.
func gone(err error) bool {
	e, ok := errors.AsType[*socket.Error](err)
	return ok && e.Code == socket.CodeClosed || errors.Is(err, socket.ErrNoServer) || errors.Is(err, socket.ErrNoReply)
}

// keep writes the answer to the journal of a run that has exited.
func (t TrustFlag) keep(say *console.Observer, dir string, a Answered) (err error) {
	run, s, err := t.Open(say, dir, scratchpad.SyncAsync)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	q, err := (&Waiting{State: s, Live: true, Questions: s.Answerable()}).Question(a.QuestionID)
	if err != nil {
		return err
	}
	if q.From == core.FromCommand {
		err = q.Accepts(a.Answer)
	} else {
		_, err = s.Resolve(a.Answer)
	}
	if err != nil {
		return err
	}
	e, err := record(run, s, core.QuestionAnswered{QuestionID: a.QuestionID, Answer: a.Answer})
	if err != nil {
		return err
	}
	if kept, ok := e.Data.(core.QuestionAnswered); ok && wordsOf(kept.Answer) != wordsOf(a.Answer) {
		say.Warn("the answer holds a secret, which is not kept: the command gets *** in its place")
	}
	return nil
}

// record appends an event to the journal of a run at rest.
func record(run *scratchpad.Run, s *core.State, d core.Data) (core.Event, error) {
	mask, err := maskOf(run.Dir)
	if err != nil {
		return core.Event{}, err
	}
	e, err := core.Record(s, run.Journal, mask, s.Elapsed, d)
	return e, errors.Join(err, run.Journal.Sync())
}

// Supersede closes a run that only waits for the answer to a guard's question, because its
// session continues with another prompt. It leaves any other run as it is.
func Supersede(dir, by string) (err error) {
	run, s, _, err := scratchpad.Open(dir, scratchpad.SyncAsync)
	if err != nil {
		if errors.Is(err, scratchpad.ErrLocked) {
			err = nil // somebody has resumed it
		}
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	if _, err := record(run, s, core.RunSuperseded{By: by}); err != nil {
		if errors.Is(err, core.ErrEvent) {
			err = nil
		}
		return err
	}
	return errors.Join(run.WriteResult(s.Result(), ""), run.Refresh(s, true))
}

// wordsOf returns the text of an answer that the command receives.
func wordsOf(a core.Answer) string {
	if a.Text != nil {
		return a.Guidance + *a.Text
	}
	return a.Guidance
}

// maskOf returns a function that masks secrets in whatever is recorded for a run at rest:
// those matching the patterns that it was started with, and the values of this process's
// variables.
func maskOf(dir string) (func(string) string, error) {
	r, err := RecordedOf(dir)
	if err != nil && !errors.Is(err, ErrNoConfig) {
		return nil, fmt.Errorf("the secrets to mask are unknown: %w", err)
	}
	masker, err := r.Options.Redactor(os.Environ())
	if masker == nil {
		return nil, err
	}
	return masker.Text, err
}
