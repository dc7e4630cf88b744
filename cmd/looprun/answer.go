package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/protocol/ask"
	"github.com/looprun/looprun/protocol/socket"
	"github.com/looprun/looprun/scratchpad"
)

// answerCmd answers a pending question, from any terminal, while the run waits
// for it or after it has exited.
type answerCmd struct {
	Words    []string `arg:"" optional:"" name:"run option" help:"The run (the latest that has a question), and the id of the option; - reads answers as JSON from standard input."`
	Option   []string `placeholder:"ID" help:"The id of the option; repeatable where several can be chosen." env:"-" sep:"none"`
	Text     *string  `placeholder:"TEXT" help:"A text as the answer, where the question takes one." env:"-"`
	Cancel   bool     `help:"Decline to answer, where the question allows it." env:"-"`
	Question string   `placeholder:"ID" help:"The question, where several wait (the first)." env:"-"`
	Reason   string   `placeholder:"TEXT" help:"Why; it is kept in the record." env:"-"`
	Guidance string   `placeholder:"TEXT" help:"What the next iteration should know." env:"-"`
	Resume   bool     `help:"Go on with the run at once." env:"-"`
	StateDir string   `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

// Help shows an example below the flags.
func (answerCmd) Help() string {
	return `Without an option it asks at the terminal; looprun show --pending prints the questions and
their options. The first valid answer counts. From standard input comes {"answers": {"QUESTION": "OPTION"}} with questions by
their text or id, or {"option": "ID", "reason": "TEXT"} for the first.

Example:
  looprun answer accept --reason 'good enough for the demo' && looprun resume`
}

func (c *answerCmd) Run(a *app) error {
	dir, words, err := c.target()
	if err != nil {
		return err
	}
	if insideOf(dir) {
		return &usageError{"a run's question cannot be answered by its own command", "answer it from outside"}
	}
	state, _, err := scratchpad.Load(dir)
	if err != nil {
		return err
	}
	given, err := c.answers(a, state, words)
	if errors.Is(err, looprun.ErrInterrupted) {
		a.say.printf("interrupted; the question still waits")
		a.code, a.raise = looprun.StatusInterrupted.ExitCode(), raise(syscall.SIGINT)
		return nil
	}
	if err != nil {
		return err
	}
	live := scratchpad.Locked(dir)
	for _, g := range given {
		if live {
			err = c.tell(a, dir, g)
		} else {
			err = c.record(a, dir, g)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case live:
		a.say.printf("answered; run %s goes on", state.RunID)
	case c.Resume:
		return (&resumeCmd{ID: state.RunID, StateDir: c.StateDir}).Run(a)
	default:
		a.say.printf("recorded; continue with looprun resume %s", state.RunID)
	}
	return nil
}

// target is the run that the words name, and the words that are left.
func (c *answerCmd) target() (dir string, words []string, err error) {
	words = c.Words
	option := len(c.Option) > 0 || c.Text != nil || c.Cancel
	most := 2
	if option {
		most = 1
	}
	switch {
	case len(words) > most:
		return "", nil, &usageError{fmt.Sprintf("%d words are too many", len(words)), "write looprun answer [RUN] OPTION"}
	case len(words) == most:
		dir, err = find(c.StateDir, words[0])
		return dir, words[1:], err
	}
	if len(words) == 1 { // the whole id of a run and no option: it asks
		if dir, err := find(c.StateDir, words[0]); err == nil && filepath.Base(dir) == words[0] {
			return dir, nil, nil
		}
	}
	dir, err = latestPending(c.StateDir)
	return dir, words, err
}

// latestPending is the latest run that waits with a question.
func latestPending(flag string) (string, error) {
	state, err := stateDir(flag)
	if err != nil {
		return "", err
	}
	ids, err := scratchpad.IDs(state)
	if err != nil {
		return "", err
	}
	for _, id := range ids {
		dir := filepath.Join(state, id)
		if s, _, err := scratchpad.Load(dir); err == nil && len(waitingIn(s)) > 0 {
			return dir, nil
		}
	}
	if len(ids) > 0 { // it says who answered last
		return filepath.Join(state, ids[0]), nil
	}
	return "", fmt.Errorf("there are no runs in %s", state)
}

// waitingIn are the questions that an answer can still do something for.
func waitingIn(s *looprun.State) []looprun.Question {
	if s.Ended && !s.Ending.Status.Resumable() {
		return nil
	}
	return s.Pending()
}

// answers are those that were given, each with its question.
func (c *answerCmd) answers(a *app, s *looprun.State, words []string) ([]answered, error) {
	pending := waitingIn(s)
	if len(pending) == 0 {
		return nil, c.nothing(s)
	}
	q := pending[0]
	if c.Question != "" {
		var found bool
		if q, found = named(pending, c.Question); !found {
			return nil, fmt.Errorf("no question %q waits in run %s; there are %s", c.Question, s.RunID, strings.Join(questionIDs(pending), ", "))
		}
	}
	if len(words) > 0 && words[0] == "-" {
		return c.fromDocument(a, pending)
	}
	if len(words)+len(c.Option) == 0 && c.Text == nil && !c.Cancel {
		return c.ask(a, s, q)
	}
	answer := looprun.Answer{
		Responder: looprun.RespondedByUser, Person: true, Text: c.Text, Cancelled: c.Cancel,
		Guidance: c.Guidance, Reason: firstNonEmpty(c.Reason, "answered with looprun answer"),
	}
	options := append(c.Option, words...)
	switch {
	case q.Multi:
		answer.Options = options
	case len(options) > 1:
		return nil, &usageError{fmt.Sprintf("%d options were given, and the question takes one", len(options)), "give one"}
	case len(options) == 1:
		answer.Option = options[0]
	}
	for _, id := range options {
		if _, ok := q.Option(id); !ok && len(q.Options) > 0 {
			return nil, &usageError{text: fmt.Sprintf("%q is no option of the question; there are %s", id, orNearest(id, optionsOf(q)))}
		}
	}
	if o, ok := q.Option(answer.Option); ok && q.WantsWords(o) && answer.Guidance == "" {
		answer.Guidance = c.Reason
	}
	return []answered{{q.ID, answer}}, nil
}

// nothing says that no question waits, and who answered the last one.
func (c *answerCmd) nothing(s *looprun.State) error {
	if n := len(s.Answered); n > 0 {
		last := s.Answered[n-1]
		return fmt.Errorf("run %s has no question that waits for an answer; %s answered %s with %q at %s", s.RunID, last.Responder, last.QuestionID, last.Answer.String(), last.Time.Local().Format(time.DateTime))
	}
	return fmt.Errorf("run %s has no question that waits for an answer", s.RunID)
}

func named(pending []looprun.Question, id string) (looprun.Question, bool) {
	for _, q := range pending {
		if q.ID == id || q.AskID == id {
			return q, true
		}
	}
	return looprun.Question{}, false
}

func questionIDs(list []looprun.Question) []string {
	var ids []string
	for _, q := range list {
		ids = append(ids, q.ID)
	}
	return ids
}

// fromDocument reads answers from standard input, by the text or the id of the
// question.
func (c *answerCmd) fromDocument(a *app, pending []looprun.Question) ([]answered, error) {
	text, err := readDocument(a, "-")
	if err != nil {
		return nil, err
	}
	if given, ok, err := c.single(text, pending[0]); ok {
		return given, err
	}
	// By the run's ids, or by those that the command gave, where they tell the
	// questions apart.
	asked := map[string]int{}
	for _, q := range pending {
		asked[q.AskID]++
	}
	var list []ask.Answer
	own := make(map[string]string, len(pending))
	for _, named := range []func(looprun.Question) string{
		func(q looprun.Question) string { return q.ID },
		func(q looprun.Question) string {
			if asked[q.AskID] > 1 {
				return q.ID
			}
			return firstNonEmpty(q.AskID, q.ID)
		},
	} {
		var questions []ask.Question
		for _, q := range pending {
			put := asQuestion(q)
			put.ID = named(q)
			own[put.ID] = q.ID
			questions = append(questions, put)
		}
		if list, err = ask.ParseAnswers(text, questions); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	var given []answered
	for _, one := range list {
		answer := loopAnswer(one)
		answer.Responder, answer.Person, answer.Guidance = looprun.RespondedByUser, true, c.Guidance
		answer.Reason = firstNonEmpty(one.Reason, c.Reason, "answered with looprun answer")
		given = append(given, answered{own[one.ID], answer})
	}
	return given, nil
}

// single reads the short form of the document, for the first question; false: it
// has another form.
func (c *answerCmd) single(text []byte, q looprun.Question) ([]answered, bool, error) {
	var one struct {
		Option   *string  `json:"option"`
		Options  []string `json:"options"`
		Text     *string  `json:"text"`
		Cancel   bool     `json:"cancel"`
		Reason   string   `json:"reason"`
		Guidance string   `json:"guidance"`
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(text, &keys) != nil {
		return nil, false, nil
	}
	known := []string{"option", "options", "text", "cancel", "reason", "guidance"}
	answers := slices.ContainsFunc(known[:4], func(k string) bool { return keys[k] != nil })
	for key := range keys {
		answers = answers && slices.Contains(known, key)
	}
	if !answers {
		return nil, false, nil
	}
	err := json.Unmarshal(text, &one)
	if key := repeated(text); key != "" {
		err = fmt.Errorf("the key %q is there twice; leave one of them out", key)
	}
	if err != nil {
		return nil, true, fmt.Errorf("standard input: %w", err)
	}
	answer := looprun.Answer{
		Options: one.Options, Text: one.Text, Cancelled: one.Cancel, Responder: looprun.RespondedByUser, Person: true,
		Guidance: firstNonEmpty(one.Guidance, c.Guidance), Reason: firstNonEmpty(one.Reason, c.Reason, "answered with looprun answer"),
	}
	if one.Option != nil {
		answer.Option = *one.Option
	}
	return []answered{{q.ID, answer}}, true, nil
}

// repeated is a key that an object has twice: which of its values counts, nobody
// has said.
func repeated(object []byte) string {
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token() // what is no object ends the loop
	seen := map[any]bool{}
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			break
		}
		if seen[key] {
			return fmt.Sprint(key)
		}
		seen[key] = true
	}
	return ""
}

// tell gives the answer to the run that waits for it.
func (c *answerCmd) tell(a *app, dir string, g answered) error {
	name, err := os.ReadFile(filepath.Join(dir, socketName))
	if err != nil {
		return &usageError{fmt.Sprintf("run %s is alive and cannot be reached (%v)", filepath.Base(dir), err), "answer at its own terminal"}
	}
	err = socket.Call(context.Background(), strings.TrimSpace(string(name)), kindAnswer, g, nil)
	if errors.Is(err, socket.ErrNoServer) || errors.Is(err, socket.ErrNoReply) {
		return c.record(a, dir, g) // it has ended in this moment
	}
	return err
}

// record puts the answer into the journal of a run that has exited.
func (c *answerCmd) record(a *app, dir string, g answered) error {
	run, s, _, err := scratchpad.Open(dir, scratchpad.SyncAsync)
	if err != nil {
		return err
	}
	return errors.Join(c.append(a, run, s, g), run.Close())
}

func (c *answerCmd) append(a *app, run *scratchpad.Run, s *looprun.State, g answered) error {
	q, found := named(waitingIn(s), g.QuestionID)
	if !found {
		return c.nothing(s)
	}
	check := q.Accepts
	if q.From != looprun.FromCommand {
		check = func(a looprun.Answer) error {
			_, err := s.Resolve(a)
			return err
		}
	}
	if err := check(g.Answer); err != nil {
		return err
	}
	mask, err := maskOf(run.Dir)
	if err != nil {
		return err
	}
	e, err := looprun.Record(s, run.Journal, mask, s.Elapsed, looprun.QuestionAnswered{QuestionID: g.QuestionID, Answer: g.Answer})
	if err != nil {
		return err
	}
	if kept, ok := e.Data.(looprun.QuestionAnswered); ok && wordsOf(kept.Answer) != wordsOf(g.Answer) {
		a.say.warn("the answer holds a secret, which is not kept: the command gets *** in its place")
	}
	return run.Journal.Sync()
}

// wordsOf is what the command gets of an answer in words.
func wordsOf(a looprun.Answer) string {
	text := a.Guidance
	if a.Text != nil {
		text += *a.Text
	}
	return text
}

// maskOf takes secrets out of what is put on record of a run that rests: by the
// patterns that it was started with, and the values of this process's variables.
func maskOf(dir string) (func(string) string, error) {
	var r recorded
	raw, err := configOf(dir)
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil && !errors.Is(err, errNoConfig) {
		return nil, fmt.Errorf("the run's configuration, which says what is masked, cannot be read: %w", err)
	}
	masker, err := r.Options.redactor(os.Environ())
	if masker == nil {
		return nil, err
	}
	return masker.Text, err
}
