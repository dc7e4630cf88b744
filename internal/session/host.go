package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/scratchpad"
)

// Host runs the commands of a run whose steps are driven by somebody else: its iterations, and
// the responders other than a person. It has no socket. Everything it returns is masked.
type Host struct {
	s    *Session
	null *os.File
}

// HostOptions describe the run and its environment.
type HostOptions struct {
	Started core.RunStarted   // as it was submitted
	Run     *scratchpad.Run   // for its outputs and pages
	Dir     string            // where its commands run
	Env     []string          // the whole environment
	Say     *console.Observer // takes warnings
}

// NewHost reads the configuration that the run was submitted with.
func NewHost(o HostOptions) (*Host, error) {
	var r Recorded
	if err := json.Unmarshal(o.Started.Config, &r); err != nil {
		return nil, fmt.Errorf("the configuration of run %s cannot be read: %w", o.Started.RunID, err)
	}
	if err := elsewhere(&r.Options); err != nil {
		return nil, err
	}
	if len(r.Options.Policy) > 0 && r.Policy == nil {
		return nil, config.Usagef("%s: the submitted configuration names the policy without its text; submit the loop again", config.Flag("policy"))
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	r.Options.CI, r.Options.Checkpoint = "off", false // who takes the steps keeps the files
	app := &Program{Stdin: null, Stdout: null, Stderr: null, Say: o.Say, Command: r.Command, Config: &config.Settings{}}
	s := &Session{app: app, opts: &r.Options, command: r.Command, dir: o.Dir, run: o.Run, afar: true} // a question can wait for a person
	if err := errors.Join(s.load(r.Policy), s.equip(o.Env)); err != nil {
		return nil, errors.Join(err, null.Close())
	}
	return &Host{s, null}, nil
}

// CommandsOf returns all commands that a run with that configuration can start: the work as a
// command line, and shell lines unchanged.
func CommandsOf(recorded json.RawMessage) ([]string, error) {
	var r Recorded
	if err := json.Unmarshal(recorded, &r); err != nil {
		return nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	o := &r.Options
	var lines []string
	if o.Shell == "" {
		lines = append(lines, core.CommandLine(o.Work(r.Command).Argv()))
	}
	lines = append(lines, o.Commands()...)
	if r.Policy == nil {
		return lines, nil
	}
	p, err := r.Policy.Policy(nil)
	if err != nil {
		return nil, err
	}
	for _, rule := range p.Rules {
		if rule.Verify != "" {
			lines = append(lines, rule.Verify)
		}
	}
	return lines, nil
}

// Mask masks this machine's secrets in a text.
func (h *Host) Mask(text string) string {
	return h.s.masker.Text(text)
}

// Close releases the host's resources.
func (h *Host) Close() error { return h.null.Close() }

// Run runs one iteration, which the run's owner has already begun.
func (h *Host) Run(ctx context.Context, it core.Iteration, st *core.State) (core.IterationResult, error) {
	h.s.writeContext(st)
	if err := h.s.run.Refresh(st, true); err != nil {
		h.s.app.Say.Warn("the scratchpad could not be written: %v", err)
	}
	d, err := h.s.executor.Run(ctx, it)
	return d.Masked(h.Mask), err
}

// Printed returns the end of the running iteration's output.
func (h *Host) Printed() string {
	end, _ := h.s.executor.Printed()
	return end
}

// Response is the outcome of a question where there is no person to ask.
type Response struct {
	// Events precede the answer: what was verified, and an assistant's advice.
	Events []core.Data
	Answer *core.Answer // nil: there is none
	// Unanswered is why nobody answers; empty means a person may answer later.
	Unanswered string
}

// Respond lets when_stuck answer a question, or else the agent that decides itself, the policy,
// the assistant, or the mode for questions that nobody answers (--detached). If none of them
// answers, the question is left to a person.
func (h *Host) Respond(ctx context.Context, q core.Question, st *core.State) (Response, error) {
	var r Response
	a, err := h.respond(ctx, &q, st, &r)
	if err == nil {
		r.Answer = &a
	} else if errors.Is(err, core.ErrNoAnswer) {
		r.Unanswered = err.Error()
	} else if !errors.Is(err, core.ErrDeferred) {
		return r, err
	}
	for i, d := range r.Events {
		r.Events[i] = core.Masked(d, h.Mask)
	}
	if r.Answer != nil {
		r.Answer = new(core.Masked(core.QuestionAnswered{Answer: a}, h.Mask).(core.QuestionAnswered).Answer)
	}
	return r, nil
}

func (h *Host) respond(ctx context.Context, q *core.Question, st *core.State, r *Response) (core.Answer, error) {
	s := h.s
	if !s.opts.Responds() { // then nobody calls it, so what is below needs a word there
		return core.Answer{}, core.ErrDeferred
	}
	assisted := s.assistant()
	asked := s.programs(s.policyResponder(nil, func(v core.VerifyFinished) error {
		r.Events = append(r.Events, v)
		return nil
	}), assisted)
	if assisted != nil && s.detachedMode(*q) == config.DetachedAuto {
		asked = append(asked, assisted)
	}
	for _, by := range asked {
		a, err := by.Respond(ctx, *q, st)
		if err == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return a, context.Cause(ctx)
		}
		if advice := adviceOf(*q, a, err); advice != nil {
			q.Advice = advice
			r.Events = append(r.Events, core.AdviceGiven{QuestionID: q.ID, Responder: core.RespondedByAssistant, Advice: *advice})
		} else if !errors.Is(err, core.ErrNoAnswer) && !errors.Is(err, core.ErrDeferred) {
			r.Events = append(r.Events, core.AnswerInvalid{QuestionID: q.ID, Responder: a.Responder, Reason: err.Error()})
		}
	}
	return s.detached(*q)
}

// Debug runs the debug command of an answer.
func (h *Host) Debug(ctx context.Context, st *core.State) (core.DebugFinished, error) {
	o, err := st.Question.Resolve(*st.Answer)
	if err != nil {
		return core.DebugFinished{}, err
	}
	a := *st.Answer
	a.Person = false // there is no terminal for a shell
	d, err := (&debugger{h.s}).Debug(ctx, st, o, a)
	return core.Masked(d, h.Mask).(core.DebugFinished), err
}

// Describe returns the first event of the run that s would start under that id. The event has
// no directory, since the run's commands run elsewhere. It fails for options that only work on
// this machine.
func (s *Session) Describe(id string) (core.RunStarted, error) {
	if err := errors.Join(elsewhere(s.opts), s.opts.NeedJudge()); err != nil {
		return core.RunStarted{}, err
	}
	var err error
	if s.masker, err = s.opts.Redactor(os.Environ()); err != nil {
		return core.RunStarted{}, err
	}
	recorded, err := s.record()
	if err != nil {
		return core.RunStarted{}, err
	}
	var r Recorded
	if err := json.Unmarshal(recorded, &r); err != nil {
		return core.RunStarted{}, err
	}
	if r.Masked || r.Lossy {
		return core.RunStarted{}, config.Usage("the command line or the configuration holds a secret, or bytes that are not UTF-8, which nothing keeps", "let the command read the secret from a variable of its worker")
	}
	started := s.started(id)
	started.Dir, started.Parent, started.Config = "", "", recorded
	return started, nil
}

// elsewhere rejects options that refer to one machine. Both sides call it: the submitter of a
// loop, and the worker, which does not rely on the submitter.
func elsewhere(o *config.Options) error {
	for flag, set := range map[config.Flag]bool{
		"templates": len(o.Templates) > 0, "interactive": o.Interactive, "once": o.Once, "protect": len(o.Protect) > 0,
		"result": o.Result != "", "stdin": !slices.Contains([]string{"", "none", config.StdinContext}, o.Stdin),
		"tasks": o.Tasks != "" && !filepath.IsLocal(o.Tasks),
	} {
		if set {
			return config.Usagef("%s: it cannot be done on another machine; leave it out", flag)
		}
	}
	return nil
}
