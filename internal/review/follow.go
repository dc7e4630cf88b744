package review

import (
	"cmp"
	"encoding/json"
	"io"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/scratchpad"
)

// followEvery is how often the journal of a run is checked.
const followEvery = 250 * time.Millisecond

// Following prints what happens in a run.
type Following struct {
	W      io.Writer
	Say    *console.Observer // its writer is set
	JSON   bool              // an event a line
	Number int               // how many of the last iterations are shown; 0 for all

	state core.State
	skip  int // iterations that are not shown
}

// Follow prints the events of a run's last iterations, and then each new event, until the run
// ends. killed is the id of a run that was killed.
func (f *Following) Follow(dir string) (killed string, err error) {
	if f.skip, err = f.before(dir); err != nil {
		return "", err
	}
	journal, err := scratchpad.Follow(dir)
	if err != nil {
		return "", err
	}
	defer journal.Close()
	for {
		alive := scratchpad.Locked(dir) // before the look: what a run writes last is still read
		n, err := journal.Next(f.event)
		switch {
		case err != nil:
			return "", console.Quietly(err)
		case !alive && n == 0 && f.state.Ended:
			return "", nil
		case !alive && n == 0:
			return cmp.Or(f.state.RunID, dir), nil
		case alive:
			time.Sleep(followEvery)
		}
	}
}

// before returns how many iterations are not shown. Events before the first iteration are
// shown with it.
func (f *Following) before(dir string) (int, error) {
	if f.Number <= 0 {
		return 0, nil
	}
	count := 1
	_, err := scratchpad.Replay(dir, func(e core.Event) error {
		if later(e) {
			count++
		}
		return nil
	})
	return max(0, count-f.Number), err
}

// later reports whether the event begins an iteration other than the first.
func later(e core.Event) bool {
	d, ok := e.Data.(core.IterationStarted)
	return ok && d.Iteration > 1
}

func (f *Following) event(e core.Event) error {
	if err := f.state.Apply(e); err != nil {
		return err
	}
	if later(e) {
		f.skip--
	}
	w := f.W
	if f.skip > 0 {
		w = io.Discard // what is said later may rest on it
	}
	if f.JSON {
		return json.NewEncoder(w).Encode(e)
	}
	f.Say.W, f.Say.Lead = w, e.Time.Local().Format(time.TimeOnly)
	if time.Since(e.Time) > 12*time.Hour {
		f.Say.Lead = e.Time.Local().Format(time.DateTime)
	}
	f.Say.Observe(e, &f.state)
	switch e.Data.(type) {
	case core.RunFinished, core.RunPaused, core.RunSuperseded:
		r := f.state.Result()
		f.Say.Say(console.ToneOf(r.Status), "%s", console.Verdict(&f.state, r, r.ExitCode))
	}
	return nil
}
