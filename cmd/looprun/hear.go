package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/cost"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/ask"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/redact"
	"github.com/looprun/looprun/signature"
	"github.com/looprun/looprun/waiting"
	"github.com/looprun/looprun/workspace"
)

// hearing is what is learned from what the command prints and leaves behind.
type hearing struct {
	s         *session
	choices   ask.ChoicesScanner
	rejection rejection.Scanner
	signals   *signal.Scanner // nil: not read from text
	cost      *cost.Reader    // nil: not read
	tree      *workspace.Tree // nil: no guard needs it
}

// matcher recognises limits to wait for; nil: there are none.
func (o *options) matcher() (*waiting.Matcher, error) {
	if len(o.WaitOn) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to match
	}
	return waiting.Compile(o.WaitOn)
}

// costReader reads the cost of an iteration; nil: it is not read.
func (o *options) costReader() (*cost.Reader, error) {
	if o.CostFrom == "" {
		return nil, nil //nolint:nilnil // nothing is read
	}
	return cost.New(o.CostFrom)
}

// redactor masks secrets; nil masks nothing.
func (o *options) redactor(environ []string) (*redact.Redactor, error) {
	patterns := make([]redact.Pattern, len(o.Redact))
	for i, text := range o.Redact {
		patterns[i] = redact.Pattern{Text: text}
	}
	return redact.New(redact.Options{Environ: environ, Patterns: patterns, Off: o.NoRedact})
}

// hear lets the executor listen.
func (s *session) hear() error {
	h := &hearing{s: s}
	x := s.executor
	x.Listeners = []looprun.Listener{&h.choices, &h.rejection}
	if s.opts.Signals == "text" {
		h.signals = new(signal.Scanner)
		x.Listeners = append(x.Listeners, h.signals)
		x.AlsoPromised = func() bool {
			signals, _ := h.signals.Result()
			return slices.ContainsFunc(signals, func(sig signal.Signal) bool { return sig.Name == signal.Done })
		}
	}
	var err error
	if h.cost, err = s.opts.costReader(); err != nil {
		return err
	}
	if h.cost != nil {
		x.Listeners = append(x.Listeners, h.cost)
	}
	m, err := s.opts.matcher()
	if err != nil {
		return err
	}
	if m != nil {
		x.WaitOn = m
	}
	if s.limits.IdleIterations > 0 || s.limits.WorkspaceCycles > 0 || len(s.opts.Ladder) > 0 {
		if h.tree, err = workspace.Open(s.dir, filepath.Dir(s.run.Dir)); err != nil {
			return err
		}
	}
	x.Heard = h.heard
	return nil
}

// heard adds what was learned to the end of an iteration.
func (h *hearing) heard(_ looprun.Iteration, d *looprun.IterationFinished) {
	h.hearChoices(d)
	h.hearRejection(d)
	h.hearSignals(d)
	h.hearCost(d)
	h.lookAround(d)
}

// hearChoices puts questions that the command ended with on record.
func (h *hearing) hearChoices(d *looprun.IterationFinished) {
	found, err := h.choices.Result()
	if found == nil && err == nil {
		found, err = h.choicesFile()
	}
	if err != nil {
		d.Before = append(d.Before, looprun.SignalReceived{Signal: signal.Signal{Name: looprun.NameChoices}, Problem: err.Error()})
	}
	if found == nil {
		return
	}
	for _, q := range found.PendingUserChoices {
		asked := questionOf(q, "")
		asked.Returned = true
		d.Before = append(d.Before, looprun.QuestionAsked{Question: asked})
	}
}

// choicesName is the file in which a command can leave its questions.
const choicesName = "questions.json"

// choicesFile takes the questions that the command left in its file.
func (h *hearing) choicesFile() (*ask.Choices, error) {
	name := filepath.Join(h.s.run.Dir, choicesName)
	f, err := openPlain(name)
	if err != nil {
		return nil, nil //nolint:nilnil // there is none
	}
	text, err := readLimited(f, choicesLimit)
	_ = f.Close()
	if err == nil {
		err = os.Remove(name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", choicesName, err)
	}
	c, err := ask.ParseChoices(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", choicesName, err)
	}
	return &c, nil
}

func (h *hearing) hearRejection(d *looprun.IterationFinished) {
	text, ok := h.rejection.Result()
	if !ok {
		return
	}
	r, err := rejection.Parse(text)
	if err != nil {
		d.Before = append(d.Before, looprun.SignalReceived{Signal: signal.Signal{Name: looprun.NameRejection}, Problem: err.Error()})
		return
	}
	d.Before = append(d.Before, rejected(r, "text"))
}

// rejected is the event that a rejection makes: it is valid, or it is not.
func rejected(r rejection.Rejection, via string) looprun.Data {
	r = r.Normalize()
	if issues := r.Validate(); len(issues) > 0 {
		return looprun.RejectionInvalid{Rejection: r, Issues: issues, Via: via}
	}
	return looprun.RejectionSubmitted{Rejection: r, Via: via}
}

func (h *hearing) hearSignals(d *looprun.IterationFinished) {
	if h.signals == nil {
		return
	}
	signals, malformed := h.signals.Result()
	for _, sig := range signals {
		if sig.Name == signal.Done && !h.s.executor.Judge.Promise {
			h.s.app.say.warn("the command said that it is done, which means nothing here: this run was started without --promise")
			continue
		}
		d.Before = append(d.Before, looprun.SignalReceived{Signal: sig})
	}
	for _, m := range malformed {
		d.Before = append(d.Before, looprun.SignalReceived{Signal: signal.Signal{Name: m.Means(), Via: signal.ViaText}, Problem: fmt.Sprintf("line %d: %s", m.Line, m.Problem)})
	}
}

func (h *hearing) hearCost(d *looprun.IterationFinished) {
	if h.cost == nil {
		return
	}
	usd, tokens, found := h.cost.Report()
	if found {
		d.Before = append(d.Before, looprun.CostReported{USD: usd, Tokens: tokens, Via: "output"})
		return
	}
	if why := h.cost.Problem(); why != "" {
		h.s.app.say.warn("the cost of iteration %d is not known: %s", d.Iteration, termsafe.Line(why))
	}
}

// missCost warns, once, of an iteration that reported no cost where a guard
// counts on it.
func (s *session) missCost(d looprun.IterationFinished, st *looprun.State) {
	blind := st.Limits.Cost > 0 && st.Cost == s.cost.usd || st.Limits.Tokens > 0 && st.Tokens == s.cost.tokens
	if blind && !s.cost.warned && d.Iteration > 0 && d.Outcome != looprun.OutcomeDone {
		s.cost.warned = true
		s.app.say.warn("iteration %d reported no cost, so its guard cannot see it; report it with looprun signal cost, or --cost-from", d.Iteration)
	}
	s.cost.usd, s.cost.tokens = st.Cost, st.Tokens
}

// lookLimit is how long the look at the work tree may take.
const lookLimit = 30 * time.Second

// lookAround takes the fingerprint of the work tree. One that cannot be taken is
// not known, which is evidence of nothing.
func (h *hearing) lookAround(d *looprun.IterationFinished) {
	if h.tree == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	f, err := h.tree.Fingerprint(ctx)
	if err != nil {
		h.s.app.say.warn("the state of the work tree is not known: %v", err)
		return
	}
	d.Content = signature.Hash(f.Content)
	d.Tree = signature.Hash(xxhash.Sum64String(f.Content.String() + " " + f.Commit))
}
