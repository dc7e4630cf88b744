// Package remote copies runs of other machines into a state directory. While somebody follows
// them there, everything that lists, shows and answers the runs of this machine does so for
// them too.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/origin"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/socket"
	"github.com/looprun/looprun/scratchpad"
)

// Source has the runs.
type Source interface {
	// Active calls each for every run that has not ended, with a text that changes when the run
	// does.
	Active(ctx context.Context, each func(id, version string)) error
	// Events calls each for every event of a run, from the first; for none if it has not begun.
	Events(ctx context.Context, id string, each func(core.Event) error) error
	// Answer answers a question of a run in the name of a person.
	Answer(ctx context.Context, id, questionID string, a core.Answer) error
}

// Copy is the copy of a run. It is locked, and so appears active, until it is closed. Then
// it can only be shown.
type Copy struct {
	State core.State
	Dir   string
	run   *scratchpad.Run
}

// Create creates the copy of a run in a state directory. If it already exists, the error is
// [fs.ErrExist].
func Create(stateDir, id string) (*Copy, error) {
	run, err := scratchpad.CreateCopy(stateDir, id)
	if err != nil {
		return nil, err
	}
	return &Copy{run: run, Dir: run.Dir}, nil
}

// Add adds an event, unless the copy already has it.
func (c *Copy) Add(e core.Event) error {
	if e.Seq <= c.State.Seq {
		return nil
	}
	if err := c.State.Apply(e); err != nil {
		return err
	}
	return c.run.Journal.Append(e)
}

// Close writes the page of the copy, and its verdict if the run has ended, and unlocks it.
func (c *Copy) Close() error {
	err := c.run.Refresh(&c.State, true)
	if c.State.Ended {
		err = errors.Join(err, c.run.WriteResult(c.State.Result(), ""))
	}
	return errors.Join(err, c.run.Close())
}

const (
	// every is how often the source is asked for changes.
	every = 2 * time.Second
	// absent is how often in a row a run has to be missing among the active ones, without an end
	// on record, until it is given up: a list can be late.
	absent = 5
	// patience is how long the source may take over an answer.
	patience = 30 * time.Second
)

// follower keeps copies of the runs of a source.
type follower struct {
	stateDir string
	from     Source
	say      *console.Observer
	runs     map[string]*followed
	told     map[string]string // the last warning of each run; of the source itself: ""
	answered chan string       // the runs that were answered: each has something new
}

// followed is a run with a copy that is still open.
type followed struct {
	*Copy
	version string
	absent  int
	server  *socket.Server
}

// Follow keeps copies of the active runs of a source until ctx ends; it calls ready once it has
// looked for them. The state directory is its own: it removes it before and after, and holds the
// folder above so that nobody else does.
func Follow(ctx context.Context, stateDir string, from Source, say *console.Observer, ready func()) error {
	above := filepath.Dir(stateDir)
	if err := os.MkdirAll(above, 0o700); err != nil {
		return err
	}
	release, err := scratchpad.Hold(above)
	if errors.Is(err, scratchpad.ErrLocked) {
		return errors.New("another process follows these runs already")
	}
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	if err := os.RemoveAll(stateDir); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(stateDir) }()
	f := &follower{stateDir, from, say, map[string]*followed{}, map[string]string{}, make(chan string, 16)}
	defer func() {
		for _, r := range f.runs {
			r.hangUp()
			_ = r.run.Close()
		}
	}()
	for {
		err := f.look(ctx)
		if ctx.Err() != nil {
			return nil
		}
		f.warn("", err)
		if err == nil && ready != nil {
			ready()
			ready = nil
		}
		select {
		case <-ctx.Done():
			return nil
		case id := <-f.answered:
			if r := f.runs[id]; r != nil {
				r.version = ""
			}
		case <-time.After(every):
		}
	}
}

// warn says what is wrong with a run, once.
func (f *follower) warn(id string, err error) {
	text := fmt.Sprint(err)
	if err != nil && text != f.told[id] {
		f.say.Warn("%s", text)
	}
	f.told[id] = text
}

// look copies what is new. The error is that of the source's list.
func (f *follower) look(ctx context.Context) error {
	active := map[string]string{}
	if err := f.from.Active(ctx, func(id, version string) { active[id] = version }); err != nil {
		return err
	}
	for id, version := range active {
		if r := f.runs[id]; r == nil || r.version != version {
			f.warn(id, f.update(ctx, id, version))
		}
	}
	for id, r := range f.runs {
		if _, on := active[id]; on {
			r.absent = 0
			continue
		}
		err := f.update(ctx, id, "")
		if r.absent++; r.State.Ended || r.absent == absent {
			r.hangUp()
			delete(f.runs, id)
			err = errors.Join(err, r.Close())
		}
		f.warn(id, err)
	}
	return nil
}

// update adds to a copy what has happened since, and lets it be answered.
func (f *follower) update(ctx context.Context, id, version string) error {
	r := f.runs[id]
	err := f.from.Events(ctx, id, func(e core.Event) error {
		if r == nil {
			c, err := Create(f.stateDir, id)
			if errors.Is(err, fs.ErrExist) { // it was given up, and is back
				if err = os.RemoveAll(filepath.Join(f.stateDir, id)); err == nil {
					c, err = Create(f.stateDir, id)
				}
			}
			if err != nil {
				return err
			}
			session.NoteStateDir(f.say, f.stateDir)
			r = &followed{Copy: c}
			f.runs[id] = r
		}
		return r.Add(e)
	})
	if r == nil || err != nil {
		return err
	}
	r.version = version
	if err := r.run.Refresh(&r.State, false); err != nil {
		return err
	}
	if r.server == nil {
		return f.listen(r, id)
	}
	return nil
}

// listen accepts answers for a run.
func (f *follower) listen(r *followed, id string) (err error) {
	r.server, err = socket.Listen(socket.Options{
		Dir: r.Dir, Trouble: func(text string) { f.say.Detail("the socket of run %s: %s", id, text) },
		Handle: func(ctx context.Context, peer socket.Peer, kind string, body json.RawMessage) (any, error) {
			return nil, f.answer(ctx, id, peer, kind, body)
		},
	})
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(r.Dir, session.SocketName), []byte(r.server.Path()+"\n"), false)
}

// hangUp accepts no further answers.
func (r *followed) hangUp() {
	if r.server != nil {
		_ = os.Remove(filepath.Join(r.Dir, session.SocketName))
		_ = r.server.Close()
		r.server = nil
	}
}

// answer passes an answer on, but none of a command that a run or a worker has started here.
func (f *follower) answer(ctx context.Context, id string, peer socket.Peer, kind string, body json.RawMessage) error {
	if kind != session.KindAnswer {
		return fmt.Errorf("run %s is on another machine: from here it can only be shown and answered", id)
	}
	if origin.Process(peer.PID) != origin.Outside {
		return errors.New("it is not known that this comes from a person, and a run's own command cannot answer")
	}
	var given session.Answered
	if err := json.Unmarshal(body, &given); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience) // an answer that was passed on counts
	defer cancel()
	if err := f.from.Answer(ctx, id, given.QuestionID, given.Answer.ByPerson()); err != nil {
		return err
	}
	select {
	case f.answered <- id:
	default: // it is seen a little later
	}
	return nil
}
