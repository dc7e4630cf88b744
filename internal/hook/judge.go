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

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/xdg"
	"github.com/looprun/looprun/scratchpad"
)

// Limit is how many stops of one prompt are judged where nobody says otherwise. It is
// below the number at which an agent silently lets itself stop (Claude Code: the ninth
// in a row), so that looprun says why before that.
const Limit = 8

// maxReason is how much a blocked agent is told, in bytes.
const maxReason = 4 << 10

// Judge decides about stops with a looprun of its own process.
type Judge struct {
	Looprun string   // the program
	Flags   []string // of run, such as --check LINE
	// Timeout ends a check that does not end, before the agent ends the hook.
	Timeout time.Duration
}

// Decide runs one iteration of the session's run and says what that means for the
// agent. An error allows the stop as well: it says why nothing was judged.
func (j Judge) Decide(ctx context.Context, s Stop) (Decision, error) {
	switch {
	case os.Getenv("LOOPRUN") != "":
		return Decision{}, nil // the looprun around this session judges
	case s.Unfinished != "":
		return Decision{}, nil
	}
	if s.Dir != "" {
		if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
			return Decision{}, fmt.Errorf("the agent's directory %s is not there", termsafe.Line(s.Dir))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	dir, limits, err := j.configuration(ctx, s)
	if err != nil {
		return Decision{}, err
	}
	note := noteOf(s, dir)
	run, state := begunRun(note)
	if state == nil || !stopped(state) {
		if run, err = j.iterate(ctx, s, run, note, limits); err != nil {
			return Decision{}, err
		}
		if state, _, err = scratchpad.Load(run); err != nil {
			return Decision{}, err
		}
	}
	return decide(state, run), nil
}

// option is one line of looprun config show.
type option struct{ Key, Value, Origin string }

// Configured is the value of a key in what looprun config show printed as JSON.
func Configured(shown []byte, key string) (string, error) {
	var list []option
	err := json.Unmarshal(shown, &list)
	for _, o := range list {
		if o.Key == key {
			return o.Value, err
		}
	}
	return "", err
}

// configuration is the directory that the session's run works in, and the flags to give
// where nobody has set what they set. Without a check there is nothing to judge by.
func (j Judge) configuration(ctx context.Context, s Stop) (dir string, flags []string, err error) {
	if dir, err = filepath.Abs(s.Dir); err != nil {
		return "", nil, err
	}
	out, err := j.looprun(ctx, s, slices.Concat([]string{"config", "show", "--format", "json"}, j.Flags)...)
	if err != nil {
		return "", nil, err
	}
	var list []option
	if err := json.Unmarshal(out, &list); err != nil {
		return "", nil, fmt.Errorf("looprun config show: %w", err)
	}
	judged := false
	for _, o := range list {
		switch {
		case (o.Key == "check" || o.Key == "tasks") && o.Value != "":
			judged = true
		case o.Key == "max_iterations" && o.Origin == "default":
			flags = append(flags, "--max-iterations", strconv.Itoa(Limit))
		case o.Key == "detached" && o.Origin == "default":
			flags = append(flags, "--detached", "defer") // the question is kept
		}
	}
	if !judged {
		return "", nil, errors.New("there is no check to judge by: write check: COMMAND into looprun.yaml, or give --check to looprun hook install")
	}
	return dir, flags, nil
}

// iterate runs one iteration: the first of a new run, or the next of the one that this
// session's prompt has begun. It returns the run's directory.
func (j Judge) iterate(ctx context.Context, s Stop, begun, note string, limits []string) (string, error) {
	if begun != "" {
		took := max(0, time.Since(scratchpad.LastEvent(begun))) // it is the agent's
		return begun, j.run(ctx, s, "resume", filepath.Base(begun), "--state-dir", filepath.Dir(begun), "--once", "--non-interactive", "--took", took.String())
	}
	result, err := os.CreateTemp("", "looprun-hook-*.json")
	if err != nil {
		return "", err
	}
	defer os.Remove(result.Name())
	if err := result.Close(); err != nil {
		return "", err
	}
	args := slices.Concat([]string{"run", "--once", "--no-precheck", "--non-interactive", "--name", s.Agent + "'s session", "--result", result.Name()}, limits, j.Flags, []string{"--", "true"})
	if err := j.run(ctx, s, args...); err != nil {
		return "", err
	}
	return j.newRun(ctx, s, result.Name(), note)
}

// run runs looprun. That the run is not done, or that a guard tripped, is no error; that
// it could not run at all is one.
func (j Judge) run(ctx context.Context, s Stop, args ...string) error {
	_, err := j.looprun(ctx, s, args...)
	if code, ok := errors.AsType[*ended](err); ok && code.code > 0 && code.code != looprun.ExitFailed && ctx.Err() == nil {
		return nil
	}
	return err
}

// newRun notes the run that has begun, and is its directory.
func (j Judge) newRun(ctx context.Context, s Stop, result, note string) (string, error) {
	text, err := os.ReadFile(result)
	if err != nil {
		return "", err
	}
	var verdict struct {
		RunID string `json:"run_id"`
	}
	if err := json.Unmarshal(text, &verdict); err != nil || verdict.RunID == "" {
		return "", errors.New("the run left no result")
	}
	out, err := j.looprun(ctx, s, "show", verdict.RunID, "--format", "json")
	if err != nil {
		return "", err
	}
	var shown struct {
		Dir string `json:"dir"`
	}
	if err := json.Unmarshal(out, &shown); err != nil || shown.Dir == "" {
		return "", errors.New("the run's directory is not known")
	}
	if note == "" {
		return shown.Dir, nil // nowhere to note it: each stop is judged alone
	}
	if err := os.MkdirAll(filepath.Dir(note), 0o700); err != nil {
		return "", err
	}
	return shown.Dir, atomicfile.Write(note, []byte(shown.Dir+"\n"), false)
}

// noteOf is the file that says which run belongs to the session and its prompt. Its name
// is a digest of what the agent sent. Empty: there is no place for it.
func noteOf(s Stop, dir string) string {
	state := xdg.State()
	if state == "" {
		return ""
	}
	sum := sha256.New()
	for _, part := range []string{s.Agent, s.Session, s.Prompt, dir} {
		fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	return filepath.Join(state, "hooks", hex.EncodeToString(sum.Sum(nil)[:16]))
}

// begunRun is the run of this session's prompt, whose directory is noted; nil: there is
// none, or it is done and another one begins.
func begunRun(note string) (dir string, s *looprun.State) {
	text, err := os.ReadFile(note)
	dir = strings.TrimSuffix(string(text), "\n")
	if err != nil || !filepath.IsAbs(dir) {
		return "", nil
	}
	s, _, err = scratchpad.Load(dir)
	if err != nil || s.Ended && s.Ending.Status == looprun.StatusDone {
		return "", nil
	}
	return dir, s
}

// stopped reports whether a guard or a person has stopped the run: then the agent may
// stop, however often it says so, until somebody has answered.
func stopped(s *looprun.State) bool {
	return len(s.Pending()) > 0 || s.Ended && s.Ending.Status != looprun.StatusPaused
}

// ended is a looprun that ended with an exit code above 0.
type ended struct {
	code int
	text string
}

func (e *ended) Error() string { return e.text }

func (j Judge) looprun(ctx context.Context, s Stop, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, j.Looprun, args...)
	cmd.Dir = s.Dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bounded{w: &stderr, left: 64 << 10}
	err := cmd.Run()
	switch exited, ok := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the check did not end within %s", j.Timeout)
	case ok:
		return nil, &ended{exited.ExitCode(), cmp.Or(lastLine(stderr.String()), err.Error())}
	}
	return out.Bytes(), err
}

// bounded keeps the beginning of what is written.
type bounded struct {
	w    io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.left)
	b.left -= n
	_, err := b.w.Write(p[:n])
	return len(p), err
}

// lastLine is the first line of the last thing that looprun said, without its name.
func lastLine(stderr string) string {
	said := ""
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "looprun: "); ok && !strings.HasPrefix(text, " ") {
			said = text
		}
	}
	const most = 400
	return termsafe.Cut(termsafe.Line(said), most)
}

// decide says what the iteration means for the agent.
func decide(s *looprun.State, dir string) Decision {
	id := filepath.Base(dir)
	switch {
	case !s.Ended:
		return Decision{Message: "looprun: run " + id + " did not end; looprun explain " + id}
	case s.Ending.Status == looprun.StatusDone || s.Ending.Status == looprun.StatusAccepted:
		return Decision{}
	case s.Ending.Status == looprun.StatusPaused && len(s.Pending()) == 0:
		told := scratchpad.Context(s, scratchpad.ContextOptions{MaxBytes: maxReason - 200, Outside: true})
		return Decision{Block: "You are not done: the check of this project does not pass.\n\n" + string(told)}
	}
	said := fmt.Sprintf("looprun lets the agent stop, though the check does not pass after stop %d: %s", s.Iterations, cmp.Or(reason(s), string(s.Ending.Status)))
	return Decision{Message: termsafe.Cut(termsafe.Line(said), 600) + "; looprun explain " + id + pending(s, id)}
}

// reason is why a guard stopped the run.
func reason(s *looprun.State) string {
	if s.LastTrip != nil {
		return s.LastTrip.Reason
	}
	return s.Ending.Reason
}

func pending(s *looprun.State, id string) string {
	if len(s.Pending()) == 0 {
		return ""
	}
	return "; it asks: looprun answer " + id
}
