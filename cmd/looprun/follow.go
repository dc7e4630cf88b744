package main

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/scratchpad"
)

// followEvery is how often the journal of a run is looked at.
const followEvery = 250 * time.Millisecond

// follow prints what happens in a run until it ends: what has happened in its last
// iterations, and then each event as it comes.
func (c *showCmd) follow(a *app, dir string) error {
	switch {
	case c.Pending:
		return &usageError{"--follow and --pending exclude each other", "use one of them"}
	case c.Format != "text" && c.Format != "json":
		return &usageError{"--follow has no --format " + c.Format, "use text or json"}
	}
	journal, err := scratchpad.Follow(dir)
	if err != nil {
		return err
	}
	defer journal.Close()
	// Events are printed as they are while a run goes on, with their time in place of the name.
	f := &following{w: a.stdout, say: &messages{
		flags: outputFlags{Verbose: true}, colour: colours(a.say.flags.Color, isTerminal(a.files.stdout), os.Getenv),
	}}
	f.past.most = c.Number
	for {
		alive := scratchpad.Locked(dir) // before the look: what a run writes last is still read
		n, err := journal.Next(func(e looprun.Event) error { return f.event(c.Format, e) })
		if err == nil {
			err = f.showPast()
		}
		switch {
		case err != nil:
			return quietly(err)
		case !alive && n == 0 && f.state.Ended:
			return nil
		case !alive && n == 0:
			a.code = 1
			a.say.printf("%s is not there any more: looprun was killed. looprun resume %s goes on", f.name(dir), f.name(dir))
			return nil
		case alive:
			time.Sleep(followEvery)
		}
	}
}

// following is what is known of a run that is followed.
type following struct {
	w     io.Writer
	say   *messages
	state looprun.State
	past  past
}

func (f *following) name(dir string) string {
	if f.state.RunID == "" {
		return dir
	}
	return f.state.RunID
}

// event prints an event, or, while what has happened is read, keeps it.
func (f *following) event(format string, e looprun.Event) error {
	if err := f.state.Apply(e); err != nil {
		return err
	}
	if started, ok := e.Data.(looprun.IterationStarted); ok {
		f.past.begin(started.Iteration)
	}
	f.say.w = &f.past
	if f.past.over {
		f.say.w = f.w
	}
	if format == "json" {
		line, err := json.Marshal(e)
		if err == nil {
			_, err = f.say.w.Write(append(line, '\n'))
		}
		return err
	}
	f.say.lead = e.Time.Local().Format(time.TimeOnly)
	if time.Since(e.Time) > 12*time.Hour {
		f.say.lead = e.Time.Local().Format(time.DateTime)
	}
	f.say.observe(e, &f.state)
	switch e.Data.(type) {
	case looprun.RunFinished, looprun.RunPaused:
		r := f.state.Result()
		f.say.say(toneOf(r.Status), "%s", lastLine(&f.state, r, r.ExitCode))
	}
	return nil
}

// showPast prints what was kept.
func (f *following) showPast() error {
	if f.past.over {
		return nil
	}
	f.past.over = true
	for _, text := range f.past.iterations {
		if _, err := f.w.Write(text); err != nil {
			return err
		}
	}
	f.past.iterations = nil
	return nil
}

// past keeps what is printed of the last iterations.
type past struct {
	most       int // iterations; 0: all
	over       bool
	iterations [][]byte
}

// begin begins the text of an iteration. What comes before the first is kept with
// it, and the text of the one that is too many goes.
func (p *past) begin(iteration int) {
	if p.over || iteration <= 1 && len(p.iterations) <= 1 {
		return
	}
	p.iterations = append(p.iterations, nil)
	if over := len(p.iterations) - p.most; p.most > 0 && over > 0 {
		p.iterations = append(p.iterations[:0], p.iterations[over:]...)
	}
}

func (p *past) Write(b []byte) (int, error) {
	if len(p.iterations) == 0 {
		p.iterations = append(p.iterations, nil)
	}
	last := len(p.iterations) - 1
	p.iterations[last] = append(p.iterations[last], b...)
	return len(b), nil
}
