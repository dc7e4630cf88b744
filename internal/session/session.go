// Package session implements one process's part of a run: everything between the options and
// the loop. It starts and resumes runs, combines their responders, their socket, the streams
// and the signals, and knows how others reach a run.
package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/looprun/looprun/ci"
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/escalate/hooks"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/redact"
	"github.com/looprun/looprun/internal/statusline"
	"github.com/looprun/looprun/internal/tasks"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/tty"
	"github.com/looprun/looprun/report"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
)

// Program is the process that executes a run: its streams, and how it was called.
type Program struct {
	Stdin, Stdout, Stderr *os.File
	Say                   *console.Observer
	Command               []string // what stands after --
	Config                *config.Settings
	Version               string
	// As is the run's id, if what starts it gave one. Repository is the git repository that its
	// work tree was created from; it is empty unless the run is one of many.
	As, Repository string
}

// Ended is how the process that executed a run ends.
type Ended struct {
	Code  int
	Raise Raise // the signal to end by
}

// Session is one process's part of a run: everything between the options and the loop.
type Session struct {
	day     day
	waitKey *waitKey // nil: nobody can end a wait with a key now
	app     *Program
	opts    *config.Options
	command []string
	dir     string // where commands run
	// concludes means that the run is opened to apply an answer that ends or pauses it.
	concludes bool
	took      time.Duration // active time since the run paused, see ResumeFlags

	questions questions
	policy    *policy.Policy // nil: none
	// policySource is the policy's text as recorded.
	policySource policy.Sources
	run          *scratchpad.Run
	state        *core.State // as the last event left it; its owner is the loop
	loop         *engine.Loop
	executor     *engine.Executor
	limits       core.Limits // with which this part of the run begins
	caps         core.Caps
	base         []string // environment without looprun's own variables
	parent       string   // socket of the run that this one was started in; empty: none
	outlets      outlets
	helperOutput func([]byte)        // takes what commands print that are neither the work nor the check
	ci           *ci.Log             // what the CI system reads
	display      *statusline.Display // nil: there is no terminal to share
	talk         *talk               // the run's own socket
	told         *hooks.Hooks
	afar         bool     // a courier brings answers back
	cost         struct { // up to the last iteration
		usd    float64
		tokens int64
		warned bool
	}
	interrupted time.Time     // when looprun was asked to stop
	caught      chan struct{} // closed once the signals that end or stop looprun are caught
	// interrupt is the handler of the signals that end looprun; nil while they still have
	// their default effect.
	interrupt atomic.Pointer[func(*engine.Interrupt)]
	prompts   atomic.Bool // a prompt is open, or its terminal went and its question is open: a hang-up ends the prompt alone
	settles   atomic.Bool // the run is over and its verdict is not written; one signal is ignored
	// reading ends when the readers of the output have gone, and the run with them.
	reading context.Context
	// iterating is the context of the current or latest iteration; nil before the first.
	iterating context.Context
	leave     context.CancelCauseFunc
	restores  bool                      // nothing ends or stops looprun any more without the terminal put in order
	keeper    *checkpoint.Keeper        // nil: the files are not kept
	tasks     []string                  // open in --tasks
	guarded   map[string]signature.Hash // the protected files as they have to be
	found     string                    // the checkpoint of the files as the run found them
	tree      looked                    // the work tree as the run found it
	look      func() looked             // at the work tree as it is
	masker    *redact.Redactor          // nil masks nothing
	input     io.Reader                 // what --stdin - reads
}

// Recorded is the configuration as kept in the journal.
type Recorded struct {
	Options config.Options `json:"options"`
	Command []string       `json:"command"`
	Policy  policy.Sources `json:"policy,omitempty"`
	// Masked means that the rest contained a secret and is incomplete.
	Masked bool `json:"masked,omitempty"`
	// Lossy means that the rest, or the run's directory, has bytes that are not UTF-8, which
	// JSON cannot represent.
	Lossy bool `json:"lossy,omitempty"`
}

// New reads everything that the options name, and reports all errors before anything runs.
func New(app *Program, o *config.Options) (*Session, error) {
	s := &Session{app: app, opts: o, command: app.Command}
	var err error
	if s.dir, err = config.CurrentDir(); err != nil {
		return nil, err
	}
	return s, s.load(nil)
}

// load reads templates and policy; kept is the recorded policy, which is used if the options
// name none.
func (s *Session) load(kept policy.Sources) error {
	var err error
	var errs []error
	wrong := func(err error) { errs = append(errs, err) }
	s.limits, s.caps, err = s.opts.Limits()
	wrong(err)
	if s.opts.SignatureRules != "" {
		s.opts.Signature, err = config.ReadRules(s.opts.SignatureRules)
	} else {
		_, err = s.opts.Signature.Options("")
	}
	wrong(err)
	if s.questions, err = s.loadQuestions(); err == nil {
		err = s.loadPolicy(kept)
	}
	wrong(err)
	wrong(s.opts.NeedShell())
	wrong(s.openStdin())
	if s.opts.Tasks != "" {
		if s.tasks, err = tasks.Open(tasks.File(s.dir, s.opts.Tasks)); err != nil {
			wrong(config.Usagef("%s: %v; name a file with the tasks", config.Flag("tasks"), err))
		}
	}
	if s.opts.Result != "" {
		if err := atomicfile.CheckExport(s.opts.Result); err != nil {
			wrong(config.Usagef("%s: %v; name a file in a folder that is there and can be written", config.Flag("result"), err))
		}
	}
	return errors.Join(errs...)
}

// openStdin checks that the command's input file can be opened. A pipe can be read only once,
// so it replaces standard input.
func (s *Session) openStdin() error {
	s.input = s.app.Stdin
	name := s.opts.StdinFile()
	if name == "" {
		return nil
	}
	f, err := inputfile.Open(name)
	switch {
	case err != nil:
		return config.Usagef("%s: %v; %s, - or none", config.Flag("stdin"), err, inputfile.Remedy(err))
	case isDir(name):
		return errors.Join(config.Usagef("%s: %s is a directory; name a file that can be read, - or none", config.Flag("stdin"), name), f.Close())
	case inputfile.Piped(name):
		s.input, s.opts.Stdin = f, "-"
		return nil
	}
	return f.Close()
}

// stateDir returns the directory in which the run is kept.
func (s *Session) stateDir() (string, error) { return config.StateDir(s.opts.StateDir) }

// judged returns an error if nobody is there to look at the work of an agent that nothing judges.
func (s *Session) judged() error {
	if s.silenced() == "" && console.IsTerminal(s.app.Stdin) && console.IsTerminal(s.app.Stderr) && os.Getenv("CI") == "" {
		return nil
	}
	return s.opts.NeedJudge()
}

// Start runs a new run until it ends.
func (s *Session) Start() (Ended, error) {
	s.catchSignals()
	if err := s.judged(); err != nil {
		return Ended{}, err
	}
	defer s.startCourier()()
	if err := errors.Join(proc.Ready(), s.joinable(), s.keepable(), s.affordable()); err != nil {
		return Ended{}, err
	}
	dir, err := s.stateDir()
	if err != nil {
		return Ended{}, err
	}
	protected, err := s.protect()
	if err != nil {
		return Ended{}, err
	}
	s.run, err = s.create(dir)
	if err != nil {
		return Ended{}, err
	}
	NoteStateDir(s.app.Say, dir)
	warnUnmarked(s.app.Say, s.run)
	if err := s.wire(s.run.Journal); err != nil {
		return Ended{}, errors.Join(err, s.discard())
	}
	recorded, err := s.record()
	if err != nil {
		return Ended{}, errors.Join(err, s.discard())
	}
	started := s.started(s.run.ID)
	started.Config, started.Checkpoint, started.Repository = recorded, s.found, s.app.Repository
	started.Protected, started.Tree = protected, s.tree.tree
	started.Confirm = started.Check != nil && s.opts.ConfirmTrip != "off"
	s.keepProtected(protected)
	for _, hint := range s.opts.Hints(started.Command) {
		s.app.Say.Warn("%s", hint)
	}
	if err := s.loop.Start(started); err != nil {
		return Ended{}, errors.Join(err, s.run.Close())
	}
	return s.finish(s.drive())
}

// create creates the run's directory.
func (s *Session) create(state string) (*scratchpad.Run, error) {
	mode := scratchpad.SyncMode(s.opts.Sync)
	if s.app.As != "" {
		return scratchpad.CreateAs(state, s.app.As, mode)
	}
	return scratchpad.Create(state, time.Now(), mode)
}

// started returns the first event of the run, without its configuration.
func (s *Session) started(id string) core.RunStarted {
	started := core.RunStarted{
		RunID: id, Tasks: s.tasks, Name: s.opts.Name, Command: s.opts.Work(s.command).Argv(), Dir: s.dir,
		Limits: s.limits, Caps: s.caps, Version: s.app.Version, Parent: os.Getenv("LOOPRUN_RUN_ID"),
		Ladder: s.opts.Ladder, Loose: s.opts.LoopMatch == "loose",
		AnyValue: s.opts.LoopValues == "off", Often: s.opts.LoopOften.Limit(),
	}
	if check := s.opts.CheckStep(); check != nil {
		if _, known := s.opts.Agents.Of(s.command); started.Limits.Weakened == "" && (known || s.opts.Agent != "") {
			started.Limits.Weakened = core.WeakenedTrips
		}
		started.Check = check.Argv()
		started.Precheck = !s.opts.NoPrecheck && s.opts.Promise == nil
	}
	if s.opts.Promise != nil {
		started.Promise = *s.opts.Promise
	}
	started.SessionTurns = s.opts.KeepTurns()
	if n := s.opts.CallsPerHour; n != nil {
		started.CallsPerHour = *n
	}
	return started
}

// record returns the configuration for the journal. It omits secrets and bytes that are not
// UTF-8; a run that had any cannot be resumed.
func (s *Session) record() (json.RawMessage, error) {
	r := Recorded{Options: *s.opts, Command: s.command, Policy: s.policySource}
	raw, err := json.Marshal(r)
	if err == nil && (!utf8.ValidString(s.dir) || lossy(raw)) {
		r.Lossy = true
		raw, err = json.Marshal(r)
	}
	if err != nil || s.masker == nil {
		return raw, err
	}
	whole := core.RunStarted{Dir: s.dir, Command: s.command, Config: raw}
	kept, _ := core.Masked(whole, s.masker.Text).(core.RunStarted)
	if kept.Dir == whole.Dir && bytes.Equal(kept.Config, raw) {
		return raw, nil
	}
	left := Recorded{Masked: true, Command: kept.Command}
	if s.masker.Text(s.opts.Result) == s.opts.Result { // which no rule removes
		left.Options.Result = s.opts.Result
	}
	for _, pattern := range s.opts.Redact { // for an answer that is given after the exit
		if s.masker.Text(pattern) == pattern {
			left.Options.Redact = append(left.Options.Redact, pattern)
		}
	}
	return json.Marshal(left)
}

// mask returns the function that masks secrets in texts; nil if there are none.
func (s *Session) mask() func(string) string {
	if s.masker == nil {
		return nil
	}
	if names := s.masker.Names(); len(names) > 0 {
		s.app.Say.Detail("the values of %s are masked", strings.Join(names, ", "))
	}
	return s.masker.Text
}

// drive runs the loop, and afterwards cleans up signals, terminal and processes.
func (s *Session) drive() (core.Result, error) {
	defer proc.DismissGuardians()
	defer tty.RestoreAll()
	defer proc.RestoreTerminal()
	if !s.concludes {
		s.mentionOther()
	}
	<-s.caught
	ctx, interrupt, over := interruptible(s.reading, s.executor.Kill)
	defer over()
	s.interrupt.Store(&interrupt)
	defer s.interrupt.Store(nil)
	defer s.settles.Store(true)
	defer s.display.Close()
	s.restores = true
	result, err := engine.Go(ctx, s.loop).Wait()
	late, release := s.late(ctx)
	defer release()
	left := s.killAfter()
	if until, ok := late.Deadline(); ok {
		left = max(100*time.Millisecond, min(left, time.Until(until)/2))
	}
	proc.EndBackground(left)
	s.hangUp()
	s.told.Close(late)
	if !s.concludes && s.opts.Stdin == "none" && !s.opts.Interactive && piled(s.app.Stdin) {
		s.app.Say.Warn("standard input has data that the command did not get; pass it with --stdin -")
	}
	return result, err
}

// late returns the context for the work that remains when the run has ended. It has a deadline
// only where the runner kills an interrupted job soon.
func (s *Session) late(ctx context.Context) (context.Context, func()) {
	if ctx.Err() == nil || !console.InCI() {
		return context.Background(), func() {}
	}
	return context.WithDeadline(context.Background(), s.interrupted.Add(ciEnd))
}

// morning returns what a person should read first about a long run; nil if this run was short,
// or if its journal cannot be read, which has been reported.
func (s *Session) morning() []string {
	if r, err := report.Load(s.run.Dir); err == nil {
		return r.Morning()
	}
	return nil
}

// finish writes the verdict, prints how the run ended and sets the exit code.
func (s *Session) finish(result core.Result, err error) (Ended, error) {
	defer s.settles.Store(false)
	state := s.state
	code := exitCode(s.opts, s.policyCodes(), state, result)
	result.ExitCode = code
	result.RunID = s.run.ID
	if rerr := s.takeBest(state, result); rerr != nil {
		err = errors.Join(err, rerr)
	}
	page := s.run.PageFile()
	if perr := s.run.Refresh(state, true); perr != nil {
		s.app.Say.Warn("the scratchpad could not be written: %v", perr)
		page = ""
	}
	if werr := s.run.WriteResult(result, s.opts.Result); werr != nil {
		err = errors.Join(err, fmt.Errorf("the result could not be written: %w", werr))
	}
	err = errors.Join(err, s.run.Close())
	if err != nil && result.Status != core.StatusFailed {
		code = core.ExitFailed
		s.app.Say.Problem(err)
	}
	s.tellCI(state, result)
	if err == nil && s.needless(result) && s.leaveNothing() {
		page = ""
	} else {
		s.tidy()
	}
	if !result.Status.MayExitZero() && state.BestIsEarlier() {
		files := "--checkpoint would have kept its files"
		if state.Best.Checkpoint != "" {
			files = "looprun restore " + s.run.ID + " best takes its files"
		}
		s.app.Say.News("iteration %d was better: %s; %s", state.Best.Iteration, state.Best.Progress.String(), files)
	}
	s.app.Say.Morning = s.morning()
	s.app.Say.Summarize(state, result, code, console.Relative(page))
	return Ended{code, raiseFor(result.Status, code)}, nil
}

// wire assembles the loop.
func (s *Session) wire(journal core.Journal) error {
	if err := s.equip(os.Environ()); err != nil {
		return err
	}
	var err error
	if s.told, err = s.hooks(); err != nil {
		return err
	}
	s.app.Say.Polls, s.app.Say.Grace = s.opts.Wait, s.killAfter()
	s.loop = &engine.Loop{
		Guards: guards.Default(), Runner: iterations{s.executor, s}, Journal: journal, Backoff: s.opts.Delays(),
		Questions: s.questions, Responders: s.responders(), Debug: &debugger{s}, Experts: &debugger{s}, Observe: s.observe,
		Mask:      s.mask(),
		WaitDelay: s.opts.WaitDelay.Or(0), OutageLimit: s.opts.OutageLimit.Or(0), Once: s.opts.Once, Took: s.took,
	}
	return s.listen()
}

// equip builds the executor of iterations with that environment.
func (s *Session) equip(environ []string) error {
	s.base = helper.Environ(environ)
	terminal := console.IsTerminal(s.app.Stdout) && console.IsTerminal(s.app.Stderr)
	s.parent = ParentSocket()
	if s.opts.Silent() != "" {
		s.parent = ""
	}
	var err error
	if s.masker, err = s.opts.Redactor(environ); err != nil {
		return err
	}
	s.openOutlets()
	s.speakToCI()
	stdout, stderr, helpers := s.shareTerminal()
	out, errs := s.shown(s.ci.Output(stdout), s.app.Stdout, s.unread(s.app.Stdout)), s.shown(s.ci.Output(stderr), s.app.Stderr, s.unread(s.app.Stderr))
	carries := s.opts.Agents.Carriers()
	// An outer run reads the JSON itself and shows it.
	if (terminal || os.Getenv("LOOPRUN") == "") && s.opts.Show == "text" && !s.opts.Interactive {
		out, errs = console.NewTranscript(out, carries), console.NewTranscript(errs, carries)
	}
	others := s.shown(s.ci.Output(helpers), nil, nil)
	s.helperOutput = func(b []byte) { _, _ = others.Write(b) }
	s.executor = &engine.Executor{
		Work: s.opts.Work(s.command), Check: s.opts.CheckStep(), Passes: s.opts.Passes,
		Judge: new(s.opts.Judge(terminal)), PromiseAnywhere: s.opts.PromiseMatch == "anywhere",
		IterationTimeout: time.Duration(s.opts.IterationTimeout), IdleTimeout: time.Duration(s.opts.IdleTimeout),
		KillAfter: s.killAfter(), KeepBackground: s.opts.KeepBackground, ShowRepeats: s.opts.CheckOutput == "all",
		Dir: s.dir, Env: s.environ, Stdout: out, Stderr: errs,
		Output: func(n int) (engine.Output, error) { return s.run.Output(s.outputNumber(n)) }, PTY: proc.Terminals && terminal && !s.opts.NoPty, Interactive: s.opts.Interactive,
		Ending: s.outlets.hurry, Changed: s.changed,
	}
	s.app.Say.Withheld = s.executor.Withheld
	if s.executor.Signature, err = s.opts.Signature.Options(s.dir); err != nil {
		return err
	}
	*carrier.Of(&s.executor.Signature) = carries
	if c := s.opts.Signature; c != nil && len(c.Reports) > 0 {
		s.executor.Reports = func(signer *signature.Signer, since time.Time) {
			c.AddReports(s.dir, signer, since, s.app.Say.Warn)
		}
	}
	if s.opts.Promise != nil {
		s.executor.Promise = *s.opts.Promise
	}
	if s.masker != nil {
		s.executor.Mask = func(to func([]byte)) engine.Masker { return s.masker.Stream(to) }
	}
	if err := errors.Join(s.feed(), s.keep()); err != nil {
		return err
	}
	return s.hear()
}

// outputNumber returns the number of an iteration's output file: with --wait all iterations
// share one, since their number is unbounded.
func (s *Session) outputNumber(iteration int) int {
	if s.opts.Wait {
		return min(iteration, 1)
	}
	return iteration
}

func (s *Session) killAfter() time.Duration { return s.opts.GracePeriod() }

// observe reports an event and keeps the page up to date while no command runs.
func (s *Session) observe(e core.Event, state *core.State) {
	s.state = state
	_, begins := e.Data.(core.IterationStarted)
	if begins {
		s.outlets.calm()
		// The iteration's last line belongs inside its section of the log.
		s.ci.Observe(e, state)
	}
	s.app.Say.Observe(e, state)
	if s.restores {
		s.display.Observe(e, state)
	}
	if !begins {
		s.ci.Observe(e, state)
	}
	s.told.Observe(e, state)
	s.goOnAt(e)
	s.spend(e)
	var err error
	switch d := e.Data.(type) {
	case core.RunStarted, core.RunResumed, core.QuestionAsked, core.ActionApplied:
		err = s.run.Refresh(state, true)
	case core.IterationFinished:
		s.missCost(d, state)
		err = s.run.Refresh(state, false)
	case core.QuestionAnswered:
		s.prompts.Store(false)
	case core.IterationStarted:
		s.prompts.Store(false)
		s.writeContext(state)
	case core.InterruptReceived:
		s.interrupted = time.Now()
	case core.OrderReceived:
		if d.Order == core.OrderStop {
			s.interrupted = time.Now()
		}
	}
	if err != nil {
		s.app.Say.Warn("the scratchpad could not be written: %v", err)
	}
}

// exitCode returns the run's exit code: the one that --exit-code, the policy or looprun.yaml
// sets, each for the guard, then for the status; then the command's own with --passthrough;
// then the table's. With --passthrough a run that is not done never exits with a 0 from the
// command, and a failure or interruption of looprun itself is not hidden by the command's
// code.
func exitCode(o *config.Options, policy map[string]int, s *core.State, r core.Result) int {
	for _, mapped := range []map[string]int{o.ExitCode, policy, o.ConfigExitCodes} {
		if code, ok := mapped[string(r.Guard)]; ok && r.Status == core.StatusTripped {
			return code
		}
		if code, ok := mapped[string(r.Status)]; ok {
			return code
		}
	}
	own := r.Status == core.StatusInterrupted || r.Status == core.StatusFailed && r.ExitCode == core.ExitFailed
	if o.Passthrough && s.Ran != nil && !own {
		if code := s.Ran.ExitCode; code > 0 || r.Status == core.StatusDone {
			return code
		}
	}
	return r.ExitCode
}

// DryRun prints what would run.
func (s *Session) DryRun(w io.Writer) error {
	if err := s.judged(); err != nil {
		return err
	}
	dir, err := s.stateDir()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "would run: %s\n", core.CommandLine(s.opts.Work(s.command).Argv()))
	if check := s.opts.CheckStep(); check != nil {
		fmt.Fprintf(w, "check: %s\n", check.Argv()[len(check.Argv())-1])
	}
	if s.opts.Name != "" {
		fmt.Fprintf(w, "task: %s\n", termsafe.Line(s.opts.Name))
	}
	fmt.Fprintf(w, "in: %s\nstate: %s\n", s.dir, dir)
	rows := slices.DeleteFunc(s.app.Config.Show(s.opts), func(r config.Shown) bool { return r.Origin == "default" })
	if len(rows) == 0 {
		_, err = fmt.Fprintln(w, "\nEvery option has its default; looprun config show lists them.")
		return err
	}
	fmt.Fprintln(w, "\nWhat is set; the rest has its default (looprun config show):")
	return config.WriteShown(w, rows)
}
