package proc

import (
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

// noTree is a tree without processes. It notes what is asked of it.
type noTree struct{ said []string }

func (t *noTree) pid() int                          { return 1 }
func (t *noTree) end(syscall.Signal, time.Duration) { t.said = append(t.said, "end") }
func (t *noTree) kill()                             { t.said = append(t.said, "kill") }
func (t *noTree) suspend() error                    { t.said = append(t.said, "suspend"); return nil }

func (t *noTree) resume() error         { t.said = append(t.said, "resume"); return nil }
func (t *noTree) notify(syscall.Signal) {}

// Whatever keeps a command waiting, its time limits stand still as long as any of it does, and
// a command that is being ended or is gone is left alone.
func TestWhatTheClocksCount(t *testing.T) {
	const long = 90 * time.Second // of one minute of time limit
	steps := map[string]func(*Process){
		"hold": (*Process).HoldClocks, "release": (*Process).ReleaseClocks,
		"suspend": func(p *Process) { _ = p.Suspend() }, "resume": func(p *Process) { _ = p.Resume() },
		"wait": func(*Process) { time.Sleep(long) }, "work": func(*Process) { time.Sleep(40 * time.Second) },
		"print": func(p *Process) { p.deliver(nil, nil) }, "show": func(p *Process) { p.deliver(func([]byte) { time.Sleep(long) }, nil) },
		"stop": func(p *Process) { p.Stop(0) }, "over": (*Process).commandEnded, "gone": (*Process).release,
	}
	for _, c := range []struct{ does, want string }{
		{"work", ""},
		{"wait", "end"},
		{"hold wait release work", ""},
		{"hold wait release work work", "end"},
		{"work hold wait release work", "end"},
		{"hold suspend release wait resume work", "suspend resume"},
		{"hold suspend resume wait release work", "suspend resume"},
		{"hold suspend wait release wait resume work", "suspend resume"},
		{"suspend wait resume work", "suspend resume"},
		{"suspend wait resume work work", "suspend resume end"},
		{"release work", ""},
		{"over wait", ""},
		{"over hold release wait", ""},
		{"stop wait", "end"},
		{"wait stop", "end end"},
		{"stop hold suspend release resume wait", "end"},
		{"hold gone release wait", ""},
		{"suspend gone resume wait", "suspend"},
		{"gone hold release suspend resume wait", ""},
	} {
		for _, idle := range []bool{false, true} {
			returns(t, func() {
				synctest.Test(t, func(t *testing.T) {
					p := &Process{spec: Spec{Timeout: time.Minute}, done: make(chan struct{})}
					if idle {
						p.spec = Spec{IdleTimeout: time.Minute}
					}
					tree := new(noTree)
					p.begin(tree)
					for step := range strings.FieldsSeq(c.does) {
						steps[step](p)
						synctest.Wait()
					}
					got := strings.Join(tree.said, " ")
					if stopped := p.cause == Stopped; got != c.want || stopped != strings.HasPrefix(c.does, "stop") {
						t.Errorf("%s, idle: %t: %q, want %q; by %v", c.does, idle, got, c.want, p.cause)
					}
					p.release()
				})
			})
		}
	}
	for _, c := range []struct{ does, want string }{
		{"work print work print work", ""},
		{"show work", ""}, // nobody took what it printed
		{"show work work", "end"},
		{"work print wait", "end"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &Process{spec: Spec{IdleTimeout: time.Minute, Timeout: time.Hour}, done: make(chan struct{})}
			tree := new(noTree)
			p.begin(tree)
			for step := range strings.FieldsSeq(c.does) {
				steps[step](p)
				synctest.Wait()
			}
			if got := strings.Join(tree.said, " "); got != c.want {
				t.Errorf("%s: %q, want %q", c.does, got, c.want)
			}
			p.release()
		})
	}
}

// noted is a background group that notes how long it was given to end.
type noted struct{ after *time.Duration }

func (n noted) end(killAfter time.Duration) { *n.after = killAfter }

// Without a time of its own, a command has the time of every other one to end, and so has what
// runs in the background.
func TestTheBackgroundHasTime(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{0: DefaultKillAfter, -1: DefaultKillAfter, time.Hour: time.Hour} {
		var got time.Duration
		background.add(noted{&got})
		if EndBackground(given); got != want {
			t.Errorf("%s: it has %s, want %s", given, got, want)
		}
		if got := (&Spec{KillAfter: given}).killAfter(); got != want {
			t.Errorf("%s: a command has %s, want %s", given, got, want)
		}
	}
}

// returns fails the test where do would hang.
func returns(t *testing.T, do func()) {
	t.Helper()
	over := make(chan bool, 1)
	go func() {
		defer func() { over <- true }() // also where do fails the test
		do()
	}()
	eventually.Receive(t, "it ends", over)
}
