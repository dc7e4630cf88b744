//go:build unix

package user

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	expect "github.com/Netflix/go-expect"
	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/tty"
)

// scenario is what the child process of a test does. The child is the test
// binary itself, with a terminal of its own.
type scenario struct {
	Question looprun.Question
	State    *looprun.State
	// Those of the options.
	CI, Tty        string
	NonInteractive bool
	// Report is how long the terminal has to report; zero is next to nothing.
	Report time.Duration
	// Heeds are signals that cancel the context.
	Heeds []syscall.Signal
	// Held makes the child wait before it asks.
	Held bool
	// PanicOn is the number of the key, from 1, in whose handling it panics.
	PanicOn int
	// RestoreAllOn is the key at which it ends without returning.
	RestoreAllOn int
	// Apart runs the scenario in a process group of its own: in the background,
	// or as a shell would run it, in the foreground and continued when stopped.
	Apart string
	Env   []string
}

// outcome is what the child says.
type outcome struct {
	Answer      looprun.Answer
	Err         string
	NoAnswer    bool
	Interrupted bool
	Asked       bool
}

const scenarioVariable = "USER_TEST_SCENARIO"

// What the child has open besides its terminal.
const (
	reportFd = 3
	goFd     = 4
)

func TestMain(m *testing.M) {
	if text := os.Getenv(scenarioVariable); text != "" {
		var sc scenario
		if err := json.Unmarshal([]byte(text), &sc); err != nil {
			panic(err)
		}
		play(sc)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func play(sc scenario) {
	if sc.Apart != "" {
		playApart(sc)
		return
	}
	ctx := context.Background()
	if len(sc.Heeds) > 0 {
		var all []os.Signal
		for _, s := range sc.Heeds {
			all = append(all, s)
		}
		var stop func()
		ctx, stop = signal.NotifyContext(ctx, all...)
		defer stop()
	}
	if sc.Held {
		os.Stdout.WriteString("held\n")
		os.NewFile(goFd, "go").Read(make([]byte, 1))
	}
	o := Options{CI: sc.CI, Tty: sc.Tty, NonInteractive: sc.NonInteractive}
	o.timing = timing{quiet: 1, report: max(sc.Report, 20*time.Millisecond), settle: 1, grace: time.Millisecond}
	keys := 0
	o.onKey = func(key) {
		switch keys++; keys {
		case sc.PanicOn:
			panic("the prompt broke")
		case sc.RestoreAllOn:
			tty.RestoreAll()
			os.Exit(0)
		}
	}
	a, err := New(o).Respond(ctx, sc.Question, sc.State)
	out := outcome{Answer: a}
	if err != nil {
		out.Err = err.Error()
		out.NoAnswer = errors.Is(err, looprun.ErrNoAnswer)
		out.Interrupted = errors.Is(err, looprun.ErrInterrupted)
		out.Asked = errors.Is(err, ErrAsked)
	}
	json.NewEncoder(os.NewFile(reportFd, "report")).Encode(out)
}

// playApart is the shell of the scenario.
func playApart(sc scenario) {
	foreground := sc.Apart == "job"
	sc.Apart = ""
	text, _ := json.Marshal(sc)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), scenarioVariable+"="+string(text))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(reportFd, "report"), os.NewFile(goFd, "go")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: foreground, Ctty: 0}
	signal.Ignore(syscall.SIGTTOU)
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || !status.Stopped() {
			return
		}
		unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp())
		os.Stdout.WriteString("the job is stopped\n")
		os.NewFile(goFd, "go").Read(make([]byte, 1))
		unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, cmd.Process.Pid)
		cmd.Process.Signal(syscall.SIGCONT)
	}
}

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
const patience = 20 * time.Second

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

const (
	up    = "\x1b[A"
	down  = "\x1b[B"
	enter = "\r"
	ctrlC = "\x03"
	ctrlD = "\x04"
	ctrlZ = "\x1a"
)

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
		return marked(screen) == label && strings.Contains(screen, "arrows move")
	})
}

// marked is the label of the item with the cursor; there must be one cursor.
func marked(screen string) string {
	found := ""
	for _, line := range strings.Split(screen, "\n") {
		if rest, ok := strings.CutPrefix(line, "> "); ok {
			if found != "" {
				return "two cursors"
			}
			found, _, _ = strings.Cut(strings.TrimSpace(rest), "  – ")
		}
	}
	return found
}

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
