// Package many runs many loops on one machine. Each is an ordinary run: looprun itself, as a
// child of this process under a guardian, in a separate git work tree outside the repository.
// Everything known about a loop is in the journal of its run, whose id is set before it
// starts, so the batch can be killed at any moment and resumed.
package many

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/scratchpad"
)

// Plan describes a batch. It is written once, before anything runs.
type Plan struct {
	Schema  string    `json:"schema"`
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	Version string    `json:"version,omitempty"`
	// State is where the runs are kept, and Trees where the work trees are.
	State string `json:"state"`
	Trees string `json:"trees"`
	Limits
	Loops []Loop `json:"loops"`
	// Masked means that the plan contained a secret and is incomplete.
	Masked bool `json:"masked,omitempty"`
	// Missing lists the submodules whose files no loop has.
	Missing []string `json:"missing,omitempty"`
}

// Limits apply to all loops together. Zero means no limit, except for Jobs.
type Limits struct {
	Jobs    int           `json:"jobs"`
	Cost    float64       `json:"cost_usd,omitempty"`
	Tokens  int64         `json:"tokens,omitempty"`
	MinFree int64         `json:"min_free_bytes,omitempty"`
	Keep    time.Duration `json:"keep_ns"`
	// Wait is how long to wait for answers once all remaining loops are asking.
	Wait time.Duration `json:"wait_ns,omitempty"`
}

// Loop is one loop of the plan.
type Loop struct {
	Name  string `json:"name"`
	RunID string `json:"run_id"`
	// Repository is the top of the user's work tree, Base the commit that the work starts
	// from, and Dir where the command runs, below the top.
	Repository string            `json:"repository"`
	Base       string            `json:"base"`
	Dir        string            `json:"dir,omitempty"`
	Tree       string            `json:"tree"`
	Setup      string            `json:"setup,omitempty"`
	Copy       []string          `json:"copy,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	// Flags are the flags of its run, and Command the words after --.
	Flags   []string `json:"flags,omitempty"`
	Command []string `json:"command,omitempty"`
}

const (
	planSchema = "looprun.dev/many/v1"
	planName   = "many.json"
	resultName = "result.json"
	folderName = "many"
)

func folder(state string) string { return filepath.Join(state, folderName) }

func (p *Plan) dir() string { return filepath.Join(folder(p.State), p.ID) }

// runDir returns where the run of a loop is kept.
func (p *Plan) runDir(l *Loop) string { return filepath.Join(p.State, l.RunID) }

// name assigns the plan and its runs their ids, in the order of the loops.
func (p *Plan) name(now time.Time) {
	ids := scratchpad.NewIDs(p.State, now, len(p.Loops)+1)
	p.ID, p.Started = ids[0], now
	for i := range p.Loops {
		l := &p.Loops[i]
		l.RunID = ids[i+1]
		l.Tree = p.treeOf(i)
	}
}

// treeOf returns where the work tree of a loop is created.
func (p *Plan) treeOf(i int) string {
	l := &p.Loops[i]
	return filepath.Join(p.Trees, repositoryKey(l.Repository), p.ID, fmt.Sprintf("%04d-%s", i+1, slug(l.Name)))
}

// slug returns the recognisable part of a name, in characters with no special meaning
// anywhere.
func slug(name string) string {
	const most = 30
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == most {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// write records the plan. Secrets in it are left out, and it then cannot be resumed.
func (p *Plan) write(mask func(string) string) error {
	kept := *p
	if mask != nil {
		kept.Loops = slices.Clone(p.Loops)
		for i := range kept.Loops {
			l := &kept.Loops[i]
			clean := func(text string) string {
				masked := mask(text)
				kept.Masked = kept.Masked || masked != text
				return masked
			}
			l.Flags, l.Command, l.Setup = convert.Each(l.Flags, clean), convert.Each(l.Command, clean), clean(l.Setup)
			l.Env = maps.Clone(l.Env)
			for k, v := range l.Env {
				l.Env[k] = clean(v)
			}
		}
	}
	text, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	_ = os.MkdirAll(p.dir(), 0o700)
	return atomicfile.Write(filepath.Join(p.dir(), planName), append(text, '\n'), true)
}

// Read reads the plan with that id from a state directory.
func Read(state, id string) (*Plan, error) {
	text, err := os.ReadFile(filepath.Join(folder(state), id, planName))
	if err != nil {
		return nil, err
	}
	p := new(Plan)
	if err := json.Unmarshal(text, p); err != nil {
		return nil, fmt.Errorf("%s of %s cannot be read: %w", planName, id, err)
	}
	if p.Schema != planSchema || p.ID != id {
		return nil, fmt.Errorf("%s of %s was written by another looprun", planName, id)
	}
	if !p.form() {
		return nil, fmt.Errorf("%s of %s has work trees where looprun makes none", planName, id)
	}
	p.State = state
	return p, nil
}

// IDs returns the ids of the plans in a state directory, latest first.
func IDs(state string) ([]string, error) { return scratchpad.IDs(folder(state)) }

// Find reads the plan with that id or a part of it, or, for an empty text, the latest.
func Find(state, text string) (*Plan, error) {
	ids, err := IDs(state)
	if err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.Contains(id, text) })
	switch {
	case len(ids) == 0 && text != "":
		return nil, config.Usage(fmt.Sprintf("nothing in %[2]s that can continue matches %[1]q", text, folder(state)), "looprun many --resume alone takes the latest")
	case len(ids) == 0:
		return nil, config.Usage(fmt.Sprintf("there is nothing to resume in %s", folder(state)), "start it with looprun many")
	case len(ids) > 1 && text != "":
		return nil, config.Usage(fmt.Sprintf("%q fits %d of them: %s", text, len(ids), strings.Join(ids, ", ")), "give more of the id")
	}
	p, err := Read(state, ids[0])
	if errors.Is(err, fs.ErrNotExist) {
		return nil, config.Usage(fmt.Sprintf("%s was killed before it began", ids[0]), "start it again")
	}
	return p, err
}

// Active reports whether a looprun carries the plan out.
func (p *Plan) Active() bool { return scratchpad.Locked(p.dir()) }

// Take prevents others from executing the plan until it is released.
func (p *Plan) Take() (release func() error, err error) {
	release, err = scratchpad.Hold(p.dir())
	if errors.Is(err, scratchpad.ErrLocked) {
		return nil, config.Usage(p.ID+" is active: another looprun carries it out", "wait for it, or end it")
	}
	return release, err
}
