//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/looprun/looprun/core"
)

const keyDown = "\x1b[B"

// promptKind is a kind of question on a terminal.
type promptKind struct {
	ask   string // the command's question; empty: the run trips instead
	armed string // what the screen shows when keys count
	// affirm answers with the keys of a person: with the answer, and the exit code
	// of the run, or of looprun ask.
	affirm func(*testing.T, *screen)
	says   string
	code   int
	// elsewhere are the words of looprun answer for the same answer.
	elsewhere []string
}

var promptKinds = map[string]promptKind{
	"trip": {
		armed: "a key marks", affirm: choosing("Accept current"), says: "accept", code: 100,
		elsewhere: []string{"accept"},
	},
	"confirm": {
		ask: "ask Go? --confirm", armed: "a key marks", affirm: choosing("Yes"), says: core.Yes,
		elsewhere: []string{core.Yes},
	},
	"text": {
		ask: "ask Name? --text", armed: "type the answer", says: "Ann",
		affirm: func(t *testing.T, s *screen) {
			s.keys(t, "Ann")
			until(t, "the text is in the field", func() bool { return s.marked() == "Ann" })
			s.press(t, "\r", "the text is taken", func() bool { return s.marked() != "Ann" })
		},
		elsewhere: []string{"--text", "Ann"},
	},
	"multi": {
		ask: "ask Dbs? --multi --no-text --option pg=Postgres --option my=MySQL", armed: "Space ticks", says: "pg",
		affirm: func(t *testing.T, s *screen) {
			s.moveTo(t, "[ ] Postgres")
			s.press(t, " ", "the option is ticked", func() bool { return s.marked() == "[x] Postgres" })
			s.press(t, "\r", "it is chosen", func() bool { return s.marked() != "[x] Postgres" })
		},
		elsewhere: []string{"--option", "pg"},
	},
}

func choosing(label string) func(*testing.T, *screen) {
	return func(t *testing.T, s *screen) {
		t.Helper()
		s.moveTo(t, label)
		at := s.marked()
		s.press(t, "\r", label+" is chosen", func() bool { return s.marked() != at })
	}
}

// prompted is a run on a terminal that asks a question of one kind once it is let
// go.
type prompted struct {
	*screen
	promptKind
}

func (k promptKind) run(t *testing.T, flags ...string) *prompted {
	t.Helper()
	dir := t.TempDir()
	work := "touch began; while ! test -e go; do sleep 0.01; done\n"
	if k.ask == "" {
		flags = append(flags, "--max-iterations", "1")
		work += "echo Error: unfinished; exit 1\n"
	} else {
		work += "LOOPRUN " + k.ask + " >answer\necho $? >code\n"
	}
	writeFile(t, dir, "work.sh", work)
	p := &prompted{onTerminal(t, dir, append(flags, "--", "sh", "work.sh")...), k}
	until(t, "the command runs", p.has("began"))
	return p
}

// asks lets the command go on to the question, and waits until keys count.
func (p *prompted) asks(t *testing.T) {
	t.Helper()
	writeFile(t, p.dir, "go", "")
	p.waits(t)
}

func (p *prompted) waits(t *testing.T) {
	t.Helper()
	until(t, "the question takes keys", p.shows(p.armed))
}

// open checks that the question still waits for its answer.
func (p *prompted) open(t *testing.T) {
	t.Helper()
	if st := p.state(t); len(st.Answerable()) != 1 || len(st.Answered) != 0 {
		t.Errorf("%d questions wait, answered are %+v", len(st.Answerable()), st.Answered)
	}
}

// affirmed gives the answer and checks that it is the one that counts.
func (p *prompted) affirmed(t *testing.T) {
	t.Helper()
	p.open(t)
	p.affirm(t, p.screen)
	p.answered(t, p.says, p.code)
}

// answered checks how it ended, with which answer of the person.
func (p *prompted) answered(t *testing.T, answer string, code int) {
	t.Helper()
	p.endedWith(t, code)
	if a := p.state(t).Answered; len(a) != 1 || a[0].String() != answer || a[0].Responder != core.RespondedByUser || !a[0].Person {
		t.Errorf("the record has %+v, want %q", a, answer)
	}
	p.failsClosed(t)
}

// endedWith checks the exit code of the run, or of looprun ask: the run is done
// then.
func (p *prompted) endedWith(t *testing.T, code int) {
	t.Helper()
	got := p.ended(t)
	if p.ask == "" {
		if got != code {
			t.Errorf("ended with %d, want %d", got, code)
		}
		return
	}
	if got != 0 {
		t.Errorf("the run ended with %d", got)
	}
	if got := p.pid(t, "code"); got != code {
		t.Errorf("looprun ask ended with %d, want %d", got, code)
	}
}

// promptStates are what can happen at a prompt.
var promptStates = map[string]func(*testing.T, *prompted){
	"Enter alone": func(t *testing.T, p *prompted) {
		p.asks(t)
		p.keys(t, "\r")
		until(t, "it says what is missing", func() bool {
			return p.shows("nothing is marked")() || p.shows("an empty text is not an answer")() || p.shows("nothing is ticked yet")()
		})
		p.affirmed(t)
	},
	"an answer": func(t *testing.T, p *prompted) {
		p.asks(t)
		p.affirmed(t)
	},
	"Ctrl-C": func(t *testing.T, p *prompted) {
		p.asks(t)
		p.keys(t, "\x03")
		if got := p.ended(t); got != -int(syscall.SIGINT) {
			t.Errorf("ended with %d, want SIGINT", got)
		}
		p.restored(t)
		p.open(t)
		if st := p.state(t); st.Ending.Status != core.StatusInterrupted || st.Ending.ExitCode != 130 {
			t.Errorf("ended as %+v", st.Ending)
		}
		again := &prompted{onTerminal(t, p.dir, "resume"), p.promptKind}
		again.waits(t)
		if n := len(again.state(t).Answered); n != 0 {
			t.Errorf("%d answers", n)
		}
		again.affirm(t, again.screen)
		if p.ask == "" {
			again.answered(t, p.says, p.code)
			return
		}
		again.answeredAfterResume(t)
	},
	"Ctrl-D": func(t *testing.T, p *prompted) {
		p.asks(t)
		p.press(t, "\x04", "it says what ends the run", p.shows("Ctrl-D does nothing"))
		p.affirmed(t)
	},
	"typed ahead": func(t *testing.T, p *prompted) {
		p.keys(t, keyUp+keyUp+" yes\r\ry\r"+keyDown+" \r")
		p.asks(t)
		p.affirmed(t)
	},
	"resize": func(t *testing.T, p *prompted) {
		p.asks(t)
		for _, size := range []pty.Winsize{{Cols: 50, Rows: 20}, {Cols: 120, Rows: 50}, {Cols: 100, Rows: 40}} {
			drawn := func() int { return strings.Count(p.stdout.String(), p.armed) }
			before := drawn()
			p.term.Resize(int(size.Cols), int(size.Rows))
			if err := pty.Setsize(p.tty, &size); err != nil {
				t.Fatal(err)
			}
			until(t, "the prompt is drawn anew", func() bool { return drawn() > before })
		}
		p.affirmed(t)
	},
	"escape sequences": func(t *testing.T, p *prompted) {
		p.asks(t)
		// An unfinished sequence, focus, a mouse click, a function key, reports that
		// nobody asked for, a paste with a line break.
		p.keys(t, "\x1b[1;5\x1b[I\x1b[O\x1b[<0;10;10M\x1bOP\x1b[10;20R\x1b]11;rgb:0/0/0\x07\x1b[200~yes\r\x1b[201~")
		if p.ask != "" && p.armed == "type the answer" {
			until(t, "the paste is in the field", func() bool { return p.marked() == "yes" })
			p.press(t, "\x15", "the field is empty", func() bool { return p.marked() == "" })
		} else { // a key in the same read as the paste would be a part of it
			until(t, "the paste has been read", p.shows("pasted text is ignored"))
		}
		p.affirmed(t)
	},
	"SIGTERM": func(t *testing.T, p *prompted) {
		p.asks(t)
		if err := p.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if got := p.ended(t); got != -int(syscall.SIGTERM) {
			t.Errorf("ended with %d, want SIGTERM", got)
		}
		p.restored(t)
		p.open(t)
		if st := p.state(t); st.Ending.Status != core.StatusInterrupted || st.Ending.ExitCode != 143 {
			t.Errorf("ended as %+v", st.Ending)
		}
		p.failsClosed(t)
	},
	"another terminal": func(t *testing.T, p *prompted) {
		p.asks(t)
		first := begin(t, p.dir, append([]string{"answer", "--reason", "It is urgent.", "--question", p.state(t).Pending()[0].ID}, p.elsewhere...)...)
		if code := first.ended(t); code != 0 {
			t.Fatalf("looprun answer ended with %d", code)
		}
		p.answered(t, p.says, p.code)
		p.restored(t)
		if a := p.state(t).Answered[0]; a.Reason != "It is urgent." {
			t.Errorf("the record has %q", a.Reason)
		}
		second := begin(t, p.dir, append([]string{"answer"}, p.elsewhere...)...)
		if code := second.ended(t); code != core.ExitFailed || !strings.Contains(second.stderr.String(), "user answered ") {
			t.Errorf("a second answer ended with %d: %s", code, second.stderr.String())
		}
	},
}

// TestMatrixPrompts has each thing that can happen at a prompt at each kind of it.
func TestMatrixPrompts(t *testing.T) {
	t.Parallel()
	for n, state := range slices.Sorted(maps.Keys(promptStates)) {
		for _, kind := range oneShort(slices.Sorted(maps.Keys(promptKinds)), n) {
			t.Run(fmt.Sprintf("%s/%s", kind, state), func(t *testing.T) {
				t.Parallel()
				promptStates[state](t, promptKinds[kind].run(t))
			})
		}
	}
}

// answeredAfterResume checks the answer to a question whose command was
// interrupted: it reaches the next one that asks.
func (p *prompted) answeredAfterResume(t *testing.T) {
	t.Helper()
	if got := p.ended(t); got != 0 {
		t.Errorf("the resumed run ended with %d", got)
	}
	if a := p.state(t).Answered; len(a) != 1 || a[0].String() != p.says || a[0].Responder != core.RespondedByUser {
		t.Errorf("the record has %+v, want %q", a, p.says)
	}
	if told, err := os.ReadFile(p.file("answer")); err != nil || string(told) != p.says+"\n" {
		t.Errorf("the command was told %q (%v), want %q", told, err, p.says)
	}
	p.failsClosed(t)
}

// restored checks that the terminal is as a new one.
func (p *prompted) restored(t *testing.T) {
	t.Helper()
	other, fresh, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	defer fresh.Close()
	want, err := term.GetState(int(fresh.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := term.GetState(int(p.tty.Fd())); err != nil || *got != *want {
		t.Errorf("the terminal was left as %+v (%v), want %+v", got, err, want)
	}
}

func (p *prompted) failsClosed(t *testing.T) {
	t.Helper()
	dir, err := findRun(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	readJournal(t, dir).failsClosed(t)
}
