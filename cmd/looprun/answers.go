package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/escalate/assistant"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/escalate/user"
)

// responders answer questions, in this order: the policy, a person, and what
// stands in for a person who is not there.
func (s *session) responders() []looprun.Responder {
	var list []looprun.Responder
	if s.policy != nil {
		list = append(list, looprun.ResponderFunc(s.byPolicy))
	}
	assisted := s.assistant()
	if assisted != nil && s.detachedMode() != detachedAuto && slices.Contains(s.opts.AssistantFor, string(assistant.FromGuards)) {
		list = append(list, s.escalations.From(assisted))
	}
	asked := false
	person := s.escalations.To(user.New(user.Options{NonInteractive: s.opts.NonInteractive || s.opts.Wait, NoColor: s.app.say.flags.Color == "never"}))
	list = append(list, looprun.ResponderFunc(func(ctx context.Context, q looprun.Question, st *looprun.State) (looprun.Answer, error) {
		a, err := person.Respond(ctx, q, st)
		asked = errors.Is(err, user.ErrAsked)
		return a, err
	}))
	return append(list, looprun.ResponderFunc(func(ctx context.Context, q looprun.Question, st *looprun.State) (looprun.Answer, error) {
		switch {
		case asked: // a person was there and chose nothing: nobody stands in
			return looprun.Answer{}, looprun.ErrNoAnswer
		case assisted != nil && s.detachedMode() == detachedAuto:
			return assisted.Respond(ctx, q, st)
		}
		return s.detached(q)
	}))
}

// detachedAuto lets the assistant answer when no person can be asked.
const detachedAuto = "auto"

// assistant is the command that answers questions; nil without one.
func (s *session) assistant() looprun.Responder {
	if s.opts.Assistant == "" {
		return nil
	}
	o := assistant.Options{
		Command: s.opts.Assistant, Dir: s.dir, Env: s.base, Timeout: time.Duration(s.opts.AssistantTimeout),
		Escalation: s.opts.AssistantEscalation && s.detachedMode() != detachedAuto,
		Stderr:     func(b []byte) { _, _ = s.executor.Stderr.Write(b) },
	}
	return assistant.New(o)
}

// detached decides when nobody can be asked.
func (s *session) detached(q looprun.Question) (looprun.Answer, error) {
	mode := s.detachedMode()
	if e := s.escalations.Of(q.ID); e != nil {
		return e.Detached(mode, q)
	}
	switch {
	case mode == "defer":
		return looprun.Answer{}, looprun.ErrDeferred
	case mode == "defaults" && q.Default != "" && !q.Exclusive:
		return looprun.Answer{Option: q.Default, Responder: looprun.RespondedByDetached, Reason: "nobody can be asked, and it is the question's default"}, nil
	}
	return looprun.Answer{}, looprun.ErrNoAnswer
}

// detachedMode is the flag's, else the policy's, else deny.
func (s *session) detachedMode() string {
	if s.opts.Detached != "" {
		return s.opts.Detached
	}
	if s.policy != nil {
		return firstNonEmpty(string(s.policy.Detached), "deny")
	}
	return "deny"
}

// debugger runs the debug command, a shell for a person without one, or the
// command of an option.
type debugger struct{ s *session }

// findingsLimit is how much of a debug command's output is kept: its end.
const findingsLimit = 8 << 10

func (d *debugger) Debug(ctx context.Context, st *looprun.State, o looprun.Option, a looprun.Answer) (looprun.DebugFinished, error) {
	line := d.s.opts.Debug
	if o.Action == looprun.ActionRun {
		line = o.Command
	}
	if line == "" {
		if a.Person {
			return d.shell(ctx, st)
		}
		return looprun.DebugFinished{}, errors.New("no debug command is configured (--debug LINE)")
	}
	var out tailBuffer
	show := func(b []byte) {
		_, _ = d.s.executor.Stderr.Write(b)
		out.write(b)
	}
	exit := looprun.Shell(line).Run(ctx, looprun.Invocation{
		Dir: d.s.dir, Env: d.environ(st), Stdout: show, Stderr: show, KillAfter: d.s.killAfter(),
	})
	return looprun.DebugFinished{ExitCode: exit.Code, Findings: out.text(exit.Detail)}, nil
}

func (d *debugger) environ(st *looprun.State) []string {
	return d.s.environ(looprun.Iteration{Number: st.Iterations, Limit: st.Limits.Iterations, Guidance: st.Guidance, Last: st.Last})
}

// shell lets the person look around with the run's environment.
func (d *debugger) shell(ctx context.Context, st *looprun.State) (looprun.DebugFinished, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return looprun.DebugFinished{}, err
	}
	defer tty.Close()
	name := firstNonEmpty(os.Getenv("SHELL"), "sh")
	d.s.app.say.printf("%s with the run's environment; exit 0 goes on, any other code asks again", name)
	sh := exec.CommandContext(ctx, name)
	sh.Dir, sh.Env = d.s.dir, d.environ(st)
	sh.Stdin, sh.Stdout, sh.Stderr = tty, tty, tty
	err = sh.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return looprun.DebugFinished{}, err
	}
	return looprun.DebugFinished{ExitCode: sh.ProcessState.ExitCode()}, nil
}

// tailBuffer keeps the end of what is written.
type tailBuffer struct{ b []byte }

func (t *tailBuffer) write(b []byte) {
	t.b = append(t.b, b...)
	if over := len(t.b) - findingsLimit; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
}

func (t *tailBuffer) text(why string) string {
	text := strings.TrimSpace(string(t.b))
	if why != "" {
		text = strings.TrimSpace(text + "\n" + why)
	}
	return text
}

// loadPolicy reads the policy file, or what was recorded of it.
func (s *session) loadPolicy(kept *recordedFile) error {
	name := s.opts.Policy
	var text []byte
	switch {
	case kept != nil:
		name, text = kept.Name, []byte(kept.Text)
	case name == "":
		return nil
	default:
		var err error
		if text, err = os.ReadFile(name); err != nil {
			return &usageError{"--policy: " + err.Error(), "name a file that can be read"}
		}
	}
	p, err := policy.Parse(name, text, knownOptions(s.questions))
	if err != nil {
		return fmt.Errorf("the policy cannot be used, and nothing was run:\n%w", err)
	}
	s.policy, s.policySource = p, &recordedFile{name, string(text)}
	return nil
}

func (s *session) policyCodes() map[string]int {
	if s.policy == nil {
		return nil
	}
	return s.policy.ExitCodes
}

// byPolicy lets the policy answer. What it finds out about the environment it
// finds out only now: most runs never ask.
func (s *session) byPolicy(ctx context.Context, q looprun.Question, st *looprun.State) (looprun.Answer, error) {
	show := func(b []byte) { _, _ = s.executor.Stderr.Write(b) }
	return s.policy.Responder(policy.Options{
		Dir: s.dir, Env: (&debugger{s}).environ(st), CI: ciFacts(s.dir), Output: show,
		BeforeVerify: func(context.Context) error {
			s.loop.BeforeVerify()
			return nil
		},
		AfterVerify: s.loop.AfterVerify,
		Evaluated:   func(e policy.Evaluation) { s.explainRules(e) },
	}).Respond(ctx, q, st)
}
