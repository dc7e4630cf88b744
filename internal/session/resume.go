package session

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/scratchpad"
)

// ResumeFlags are the flags that can be set again when a run is resumed.
type ResumeFlags struct {
	config.LimitFlags
	config.AnswerFlags
	TrustFlag

	Dir    string          `placeholder:"DIR" help:"Where its commands run from now on, when the project was moved or copied."`
	Reopen bool            `help:"Continue a run that was cancelled, accepted or superseded."`
	Once   bool            `help:"Run one iteration, then pause."`
	Took   config.Duration `hidden:"" help:"Active time since the run paused."`
}

// place returns the directory in which the run's commands run from now on.
func (c *ResumeFlags) place(dir string, state *core.State) (string, error) {
	id := state.RunID
	if c.Dir != "" {
		place, _ := filepath.Abs(c.Dir)
		switch {
		case !isDir(place):
			return "", config.Usage("--dir "+c.Dir+" is not a directory", "name the one that the project is in now")
		case !utf8.ValidString(place):
			return "", config.Usage("--dir has bytes that are not UTF-8, which the journal does not keep", "rename that directory")
		}
		return place, nil
	}
	kept, moved := Moved(dir, state)
	switch {
	case !isDir(state.Dir):
		return "", config.Usage(fmt.Sprintf("the directory of run %s is gone: %s", id, state.Dir), fmt.Sprintf("if the project was moved, name its new folder: looprun resume %s --dir DIR (. is this folder)", id))
	case moved:
		return "", config.Usage(fmt.Sprintf("run %s began in %s, and its files are in %s: it was moved or copied", id, state.Dir, kept), fmt.Sprintf("name the folder: looprun resume %s --dir %s, or --dir %s", id, core.CommandLine([]string{filepath.Dir(kept)}), core.CommandLine([]string{state.Dir})))
	}
	return state.Dir, nil
}

// Moved returns the folder that holds a run's files, and whether it belongs to another project
// than the one that the run began in.
func Moved(dir string, state *core.State) (kept string, moved bool) {
	kept = realDir(filepath.Dir(dir))
	moved = state.Repository == "" && // else its work tree is somewhere else
		filepath.Base(kept) == scratchpad.StateDirName && !below(realDir(state.Dir), filepath.Dir(kept))
	return kept, moved
}

// below reports whether dir is above or inside it.
func below(dir, above string) bool {
	rel, _ := filepath.Rel(above, dir)
	return filepath.IsLocal(rel)
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// Resume resumes a run.
func Resume(p *Program, dir string, state *core.State, tail scratchpad.Tail, with ResumeFlags) (Ended, error) {
	if state.Ended && !state.Ending.Status.Resumable() && !(with.Reopen && state.Ending.Status.Reopens()) {
		remedy := "start a new one"
		if state.Ending.Status.Reopens() {
			remedy = "reopen it with looprun resume " + state.RunID + " --reopen, or start a new one"
		}
		return Ended{}, config.Usage(fmt.Sprintf("run %s ended as %s and cannot be resumed", state.RunID, state.Ending.Status), remedy)
	}
	if InsideOf(dir) {
		return Ended{}, config.Usage("a run cannot be resumed by its own command", "resume it from outside")
	}
	s, event, err := with.restore(p, dir, state)
	if err != nil {
		return Ended{}, err
	}
	if tail.Cut > 0 {
		p.Say.Warn("looprun was killed while it wrote the last record of %s: %d bytes after event %d were dropped", dir, tail.Cut, tail.Events)
	}
	return s.resume(dir, event, with.TrustFlag)
}

// Conclude applies the recorded answer of a run at rest, if that answer ends or pauses the
// run. It runs no iteration, so the daily cost limit does not matter.
func Conclude(p *Program, dir string, state *core.State, trust TrustFlag) (Ended, error) {
	s, event, err := (&ResumeFlags{TrustFlag: trust}).restore(p, dir, state)
	if err != nil {
		return Ended{}, err
	}
	s.concludes = true
	return s.resume(dir, event, trust)
}

// restore creates the session from the recorded settings and the new flags.
func (c *ResumeFlags) restore(app *Program, dir string, state *core.State) (*Session, core.RunResumed, error) {
	event := core.RunResumed{Version: app.Version, Reopen: c.Reopen}
	r, err := RecordedOf(dir)
	if err != nil {
		return nil, event, err
	}
	if r.Masked {
		return nil, event, config.Usage("the directory, the command line or the configuration of run "+state.RunID+" held a secret, which is not kept, so it cannot be run again", "start a new run, and let the command read the secret from its variable")
	}
	if r.Lossy {
		return nil, event, config.Usage("the directory, the command line or the configuration of run "+state.RunID+" has bytes that are not UTF-8, which the journal does not keep, so it cannot be run again", "start a new run")
	}
	config.Forget(&c.LimitFlags, &r.Options.LimitFlags, app.Config)
	config.Forget(&c.AnswerFlags, &r.Options.AnswerFlags, app.Config)
	place, err := c.place(dir, state)
	if err != nil {
		return nil, event, err
	}
	if place != state.Dir {
		event.Dir = place
	}
	c.locate(place)
	changed := c.change(&r, app.Config.Has)
	if changed {
		if err := r.Options.Wrong(); err != nil {
			return nil, event, err
		}
	}
	if slices.ContainsFunc(r.Options.Notify, config.Service.Kept) {
		r.Options.Notify = nil
		if again := os.Getenv("LOOPRUN_NOTIFY"); again != "" { // looprun answer --resume has no flag for it
			if err := r.Options.Notify.UnmarshalText([]byte(again)); err != nil {
				return nil, event, config.Usagef("LOOPRUN_NOTIFY: %v", err)
			}
		} else {
			app.Say.Warn("nobody is notified: the addresses of --notify are not kept with a run; give them again with looprun resume --notify URL, LOOPRUN_NOTIFY or looprun.yaml")
		}
	}
	r.Options.Once = c.Once
	s := &Session{app: app, took: time.Duration(c.Took), opts: &r.Options, command: r.Command, dir: place}
	if err := os.Chdir(place); err != nil {
		return nil, event, fmt.Errorf("run %s cannot continue in its directory: %w", state.RunID, err)
	}
	if err := s.load(r.Policy); err != nil {
		return nil, event, err
	}
	if changed {
		if event.Config, err = s.record(); err != nil {
			return nil, event, err
		}
	}
	limits := state.Limits
	given, err := c.LimitFlags.Over(&limits)
	if err != nil {
		return nil, event, err
	}
	caps := c.caps(state.Caps, limits, given)
	s.limits, s.caps = limits, caps
	if limits != state.Limits {
		event.Limits = &limits
	}
	if caps != state.Caps {
		event.Caps = &caps
	}
	return s, event, nil
}

// caps returns the run's caps, except that a new cap replaces the old one if it was given, if
// the new limit is above the old cap, or if the limit is new and has no cap yet.
func (c *ResumeFlags) caps(old core.Caps, l core.Limits, now core.Caps) core.Caps {
	given := c.Texts()
	has := func(key string) bool { return given[key] != "" }
	for _, g := range core.Specs() {
		if g.Unit() != "" && (has(config.CapKey(g)) || g.Above(l, old) || g.CapText(old) == "" && has(g.Key)) {
			g.TakeCap(&old, now)
		}
	}
	return old
}

// locate makes relative paths that were given here absolute, because everything else is
// relative to the run's directory.
func (c *ResumeFlags) locate(dir string) {
	here, _ := config.CurrentDir() // the files of the configuration were sought from there
	if here == dir {
		return
	}
	from := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(here, path)
	}
	for _, list := range [][]string{c.Policy, c.Templates} {
		for i, path := range list {
			list[i] = from(path)
		}
	}
}

// change merges the new flags into the recorded ones.
func (c *ResumeFlags) change(r *Recorded, given func(flag string) bool) (changed bool) {
	if len(c.Policy) > 0 {
		r.Policy = nil
	}
	if c.Assistant != "" { // what the one before was called says nothing of this one
		r.Options.AssistantName, r.Options.AssistantModel = "", ""
	}
	if c.NonInteractive || c.Ask { // the one undoes the other
		r.Options.NonInteractive, r.Options.Ask = false, false
	}
	if !given("assistant-for") { // its default is no wish
		c.AssistantFor = nil
	}
	from, to := reflect.ValueOf(c.AnswerFlags), reflect.ValueOf(&r.Options.AnswerFlags).Elem()
	for i := range from.NumField() {
		if v := from.Field(i); !v.IsZero() {
			to.Field(i).Set(v)
			changed = true
		}
	}
	return changed
}

// RecordedOf returns the configuration that the run was last started or resumed with.
func RecordedOf(dir string) (r Recorded, err error) {
	var raw json.RawMessage
	_, err = scratchpad.Replay(dir, func(e core.Event) error {
		switch d := e.Data.(type) {
		case core.RunStarted:
			raw = d.Config
		case core.RunResumed:
			if d.Config != nil {
				raw = d.Config
			}
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	if raw == nil {
		return r, ErrNoConfig
	}
	if err = json.Unmarshal(raw, &r); err != nil {
		err = fmt.Errorf("the configuration of run %s cannot be read: %w; another looprun recorded it: use that one", filepath.Base(dir), err)
	}
	return r, err
}

// ErrConcluded means that somebody else has already applied the answer.
var ErrConcluded = errors.New("another looprun resumed the run at the same time")

var ErrNoConfig = errors.New("the run has no recorded configuration: it was started by a program, which has to resume it")

func (s *Session) resume(dir string, event core.RunResumed, trust TrustFlag) (Ended, error) {
	s.catchSignals()
	if !s.concludes {
		defer s.startCourier()()
		if err := errors.Join(proc.Ready(), s.joinable(), s.affordable()); err != nil {
			return Ended{}, err
		}
	}
	run, state, err := trust.Open(s.app.Say, dir, scratchpad.SyncMode(s.opts.Sync))
	if err != nil {
		return Ended{}, err
	}
	s.run = run
	if s.concludes && !state.Concludes() {
		return Ended{}, errors.Join(ErrConcluded, run.Close())
	}
	if err := s.wire(run.Journal); err != nil {
		return Ended{}, errors.Join(err, run.Close())
	}
	if len(state.Protected) > 0 {
		event.Protected = s.again(state.Protected)
		s.keepProtected(event.Protected)
	}
	if trees := state.Trees; state.Session.ID != "" {
		known := func(t core.Tree) bool { return t.Content == s.tree.content }
		if !state.Running || slices.ContainsFunc(trees[:max(0, len(trees)-1)], known) {
			event.Tree = s.tree.tree // else what changed is the work of a turn that was lost, in that session
		}
	}
	if err := s.loop.Resume(*state, event); err != nil {
		return Ended{}, errors.Join(err, run.Close())
	}
	s.guarded = s.state.Protected
	return s.finish(s.drive())
}

// Find returns the directory of a run, given its id, a part of it, or its loop's name.
func Find(flag, id string) (string, error) {
	state, err := config.StateDir(flag)
	if err != nil {
		return "", err
	}
	if named, err := many.Named(state, id); err != nil {
		return "", err
	} else if id = cmp.Or(named, id); named != "" && !scratchpad.HasEvents(filepath.Join(state, named)) {
		return "", config.Usage("the run of that loop, "+named+", has not begun", "looprun many --resume begins it")
	}
	return scratchpad.Find(state, id)
}

// InsideOf reports whether this process was started by the run's own command.
func InsideOf(dir string) bool { return os.Getenv("LOOPRUN_DIR") == dir }

// lossy reports whether a text was damaged by the JSON encoding: an escape replaces each byte
// that is not UTF-8, and nothing else.
func lossy(raw []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(raw, []byte(`\\`), nil), []byte(`\ufffd`))
}
