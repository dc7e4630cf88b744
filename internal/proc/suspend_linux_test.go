package proc

import (
	"testing"

	"github.com/looprun/looprun/internal/eventually"
)

// A tree that was suspended, and that a person has stopped from the terminal too,
// goes on when both have let it: fg wakes nothing that is asked about.
func TestTwoReasonsToStandStill(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, then func(*Process) error
	}{
		{"fg first", func(p *Process) error { return p.goOn(&p.stopped) }, (*Process).Resume},
		{"answered first", (*Process).Resume, func(p *Process) error { return p.goOn(&p.stopped) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := must(t, Spec{Argv: []string{"sleep", "600"}, PTY: true})
			if err := p.Suspend(); err != nil {
				t.Fatal(err)
			}
			p.mu.Lock()
			p.stopped = true // as stopWithCommand does when Ctrl-Z comes at that moment
			p.mu.Unlock()
			eventually.Holds(t, "it stands still", func() bool { return stopped(p.Pid()) })
			if err := c.first(p); err != nil {
				t.Fatal(err)
			}
			if !p.standsStill() || !stopped(p.Pid()) {
				t.Error("one of the two is enough to wake it")
			}
			if err := c.then(p); err != nil {
				t.Fatal(err)
			}
			eventually.Holds(t, "it goes on", func() bool { return !stopped(p.Pid()) })
		})
	}
}
