package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/workspace"
	"github.com/looprun/looprun/internal/xdg"
	"github.com/looprun/looprun/scratchpad"
)

// prompted is what is noted of a session when a prompt begins.
type prompted struct {
	Words string // the first of the prompt
	Tree  workspace.Fingerprint
}

// lookLimit is how long the look at the work tree may take: somebody waits for the agent.
const lookLimit = 5 * time.Second

// begin notes the prompt and how it finds the work tree.
func (n notes) begin(ctx context.Context, dir, words string) error {
	if n.session == "" {
		return nil
	}
	text, err := json.Marshal(prompted{termsafe.Short(termsafe.Line(words), 60), look(ctx, dir)})
	return errors.Join(err, os.MkdirAll(filepath.Dir(n.session), 0o700), atomicfile.Write(n.session+".prompt", text, false))
}

// prompted is what begin noted last; its zero value is nothing.
func (n notes) prompted() (p prompted) {
	text, err := os.ReadFile(n.session + ".prompt")
	if err != nil || json.Unmarshal(text, &p) != nil {
		return prompted{}
	}
	return p
}

// look is the state of a git work tree; zero: it cannot be told.
func look(ctx context.Context, dir string) workspace.Fingerprint {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	tree, err := workspace.Open(dir, scratchpad.StateDir(dir))
	if err != nil {
		return workspace.Fingerprint{}
	}
	f, err := tree.Fingerprint(ctx)
	if err != nil || f.Commit == "" {
		return workspace.Fingerprint{}
	}
	return f
}

// unchanged reports whether nothing has changed in the work tree since the prompt began, and
// the check did not pass then. What cannot be told is no.
func (n notes) unchanged(ctx context.Context, dir string) bool {
	was := n.prompted().Tree
	s := n.last()
	return was.Commit != "" && (s == nil || !s.Passed) && was == look(ctx, dir)
}

// last is the session's last run, however it ended; nil: it has none.
func (n notes) last() *core.State {
	text, err := os.ReadFile(n.session)
	if err != nil {
		return nil
	}
	s, _, err := scratchpad.Load(string(text[:max(0, len(text)-1)]))
	if err != nil {
		return nil
	}
	return s
}

// idle lets a stop through in which there is nothing to judge, and counts it for nothing.
func (n notes) idle() Decision {
	text := "looprun: nothing changed since your prompt: not judged"
	if s := n.last(); s != nil && s.Last != nil {
		text += "; the check last failed with " + termsafe.Short(s.Last.Says(), 200)
	}
	return Decision{Message: text}
}

// switchFile is there where the hook is off in a project; empty: there is no place for it.
func switchFile(project string) string {
	return notesOf(Stop{}, project).session + ".off"
}

// Project is the folder that the hook is switched off in, from here.
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

// Switch turns the hook off in a project, or on again.
func Switch(project string, on bool) error {
	file := switchFile(project)
	if xdg.State() == "" {
		return errors.New("there is no folder for looprun's own state: set HOME or XDG_STATE_HOME")
	}
	if on {
		if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), atomicfile.Write(file, nil, false))
}
