package many

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/tail"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// Batch executes a plan.
type Batch struct {
	*Plan
	Self string // the program that runs a loop
	Say  *console.Messages
	// Screen is the terminal that shows the table; nil means there is none.
	Screen *os.File
	// Resume holds flags for each resumed run, for example who answers now.
	Resume []string
	// Asks is called for each loop that has paused with a question, with the run's directory
	// and the loop's environment. It may not block. nil means that nobody wants to know.
	Asks func(name, dir string, env []string)

	entries []*entry
	queue   []*entry
	slots   []*entry // who has which
	events  chan func()
	halt    string             // why nothing is started any more; empty: it is
	code    int                // exit code of what is not started
	told    bool               // what runs was told to end
	cancel  context.CancelFunc // ends setups
	table   table
}

// standing is the state of a loop.
type standing int

const (
	waiting standing = iota // for a slot
	placing                 // its tree is made
	running
	asking // it has paused with a question
	over
)

// entry is one loop during the batch.
type entry struct {
	*Loop
	repo    *repository
	stands  standing
	slot    int
	process *proc.Process
	resumed bool // it goes on where it was
	seen    scratchpad.Summary
	cost    float64
	tokens  int64
	since   time.Time
	end     End
}

// End is how a loop ended.
type End struct {
	Name       string      `json:"name"`
	RunID      string      `json:"run_id"`
	Status     core.Status `json:"status"` // empty: it was not started
	Guard      string      `json:"guard,omitempty"`
	ExitCode   int         `json:"exit_code"`
	Iterations int         `json:"iterations"`
	Runtime    float64     `json:"runtime_seconds"`
	Cost       float64     `json:"cost_usd,omitempty"`
	Tokens     int64       `json:"tokens,omitempty"`
	// Reason is why it ended that way, if its run does not record it.
	Reason string `json:"reason,omitempty"`
	// Says is the result of its last iteration, in words; empty if that passed.
	Says string `json:"says,omitempty"`
	// Warnings holds looprun's warnings about it: from the standard error of its run, or from
	// here.
	Warnings []string `json:"warnings,omitempty"`
	// Ref holds its files, and Tree is its work tree; empty means there is none.
	Ref  string `json:"ref,omitempty"`
	Tree string `json:"tree,omitempty"`
}

const tick = 500 * time.Millisecond

// setupLimit is how long the setup of a tree may take.
const setupLimit = 30 * time.Minute

// Run executes the unfinished part of the plan, until all loops have ended or the context
// does. The caller decides what an ended context means.
func (b *Batch) Run(ctx context.Context) (*Verdict, error) {
	b.events = make(chan func(), 64)
	b.slots = make([]*entry, b.Jobs)
	setups, cancel := context.WithCancel(ctx)
	defer cancel()
	b.cancel = cancel
	b.table.open(b.Screen)
	defer b.table.close()
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	b.bounds()
	clock := time.NewTicker(tick)
	defer clock.Stop()
	asked, interrupted := time.Time{}, ctx.Done()
	for {
		b.fill(setups)
		b.table.draw(b)
		busy := b.count(placing) + b.count(running)
		if busy == 0 { // nor does anything wait for a slot
			if b.count(asking) == 0 || b.halt != "" {
				break
			}
			if asked.IsZero() {
				asked = time.Now()
				b.invite()
			}
			if time.Since(asked) >= b.Wait {
				break
			}
		} else {
			asked = time.Time{}
		}
		select {
		case did := <-b.events:
			did()
		case <-clock.C:
			b.look()
		case <-interrupted:
			interrupted = nil
			b.stop("interrupted", 130)
		}
	}
	return b.verdict(), nil
}

// prepare updates the mirrors and determines the state of each loop.
func (b *Batch) prepare(ctx context.Context) error {
	repos, commits := map[string]*repository{}, map[string][]string{}
	for i := range b.Loops {
		l := &b.Loops[i]
		if repos[l.Repository] == nil {
			repos[l.Repository] = repositoryOf(b.Trees, l.Repository)
		}
		commits[l.Repository] = append(commits[l.Repository], l.Base)
		b.entries = append(b.entries, &entry{Loop: l, repo: repos[l.Repository], slot: -1})
	}
	for top, r := range repos {
		slices.Sort(commits[top])
		if err := r.fetch(ctx, b.ID, slices.Compact(commits[top])); err != nil {
			return fmt.Errorf("the mirror of %s cannot be made: %w", top, err)
		}
	}
	parallel.Each(len(b.entries), func(i int) {
		e := b.entries[i]
		if e.find(b.runDir(e.Loop)); len(b.Resume) > 0 && e.seen.Status == core.StatusPaused {
			e.stands, e.resumed = waiting, true // somebody else answers now
		}
	})
	for _, e := range b.entries {
		switch e.stands {
		case waiting:
			b.queue = append(b.queue, e)
		case asking:
			if e.seen.Status == core.StatusPaused {
				b.asked(e, b.runDir(e.Loop))
			}
		case over:
			b.finish(e)
		}
	}
	return nil
}

// find determines the state of a loop's run.
func (e *entry) find(dir string) {
	if !scratchpad.HasEvents(dir) {
		e.stands = waiting
		return
	}
	e.read(dir)
	switch s := e.seen; {
	case s.Problem != "":
		e.stands = over
		e.end.Reason = s.Problem
	case s.Status == core.StatusPaused && s.Pending:
		e.stands = asking
	case s.Status == core.StatusPaused || s.Status == core.StatusInterrupted || s.Status == core.StatusCrashed:
		e.stands, e.resumed = waiting, true
	case s.Status == core.StatusRunning || s.Status == core.StatusAwaiting:
		e.stands = asking // another looprun has it open; it is looked at again
	default:
		e.stands = over
	}
}

// read reads the run's summary. What it had cost stays if it cannot be read.
func (e *entry) read(dir string) {
	if e.seen = scratchpad.Summarize(dir); e.seen.Problem == "" {
		e.cost, e.tokens = e.seen.CostUSD, e.seen.Tokens
	}
}

func (b *Batch) count(s standing) int {
	return len(convert.Where(b.entries, func(e *entry) bool { return e.stands == s }))
}

// fill gives free slots to waiting loops, in order.
func (b *Batch) fill(ctx context.Context) {
	for slot := range b.slots {
		if b.slots[slot] != nil {
			continue
		}
		if len(b.queue) == 0 || b.halt != "" || !b.room() {
			break
		}
		e := b.queue[0]
		b.queue = b.queue[1:]
		b.slots[slot], e.slot = e, slot
		b.start(ctx, e)
	}
	if b.halt == "" {
		return
	}
	for _, e := range b.queue { // they can be resumed
		e.stands = over
		e.end.Reason, e.end.ExitCode = b.halt, b.code
		b.finish(e)
	}
	b.queue = nil
}

// room reports whether there is room on the disk for one more tree. If none can become free,
// because nothing is running that would release any, the batch ends.
func (b *Batch) room() bool {
	left, err := free(b.Trees)
	if left >= b.MinFree {
		return true
	}
	if b.count(placing)+b.count(running) == 0 {
		why := fmt.Sprintf("%s are free on the disk of %s, and %s must stay free", plural.Bytes(left), b.Trees, plural.Bytes(b.MinFree))
		if err != nil {
			why = fmt.Sprintf("the free space on the disk of %s is not known: %v; --min-free 0 starts loops without looking", b.Trees, err)
		}
		b.stop(why, core.ExitFailed)
	}
	return false
}

// end prevents further loops from starting. Those that were not started can be resumed.
func (b *Batch) end(why string, code int) {
	if b.halt != "" {
		return
	}
	b.halt, b.code = why, code
	b.cancel()
	b.say(func() { b.Say.Warn("no more loops are started: %s", why) })
}

// stop prevents further loops from starting and ends those running. All of them can be
// resumed. Only the first call does anything: a second signal would kill them.
func (b *Batch) stop(why string, code int) {
	if b.told {
		return
	}
	b.end(why, code)
	b.told = true
	b.signal(syscall.SIGTERM)
}

func (b *Batch) signal(sig syscall.Signal) {
	for _, e := range b.entries {
		if e.process != nil {
			e.process.Stop(sig)
		}
	}
}

// Kill immediately kills the loops that were asked to end.
func (b *Batch) Kill() {
	b.events <- func() { b.signal(syscall.SIGKILL) }
}

// start creates the tree of a loop, if it has none yet, and runs the loop.
func (b *Batch) start(ctx context.Context, e *entry) {
	e.stands, e.since = placing, time.Now()
	dir := b.runDir(e.Loop)
	go func() {
		err := b.place(ctx, e)
		b.events <- func() {
			if ctx.Err() != nil && b.halt == "" { // the end of the context is seen here first
				b.stop("interrupted", 130)
			}
			if err == nil && b.halt == "" {
				b.launch(e, dir)
				return
			}
			if err != nil && ctx.Err() == nil {
				e.end.Reason, e.end.ExitCode = err.Error(), core.ExitFailed
			} else {
				e.end.Reason, e.end.ExitCode = b.halt, b.code
			}
			b.release(e)
			e.stands = over
			b.finish(e)
		}
	}()
}

// place creates the tree of a loop and sets it up, unless that was already done.
func (b *Batch) place(ctx context.Context, e *entry) error {
	if ready(e.Tree) {
		return nil
	}
	if err := e.repo.add(ctx, e.Loop); err != nil {
		return fmt.Errorf("its work tree cannot be made: %w", err)
	}
	if e.Setup != "" {
		said := tail.Buffer{Limit: saidMost}
		exit := proc.Run(proc.Spec{
			Argv: proc.Shell(e.Setup), Dir: e.Tree, Env: e.environ(),
			Stdout: said.Take, Stderr: said.Take, Timeout: setupLimit,
		}, func(p *proc.Process) {
			go func() {
				select {
				case <-ctx.Done():
					p.Stop(syscall.SIGTERM)
				case <-p.Done():
				}
			}()
		})
		if !exit.Well() {
			return errors.Join(fmt.Errorf("its setup failed (exit %d): %s", exit.Code, lastLine(said.Bytes())), exit.StartErr)
		}
	}
	return os.WriteFile(e.Tree+readySuffix, nil, 0o600)
}

// environ returns the environment of a loop's setup and run.
func (e *entry) environ() []string {
	own := map[string]string{}
	maps.Copy(own, e.Env)
	own["LOOPRUN_SLOT"] = strconv.Itoa(e.slot + 1)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, replaced := own[name]
		return replaced
	})
	for k, v := range own {
		env = append(env, k+"="+v)
	}
	return env
}

// argv returns the command that starts or resumes a loop's run.
func (b *Batch) argv(e *entry) []string {
	if e.resumed {
		return append([]string{b.Self, "resume", e.RunID, "--state-dir", b.State, "--log-format", "json"}, b.Resume...)
	}
	args := []string{
		b.Self, "run", "--run-id", e.RunID, "--repository", e.Repository, "--state-dir", b.State, "--name=" + e.Name,
		"--checkpoint", "--detached", "defer", "--ci", "off", "--log-format", "json",
	}
	return append(append(append(args, e.Flags...), "--"), e.Command...)
}

// launch starts the run of a loop.
func (b *Batch) launch(e *entry, dir string) {
	said := &messages{said: tail.Buffer{Limit: saidMost}, tell: func(text string) { b.events <- func() { b.warn(e, text) } }}
	p := proc.Start(proc.Spec{
		Argv: b.argv(e), Dir: filepath.Join(e.Tree, filepath.FromSlash(e.Dir)), Env: e.environ(),
		Stderr: said.take, KillAfter: 40 * time.Second,
	})
	e.stands, e.process, e.end.Reason = running, p, ""
	go func() {
		exit := p.Wait()
		b.events <- func() { b.ended(e, dir, exit, said) }
	}()
}

// ended handles the end of a loop's process.
func (b *Batch) ended(e *entry, dir string, exit proc.Exit, said *messages) {
	defer b.bounds() // before another one is started
	b.release(e)
	e.process, e.end.ExitCode = nil, exit.Code
	says := said.String()
	if exit.StartErr != nil {
		says = exit.StartErr.Error()
	}
	if !scratchpad.HasEvents(dir) {
		e.end.Reason = cmp.Or(says, b.halt, fmt.Sprintf("its process ended with %d before its run began", exit.Code))
		e.stands = over
		b.finish(e)
		return
	}
	e.read(dir)
	if exit.Code == 128+int(syscall.SIGTERM) && e.seen.Status == core.StatusDone {
		e.end.ExitCode = e.seen.ExitCode // told to end when its end was on record
	}
	asks := e.seen.Status == core.StatusPaused && e.seen.Pending
	if asks {
		b.asked(e, dir)
	}
	switch {
	case asks && b.halt == "":
		e.stands = asking
		b.say(func() {
			b.Say.News("%s: asks after %s: looprun answer %s", e.Name, plural.Count(e.seen.Iterations, "iteration"), e.RunID)
		})
		return
	case e.seen.Status == core.StatusPaused && b.halt == "":
		b.again(e)
		return
	case (e.seen.Status == core.StatusRunning || e.seen.Status == core.StatusAwaiting) && b.halt == "":
		e.stands = asking // somebody else was first to go on with it
		return
	case e.seen.Status == core.StatusCrashed: // its process was killed
		e.end.Reason = cmp.Or(says, "its process was killed")
	}
	e.stands = over
	b.finish(e)
}

// asked passes on that a loop has paused with a question.
func (b *Batch) asked(e *entry, dir string) {
	if b.Asks != nil {
		b.Asks(e.Name, dir, e.environ())
	}
}

// again puts an answered loop at the end of the queue.
func (b *Batch) again(e *entry) {
	e.stands, e.resumed = waiting, true
	b.queue = append(b.queue, e)
}

func (b *Batch) release(e *entry) {
	if e.slot >= 0 {
		b.slots[e.slot], e.slot = nil, -1
	}
}

// look updates the state of the loops that run or ask, and enforces the limits.
func (b *Batch) look() {
	for _, e := range b.entries {
		dir := b.runDir(e.Loop)
		switch e.stands {
		case running:
			e.read(dir)
		case asking:
			if scratchpad.Locked(dir) {
				continue // it is answered, or gone on with, by somebody else
			}
			switch e.find(dir); e.stands {
			case waiting:
				b.queue = append(b.queue, e)
			case over:
				e.end.ExitCode = e.seen.ExitCode
				b.finish(e)
			}
		}
	}
	b.bounds()
}

// bounds ends the batch if it has spent its budget, if its spending is unknown, or if the disk
// is nearly full.
func (b *Batch) bounds() {
	if b.told {
		return
	}
	var cost float64
	var tokens int64
	for _, e := range b.entries {
		cost, tokens = cost+e.cost, tokens+e.tokens
		b.silent(e)
	}
	switch {
	case b.Cost > 0 && cost >= b.Cost:
		b.stop(fmt.Sprintf("$%.2f were spent, and all loops together have $%.2f", cost, b.Cost), core.MaxCost.ExitCode())
	case b.Tokens > 0 && tokens >= b.Tokens:
		b.stop(fmt.Sprintf("%d tokens were spent, and all loops together have %d", tokens, b.Tokens), core.MaxTokens.ExitCode())
	}
	if left, err := free(b.Trees); err == nil && left < b.MinFree/2 && b.count(running)+b.count(placing) > 0 {
		b.stop(fmt.Sprintf("only %s are free on the disk of %s", plural.Bytes(left), b.Trees), core.ExitFailed)
	}
}

// silent ends a loop that does not report its cost although all loops share a budget. Once
// such a loop has ended, the amount spent is unknown, and no other loop is started.
func (b *Batch) silent(e *entry) {
	code, needs := core.MaxCost.ExitCode(), "reports no cost, which --total-cost needs (see --cost-from)"
	switch {
	case e.cost == 0 && b.Cost > 0:
	case e.tokens == 0 && b.Tokens > 0:
		code, needs = core.MaxTokens.ExitCode(), "reports no tokens, which --total-tokens needs (see --cost-from)"
	default:
		return
	}
	switch n := e.seen.Iterations; {
	case e.stands == running && n >= 2 && e.end.Reason == "":
		e.end.Reason = "it " + needs
		e.process.Stop(syscall.SIGTERM)
	case (e.stands == over || e.stands == asking) && n >= 1:
		b.end(e.Name+" "+needs, code)
	}
}

// invite prints that the remaining loops wait for answers, once there is nothing else to do.
func (b *Batch) invite() {
	if b.Wait > 0 {
		b.say(func() {
			b.Say.News("all loops left wait for an answer; after looprun answer they continue here")
		})
	}
}

// say lets print write above the table.
func (b *Batch) say(print func()) {
	b.table.clear()
	print()
	b.table.draw(b)
}

// warn records a warning about a loop and prints it. A warning that a run repeats in each
// iteration is printed once, and a run that keeps warning is cut off after some.
func (b *Batch) warn(e *entry, text string) {
	const most = 10
	if text = termsafe.Line(text); slices.Contains(e.end.Warnings, text) || len(e.end.Warnings) == most {
		return
	}
	e.end.Warnings = append(e.end.Warnings, text)
	b.say(func() { b.Say.Warn("%s: %s", e.Name, text) })
}

// saidMost is how much of a process's output is kept to say how it ended, in bytes.
const saidMost = 4 << 10

// lastLine returns the last line of a text that is not blank.
func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return termsafe.Line(lines[len(lines)-1])
}

// messages reads looprun's own messages, JSON objects, from a run's standard error, and passes
// on the warnings and errors. The command prints there too.
type messages struct {
	said  tail.Buffer
	lines lines.Reader // as they are: a sequence that the command left open hides no message
	tell  func(text string)
	own   string // the last message
}

func (m *messages) take(b []byte) {
	m.said.Take(b)
	m.lines.Write(b, m)
}

// Lines implements [lines.Sink].
func (m *messages) Lines(b []byte) {
	for line := range bytes.Lines(b) {
		m.read(line)
	}
}

// Long implements [lines.Sink].
func (m *messages) Long([]byte, bool) bool { return false }

// LongEnd implements [lines.Sink].
func (m *messages) LongEnd(head []byte) { m.read(head) }

func (m *messages) read(line []byte) {
	at := bytes.LastIndex(line, []byte(`{"time":"`)) // after what the command did not end with a line break
	var said struct{ Level, Message, Event string }
	if at < 0 || json.Unmarshal(line[at:], &said) != nil || said.Message == "" {
		return
	}
	m.own = termsafe.Line(said.Message)
	if (said.Level == "warning" || said.Level == "error") && said.Event != string(core.TypeGuardTripped) { // the loop's line says that
		m.tell(m.own)
	}
}

// String returns the last message, or else the last line.
func (m *messages) String() string { return cmp.Or(m.own, lastLine(m.said.Bytes())) }
