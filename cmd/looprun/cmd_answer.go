package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/user"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/review"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/tty"
	"github.com/looprun/looprun/scratchpad"
)

// answerCmd answers a pending question, from any terminal, while the run waits for it or after
// it has exited.
type answerCmd struct {
	Words    []string `arg:"" optional:"" name:"run option" help:"The run (optional if only one has a question), and the id of the option; - reads answers as JSON from standard input."`
	Option   []string `placeholder:"ID" help:"The id of the option; repeatable where several can be chosen." sep:"none" xor:"answer"`
	Text     *string  `placeholder:"TEXT" help:"A text as the answer, if the question accepts one." xor:"answer"`
	Cancel   bool     `help:"Decline to answer, if the question allows it." xor:"answer"`
	Question string   `placeholder:"ID" blank:"no" help:"The question's id (looprun show --pending): needed while the run is active or if several wait."`
	Token    string   `placeholder:"WORD" help:"The word that the run's terminal shows: needed for an active run, except on Linux."`
	Reason   string   `placeholder:"TEXT" help:"Why; it is kept in the record."`
	Guidance string   `placeholder:"TEXT" help:"Guidance for later iterations; without an option the run continues. - clears it."`
	Resume   bool     `help:"Continue the run at once, and exit with its code." xor:"when"`
	Later    bool     `help:"Only record the answer, and do not ask whether to continue." xor:"when"`
	Via      string   `hidden:"" enum:",web,ntfy,matrix,telegram,smtp" default:"" help:"Where the person was: on the page of looprun serve, or at a phone."`
	session.TrustFlag
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *answerCmd) Run(a *app) error {
	dir, words, err := c.target(a)
	if err != nil {
		return err
	}
	if session.InsideOf(dir) {
		return config.Usage("a run's question cannot be answered by its own command", "answer it from outside")
	}
	if above := scratchpad.AskedAbove(dir); above != "" && scratchpad.Summarize(above).Status.Resumable() {
		id := filepath.Base(above)
		return config.Usage(fmt.Sprintf("run %s was started by the command of run %s, which asks for it", filepath.Base(dir), id), "write looprun answer "+id)
	}
	w, err := session.Look(dir)
	if err == nil {
		err = c.Check(dir)
	}
	if err != nil {
		return err
	}
	if w.Live && w.State.Until != nil && len(w.Questions) == 0 {
		return c.goOn(a, w, words)
	}
	given, err := c.answers(a, w, words)
	if errors.Is(err, core.ErrInterrupted) {
		a.say.Printf("interrupted; the question still waits")
		a.code, a.raise = core.StatusInterrupted.ExitCode(), session.Raise(syscall.SIGINT)
		return nil
	}
	if err != nil {
		return err
	}
	for i, g := range given {
		g.Answer.Via, g.Token = c.Via, c.Token
		told, err := c.Give(a.say, dir, g)
		if err != nil {
			return err
		}
		did, next := "recorded", ""
		if told {
			did = "answered"
		}
		last := i == len(given)-1
		var then func() error
		switch {
		case !last:
		case !told:
			if next, then, err = c.after(a, dir); err != nil {
				return err
			}
		case w.Concludes(g):
			next = fmt.Sprintf("; run %s stops", w.State.RunID)
		default:
			next = fmt.Sprintf("; run %s continues", w.State.RunID)
		}
		a.say.Printf("%s %s (%s): %s%s", did, g.QuestionID, g.Words, answerWords(g.Answer), next)
		if then != nil {
			return then()
		}
	}
	return nil
}

// after determines what happens next to a run at rest that now has its answer: what is
// printed, and what is done.
func (c *answerCmd) after(a *app, dir string) (said string, do func() error, err error) {
	state, _, err := scratchpad.Load(dir)
	if err != nil {
		return "", nil, err
	}
	id := state.RunID
	resume := &resumeCmd{ID: id, StateDir: c.StateDir, ResumeFlags: session.ResumeFlags{TrustFlag: c.TrustFlag}}
	switch {
	case c.Resume:
		return "", func() error { return resume.Run(a) }, nil
	case state.Concludes():
		return "", func() error {
			_, err := session.Conclude(a.program(), dir, state, c.TrustFlag)
			if errors.Is(err, scratchpad.ErrLocked) || errors.Is(err, session.ErrConcluded) {
				a.say.Printf("another looprun has the run open and will carry it out")
			} else if err != nil {
				a.say.Warn("the answer is recorded but was not carried out: %v; looprun resume %s carries it out", err, id)
			}
			return nil
		}, nil
	case c.Later || state.Unused() == "" || !a.config.CanAsk():
		return "; continue with looprun resume " + id, nil, nil
	}
	return "", func() error {
		yes, err := tty.Agree("Go on now?")
		if err != nil || !yes {
			a.say.Printf("the answer is recorded; continue with looprun resume %s", id)
			return err
		}
		if err := resume.Run(a); err != nil {
			return err
		}
		a.code = 0 // the answer was given; --resume ends with the run's code
		return nil
	}, nil
}

// goOn lets a run continue that waits for someone else's limit; no other answer is possible
// then.
func (c *answerCmd) goOn(a *app, w *session.Waiting, words []string) error {
	options := append(c.Option, words...)
	if len(options) > 1 || len(options) == 1 && options[0] != string(core.ActionContinue) || c.Text != nil || c.Cancel || c.Question != "" {
		return config.Usage(fmt.Sprintf("run %s asks nothing and waits until %s", w.State.RunID, w.State.Until.Local().Format(time.DateTime)), "the answer continue ends the wait now")
	}
	err := session.Tell(w.Dir, session.KindGoOn, session.GoOn{Token: c.Token})
	if err == nil {
		a.say.Printf("run %s continues now", w.State.RunID)
	}
	return err
}

// answerWords formats an answer for a person.
func answerWords(answer core.Answer) string {
	if answer.Cancelled {
		return "cancelled"
	}
	return console.Short(answer.String(), 60)
}

// target returns the run that the words name, and the remaining words.
func (c *answerCmd) target(a *app) (dir string, words []string, err error) {
	words = c.Words
	option := len(c.Option) > 0 || c.Text != nil || c.Cancel
	most := 2
	if option {
		most = 1
	}
	switch {
	case slices.Contains(words, ""):
		return "", nil, config.Usage("an empty word names neither a run nor an option", "a variable may be unset: write looprun answer [RUN] OPTION")
	case len(words) > most:
		return "", nil, config.Usage(fmt.Sprintf("%d words are too many", len(words)), "write looprun answer [RUN] OPTION")
	case len(words) > 0 && words[0] == scratchpad.LatestName:
		dir, err = c.latestPending()
		return dir, words[1:], err
	case len(words) == most:
		dir, err = session.Find(c.StateDir, words[0])
		if err != nil && option {
			return "", nil, config.Usage(err.Error(), "with --option, --text or --cancel no other option follows: looprun answer [RUN] --text TEXT")
		}
		return dir, words[1:], err
	}
	if len(words) == 1 { // the whole id of a run and no option: it asks
		if dir, err := session.Find(c.StateDir, words[0]); err == nil && filepath.Base(dir) == words[0] {
			return dir, nil, nil
		}
	}
	if dir, err = c.latestPending(); err == nil && c.Question == "" {
		dir, err = a.meant("answer", dir, func(s scratchpad.Summary) bool {
			return (s.Status == core.StatusAwaiting || s.Pending && s.Status.Resumable()) && scratchpad.AskedAbove(s.Dir) == ""
		})
	}
	return dir, words, err
}

// latestPending returns the latest run that waits, for an answer or for a limit.
func (c *answerCmd) latestPending() (string, error) {
	state, err := config.StateDir(c.StateDir)
	if err != nil {
		return "", err
	}
	waits := func(dir string) bool {
		s, _, err := scratchpad.Load(dir)
		return err == nil && (len(s.Answerable()) > 0 && scratchpad.AskedAbove(dir) == "" || s.Until != nil && session.Reachable(dir))
	}
	dir, mine, err := scratchpad.Latest(state, waits)
	if err != nil || mine {
		return dir, err
	}
	last, mine, err := scratchpad.Latest(state, scratchpad.Outermost) // it says who answered last
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

// answers returns the given answers, each with its question.
func (c *answerCmd) answers(a *app, w *session.Waiting, words []string) ([]session.Answered, error) {
	if c.Question != "" {
		q, err := w.Question(c.Question)
		if err != nil {
			return nil, err
		}
		w.Questions = []core.Question{q}
	}
	if len(w.Questions) == 0 {
		return nil, w.Nothing()
	}
	if len(words) > 0 && words[0] == "-" {
		return c.fromDocument(a, w)
	}
	options := append(c.Option, words...)
	own := false
	if len(options) == 0 && c.Text == nil && !c.Cancel {
		o, ok := w.Questions[0].GoesOn()
		if c.Guidance == "" || !ok || len(w.Questions) > 1 {
			return c.ask(a, w)
		}
		options, own = []string{o.ID}, true // words alone go on
	}
	q, err := c.only(a, w, options)
	if err != nil {
		return nil, err
	}
	answer := core.Answer{Text: c.Text, Cancelled: c.Cancel, Guidance: c.Guidance, OwnWords: own, Reason: c.Reason}
	switch {
	case q.Multi:
		answer.Options = options
	case len(options) > 1:
		return nil, config.Usage(fmt.Sprintf("%d options were given, and the question takes one", len(options)), "give one")
	case len(options) == 1:
		answer.Option = options[0]
	}
	noShell := func(o core.Option) bool { return o.Shell && !w.Live && !a.config.CanAsk() }
	for _, id := range options {
		if _, ok := q.Option(id); !ok && len(q.Options) > 0 {
			q.Options = slices.DeleteFunc(slices.Clone(q.Options), noShell)
			return nil, config.Usage(fmt.Sprintf("%q is not an option of the question; use one of %s", id, config.OrNearest(id, session.OptionsOf(q))), "")
		}
	}
	if o, ok := q.Option(answer.Option); ok && noShell(o) {
		return nil, config.Usage(fmt.Sprintf("%q opens a shell, and there is no terminal here", o.ID), "answer at a terminal, or start the run with --debug LINE or --agent NAME")
	} else if ok && q.TakesReason(o) && answer.Guidance == "" {
		answer.Guidance = c.Reason
	}
	return []session.Answered{session.AnswerTo(q, answer)}, nil
}

// fromDocument reads answers from standard input.
func (c *answerCmd) fromDocument(a *app, w *session.Waiting) ([]session.Answered, error) {
	text, err := readDocument(a, "-")
	if err != nil {
		return nil, err
	}
	given, err := w.Read(text, func() (core.Question, error) { return c.only(a, w, nil) })
	for i := range given {
		answer := &given[i].Answer
		answer.Guidance = cmp.Or(answer.Guidance, c.Guidance)
		answer.Reason = cmp.Or(answer.Reason, c.Reason)
	}
	return given, err
}

// only returns the question that a bare answer is for: the only one of a run at rest, or the
// one that --question names. While a run is in progress its questions come and go, and an
// answer must not go to one that nobody has seen, so at a terminal the question is shown
// first.
func (c *answerCmd) only(a *app, w *session.Waiting, options []string) (core.Question, error) {
	q := w.Questions[0]
	if c.Question != "" || len(w.Questions) == 1 && !w.Live {
		return q, nil
	}
	if a.config.CanAsk() {
		return q, c.confirm(a, q, options)
	}
	text := fmt.Sprintf("run %s is active, so name the question", w.State.RunID)
	if !w.Live {
		text = fmt.Sprintf("%d questions wait in run %s, so name one", len(w.Questions), w.State.RunID)
	}
	return q, config.Usage(text, "add --question ID: "+w.List())
}

// ask asks the person at this terminal the first waiting question.
func (c *answerCmd) ask(a *app, w *session.Waiting) ([]session.Answered, error) {
	o := user.Options{NoColor: !a.say.PromptColours(), Plain: a.say.Flags.Prompt == "plain", Texts: w.Texts()}
	if err := user.Available(o); err != nil {
		return nil, config.Usage("no option was given, and "+whyNobody(err), "looprun show --pending prints the options; write looprun answer [RUN] OPTION")
	}
	ctx, stop := session.WatchSignals(context.Background(), func() {})
	defer stop()
	answer, err := user.New(o).Respond(ctx, w.Questions[0], w.State)
	switch {
	case ctx.Err() != nil, errors.Is(err, core.ErrInterrupted):
		return nil, core.ErrInterrupted
	case errors.Is(err, core.ErrDeferred):
		return nil, errors.New("the question still waits: it was kept for later")
	case err != nil:
		return nil, fmt.Errorf("the question still waits: %w", err)
	}
	answer.Reason = cmp.Or(c.Reason, answer.Reason)
	answer.Guidance = cmp.Or(c.Guidance, answer.Guidance)
	return []session.Answered{session.AnswerTo(w.Questions[0], answer)}, nil
}

// whyNobody returns why no person can be asked.
func whyNobody(err error) string {
	if of, ok := errors.AsType[*user.Unavailable](err); ok {
		return "nobody can be asked: " + of.Why
	}
	return err.Error()
}

// confirm shows the waiting question, and asks whether the answer is for it.
func (c *answerCmd) confirm(a *app, q core.Question, options []string) error {
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
