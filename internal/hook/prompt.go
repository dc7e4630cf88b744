package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/workspace"
	"github.com/looprun/looprun/scratchpad"
)

// prompted is the record of a session at the beginning of a prompt.
type prompted struct {
	Words string // the first of the prompt
	Tree  workspace.Fingerprint
}

// lookLimit is how long examining the work tree may take: a person is waiting for the agent.
const lookLimit = 5 * time.Second

// begin records the prompt and the state of the work tree, and supersedes the session's last run.
func (n notes) begin(ctx context.Context, dir, words string) error {
	p := prompted{termsafe.Short(termsafe.Line(words), 60), look(ctx, dir)}
	text, err := json.Marshal(p)
	return errors.Join(err, keep(n.began, text), n.supersede(p.Words))
}

// supersede closes the session's last run if it waits for an answer; the session continues with
// the run of that name.
func (n notes) supersede(name string) error {
	if run, _ := recorded(n.session); run != "" && scratchpad.Summarize(run).Pending {
		if err := session.Supersede(run, name); err != nil {
			return fmt.Errorf("the run that waits could not be closed: %w", err)
		}
	}
	return nil
}

// prompted returns what begin recorded last, or the zero value if there is no record.
func (n notes) prompted() (p prompted) {
	text, _ := os.ReadFile(n.began)
	if json.Unmarshal(text, &p) != nil {
		return prompted{}
	}
	return p
}

// look returns the state of a work tree; without a commit if it cannot be determined or has no git.
func look(ctx context.Context, dir string) workspace.Fingerprint {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	tree, err := workspace.Open(dir, scratchpad.StateDir(dir))
	if err != nil {
		return workspace.Fingerprint{}
	}
	f, _ := tree.Fingerprint(ctx)
	return f
}

// idle returns the decision for a stop that leaves nothing to judge: the work tree has not
// changed since the prompt began, and the check had not passed before. Such a stop is not
// counted. ok is false if there is something to judge, or if that cannot be determined.
func (n notes) idle(ctx context.Context, dir string) (d Decision, ok bool) {
	was := n.prompted().Tree
	if was.Commit == "" {
		return Decision{}, false
	}
	_, s := recorded(n.session) // the session's last run, however it ended
	if s != nil && s.Passed || was != look(ctx, dir) {
		return Decision{}, false
	}
	text := "looprun: nothing changed since your prompt: not judged"
	if s != nil && s.Last != nil {
		text += "; the check last failed with " + termsafe.Short(s.Last.Says(), 200)
	}
	return Decision{Message: text}, true
}

// switchFile returns the file that exists while the hook is off in a project; empty if there
// is no place for it.
func switchFile(project string) string { return note(".off", "", "", project) }

// Project returns the folder in which the hook is switched off from the current directory.
func Project() (string, error) {
	dir, err := config.CurrentDir()
	return filepath.Dir(config.Nearest(dir)), err
}

// Off reports whether the hook is off in a project.
func Off(project string) (bool, error) {
	_, err := os.Stat(switchFile(project))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Switch turns the hook in a project on or off.
func Switch(project string, on bool) error {
	file := switchFile(project)
	if file == "" {
		return errors.New("there is no folder for looprun's own state: set HOME or XDG_STATE_HOME")
	}
	if on {
		return Write(file, nil)
	}
	return keep(file, nil)
}
