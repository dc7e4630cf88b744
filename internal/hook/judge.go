package hook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/xdg"
	"github.com/looprun/looprun/scratchpad"
)

// Limit is the default number of stops that are judged for one prompt. It is below the number
// at which an agent silently lets itself stop (Claude Code: the ninth in a row), so that
// looprun explains why before that.
const Limit = 8

// maxReason is the maximum size of the reason given to a blocked agent, in bytes.
const maxReason = 4 << 10

// Judge judges stops with a looprun in a separate process.
type Judge struct {
	Looprun string   // the program
	Flags   []string // of run, such as --check LINE
	// Show returns the options that a run in a folder would have with those flags.
	Show func(dir string, flags []string) ([]config.Shown, error)
	// Timeout ends a check that hangs before the agent ends the hook.
	Timeout time.Duration
}

// Answer reads an agent's message, as [Read] does, and returns the reply in the agent's
// format. unjudged is why the stop was not judged: it is allowed all the same, and the reason
// is recorded.
func (j Judge) Answer(ctx context.Context, in io.Reader, as string) (told []byte, unjudged error) {
	s, err := Read(ctx, in, as)
	var d Decision
	if err == nil {
		d, err = j.Decide(ctx, s)
	}
	if err != nil {
		failed := "looprun did not judge this stop: "
		if s.Begins != "" { // a prompt is no stop
			failed = "looprun: "
		}
		d = Decision{Message: failed + termsafe.Line(err.Error())}
		if s.Dir == "" {
			s.Dir, _ = os.Getwd()
		}
		Trouble{Time: time.Now(), Agent: s.Agent, Dir: s.Dir, Why: err.Error()}.Keep()
	}
	return d.JSON(s.Agent), err
}

// Decide runs one iteration of the session's run and returns what that means for the agent. An
// error also allows the stop; it describes why nothing was judged.
func (j Judge) Decide(ctx context.Context, s Stop) (Decision, error) {
	if os.Getenv("LOOPRUN") != "" || os.Getenv("LOOPRUN_HOOK") == "off" || s.Unfinished != "" && s.Begins == "" {
		return Decision{}, nil // of the first the looprun around this session judges
	}
	var err error
	s.Dir, _ = filepath.Abs(s.Dir) // where there is none, it cannot be used
	if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
		return Decision{}, fmt.Errorf("the agent's directory %s cannot be used", termsafe.Line(s.Dir))
	}
	ctx, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	project := filepath.Dir(config.Nearest(s.Dir))
	notes := notesOf(s, project)
	switch off, err := Off(project); {
	case off || err != nil:
		return Decision{}, err
	case s.Begins != "":
		if s.Prompt == "" {
			_ = os.Remove(notes.prompt) // the run of the prompt before it
		}
		return Decision{}, notes.begin(ctx, s.Dir, s.Begins)
	}
	sameTurn := s.SameTurn || s.Prompt == "" && notes.prompted().Words != ""
	if d, ok := notes.idle(ctx, s.Dir); ok {
		return d, nil
	}
	run, state := notes.begun(sameTurn)
	switch {
	case state == nil:
		run, err = j.begin(ctx, s, notes)
	case stopped(state):
		return unjudged(state, run), nil
	default:
		took := max(0, time.Since(scratchpad.LastEvent(run))) // it is the agent's
		if state.Answer != nil {
			took = 0 // it was the person's
		}
		err = j.run(ctx, s, "resume", filepath.Base(run), "--state-dir", filepath.Dir(run), "--once", "--non-interactive", "--took", took.String())
	}
	if err == nil {
		state, _, err = scratchpad.Load(run)
	}
	if err != nil {
		return Decision{}, err
	}
	d := decide(state, run)
	d.Pass = d.Message != "" && sameTurn
	return d, nil
}

// begin starts a run with its first iteration, notes it, and returns its directory. Without a
// check there is nothing to judge by.
func (j Judge) begin(ctx context.Context, s Stop, notes notes) (string, error) {
	rows, err := j.Show(s.Dir, j.Flags)
	if err != nil {
		return "", err
	}
	shown := map[string]config.Shown{}
	for _, row := range rows {
		shown[row.Key] = row
	}
	if shown["check"].Value == "" && shown["tasks"].Value == "" {
		return "", errors.New("there is no check to judge by: write check: COMMAND into looprun.yaml, or give --check to looprun hook install")
	}
	name := cmp.Or(notes.prompted().Words, s.Agent+"'s session")
	state := cmp.Or(shown["state_dir"].Value, scratchpad.StateDir(s.Dir))
	id := scratchpad.NewIDs(state, time.Now(), 1)[0]
	args := []string{"run", "--run-id", id, "--once", "--no-precheck", "--confirm-trip", "off", "--non-interactive", "--name", name}
	for _, o := range []struct{ key, flag, value string }{ // the question is kept
		{"max_iterations", "--max-iterations", strconv.Itoa(Limit)}, {"detached", "--detached", "defer"},
	} {
		if shown[o.key].Origin == "default" {
			args = append(args, o.flag, o.value)
		}
	}
	if err := j.run(ctx, s, slices.Concat(args, j.Flags, []string{"--state-dir", state, "--", "true"})...); err != nil {
		return "", err
	}
	run := filepath.Join(state, id)
	return run, errors.Join(notes.supersede(name), notes.write(run)) // not every agent tells when a prompt begins
}

// run runs looprun. A run that is not done, or a tripped guard, is not an error; being unable
// to run at all is one.
func (j Judge) run(ctx context.Context, s Stop, args ...string) error {
	cmd := exec.CommandContext(ctx, j.Looprun, args...)
	cmd.Dir, cmd.Env = s.Dir, append(os.Environ(), "LOOPRUN_LOG_FORMAT=json")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	_, err := cmd.Output() // what it says beside is kept as far as 64 KB go
	exited, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("the check did not end within %s", j.Timeout)
	case !ok:
		return err
	case exited.ExitCode() > 0 && exited.ExitCode() != core.ExitFailed:
		return nil
	}
	return errors.New(cmp.Or(lastMessage(exited.Stderr), err.Error()))
}

// notes are the files that record which run belongs to a prompt of a session, which one was the
// session's last, and how its prompt began. If empty, there is no place for them, and each stop
// is judged alone.
type notes struct{ prompt, session, began string }

// notesOf returns the notes of a session in a project: an agent that changes directories
// within a project continues its run.
func notesOf(s Stop, project string) notes {
	return notes{note("", s.Agent, s.Session, s.Prompt, project), note("", s.Agent, s.Session, project), note(".prompt", s.Agent, s.Session, project)}
}

// note returns the path of a file about something, by a digest of what the agent sent.
func note(ending string, parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return own(hex.EncodeToString(sum.Sum(nil)[:16]) + ending)
}

// begun returns the run that the stop belongs to, and its directory: that of the prompt, or
// the session's last if a person has answered its question since. A run in which the agent was
// allowed to stop ends with that turn. s is nil if there is no run, or it is done, so that
// another one begins.
func (n notes) begun(sameTurn bool) (dir string, s *core.State) {
	if dir, s = recorded(n.prompt); s != nil && !(s.Ended && s.Ending.Status == core.StatusDone) && (sameTurn || !stopped(s) && !toldToEnd(s)) {
		return dir, s
	}
	if dir, s = recorded(n.session); s == nil || !toldToGoOn(s) || n.write(dir) != nil {
		return "", nil
	}
	return dir, s
}

// toldToGoOn reports whether the run asked a question and the answer, which has not taken
// effect yet, lets it continue.
func toldToGoOn(s *core.State) bool {
	return s.Question != nil && s.Answer != nil && !toldToEnd(s)
}

// toldToEnd reports whether the run asked a question and the answer, which has not taken
// effect yet, ends it.
func toldToEnd(s *core.State) bool {
	if s.Question == nil || s.Answer == nil {
		return false
	}
	o, ok := s.Question.Option(s.Answer.Option)
	return !ok || o.Action.Ends()
}

// recorded returns the run whose directory is recorded in a file, and the run's state; nil if it
// cannot be read. dir is empty if there is no record.
func recorded(file string) (dir string, s *core.State) {
	text, _ := os.ReadFile(file)
	if dir = strings.TrimSuffix(string(text), "\n"); !filepath.IsAbs(dir) {
		return "", nil
	}
	s, _, err := scratchpad.Load(dir)
	if err != nil {
		return dir, nil
	}
	return dir, s
}

// write records the run.
func (n notes) write(run string) error {
	return errors.Join(keep(n.prompt, []byte(run+"\n")), keep(n.session, []byte(run+"\n")))
}

// own returns the path of one of the user's own files about sessions; empty if there is no place
// for them. Nothing can be read from an empty path, and [keep] writes nothing there.
func own(name string) string {
	if state := xdg.State(); state != "" {
		return filepath.Join(state, "hooks", name)
	}
	return ""
}

// keep writes such a file.
func keep(file string, text []byte) error {
	if file == "" {
		return nil
	}
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), atomicfile.Write(file, text, false))
}

// Trouble is why a stop was allowed without being judged. Nobody reads messages where the hook
// runs, so the last one is kept for those who look at their runs.
type Trouble struct {
	Time            time.Time
	Agent, Dir, Why string
}

const troubleName = "trouble.json"

// Keep stores the trouble, if there is a place for it.
func (t Trouble) Keep() {
	text, _ := json.Marshal(t) // it has nothing that JSON lacks
	_ = keep(own(troubleName), append(text, '\n'))
}

// LastTrouble returns the trouble stored since then; false if there is none.
func LastTrouble(since time.Time) (t Trouble, ok bool) {
	text, _ := os.ReadFile(own(troubleName))
	if json.Unmarshal(text, &t) != nil || t.Time.Before(since) {
		return Trouble{}, false
	}
	t.Agent, t.Dir, t.Why = termsafe.Line(t.Agent), termsafe.Line(t.Dir), termsafe.Line(t.Why)
	return t, true
}

// stopped reports whether a guard or a person has stopped the run. Then the agent may stop for
// the rest of its turn, however often it tries, until somebody has answered.
func stopped(s *core.State) bool {
	return len(s.Pending()) > 0 || s.Ended && s.Ending.Status != core.StatusPaused
}

// lastMessage returns the first line of the last of looprun's own messages; if there is none,
// because a flag wants them as text, the last line.
func lastMessage(stderr []byte) (text string) {
	plain := ""
	for line := range bytes.Lines(stderr) {
		var said struct{ Message string }
		line = bytes.TrimSpace(line)
		_ = json.Unmarshal(line, &said) // what is no JSON has no message
		if said.Message != "" {
			text, _, _ = strings.Cut(said.Message, "\n")
		} else if len(line) > 0 {
			plain = string(line)
		}
	}
	const most = 400
	return termsafe.Short(cmp.Or(text, plain), most)
}

// decide returns what the iteration means for the agent.
func decide(s *core.State, dir string) Decision {
	id := filepath.Base(dir)
	switch {
	case !s.Ended:
		return Decision{Message: "looprun: run " + id + " did not end; looprun explain " + id}
	case s.Ending.Status.MayExitZero():
		return Decision{}
	case s.Ending.Status == core.StatusPaused && len(s.Pending()) == 0:
		told := scratchpad.Context(s, scratchpad.ContextOptions{MaxBytes: maxReason - 200, Outside: true})
		return Decision{Block: notDone + "\n\n" + string(told)}
	}
	though := ", though the check does not pass"
	if s.Passed {
		though = ""
	}
	return message(s, dir, fmt.Sprintf("looprun lets the agent stop%s after stop %d", though, s.Iterations))
}

// unjudged returns the decision for a stop in a turn whose run was stopped earlier.
func unjudged(s *core.State, dir string) Decision {
	if s.Ended && s.Ending.Status == core.StatusAccepted {
		return Decision{}
	}
	return message(s, dir, fmt.Sprintf("looprun did not run the check: it stopped judging this turn after stop %d", s.Iterations))
}

// message tells the person what was decided, why the run was stopped, and what to do.
func message(s *core.State, dir, decided string) Decision {
	id, why, asks := filepath.Base(dir), "the run asks", ""
	switch {
	case s.LastTrip != nil:
		why = s.LastTrip.Reason
	case s.Ending != nil:
		why = cmp.Or(s.Ending.Reason, string(s.Ending.Status))
	}
	if len(s.Pending()) > 0 {
		asks = "; it asks: looprun answer " + id
	}
	return Decision{Message: termsafe.Short(decided+": "+why, 600) + "; looprun explain " + id + asks}
}
