package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/tail"
	"github.com/looprun/looprun/scratchpad"
)

// The types of errors of a worker.
const (
	// errRefused means that the worker refuses to run the loop: no other is asked.
	errRefused = "Refused"
	// errGone means that the worker ran nothing: the loop has no slot there, or it takes nothing
	// more. errStopped means that it stops, and ended what ran.
	errGone    = "Gone"
	errUnknown = "ActivityNotRegisteredError" // of the SDK: a worker of another version
	errStopped = "Stopped"
)

func refuse(format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), errRefused, nil)
}

func (w *Worker) stopped() error {
	return temporal.NewNonRetryableApplicationError("worker "+w.Name+" was told to stop", errStopped, nil)
}

// The inputs and results of activities.
type (
	// Prepare describes the work tree that a loop needs.
	Prepare struct {
		Started core.RunStarted `json:"started"`
		Work    Work            `json:"work"`
		Commit  string          `json:"commit,omitempty"`
		// Back means that the loop was here before, and waits for a slot.
		Back bool `json:"back,omitempty"`
	}
	// Placed is where the work tree is.
	Placed struct {
		Host   string `json:"host"`
		Commit string `json:"commit,omitempty"` // the checkpoint from now on
	}
	// Iterate is an iteration to run, which has begun in State.
	Iterate struct {
		Loop      string         `json:"loop"`
		State     core.State     `json:"state"`
		Iteration core.Iteration `json:"iteration"`
		// Left is the active time after which it is ended; zero means no limit.
		Left   time.Duration `json:"left,omitempty"`
		Commit string        `json:"commit,omitempty"` // the last checkpoint
	}
	// Iterated is the result of the iteration.
	Iterated struct {
		Result core.IterationResult `json:"result"`
		Commit string               `json:"commit,omitempty"` // the checkpoint after it
		// Away says why the repository does not have the checkpoint yet; Push stores it.
		Away string `json:"away,omitempty"`
		// Printed is the end of what it printed; the bytes before that are on the worker alone.
		Printed []byte `json:"printed,omitempty"`
		Before  int64  `json:"before,omitempty"`
		// Stopping means that the worker takes no further iteration.
		Stopping bool `json:"stopping,omitempty"`
	}
	// Push is a checkpoint to store after Last.
	Push struct {
		Loop   string `json:"loop"`
		Commit string `json:"commit"`
		Last   string `json:"last"`
	}
	// Respond is a question that may be answered without a person, or an answer's command.
	Respond struct {
		Loop     string        `json:"loop"`
		State    core.State    `json:"state"`
		Question core.Question `json:"question,omitzero"`
	}
	// Responded is its outcome.
	Responded struct {
		Events     []core.Event `json:"events,omitempty"`
		Answer     *core.Answer `json:"answer,omitempty"`
		Unanswered string       `json:"unanswered,omitempty"`
	}
	// Debugged is the result of an answer's command.
	Debugged struct {
		End  core.DebugFinished `json:"end"`
		Took time.Duration      `json:"took"`
	}
	// Leave is a loop that returns its slot. Status is set if the loop has ended.
	Leave struct {
		Loop   string      `json:"loop"`
		Status core.Status `json:"status,omitempty"`
	}
)

// Worker runs iterations on this machine.
type Worker struct {
	Name  string `default:"${host}" placeholder:"TEXT" help:"What the worker is called; each needs another name (${default})."`
	Root  string `placeholder:"DIR" help:"The folder for work trees and outputs, of this worker alone (one below the user's cache)."`
	Slots int    `default:"4" placeholder:"N" help:"How many loops run here at the same time (${default})."`
	// Offers lists what loops can need, each a word.
	Offers []string `placeholder:"WORD,…" help:"What this machine has for loops that need it, such as gpu."`
	// Keep is how long the work tree of a failed loop, and the output of loops, stay here;
	// zero means three days.
	Keep   time.Duration `default:"72h" placeholder:"D" help:"For how long the work trees of loops that failed, and all outputs, stay here (${default})."`
	Drain  time.Duration `default:"10s" placeholder:"D" help:"How long iterations may continue after the worker is asked to stop (${default})."`
	Listen string        `placeholder:"HOST:PORT" help:"Answer /healthz, and /metrics for Prometheus."`

	Queue string `kong:"-"`
	// Allow lists what it may run; nil allows everything, which is for a server on this
	// machine.
	Allow *Allow       `kong:"-"`
	Log   *slog.Logger `kong:"-"` // nil is slog's default
	// Environ is the environment of this machine that loops see, in full.
	Environ []string `kong:"-"`

	client  client.Client
	slots   *slots
	mu      sync.Mutex
	places  map[string]*place
	held    map[string]time.Time // the loops that have a slot, and when they last used it
	ran     map[core.Outcome]int // iterations that ended
	taking  context.Context      // ends when it takes nothing more
	leave   context.CancelFunc   // ends it
	work    sync.WaitGroup       // what runs
	running context.Context
	cut     context.CancelCauseFunc // ends what runs
	mirrors sync.Map                // the locks of the mirrors
	attempt time.Duration           // the limit for git and a repository; zero means the usual one
}

// place is a loop that has its work tree here.
type place struct {
	id   string
	tree string
	repo string
	work Work
	run  *scratchpad.Run
	host *session.Host
	busy sync.Mutex // one command at a time
	used time.Time
}

// Serve runs loops until the context ends, and calls ready once it has started.
func (w *Worker) Serve(ctx context.Context, c client.Client, ready func()) error {
	if err := errors.Join(proc.Room(), proc.Ready(), os.MkdirAll(w.Root, 0o700)); err != nil {
		return err
	}
	unlock, err := scratchpad.Hold(w.Root)
	if err != nil {
		return fmt.Errorf("another worker uses %s, or it cannot be locked; give each a folder of its own (--root DIR): %w", w.Root, err)
	}
	defer func() { _ = unlock() }()
	if _, err := git.Run(ctx, w.Root, nil, "--version"); err != nil {
		return fmt.Errorf("this machine cannot run git: %w; install it, or fix the PATH of the worker", err)
	}
	w.prepare(c)
	defer w.leaveAll()
	fatal := make(chan error, 3)
	if w.Listen != "" {
		at, err := net.Listen("tcp", w.Listen)
		if err != nil {
			return fmt.Errorf("--listen %s cannot be used: %w", w.Listen, err)
		}
		server := &http.Server{Handler: http.HandlerFunc(w.monitor), ReadHeaderTimeout: ending}
		defer server.Close()
		go func() { fatal <- server.Serve(at) }()
	}
	fixed, err := worker.NewFixedSizeTuner(worker.FixedSizeTunerOptions{})
	if err != nil {
		return err
	}
	o := worker.Options{
		Identity: w.Name, WorkerStopTimeout: ending, MaxHeartbeatThrottleInterval: beat / 3, DefaultHeartbeatThrottleInterval: beat / 3,
		OnFatalError: func(err error) { fatal <- err },
	}
	shared := o
	shared.Tuner, shared.DisableEagerActivities = tuner{fixed, w.slots}, true
	loops := worker.New(c, w.Queue, shared)
	loops.RegisterWorkflow(Run)
	loops.RegisterWorkflow(Ledger)
	loops.RegisterWorkflow(Submitted)
	o.DisableWorkflowWorker = true
	all := []worker.Worker{loops, worker.New(c, ownQueue(w.Queue, w.Name), o)}
	for _, offer := range w.Offers {
		all = append(all, worker.New(c, offerQueue(w.Queue, offer), o))
	}
	for _, each := range all {
		each.RegisterActivity(w)
		if err := each.Start(); err != nil {
			return fmt.Errorf("the worker cannot start: %w", err)
		}
		defer each.Stop()
	}
	ready()
	sweep := time.NewTicker(time.Minute)
	defer sweep.Stop()
	for {
		w.sweep(time.Now())
		select {
		case <-ctx.Done():
			w.drain()
			return nil
		case err := <-fatal:
			return err
		case <-sweep.C:
		}
	}
}

// prepare makes a worker ready to run loops.
func (w *Worker) prepare(c client.Client) {
	w.client, w.places, w.held, w.slots = c, map[string]*place{}, map[string]time.Time{}, newSlots(w.Slots)
	w.Log = cmp.Or(w.Log, slog.Default()).With("worker", w.Name, "queue", w.Queue)
	w.ran = map[core.Outcome]int{}
	w.running, w.cut = context.WithCancelCause(context.Background())
	w.taking, w.leave = context.WithCancel(context.Background())
}

// ownQueue is the task queue of one worker, and offerQueue that of the workers that offer
// something.
func ownQueue(queue, name string) string    { return queue + "@" + name }
func offerQueue(queue, offer string) string { return queue + "+" + offer }

// Place takes a slot for a loop, and prepares its work tree at its last checkpoint.
func (w *Worker) Place(ctx context.Context, in Prepare) (Placed, error) {
	began := time.Now()
	defer beats(ctx, func() string { return "" })()
	if err := w.begin(); err != nil {
		return Placed{}, err
	}
	defer w.work.Done()
	id := in.Started.RunID
	lines, err := session.CommandsOf(in.Started.Config)
	log := w.Log.With("loop", id)
	if err = cmp.Or(err, in.wrong(), w.Allow.check(in.Work, lines)); err != nil {
		log.Warn("loop refused", "reason", err)
		return Placed{}, refuse("worker %s refuses loop %s: %v", w.Name, id, err)
	}
	wait := time.Duration(0)
	for _, need := range in.Work.Needs {
		if wait = turn; !slices.Contains(w.Offers, need) {
			return Placed{}, temporal.NewNonRetryableApplicationError(fmt.Sprintf("worker %s does not offer %s", w.Name, need), errGone, nil)
		}
	}
	if in.Back {
		wait = again
	}
	if err := w.hold(ctx, id, wait); err != nil {
		return Placed{}, err
	}
	run, stop := w.commands(ctx)
	defer stop(nil)
	placed, err := w.put(run, in)
	if err == nil {
		w.slots.placed(nil)
		log.Info("loop placed", "took", time.Since(began))
		return placed, nil
	}
	w.unhold(id)
	log.Warn("loop not placed", "reason", err)
	kind := typeOf(err) // of the loop's fault, or its repository's
	switch {
	case w.running.Err() != nil || ctx.Err() != nil: // the error is that of what was killed
		return Placed{}, w.stopped()
	case kind == "" && w.slots.placed(err):
		w.Log.Warn("worker rests: it could not place loops", "in_a_row", sickAfter, "for", rest)
	}
	return Placed{}, temporal.NewApplicationErrorWithOptions(cause(err), kind, temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{time.Since(began)}})
}

// put prepares the work tree of a loop that has a slot.
func (w *Worker) put(ctx context.Context, in Prepare) (Placed, error) {
	p, err := w.place(in)
	if err != nil {
		return Placed{}, err
	}
	p.busy.Lock()
	defer p.busy.Unlock()
	commit, fresh, err := w.checkOut(ctx, p, in.Commit)
	if err != nil {
		return Placed{}, err
	}
	if fresh && in.Work.Setup != "" {
		if err := w.setUp(ctx, p); err != nil {
			return Placed{}, err
		}
	}
	_ = os.Remove(w.unready(p)) // if it stays, the next setup is one too many
	if name := in.Started.Command[0]; filepath.Base(name) == name {
		if _, err := exec.LookPath(name); err != nil {
			return Placed{}, temporal.NewNonRetryableApplicationError(fmt.Sprintf("worker %s has no command %s on its PATH", w.Name, name), errFull, nil)
		}
	}
	_, err = w.here(p.id) // its slot was used until now
	return Placed{w.Name, commit}, err
}

// place returns the loop's place on this machine.
func (w *Worker) place(in Prepare) (*place, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := in.Started.RunID
	if p := w.places[id]; p != nil {
		p.used = time.Now()
		return p, nil
	}
	if filepath.Base(id) != id || !filepath.IsLocal(id) {
		return nil, refuse("%q is not the id of a loop", id)
	}
	p := &place{id: id, tree: filepath.Join(w.Root, "trees", id), repo: in.Work.Repo, work: in.Work, used: time.Now()}
	var err error
	if p.run, err = w.openRun(in); err != nil {
		return nil, err
	}
	say := &console.Observer{Messages: console.Messages{W: slog.NewLogLogger(w.Log.With("loop", id).Handler(), slog.LevelWarn).Writer()}}
	p.host, err = session.NewHost(session.HostOptions{
		Started: in.Started, Run: p.run, Dir: filepath.Join(p.tree, filepath.FromSlash(in.Work.Dir)), Env: w.environ(in.Work), Say: say,
	})
	if err != nil {
		return nil, errors.Join(refuse("%v", err), p.run.Close())
	}
	w.places[id] = p
	return p, nil
}

// openRun opens the folder of a run, for its output. Its journal is in the workflow: the one
// here has only the beginning.
func (w *Worker) openRun(in Prepare) (*scratchpad.Run, error) {
	runs := filepath.Join(w.Root, "runs")
	run, err := scratchpad.CreateAs(runs, in.Started.RunID, scratchpad.SyncOff)
	if errors.Is(err, fs.ErrExist) {
		run, _, _, err = scratchpad.Open(filepath.Join(runs, in.Started.RunID), scratchpad.SyncOff)
		return run, err
	}
	if err != nil {
		return nil, err
	}
	if _, err = core.Record(new(core.State), run.Journal, nil, 0, in.Started); err != nil {
		return nil, errors.Join(err, run.Close())
	}
	return run, nil
}

// here returns the place of a loop that has a slot here.
func (w *Worker) here(id string) (*place, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, held := w.held[id]
	if p := w.places[id]; p != nil && held {
		p.used, w.held[id] = time.Now(), time.Now()
		return p, nil
	}
	return nil, temporal.NewNonRetryableApplicationError(fmt.Sprintf("loop %s has no slot of worker %s", id, w.Name), errGone, nil)
}

// at runs do for the place of a loop, once anything begun there earlier has ended. It sends
// heartbeats to the server all the while. If the activity is cancelled, or the worker ends what
// runs, the context for commands ends by a signal.
func at[T any](w *Worker, ctx context.Context, id string, do func(run context.Context, p *place) (T, error)) (T, error) {
	var none T
	if err := w.begin(); err != nil {
		return none, err
	}
	defer w.work.Done()
	p, err := w.here(id)
	if err != nil {
		return none, err
	}
	defer beats(ctx, p.host.Printed)()
	p.busy.Lock()
	defer p.busy.Unlock()
	defer func() { _, _ = w.here(id) }() // it was used until now
	run, stop := w.commands(ctx)
	defer stop(nil)
	out, err := do(run, p)
	if err != nil && w.withdrawn(ctx) {
		return none, w.stopped()
	}
	return out, err
}

// Iterate runs an iteration and makes a checkpoint of the resulting tree.
func (w *Worker) Iterate(ctx context.Context, in Iterate) (Iterated, error) {
	return at(w, ctx, in.Loop, func(run context.Context, p *place) (Iterated, error) {
		iteration, stop := context.WithCancelCause(run)
		defer stop(nil)
		if in.Left > 0 {
			defer time.AfterFunc(in.Left, func() { stop(core.ErrRuntime) }).Stop()
		}
		result, err := p.host.Run(iteration, in.Iteration, &in.State)
		if err != nil {
			return Iterated{}, err
		}
		if errors.Is(context.Cause(iteration), core.ErrRuntime) && result.Outcome != core.OutcomeDone {
			result.Outcome, result.Cause = core.OutcomeError, core.CauseMaxRuntime
		}
		if result.Outcome == core.OutcomeInterrupted && w.withdrawn(ctx) {
			return Iterated{}, w.stopped()
		}
		out := Iterated{Result: result}
		out.Printed, out.Before = p.printed(in.Iteration.Number)
		late, cancel := context.WithCancel(context.WithoutCancel(run)) // an iteration that was ended is kept too
		defer cancel()
		defer context.AfterFunc(run, func() { time.AfterFunc(ending, cancel) })()
		if out.Commit, err = w.checkpoint(late, p, in.Iteration.Number); err != nil {
			out.Result.Detail = fmt.Sprintf("worker %s cannot keep a checkpoint: %v", w.Name, err)
			if !result.RunsAgain() {
				out.Result.Outcome = core.OutcomeError
			}
		} else if err = w.push(late, p, out.Commit, in.Commit); err != nil {
			if run.Err() != nil {
				return out, err
			}
			out.Away = cause(err)
			w.Log.Warn("checkpoint not pushed", "loop", p.id, "reason", out.Away)
		}
		w.mu.Lock()
		out.Stopping = w.taking.Err() != nil
		w.ran[result.Outcome]++
		w.mu.Unlock()
		w.Log.Info("iteration ended", "loop", p.id, "iteration", in.Iteration.Number, "outcome", result.Outcome, "took_ms", result.DurationMS)
		return out, nil
	})
}

// Push stores the checkpoint of an iteration whose repository was away: an iteration that has
// ended is not run again for that.
func (w *Worker) Push(ctx context.Context, in Push) error {
	_, err := at(w, ctx, in.Loop, func(run context.Context, p *place) (any, error) {
		return nil, w.push(run, p, in.Commit, in.Last)
	})
	return err
}

// withdrawn reports whether something ended the activity that was not the workflow's cancel: it
// is run again, elsewhere.
func (w *Worker) withdrawn(ctx context.Context) bool {
	return w.running.Err() != nil || ctx.Err() != nil && !temporal.IsCanceledError(context.Cause(ctx))
}

// commands returns the context for commands: it ends with the activity and with what the worker
// runs, and that sends them a signal.
func (w *Worker) commands(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	run, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	end := func() { stop(&engine.Interrupt{Signal: "SIGTERM", Code: 143}) }
	undo, uncut := context.AfterFunc(ctx, end), context.AfterFunc(w.running, end)
	return run, func(err error) {
		undo()
		uncut()
		stop(err)
	}
}

// beats sends heartbeats to the server until the returned function is called, with the current
// output for people who watch.
func beats(ctx context.Context, printed func() string) func() {
	done := make(chan struct{})
	activity.RecordHeartbeat(ctx)
	go func() {
		t := time.NewTicker(beat / 5)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				activity.RecordHeartbeat(ctx, printed())
			}
		}
	}()
	return func() { close(done) }
}

// Respond lets the policy or the assistant answer.
func (w *Worker) Respond(ctx context.Context, in Respond) (Responded, error) {
	return at(w, ctx, in.Loop, func(run context.Context, p *place) (Responded, error) {
		r, err := p.host.Respond(run, in.Question, &in.State)
		if err != nil {
			return Responded{}, err
		}
		out := Responded{Answer: r.Answer, Unanswered: r.Unanswered}
		for _, d := range r.Events {
			out.Events = append(out.Events, core.Event{Data: d})
		}
		return out, nil
	})
}

// Debug runs the command of the answer that State is applying.
func (w *Worker) Debug(ctx context.Context, in Respond) (Debugged, error) {
	return at(w, ctx, in.Loop, func(run context.Context, p *place) (Debugged, error) {
		began := time.Now()
		end, err := p.host.Debug(run, &in.State)
		if err != nil {
			end.ExitCode, end.Findings = -1, "the command could not be run: "+err.Error()
		}
		return Debugged{end, time.Since(began)}, nil
	})
}

// Leave returns the slot of a loop, and closes the place of one that has ended. Its output stays
// for a while, and so does its tree if the loop is not done.
func (w *Worker) Leave(ctx context.Context, in Leave) error {
	w.Log.Info("loop left", "loop", in.Loop, "status", in.Status)
	w.unhold(in.Loop)
	if in.Status == "" {
		return nil
	}
	w.mu.Lock()
	p := w.places[in.Loop]
	idle := p != nil && p.busy.TryLock() // else what was given up is still ending, and sweep closes it
	if idle {
		defer p.busy.Unlock()
		delete(w.places, in.Loop)
	}
	w.mu.Unlock()
	if !idle {
		return nil
	}
	err := errors.Join(p.host.Close(), p.run.Close())
	if in.Status == core.StatusDone {
		err = errors.Join(err, w.removeTree(ctx, p.id))
	}
	return err
}

func (w *Worker) leaveAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.places {
		if p.busy.TryLock() { // else it goes with the process
			_ = errors.Join(p.host.Close(), p.run.Close())
		}
	}
	proc.CloseGuardians()
}

// setUp runs the setup line in a new work tree.
func (w *Worker) setUp(ctx context.Context, p *place) error {
	said := tail.Buffer{Limit: 4 << 10}
	exit := engine.Shell(p.work.Setup).Run(ctx, engine.Invocation{
		Dir: filepath.Join(p.tree, filepath.FromSlash(p.work.Dir)), Env: w.environ(p.work), Stdout: said.Take, Stderr: said.Take,
	})
	if exit.Code != 0 {
		lines := strings.Split(strings.TrimSpace(string(said.Bytes())), "\n")
		return refuse("the setup command failed with exit code %d on worker %s: %s", exit.Code, w.Name, p.host.Mask(lines[len(lines)-1]))
	}
	return nil
}

func (w *Worker) environ(work Work) []string {
	env := slices.Clone(w.Environ)
	for name, value := range work.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// kept is how much of the end of an iteration's output the server keeps, in bytes.
const kept = 64 << 10

// printed returns the end of what an iteration printed, and how many bytes were before that.
func (p *place) printed(n int) (text []byte, before int64) {
	f, err := scratchpad.OpenWithin(p.run.Dir, scratchpad.OutputFile(p.run.Dir, n))
	if err != nil { // it printed nothing
		return nil, 0
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		before = max(0, info.Size()-kept)
	}
	text, _ = io.ReadAll(io.NewSectionReader(f, before, kept)) // what can be read
	return text, before
}
