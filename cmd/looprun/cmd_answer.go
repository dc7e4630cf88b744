package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/escalate/user"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/review"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/socket"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/internal/tty"
	"github.com/looprun/looprun/scratchpad"
)

// answerCmd answers a pending question, from any terminal, while the run waits
// for it or after it has exited.
type answerCmd struct {
	Words    []string `arg:"" optional:"" name:"run option" help:"The run (the latest that has a question), and the id of the option; - reads answers as JSON from standard input."`
	Option   []string `placeholder:"ID" help:"The id of the option; repeatable where several can be chosen." env:"-" sep:"none"`
	Text     *string  `placeholder:"TEXT" help:"A text as the answer, where the question takes one." env:"-"`
	Cancel   bool     `help:"Decline to answer, where the question allows it." env:"-"`
	Question string   `placeholder:"ID" help:"The question that it is for, as looprun show --pending names it: needed while the run is going on, and where several wait." env:"-"`
	Token    string   `placeholder:"WORD" help:"The word that the run shows on its terminal: needed while it is going on, where the system does not say who answers (not on Linux)." env:"-"`
	Reason   string   `placeholder:"TEXT" help:"Why; it is kept in the record." env:"-"`
	Guidance string   `placeholder:"TEXT" help:"What the next iteration should know." env:"-"`
	Resume   bool     `help:"Go on with the run at once." env:"-"`
	Via      string   `hidden:"" enum:",web" default:"" help:"Where the person was: on the page of looprun serve." env:"-"`
	session.TrustFlag
	StateDir string `placeholder:"DIR" help:"Where runs are kept." env:"LOOPRUN_STATE_DIR"`
}

// Help shows an example below the flags.
func (answerCmd) Help() string {
	return `Without an option it asks at the terminal; looprun show --pending prints the questions and
their options. An answer is for one question: while the run is going on, or where several wait,
--question names it. The first valid answer counts. A run that waits for somebody else's
limit takes continue, and goes on now. From standard input comes
{"answers": {"QUESTION": "OPTION"}} with questions by their text or id, or
{"question": "ID", "option": "ID", "reason": "TEXT"}.

Example:
  looprun answer accept --reason 'good enough for the demo' && looprun resume`
}

func (c *answerCmd) Run(a *app) error {
	dir, words, err := c.target()
	if err != nil {
		return err
	}
	if session.InsideOf(dir) {
		return config.Usage("a run's question cannot be answered by its own command", "answer it from outside")
	}
	live := reachable(dir) // before the look: what it shows is no older
	state, _, err := scratchpad.Load(dir)
	if err == nil {
		err = c.Check(dir)
	}
	if err != nil {
		return err
	}
	live = live || reachable(dir)
	if live && state.Until != nil && len(state.Answerable()) == 0 {
		return c.goOn(a, dir, state, words)
	}
	given, err := c.answers(a, state, words, live)
	if errors.Is(err, looprun.ErrInterrupted) {
		a.say.Printf("interrupted; the question still waits")
		a.code, a.raise = looprun.StatusInterrupted.ExitCode(), session.Raise(syscall.SIGINT)
		return nil
	}
	if err != nil {
		return err
	}
	for i, g := range given {
		g.Answer.Via = c.Via
		told, err := c.give(a, dir, g)
		if err != nil {
			return err
		}
		next := ""
		switch {
		case i < len(given)-1 || c.Resume:
		case told:
			next = fmt.Sprintf("; run %s goes on", state.RunID)
		default:
			next = "; continue with looprun resume " + state.RunID
		}
		did := "recorded"
		if told {
			did = "answered"
		}
		a.say.Printf("%s %s (%s): %s%s", did, g.QuestionID, g.Words, answerWords(g.Answer), next)
		if told && i == len(given)-1 {
			return nil
		}
	}
	if c.Resume {
		return (&resumeCmd{ID: state.RunID, StateDir: c.StateDir, Anew: session.Anew{TrustFlag: c.TrustFlag}}).Run(a)
	}
	return nil
}

// goOn lets a run go on that waits for somebody else's limit: that is all it can be told.
func (c *answerCmd) goOn(a *app, dir string, s *looprun.State, words []string) error {
	options := append(c.Option, words...)
	if len(options) > 1 || len(options) == 1 && options[0] != string(looprun.ActionContinue) || c.Text != nil || c.Cancel || c.Question != "" {
		return config.Usage(fmt.Sprintf("run %s asks nothing and waits until %s", s.RunID, s.Until.Local().Format(time.DateTime)), "answer continue lets it go on now")
	}
	name, err := socketOf(dir)
	if err == nil {
		err = socket.Call(context.Background(), name, session.KindGoOn, session.GoOn{Token: c.Token}, nil)
	}
	if err == nil {
		a.say.Printf("run %s goes on now", s.RunID)
	}
	return err
}

// busyFor is how long an answer waits for somebody else who has the run open just
// now: another answer that is put on record, or a run that begins or ends.
const busyFor = 10 * time.Second

// give gives an answer to its question: to the run that waits for it, or, when it
// has exited, into its journal.
func (c *answerCmd) give(a *app, dir string, g session.Answered) (told bool, err error) {
	for since := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if reachable(dir) {
			if err = c.tell(dir, g); err == nil || !errors.Is(err, socket.ErrNoServer) && !errors.Is(err, socket.ErrNoReply) {
				return err == nil, err
			}
		}
		if err = c.record(a, dir, g); !errors.Is(err, scratchpad.ErrLocked) {
			return false, err
		}
		if time.Since(since) > busyFor {
			return false, config.Usage(fmt.Sprintf("run %s is alive and cannot be reached", filepath.Base(dir)), "answer at its own terminal")
		}
	}
}

// reachable reports whether a run is going on and takes answers.
func reachable(dir string) bool {
	_, err := socketOf(dir)
	return err == nil && scratchpad.Locked(dir)
}

// answerWords is an answer as a person reads it.
func answerWords(answer looprun.Answer) string {
	if answer.Cancelled {
		return "cancelled"
	}
	return console.Short(answer.String(), 60)
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
		return "", nil, config.Usage(fmt.Sprintf("%d words are too many", len(words)), "write looprun answer [RUN] OPTION")
	case len(words) == most:
		dir, err = session.Find(c.StateDir, words[0])
		return dir, words[1:], err
	}
	if len(words) == 1 { // the whole id of a run and no option: it asks
		if dir, err := session.Find(c.StateDir, words[0]); err == nil && filepath.Base(dir) == words[0] {
			return dir, nil, nil
		}
	}
	dir, err = c.latestPending()
	return dir, words, err
}

// latestPending is the latest run that waits, with a question or for a limit.
func (c *answerCmd) latestPending() (string, error) {
	state, err := config.StateDir(c.StateDir)
	if err != nil {
		return "", err
	}
	waits := func(dir string) bool {
		s, _, err := scratchpad.Load(dir)
		return err == nil && (len(s.Answerable()) > 0 || s.Until != nil && reachable(dir))
	}
	dir, mine, err := scratchpad.Latest(state, waits)
	if err != nil || mine {
		return dir, err
	}
	all := func(string) bool { return true }
	last, mine, err := scratchpad.Latest(state, all) // it says who answered last
	switch {
	case err != nil || mine && !c.TrustRun:
		return last, err
	case dir != "":
		return c.Latest(state, waits)
	case last != "":
		return last, nil
	}
	return "", fmt.Errorf("there are no runs in %s", state)
}

// answers are those that were given, each with its question.
func (c *answerCmd) answers(a *app, s *looprun.State, words []string, live bool) ([]session.Answered, error) {
	pending := s.Answerable()
	if c.Question != "" {
		q, found := named(pending, c.Question, live)
		if !found {
			return nil, noSuch(s, c.Question, pending)
		}
		pending = []looprun.Question{q}
	}
	if len(pending) == 0 {
		return nil, c.nothing(s)
	}
	if len(words) > 0 && words[0] == "-" {
		return c.fromDocument(a, s, pending, live)
	}
	options := append(c.Option, words...)
	if len(options) == 0 && c.Text == nil && !c.Cancel {
		o, ok := pending[0].GoesOn()
		if c.Guidance == "" || !ok || len(pending) > 1 {
			return c.ask(a, s, pending[0])
		}
		options = []string{o.ID} // words alone go on
	}
	q, err := c.only(a, s, pending, live, options)
	if err != nil {
		return nil, err
	}
	answer := looprun.Answer{
		Responder: looprun.RespondedByUser, Person: true, Text: c.Text, Cancelled: c.Cancel,
		Guidance: c.Guidance, Reason: cmp.Or(c.Reason, "answered with looprun answer"),
	}
	switch {
	case q.Multi:
		answer.Options = options
	case len(options) > 1:
		return nil, config.Usage(fmt.Sprintf("%d options were given, and the question takes one", len(options)), "give one")
	case len(options) == 1:
		answer.Option = options[0]
	}
	for _, id := range options {
		if _, ok := q.Option(id); !ok && len(q.Options) > 0 {
			return nil, config.Usage(fmt.Sprintf("%q is not an option of the question; use one of %s", id, config.OrNearest(id, session.OptionsOf(q))), "")
		}
	}
	if o, ok := q.Option(answer.Option); ok && q.WantsWords(o) && answer.Guidance == "" {
		answer.Guidance = c.Reason
	}
	return []session.Answered{answerTo(q, answer)}, nil
}

func answerTo(q looprun.Question, answer looprun.Answer) session.Answered {
	return session.Answered{QuestionID: q.ID, Answer: answer, Words: console.WordsOfQuestion(q)}
}

// only is the question that a bare answer is for: the only one of a run at rest,
// or the one that --question names. While a run goes on its questions come and
// go, and an answer must not land on one that nobody has seen: at a terminal the
// question is shown first.
func (c *answerCmd) only(a *app, s *looprun.State, pending []looprun.Question, live bool, options []string) (looprun.Question, error) {
	q := pending[0]
	if c.Question != "" || len(pending) == 1 && !live {
		return q, nil
	}
	if c.mayShow(a) {
		return q, c.confirm(a, q, options)
	}
	text := fmt.Sprintf("run %s is going on, so an answer has to say which question it is for", s.RunID)
	if !live {
		text = fmt.Sprintf("%d questions wait in run %s, so an answer has to say which one it is for", len(pending), s.RunID)
	}
	return q, config.Usage(text, "add --question ID: "+questionList(pending))
}

// questionList are questions with their ids and words.
func questionList(pending []looprun.Question) string {
	var list []string
	for _, q := range pending {
		list = append(list, q.ID+" is "+console.WordsOfQuestion(q))
	}
	return strings.Join(list, ", ")
}

// noSuch says that a question does not wait, who answered it, and what does.
func noSuch(s *looprun.State, id string, pending []looprun.Question) error {
	text := fmt.Sprintf("no question %q waits in run %s", id, s.RunID)
	for _, answer := range slices.Backward(s.Answered) {
		if answer.QuestionID == id {
			text = fmt.Sprintf("question %s of run %s waits no more: %s answered it with %q at %s", id, s.RunID, answer.Responder, answer.Answer.String(), answer.Time.Local().Format(time.DateTime))
			break
		}
	}
	if len(pending) > 0 {
		text += "; what waits now is another: " + questionList(pending)
	}
	return errors.New(text)
}

// nothing says that no question waits, and who answered the last one.
func (c *answerCmd) nothing(s *looprun.State) error {
	if n := len(s.Answered); n > 0 {
		last := s.Answered[n-1]
		return fmt.Errorf("run %s has no question that waits for an answer; %s answered %s with %q at %s", s.RunID, last.Responder, last.QuestionID, last.Answer.String(), last.Time.Local().Format(time.DateTime))
	}
	return fmt.Errorf("run %s has no question that waits for an answer", s.RunID)
}

// named is the question with that id; of a run at rest also by the id that the
// command gave it, which a later question may have again, or one of looprun's own.
func named(pending []looprun.Question, id string, live bool) (looprun.Question, bool) {
	if i := slices.IndexFunc(pending, func(q looprun.Question) bool { return q.ID == id }); i >= 0 {
		return pending[i], true
	}
	var found []looprun.Question
	for _, q := range pending {
		if q.AskID == id && !live {
			found = append(found, q)
		}
	}
	if len(found) != 1 {
		return looprun.Question{}, false
	}
	return found[0], true
}

// fromDocument reads answers from standard input, by the text or the id of the
// question.
func (c *answerCmd) fromDocument(a *app, s *looprun.State, pending []looprun.Question, live bool) ([]session.Answered, error) {
	text, err := readDocument(a, "-")
	if err != nil {
		return nil, err
	}
	if given, ok, err := c.single(a, text, s, pending, live); ok {
		return given, err
	}
	// By the run's ids, or by those that the command gave, where they tell the
	// questions apart.
	asked := map[string]int{}
	for _, q := range pending {
		asked[q.AskID]++
	}
	byName := func(q looprun.Question) string {
		if asked[q.AskID] > 1 || live {
			return q.ID
		}
		return cmp.Or(q.AskID, q.ID)
	}
	byID := func(q looprun.Question) string { return q.ID }
	told := func(q looprun.Question) string { return q.ForPerson().Text } // with what an assistant said
	plain := func(q looprun.Question) string { return q.Text }
	chat := func(q looprun.Question) string { return chatQuestion(q).Question }
	var list []ask.Answer
	own := make(map[string]looprun.Question, len(pending))
	for _, as := range []struct{ id, text func(looprun.Question) string }{
		{byID, chat}, {byName, chat}, {byID, told}, {byName, told}, {byID, plain}, {byName, plain},
	} {
		var questions []ask.Question
		for _, q := range pending {
			put := chatQuestion(q)
			put.ID, put.Question = as.id(q), as.text(q)
			own[put.ID] = q
			questions = append(questions, put)
		}
		if list, err = ask.ParseAnswers(text, questions); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	var given []session.Answered
	for _, one := range list {
		answer := session.LoopAnswer(one)
		answer.Responder, answer.Person, answer.Guidance = looprun.RespondedByUser, true, c.Guidance
		answer = spokenAnswer(own[one.ID], answer)
		answer.Reason = cmp.Or(one.Reason, c.Reason, "answered with looprun answer")
		given = append(given, answerTo(own[one.ID], answer))
	}
	return given, nil
}

// single reads the short form of the document, which is for one question; false:
// it has another form.
func (c *answerCmd) single(a *app, text []byte, s *looprun.State, pending []looprun.Question, live bool) ([]session.Answered, bool, error) {
	var one struct {
		Question string   `json:"question"`
		Option   *string  `json:"option"`
		Options  []string `json:"options"`
		Text     *string  `json:"text"`
		Cancel   bool     `json:"cancel"`
		Reason   string   `json:"reason"`
		Guidance string   `json:"guidance"`
	}
	if !isShortAnswer(text) {
		return nil, false, nil
	}
	if ps := shortAnswer().Read(text, &one); len(ps) > 0 {
		return nil, true, fmt.Errorf("standard input: %w", ps)
	}
	if one.Question != "" {
		q, found := named(pending, one.Question, live)
		if !found {
			return nil, true, noSuch(s, one.Question, pending)
		}
		pending, live = []looprun.Question{q}, false // it is named
	}
	q, err := c.only(a, s, pending, live, nil)
	if err != nil {
		return nil, true, err
	}
	answer := looprun.Answer{
		Options: one.Options, Text: one.Text, Cancelled: one.Cancel, Responder: looprun.RespondedByUser, Person: true,
		Guidance: cmp.Or(one.Guidance, c.Guidance), Reason: cmp.Or(one.Reason, c.Reason, "answered with looprun answer"),
	}
	if one.Option != nil {
		answer.Option = *one.Option
	}
	return []session.Answered{answerTo(q, answer)}, true, nil
}

// shortAnswer is the short form of the document: what answers, then what goes with it.
func shortAnswer() strictjson.Shape {
	text := strictjson.Shape{Form: strictjson.Text, Nullable: true}
	return strictjson.Shape{Form: strictjson.Object, Fields: []strictjson.Field{
		strictjson.Optional("option", text),
		strictjson.Optional("options", strictjson.Shape{Form: strictjson.List, Nullable: true, Items: &text}),
		strictjson.Optional("text", text),
		strictjson.Optional("cancel", strictjson.Shape{Form: strictjson.Bool, Nullable: true}),
		strictjson.Optional("reason", text),
		strictjson.Optional("guidance", text),
		strictjson.Optional("question", text),
	}}
}

// isShortAnswer reports whether the document has keys of the short form only, and one
// of those that answer.
func isShortAnswer(document []byte) bool {
	if strictjson.Readable(document) != nil {
		return false
	}
	members, _ := strictjson.Members(document)
	known := shortAnswer().Names()
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

// socketOf is where the socket of a run is.
func socketOf(dir string) (string, error) {
	f, err := scratchpad.OpenWithin(dir, filepath.Join(dir, session.SocketName))
	if err != nil {
		return "", err
	}
	defer f.Close()
	name, err := inputfile.ReadLimited(f, 4<<10)
	return strings.TrimSpace(string(name)), err
}

// tell gives the answer to the run that waits for it.
func (c *answerCmd) tell(dir string, g session.Answered) error {
	name, err := socketOf(dir)
	if err != nil {
		return socket.ErrNoServer
	}
	g.Token = c.Token
	return socket.Call(context.Background(), name, session.KindAnswer, g, nil)
}

// record puts the answer into the journal of a run that has exited.
func (c *answerCmd) record(a *app, dir string, g session.Answered) error {
	run, s, err := c.Open(a.say, dir, scratchpad.SyncAsync)
	if err != nil {
		return err
	}
	return errors.Join(c.append(a, run, s, g), run.Close())
}

func (c *answerCmd) append(a *app, run *scratchpad.Run, s *looprun.State, g session.Answered) error {
	pending := s.Answerable()
	q, found := named(pending, g.QuestionID, true)
	if !found {
		return noSuch(s, g.QuestionID, pending)
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
		a.say.Warn("the answer holds a secret, which is not kept: the command gets *** in its place")
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
	r, err := session.RecordedOf(dir)
	if err != nil && !errors.Is(err, session.ErrNoConfig) {
		return nil, fmt.Errorf("it is not known what is to be masked: %w", err)
	}
	masker, err := r.Options.Redactor(os.Environ())
	if masker == nil {
		return nil, err
	}
	return masker.Text, err
}

// ask asks the person at this terminal the question that waits.
func (c *answerCmd) ask(a *app, s *looprun.State, q looprun.Question) ([]session.Answered, error) {
	o := user.Options{NoColor: !a.say.PromptColours(), Plain: a.say.Flags.Prompt == "plain"}
	if err := user.Available(o); err != nil {
		return nil, config.Usage("no option was given, and "+whyNobody(err), "looprun show --pending prints the options; write looprun answer [RUN] OPTION")
	}
	ctx, stop := session.WatchSignals(context.Background(), func() {})
	defer stop()
	answer, err := user.New(o).Respond(ctx, q, s)
	switch {
	case ctx.Err() != nil, errors.Is(err, looprun.ErrInterrupted):
		return nil, looprun.ErrInterrupted
	case errors.Is(err, looprun.ErrDeferred):
		return nil, errors.New("the question still waits: it was kept for later")
	case err != nil:
		return nil, fmt.Errorf("the question still waits: %w", err)
	}
	answer.Responder, answer.Person = looprun.RespondedByUser, true
	answer.Reason = cmp.Or(c.Reason, answer.Reason)
	answer.Guidance = cmp.Or(c.Guidance, answer.Guidance)
	return []session.Answered{answerTo(q, answer)}, nil
}

// whyNobody says why no person can be asked.
func whyNobody(err error) string {
	if of, ok := errors.AsType[*user.Unavailable](err); ok {
		return "nobody can be asked: " + of.Why
	}
	return err.Error()
}

// mayShow reports whether a question can be shown to a person who is asked then.
func (c *answerCmd) mayShow(a *app) bool { return a.config.CanAsk() }

// confirm shows the question that waits, and asks whether the answer is for it.
func (c *answerCmd) confirm(a *app, q looprun.Question, options []string) error {
	with := strings.Join(options, ", ")
	if c.Text != nil {
		with = *c.Text
	}
	ask := "is the answer for this question?"
	if with != "" {
		ask = fmt.Sprintf("answer this with %q?", console.Short(with, 60))
	}
	yes, err := tty.Confirm(ask, func() {
		var b strings.Builder
		review.WriteQuestion(&b, q)
		a.say.Printf("this question waits now:\n%s", b.String())
	})
	if err == nil && !yes {
		err = errors.New("nothing was answered")
	}
	return err
}
