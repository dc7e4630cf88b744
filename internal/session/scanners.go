package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/cost"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/waiting"
	"github.com/looprun/looprun/internal/workspace"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/signature"
)

// outputFacts collects facts from the command's output and from what the command leaves
// behind.
type outputFacts struct {
	s       *Session
	streams engine.Listeners[scanners, *scanners]
	tree    *workspace.Tree // nil: nothing needs it
	agent   agent.Agent     // that was set up; without a name: none was
	beside  *workspace.Tree // looks at what a turn or a check changes
}

// scanners read one stream of the command's output.
type scanners struct {
	choices   ask.ChoicesScanner
	rejection rejection.Scanner
	signals   signal.Scanner
	text      bool         // signals are read
	cost      *cost.Reader // nil: not read
	refused   string       // what a coding agent's own permissions refused first
	session   string       // the id of the agent's own
	tool      string       // with which the agent asks its person; empty: it has none
	asks      bool         // it did
	asked     []string     // its questions
}

// Fact receives what agents report about themselves.
func (c *scanners) Fact(f carrier.Fact) {
	switch f := f.(type) {
	case carrier.Refused:
		if !c.question(f.Tool, nil) {
			c.refused = cmp.Or(c.refused, f.Text, f.Tool)
		}
	case carrier.Call:
		c.question(f.Name, f.Input)
	case carrier.Conversation:
		c.session = f.ID
	case carrier.Usage:
		if c.cost != nil {
			c.cost.Used(f)
		}
	}
}

func scannersOf(o *config.Options) (scanners, error) {
	r, err := o.CostReader()
	return scanners{text: o.Signals == "text", cost: r}, err
}

// Raw implements [engine.RawListener].
func (c *scanners) Raw() func(line []byte) {
	if c.cost == nil {
		return nil
	}
	return c.cost.Line()
}

// Line reads one line of the command's output.
func (c *scanners) Line(line []byte, cut bool) {
	c.choices.Line(line, cut)
	c.rejection.Line(line, cut)
	if c.text {
		c.signals.Line(line, cut)
	}
}

// Reset prepares for the next iteration.
func (c *scanners) Reset() {
	c.choices.Reset()
	c.rejection.Reset()
	c.signals.Reset()
	c.refused, c.session, c.asks, c.asked = "", "", false, nil
	if c.cost != nil {
		c.cost.Reset()
	}
}

// both returns the streams in order of precedence: standard output, standard error.
func (h *outputFacts) both() [2]*scanners {
	return [2]*scanners{&h.streams.Stdout, &h.streams.Stderr}
}

// hear connects the executor to the scanners.
func (s *Session) hear() error {
	h := &outputFacts{s: s}
	x := s.executor
	x.Listeners, x.AlsoPromised, x.Heard = &h.streams, h.saidDone, h.heard
	for _, c := range h.both() {
		var err error
		if *c, err = scannersOf(s.opts); err != nil {
			return err
		}
	}
	var err error
	if x.WaitOn, x.RetryOn, x.StopOn, err = s.opts.Matchers(); err != nil {
		return err
	}
	if s.opts.Agent != "" || waiting.NamesAgent(s.opts.WaitOn) {
		x.Outages = waiting.Outages()
	}
	timed := (x.IterationTimeout > 0 || x.IdleTimeout > 0) && (x.Check != nil || x.Promise != "")
	if s.limits.IdleIterations > 0 || s.limits.WorkspaceCycles > 0 || len(s.opts.Ladder) > 0 || timed || s.opts.Agent != "" {
		if err := h.openTree(); err != nil {
			return err
		}
	}
	x.Tree = h.lookBeside
	if h.agent, _ = s.opts.Agents.Find(s.opts.Agent); h.agent.HasTranscript() {
		x.Agent = h.agent.Name
	}
	h.streams.Stdout.tool, h.streams.Stderr.tool = h.agent.Asks, h.agent.Asks
	s.tree, s.look = h.look(), h.look
	return nil
}

// openTree prepares to examine the work tree after each iteration.
func (h *outputFacts) openTree() (err error) {
	h.tree, err = h.opened()
	return err
}

func (h *outputFacts) opened() (*workspace.Tree, error) {
	t, err := workspace.Open(h.s.dir, filepath.Dir(h.s.run.Dir))
	if err == nil {
		t.Ignore(h.s.app.Stdout, h.s.app.Stderr) // looprun's own output is no progress of the command
	}
	return t, err
}

// lookBeside returns the state of the work tree, to find out whether a turn or a check changes
// it; zero means that it is not known.
func (h *outputFacts) lookBeside() signature.Hash {
	if h.beside == nil {
		if h.beside = h.tree; h.beside == nil {
			h.beside, _ = h.opened()
		}
	}
	if h.beside == nil {
		return 0
	}
	hurried, end := h.s.hurried(time.Second)
	defer end()
	ctx, cancel := context.WithTimeout(hurried, lookLimit)
	defer cancel()
	f, err := h.beside.Fingerprint(ctx)
	if err != nil {
		return 0
	}
	return wholeOf(f)
}

// saidDone reports whether the command made its promise with a signal in its output.
func (h *outputFacts) saidDone() bool {
	for _, c := range h.both() {
		signals, _ := c.signals.Result()
		if slices.ContainsFunc(signals, func(sig signal.Signal) bool { return sig.Name == signal.Done }) {
			return true
		}
	}
	return false
}

// heard adds the collected facts to the end of an iteration.
func (h *outputFacts) heard(_ core.Iteration, d *core.IterationResult) {
	h.said(d)
	h.lookAround(d)
	d.Checkpoint = h.s.checkpoint(d.Iteration)
	if h.s.opts.KeepTurns() > 0 {
		d.Session = cmp.Or(h.streams.Stdout.session, h.streams.Stderr.session)
	}
	h.hearRefusal(d)
	h.hearQuestion(d)
	h.hearDay(d)
}

// hearRefusal ends the run if the first turn of an agent changed nothing because the agent's
// own permissions did not allow it. Later turns would do no better, and each one costs.
func (h *outputFacts) hearRefusal(d *core.IterationResult) {
	refused := cmp.Or(h.streams.Stdout.refused, h.streams.Stderr.refused)
	failed := d.Outcome == core.OutcomeNotDone || d.Outcome == core.OutcomeError
	if h.agent.Name == "" || d.Iteration != 1 || refused == "" || !failed || d.Fatal != 0 || !h.s.executor.Unmoved() {
		return
	}
	d.Fatal = core.ExitFailed
	d.Detail = fmt.Sprintf("%s was refused permission: %s; pass its permission flags after --, such as %s", h.agent.Name, termsafe.Short(refused, 200), h.agent.Permit)
}

// said adds the command's messages in its output.
func (h *outputFacts) said(d *core.IterationResult) {
	h.hearChoices(d)
	h.hearRejection(d)
	h.hearSignals(d)
	h.hearCost(d)
}

// hearChoices records the questions with which the command ended: those that it printed, or
// else those in its file.
func (h *outputFacts) hearChoices(d *core.IterationResult) {
	printed := false
	for _, c := range h.both() {
		found, err := c.choices.Result()
		printed = printed || found != nil || err != nil
		addChoices(d, found, err)
	}
	if !printed {
		found, err := h.choicesFile()
		addChoices(d, found, err)
	}
}

// addChoices adds one document's questions, or its error.
func addChoices(d *core.IterationResult, found *ask.Choices, err error) {
	if err != nil {
		d.Said = append(d.Said, core.SignalReceived{Signal: signal.Signal{Name: core.NameChoices}, Problem: err.Error()})
	}
	if found == nil {
		return
	}
	for i, q := range found.PendingUserChoices {
		asked := questionOf(q, "")
		asked.Returned = true
		if i == 0 && len(found.PartialResult) > 0 {
			asked.Details = []string{"Result so far: " + partialResult(found.PartialResult)}
		}
		d.Said = append(d.Said, core.QuestionAsked{Question: asked})
	}
}

// partialResult formats a partial result for a person: a text as it is, anything else as JSON.
func partialResult(partial json.RawMessage) string {
	var text string
	if json.Unmarshal(partial, &text) != nil {
		text = string(partial)
	}
	return termsafe.Short(text, 300)
}

// choicesName is the file in which the command can leave questions.
const choicesName = "questions.json"

// choicesFile takes the questions that the command left in its file.
func (h *outputFacts) choicesFile() (*ask.Choices, error) {
	name := filepath.Join(h.s.run.Dir, choicesName)
	f, err := inputfile.OpenPlain(name)
	if err != nil {
		return nil, nil //nolint:nilnil // there is none
	}
	text, err := inputfile.ReadLimited(f, choicesLimit)
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

func (h *outputFacts) hearRejection(d *core.IterationResult) {
	var before []byte
	for _, c := range h.both() {
		text, ok := c.rejection.Result()
		if !ok || before != nil && bytes.Equal(text, before) { // tee has written it to both
			continue
		}
		before = text
		r, err := rejection.Parse(text)
		if err != nil {
			d.Said = append(d.Said, core.SignalReceived{Signal: signal.Signal{Name: core.NameRejection}, Problem: err.Error()})
			continue
		}
		d.Said = append(d.Said, rejected(r, "text"))
	}
}

// rejected returns the event for a rejection, which may be valid or invalid.
func rejected(r rejection.Rejection, via string) core.Data {
	r = r.Normalize()
	if issues := r.Validate(); len(issues) > 0 {
		return core.RejectionInvalid{Rejection: r, Issues: issues, Via: via}
	}
	return core.RejectionSubmitted{Rejection: r, Via: via}
}

// hearSignals records signals, followed by the malformed ones.
func (h *outputFacts) hearSignals(d *core.IterationResult) {
	var unread []core.Data
	for _, c := range h.both() {
		signals, malformed := c.signals.Result()
		if slices.ContainsFunc(signals, func(sig signal.Signal) bool { return sig.Name.Asks() }) { // the question shows it
			d.Words = strings.TrimSpace(signal.Before(d.Words))
			if d.WorkExitCode == nil { // there is no check with an output of its own
				d.Excerpt = strings.TrimSpace(signal.Before(d.Excerpt))
			}
		}
		for _, sig := range signals {
			if sig.Name == signal.Done && !h.s.executor.PromiseWanted() {
				h.s.app.Say.Warn("the command signalled done, but this run has no --promise")
				continue
			}
			d.Said = append(d.Said, core.SignalReceived{Signal: sig})
		}
		for _, m := range malformed {
			unread = append(unread, core.SignalReceived{Signal: signal.Signal{Name: m.Means(), Via: signal.ViaText}, Problem: fmt.Sprintf("line %d: %s", m.Line, m.Problem)})
		}
	}
	d.Said = append(d.Said, unread...)
}

// hearCost adds up the costs that both streams report.
func (h *outputFacts) hearCost(d *core.IterationResult) {
	sum := core.CostReported{Via: "output"}
	found, why := false, ""
	for _, c := range h.both() {
		if c.cost == nil {
			return
		}
		usd, tokens, ok := c.cost.Report()
		found = found || ok
		sum.USD, sum.Tokens = sum.USD+usd, sum.Tokens+tokens
		why = cmp.Or(why, c.cost.Problem())
	}
	if found {
		d.Said = append(d.Said, sum)
	} else if why != "" {
		h.s.app.Say.Warn("the cost of iteration %d is not known: %s", d.Iteration, termsafe.Line(why))
	}
}

// missCost warns, once, about an iteration that reported no cost although a guard relies on
// it.
func (s *Session) missCost(d core.IterationFinished, st *core.State) {
	blind := st.Limits.Cost > 0 && st.Cost == s.cost.usd || st.Limits.Tokens > 0 && st.Tokens == s.cost.tokens
	if blind && !s.cost.warned && d.Iteration > 0 && d.Outcome != core.OutcomeDone {
		s.cost.warned = true
		s.app.Say.Warn("iteration %d reported no cost, so its guard cannot see it; report it with looprun signal cost, or --cost-from", d.Iteration)
	}
	s.cost.usd, s.cost.tokens = st.Cost, st.Tokens
}

// lookLimit is how long fingerprinting the work tree may take.
const lookLimit = 30 * time.Second

// errHurried is the cause when git is stopped before it finishes.
var errHurried = errors.New("looprun was asked to stop")

// iterations makes the work done after an iteration end with it.
type iterations struct {
	*engine.Executor
	s *Session
}

func (r iterations) Run(ctx context.Context, it core.Iteration) (core.IterationResult, error) {
	r.s.iterating = ctx
	return r.Executor.Run(ctx, it)
}

// hurried returns the context for git's work after an iteration. It ends a second after
// looprun is asked to stop, or overtime after the run's time limit has passed.
func (s *Session) hurried(overtime time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(context.Background())
	if s.iterating == nil {
		return ctx, func() { end(nil) }
	}
	stop := context.AfterFunc(s.iterating, func() {
		more, why := time.Second, errHurried
		if cause := context.Cause(s.iterating); errors.Is(cause, core.ErrRuntime) {
			more, why = overtime, cause
		}
		time.AfterFunc(more, func() { end(why) })
	})
	return ctx, func() { stop(); end(nil) }
}

// lookAround takes the fingerprint of the work tree. If it cannot be taken, it is not known
// and counts as no evidence. An agent whose work nothing judges needs it.
func (h *outputFacts) lookAround(d *core.IterationResult) {
	if h.tree == nil && d.Transcript && h.s.executor.Check == nil {
		if err := h.openTree(); err != nil {
			h.s.app.Say.Warn("the state of the work tree is not known: %v", err)
		}
	}
	l := h.look()
	d.Content, d.Tree, d.Git = l.content, l.tree, l.git
}

// looked is the result of examining the work tree: the fingerprint of its files, and the
// fingerprint that includes its commit. Zero means that nothing needs it, or that it cannot be
// taken.
type looked struct {
	content, tree signature.Hash
	git           bool
}

func (h *outputFacts) look() looked {
	if h.tree == nil {
		return looked{}
	}
	hurried, end := h.s.hurried(time.Second)
	defer end()
	ctx, cancel := context.WithTimeout(hurried, lookLimit)
	defer cancel()
	f, err := h.tree.Fingerprint(ctx)
	if err != nil {
		h.s.app.Say.Warn("the state of the work tree is not known: %v", err)
		return looked{}
	}
	return looked{f.Content, wholeOf(f), f.Git}
}

// wholeOf includes the commit.
func wholeOf(f workspace.Fingerprint) signature.Hash {
	return signature.Hash(xxhash.Sum64String(f.Content.String() + " " + f.Commit))
}
