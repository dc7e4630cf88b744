//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"

	expect "github.com/Netflix/go-expect"
	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"
)

// session is a child at its terminal, seen by the test.
type session struct {
	*testing.T
	*expect.Console
	screen vt10x.Terminal
	cmd    *exec.Cmd
	goOn   *os.File
	before *unix.Termios
	report chan outcome
	drawn  bell
	mute   bool // the terminal does not answer queries
}

// patience is how long a condition may take before the test fails.
const patience = eventually.Patience

type setup struct {
	scenario
	columns, rows int
	stdin         string // piped in when not empty
	mute          bool
}

func start(t *testing.T, su setup) *session {
	t.Helper()
	s := &session{T: t, mute: su.mute, report: make(chan outcome, 1), drawn: make(bell, 1)}
	if su.columns == 0 {
		su.columns, su.rows = 100, 30
	}
	s.screen = vt10x.New(vt10x.WithSize(su.columns, su.rows), vt10x.WithWriter(replies{s}))
	var err error
	if s.Console, err = expect.NewConsole(expect.WithStdout(s.screen, s.drawn)); err != nil {
		t.Fatal(err)
	}
	s.resize(su.columns, su.rows)
	if s.before, err = unix.IoctlGetTermios(int(s.Tty().Fd()), getTermios); err != nil {
		t.Fatal(err)
	}
	go s.ExpectEOF() // draws all there is on the screen
	s.launch(su)
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.goOn.Close()
		s.Console.Close()
	})
	return s
}

func (s *session) launch(su setup) {
	text, err := json.Marshal(su.scenario)
	if err != nil {
		s.Fatal(err)
	}
	fromChild, report, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	held, goOn, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	s.goOn = goOn
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append([]string{
		scenarioVariable + "=" + string(text), "TERM=xterm", "PATH=" + os.Getenv("PATH"), "HOME=" + s.TempDir(),
		"GORACE=atexit_sleep_ms=0",
	}, su.Env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.Tty(), s.Tty(), s.Tty()
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	if su.stdin != "" {
		s.cmd.Stdin = strings.NewReader(su.stdin)
	}
	s.cmd.ExtraFiles = []*os.File{report, held}
	if err := s.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	report.Close()
	held.Close()
	go func() {
		defer fromChild.Close()
		var out outcome
		if err := json.NewDecoder(fromChild).Decode(&out); err != nil && !errors.Is(err, io.EOF) {
			out.Err = err.Error()
		}
		s.report <- out
	}()
}

// replies sends what the terminal answers to the child, as typed keys.
type replies struct{ s *session }

func (r replies) Write(b []byte) (int, error) {
	if r.s.mute {
		return len(b), nil
	}
	return r.s.Console.Write(b)
}

// hangUp closes the terminal's window. The console's reader lets go of the
// terminal when it has read something more.
func (s *session) hangUp() {
	s.Helper()
	last, err := os.OpenFile(s.Tty().Name(), os.O_WRONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		s.Fatal(err)
	}
	defer last.Close()
	s.Console.Close()
	last.WriteString("gone")
}

func (s *session) resize(columns, rows int) {
	s.Helper()
	s.screen.Resize(columns, rows)
	if err := pty.Setsize(s.Tty(), &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		s.Fatal(err)
	}
}

// press types.
func (s *session) press(keys ...string) {
	s.Helper()
	for _, k := range keys {
		if _, err := s.Send(k); err != nil {
			s.Fatal(err)
		}
	}
}

// sees waits until the screen is as the condition wants it.
func (s *session) sees(what string, condition func(screen string) bool) {
	s.Helper()
	late := time.After(patience)
	for {
		if condition(s.screen.String()) {
			return
		}
		select {
		case <-s.drawn:
		case <-late:
			s.Fatalf("the screen never showed %s\n%s", what, s.screen.String())
		}
	}
}

// bell rings whenever something was drawn.
type bell chan struct{}

func (b bell) Write(p []byte) (int, error) {
	select {
	case b <- struct{}{}:
	default:
	}
	return len(p), nil
}

// shows waits for a text on the screen.
func (s *session) shows(text string) {
	s.Helper()
	s.sees(text, func(screen string) bool { return strings.Contains(screen, text) })
}

// marks waits until the prompt is ready and the cursor on that item.
func (s *session) marks(label string) {
	s.Helper()
	s.sees("the cursor on "+label, func(screen string) bool {
		return marked(screen) == label && (strings.Contains(screen, ready) || strings.Contains(screen, "Enter"))
	})
}

// ready is in the hint once keys count.
const ready = "Ctrl-C interrupts"

// home and end go to the first and the last item.
const home, end = "\x1b[H", "\x1b[F"

// onCancel waits until the prompt is ready, with nothing marked, and marks Cancel.
func (s *session) onCancel() {
	s.Helper()
	s.sees("nothing marked", func(screen string) bool { return marked(screen) == "" && strings.Contains(screen, ready) })
	s.press("c")
	s.marks("Cancel")
}

// marked is the label of the item with the cursor; there must be one cursor.
func marked(screen string) string {
	found := ""
	for _, line := range strings.Split(screen, "\n") {
		if rest, ok := strings.CutPrefix(line, "> "); ok {
			if found != "" {
				return "two cursors"
			}
			found = rest
			if len(rest) > keyColumns && numbered.MatchString(rest) {
				found, _, _ = strings.Cut(strings.TrimSpace(rest[keyColumns:]), "  ")
			}
			found = strings.TrimSpace(found)
		}
	}
	return found
}

// numbered is an item with its number and its letter.
var numbered = regexp.MustCompile(`^[1-9 ] [a-z ]  `)

// ends waits for the child's report and checks that its terminal is as before.
func (s *session) ends() outcome {
	s.Helper()
	select {
	case out := <-s.report:
		s.cmd.Wait()
		s.untouched()
		return out
	case <-time.After(patience):
		s.Fatalf("the prompt did not end\n%s", s.screen.String())
		panic("unreachable")
	}
}

// untouched checks the state of the terminal.
func (s *session) untouched() {
	s.Helper()
	after, err := unix.IoctlGetTermios(int(s.Tty().Fd()), getTermios)
	if err != nil {
		s.Fatal(err)
	}
	if *after != *s.before {
		s.Errorf("the terminal was left as %+v, it was %+v", *after, *s.before)
	}
}

func (s *session) letGo() {
	s.Helper()
	if _, err := s.goOn.Write([]byte{1}); err != nil {
		s.Fatal(err)
	}
}
