package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/assistant"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/escalate/user"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/tail"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/tty"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/scratchpad"
)

// responders returns the responders in the order in which they are asked: when_stuck, the
// policy, the assistant, the run that this one was started in, a person, and the substitute for
// an absent person.
func (s *Session) responders() []core.Responder {
	assisted := s.assistant()
	if assisted != nil {
		assisted = s.advised(assisted)
	}
	list := s.programs(core.ResponderFunc(s.byPolicy), assisted)
	if s.parent != "" {
		list = append(list, core.ResponderFunc(s.byParent))
	}
	var asked string // the question that a person was shown, and left unanswered
	why := s.silenced()
	s.app.Say.Partial = s.questions.partial
	s.app.Say.Asks = why == "" && s.policy == nil && assisted == nil && s.parent == ""
	person := user.New(user.Options{
		NonInteractive: why != "", Why: why,
		NoColor: !s.app.Say.PromptColours(), Plain: s.app.Say.Flags.Prompt == "plain", Texts: s.questions,
	})
	return append(
		list,
		core.ResponderFunc(func(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
			if q.To == ask.ToAssistant {
				return core.Answer{}, s.onlyAssistant()
			}
			s.display.Lend()
			defer s.display.Retake()
			s.prompts.Store(why == "")
			a, err := person.Respond(ctx, q, st)
			if errors.Is(err, user.ErrAsked) { // the signal may come after the end of input
				asked = q.ID
				return a, err
			}
			s.prompts.Store(false)
			if err == nil {
				s.app.Say.Here = q.ID
			}
			return a, err
		}),
		core.ResponderFunc(func(ctx context.Context, q core.Question, _ *core.State) (core.Answer, error) {
			return s.awaitAnswer(ctx, q)
		}),
		core.ResponderFunc(func(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
			switch {
			case asked == q.ID && s.opts.Detached.Mode(namesOf(q)...) == "deny":
				return core.Answer{}, core.ErrNoAnswer
			case asked == q.ID: // a person was there, and may come back: nothing answers in their place
				return core.Answer{}, core.ErrDeferred
			case len(q.Path) > 0 && s.detachedMode(q) == "defer":
				return core.Answer{}, core.ErrDeferred
			case len(q.Path) > 0: // the run inside decides by its own mode
				return core.Answer{}, core.ErrNoAnswer
			case assisted != nil && s.detachedMode(q) == config.DetachedAuto:
				return assisted.Respond(ctx, q, st)
			}
			a, err := s.detached(q)
			if err == core.ErrNoAnswer { // it says nothing more
				err = s.instead(q, err)
			}
			return a, err
		}),
	)
}

// whenStuck answers the first trip of the guards that it is for, so that another command works
// for some iterations.
func (s *Session) whenStuck(_ context.Context, q core.Question, st *core.State) (core.Answer, error) {
	n := s.opts.Escalates(q.Guard)
	at := slices.IndexFunc(q.Options, func(o core.Option) bool { return o.Action == core.ActionContinue })
	if n == 0 || st.Escalated != nil || at < 0 {
		return core.Answer{}, core.ErrNoAnswer
	}
	a := core.Answer{Option: q.Options[at].ID, Responder: core.RespondedByWhenStuck, Escalate: n}
	a.Reason = fmt.Sprintf("now %s works for %s", console.Short(string(s.opts.WhenStuck), 60), plural.Count(n, "iteration"))
	if _, err := q.Resolve(a); err != nil {
		return core.Answer{}, core.ErrNoAnswer // it is not a program's to answer
	}
	return a, nil
}

// programs returns the responders that are asked before a person, in their order; each of them
// ignores questions from nested runs, which may only reach this run's person.
func (s *Session) programs(policy, assisted core.Responder) []core.Responder {
	list := []core.Responder{core.ResponderFunc(s.whenStuck)}
	if s.opts.AgentQuestions == "go_on" {
		list = append(list, core.ResponderFunc(decidesItself))
	}
	if s.policy != nil {
		list = append(list, policy)
	}
	if assisted != nil {
		list = append(list, core.ResponderFunc(func(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
			if s.detachedMode(q) == config.DetachedAuto || !s.assists(q) {
				return core.Answer{}, core.ErrNoAnswer
			}
			return assisted.Respond(ctx, q, st)
		}))
	}
	return convert.Each(list, own)
}

// onlyAssistant returns the error explaining why nobody but the assistant may answer its
// questions.
func (s *Session) onlyAssistant() error {
	if s.assistant() == nil {
		return fmt.Errorf("the question is for an assistant, and there is none (--assistant LINE): %w", core.ErrNoAnswer)
	}
	return core.ErrNoAnswer
}

// own makes a responder ignore questions from nested runs.
func own(r core.Responder) core.Responder {
	return core.ResponderFunc(func(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
		if len(q.Path) > 0 {
			return core.Answer{}, core.ErrNoAnswer
		}
		return r.Respond(ctx, q, st)
	})
}

func sourceOf(q core.Question) assistant.Source {
	if q.From == core.FromCommand {
		return assistant.FromAsk
	}
	return assistant.FromGuards
}

// awaitAnswer keeps the question open for a while, for looprun answer. The answer itself
// arrives through the socket and ends the wait.
func (s *Session) awaitAnswer(ctx context.Context, q core.Question) (core.Answer, error) {
	d := time.Duration(s.opts.WaitAnswer)
	if d <= 0 || q.To == ask.ToAssistant {
		return core.Answer{}, core.ErrNoAnswer
	}
	s.app.Say.Printf("waiting %s for an answer: looprun answer %s OPTION --question %s (%s)", d, s.run.ID, q.ID, strings.Join(OptionsOf(q), ", "))
	select {
	case <-time.After(d):
		return core.Answer{}, fmt.Errorf("nobody answered within %s: %w", d, core.ErrNoAnswer)
	case <-ctx.Done():
		return core.Answer{}, context.Cause(ctx)
	}
}

// OptionsOf returns the words that answer the question.
func OptionsOf(q core.Question) []string {
	switch q.Kind {
	case core.KindConfirm:
		return []string{core.Yes, core.No}
	case core.KindText:
		return []string{"--text TEXT"}
	}
	ids := q.OptionIDs()
	if q.From == "" {
		ids = slices.DeleteFunc(ids, func(id string) bool {
			o, _ := q.Option(id)
			return o.Action == core.ActionReview
		})
	}
	return ids
}

// assistant returns the responder that asks the assistant command, or nil if no question has
// one.
func (s *Session) assistant() core.Responder {
	if !s.opts.Assisted() {
		return nil
	}
	return core.ResponderFunc(func(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
		of, _ := s.opts.AssistantOf(namesOf(q)...)
		if of.Person {
			return core.Answer{}, core.ErrNoAnswer
		}
		q.Options = slices.DeleteFunc(slices.Clone(q.Options), func(o core.Option) bool { return o.Shell })
		return assistant.New(assistant.Options{
			Command: string(of.Command), Dir: s.dir, Env: s.base, Timeout: s.opts.AssistantTimeout.Or(0),
			Escalation: of.Escalation, As: of.Named(),
			Stderr: s.helperOutput,
		}).Respond(ctx, q, st)
	})
}

// assists reports whether the assistant is asked about q before a person is.
func (s *Session) assists(q core.Question) bool {
	_, chosen := s.opts.AssistantOf(q.AskID, string(q.Guard))
	return chosen || slices.Contains(s.opts.AssistantFor, string(sourceOf(q)))
}

// namesOf returns the names by which a configuration can refer to the question, most specific
// first.
func namesOf(q core.Question) []string { return []string{q.AskID, string(q.Guard), string(q.Kind)} }

// detached answers when nobody can be asked.
func (s *Session) detached(q core.Question) (core.Answer, error) {
	mode := s.detachedMode(q)
	switch {
	case mode == "defer":
		return core.Answer{}, core.ErrDeferred
	case q.Advice != nil, q.Exclusive, q.Mandatory:
		return core.Answer{}, core.ErrNoAnswer
	case ofAgent(q):
		return agentDecides(), nil
	case mode != "defaults" || q.Default == "":
		return core.Answer{}, core.ErrNoAnswer
	}
	answer := core.Answer{Option: q.Default, Responder: core.RespondedByDetached, Reason: "nobody can be asked, and it is the question's default"}
	switch {
	case q.Kind == core.KindText:
		answer.Option, answer.Text = "", &q.Default
	case q.Multi:
		answer.Option, answer.Options = "", strings.Split(q.Default, "\n")
	}
	return answer, nil
}

// detachedMode returns the mode that applies to the question when nobody can be asked: the
// mode for its id, its guard, its kind, or all questions; else the policy's; else deny, or
// defer if people can answer from afar.
func (s *Session) detachedMode(q core.Question) string {
	mode := s.opts.Detached.Mode(namesOf(q)...)
	if mode == "" && s.policy != nil {
		mode = string(s.policy.Detached)
	}
	if mode == "" && s.afar {
		return "defer"
	}
	return cmp.Or(mode, "deny")
}

// debugger runs the debug command, a shell for a person without one, or the
// command of an option.
type debugger struct{ s *Session }

var errNoDebug = errors.New("no debug command is configured (--debug LINE)")

// findingsLimit is how much of a debug command's output is kept; the end is.
const findingsLimit = 8 << 10

func (d *debugger) Debug(ctx context.Context, st *core.State, o core.Option, a core.Answer) (core.DebugFinished, error) {
	if o.Action == core.ActionRun {
		defer d.s.helping(string(o.Action))()
		return optionCommand{
			line: o.Command, dir: d.s.dir, env: d.environ(st, string(o.Action)),
			limit: optionTime, killAfter: d.s.killAfter(),
		}.run(ctx, *st.Question)
	}
	line := d.s.opts.Debug
	switch of, ok := d.s.opts.Agents.Find(d.s.opts.Agent); {
	case line != "":
	case ok:
		return d.agentLooks(ctx, st, of, a)
	case a.Person:
		return d.shell(ctx, st)
	default:
		return core.DebugFinished{}, errNoDebug
	}
	out := tail.Buffer{Limit: findingsLimit}
	show := func(b []byte) {
		d.s.helperOutput(b)
		out.Take(b)
	}
	defer d.s.helping(string(o.Action))()
	end := helper.Command{
		Line: string(line), Dir: d.s.dir, Env: d.environ(st, string(o.Action)), Stdout: show, Stderr: show, KillAfter: d.s.killAfter(),
	}.Run(ctx)
	return core.DebugFinished{ExitCode: end.Code, Findings: strings.TrimSpace(strings.TrimSpace(string(out.Bytes())) + "\n" + end.Cut())}, nil
}

// environ returns the environment of a command that is not the work, so it has no way to ask.
// It does not rewrite the context of a suspended iteration.
func (d *debugger) environ(st *core.State, role string) []string {
	if !st.Running {
		d.s.writeContext(st)
	}
	env := d.s.helperEnviron(core.Iteration{Number: st.Iterations, Limit: st.Limits.Iterations, Guidance: st.Guidance, Last: st.Ran, Task: st.Task, Subtasks: st.Decomposed()}, role)
	if st.Trip != nil {
		env = append(env, "LOOPRUN_GUARD="+string(st.Trip.Guard))
	}
	return append(env, "LOOPRUN_CONTEXT="+d.s.run.ContextFile())
}

// helping marks a helper command, which may not ask questions, as running until the returned
// function is called.
func (s *Session) helping(role string) func() {
	if s.talk == nil {
		return func() {}
	}
	s.talk.role.Store(role)
	return func() { s.talk.role.Store("") }
}

// Expert runs an expert's command. Its output is guidance.
func (d *debugger) Expert(ctx context.Context, st *core.State, e ladder.Expert) (core.ExpertFinished, error) {
	defer d.s.helping("expert")()
	d.s.app.Say.News("expert %s: %s", e.Name, e.Command)
	out := tail.Buffer{Limit: findingsLimit}
	var said signal.Scanner
	text := lines.Shown{To: said.Line}
	exit := helper.Command{
		Line: e.Command, Dir: d.s.dir, Env: d.environ(st, "expert"), KillAfter: d.s.killAfter(), Stderr: d.s.helperOutput,
		Stdout: func(b []byte) {
			out.Take(b)
			_, _ = text.Write(b) // it never fails
		},
	}.Run(ctx)
	text.End()
	end := core.ExpertFinished{ExitCode: exit.Code, Guidance: strings.TrimSpace(string(out.Bytes())), Why: exit.Cut()}
	signals, malformed := said.Result()
	for _, s := range signals {
		if s.Name == signal.Unsuccessful {
			end.Unsuccessful, end.Why = true, cmp.Or(termsafe.Line(s.Text), "it answered that it does not know")
		}
	}
	for _, m := range malformed {
		if m.Means() == signal.Unsuccessful {
			end.Unsuccessful, end.Why = true, "it answered that it does not know"
		}
	}
	return end, nil
}

// shell opens a shell with the run's environment for the person.
func (d *debugger) shell(ctx context.Context, st *core.State) (core.DebugFinished, error) {
	term, err := os.OpenFile(tty.Path, os.O_RDWR, 0)
	if err != nil {
		return core.DebugFinished{}, fmt.Errorf("%w, and there is no terminal for a shell (%w)", errNoDebug, err)
	}
	defer term.Close()
	name := cmp.Or(os.Getenv("SHELL"), "sh")
	d.s.app.Say.Printf("%s with the run's environment, with the clock stopped; exit 0 continues, any other code asks again", name)
	d.s.display.Lend()
	defer d.s.display.Retake()
	sh := exec.CommandContext(ctx, name)
	sh.Dir, sh.Env = d.s.dir, d.environ(st, "debug")
	sh.Stdin, sh.Stdout, sh.Stderr = term, term, term
	err = sh.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return core.DebugFinished{}, err
	}
	found, err := tty.Words(ctx, "what did you find? (one line, or Enter)")
	return core.DebugFinished{ExitCode: sh.ProcessState.ExitCode(), Findings: found}, err
}

// loadPolicy reads the policy files, or their recorded contents.
func (s *Session) loadPolicy(sources policy.Sources) error {
	if sources == nil && len(s.opts.Policy) == 0 {
		return nil
	}
	about := "the run's own copy of the policy cannot be used, and nothing was run; give the corrected one with --policy FILE"
	if sources == nil {
		about = "the policy cannot be used, and nothing was run"
		var err error
		if sources, err = policy.Read(s.opts.Policy...); err != nil {
			return config.Usagef("%s: %v", config.Flag("policy"), err)
		}
	}
	set, err := s.questions.set()
	if err != nil {
		return err
	}
	p, err := sources.Policy(set.Known())
	if err == nil {
		err = p.Without(!s.debugs(), len(s.opts.Notify) == 0)
	}
	if err != nil {
		return fmt.Errorf("%s:\n%w", about, err)
	}
	s.policy, s.policySource, s.questions.never, s.questions.counts = p, sources, p.Never(), p.Asks("changed_files")
	return nil
}

// spentToday returns what the policy's answers have used in the other runs of the folder that
// wrote something in the last 24 hours. A run that cannot be read counts nothing.
func (s *Session) spentToday() (used policy.Used) {
	folder := filepath.Dir(s.run.Dir)
	ids, _ := scratchpad.IDs(folder)
	for _, dir := range Within(folder, ids) {
		if dir == s.run.Dir || time.Since(scratchpad.LastEvent(dir)) > 24*time.Hour {
			continue
		}
		if state, _, err := scratchpad.Load(dir); err == nil {
			used = used.Add(policy.UsedIn(state))
		}
	}
	return used
}

func (s *Session) policyCodes() map[string]int {
	if s.policy == nil {
		return nil
	}
	return s.policy.ExitCodes
}

// byPolicy lets the policy answer. It examines the environment only now, since most runs never
// ask.
func (s *Session) byPolicy(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
	return s.policyResponder(func(context.Context) error {
		s.loop.BeforeVerify()
		return nil
	}, s.loop.AfterVerify).Respond(ctx, q, st)
}

func (s *Session) policyResponder(before func(context.Context) error, after func(core.VerifyFinished) error) core.Responder {
	return core.ResponderFunc(func(ctx context.Context, q core.Question, st *core.State) (core.Answer, error) {
		return s.policy.Responder(policy.Options{
			Dir: s.dir, Env: (&debugger{s}).environ(st, "verify"), CI: ciFacts(s.dir, st.Started, s.policy.Asks("changed_files")), Earlier: s.spentToday, Output: s.helperOutput,
			BeforeVerify: before, AfterVerify: after,
			Evaluated: func(e policy.Evaluation) { s.explainRules(e) },
		}).Respond(ctx, q, st)
	})
}

// silenced returns why no person may be asked, whether or not one is there. Empty means one
// may be.
func (s *Session) silenced() string {
	flag := s.opts.Silent()
	switch {
	case flag != "":
		return s.setBy(flag)
	case s.parent != "":
		return "no answer from outside"
	case insideHelper():
		return "it is in a " + cmp.Or(os.Getenv("LOOPRUN_ROLE"), "helper")
	}
	return ""
}

// setBy returns a short description of what set the flag: the flag itself, its variable or a
// file.
func (s *Session) setBy(name string) string {
	if places := s.app.Config.Place(name); len(places) > 0 {
		by, _, _ := strings.Cut(strings.TrimSuffix(places[0], " is set"), " sets ")
		return by
	}
	return "--" + name // a resumed run has it from its journal
}

// instead adds to err what the user can do about an unanswered question, unless the user chose
// that outcome. A client of looprun ask receives it with the error.
func (s *Session) instead(q core.Question, err error) error {
	switch {
	case q.To == ask.ToAssistant || s.opts.Wait || s.opts.Retry != nil && q.From == "":
		return err
	case q.Exclusive || q.Mandatory || q.Advice != nil:
		return s.hint(q, "only a person can answer this; --detached defer keeps it for looprun answer", err)
	case !s.opts.Detached.IsZero() || s.policy != nil:
		return err
	case q.From == core.FromCommand && (q.To == ask.ToUser || s.assistant() != nil):
		return s.hint(q, "--detached MODE answers such a question", err)
	case q.From == core.FromCommand:
		return s.hint(q, "--assistant LINE or --detached MODE answers such a question", err)
	}
	return s.hint(q, "--policy FILE or --detached MODE answers such a question", err)
}

func (s *Session) hint(q core.Question, text string, err error) error {
	if q.From == core.FromCommand {
		return fmt.Errorf("%s: %w", text, err)
	}
	s.app.Say.Remedy = text
	return err
}

// explainRules prints why the policy did not answer.
func (s *Session) explainRules(e policy.Evaluation) {
	if e.Answer != nil {
		return
	}
	s.app.Say.News("the policy does not answer %s", e.Guard)
	for _, v := range e.Rules {
		s.app.Say.News("  %s (%s): %s", v.Rule, v.Answer, v.Why)
	}
}
