//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
)

// watched starts looprun on a terminal of that width, with variables over those of
// the tests' terminal.
func watched(t *testing.T, columns int, env []string, args ...string) *screen {
	t.Helper()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return watchedBy(t, columns, env, exec.Command(file, args...))
}

func watchedBy(t *testing.T, columns int, env []string, cmd *exec.Cmd) *screen {
	t.Helper()
	s := &screen{started: started{Cmd: cmd, dir: t.TempDir()}}
	s.term = newScreen(s, columns, 24)
	s.Dir = s.dir
	s.Env = append(append(os.Environ(), "LOOPRUN_STATE_DIR="+filepath.Join(s.dir, "state"), "CI=", "LOOPRUN=", "TMUX=", "STY=", "WT_SESSION=", "TERM=xterm", "NO_COLOR=1"), env...)
	s.show(t, columns, 24)
	return s
}

func newScreen(s *screen, columns, rows int) vt10x.Terminal {
	return vt10x.New(vt10x.WithSize(columns, rows), vt10x.WithWriter(replies{s}))
}

// drawing is the status line as it is drawn and erased.
var drawing = regexp.MustCompile("\r\x1b7\x1b\\[m([^\n]*?)\x1b\\[[KJ]\x1b8")

// lines are the status lines that were drawn, and rest is everything else that the
// terminal was sent.
func (s *screen) drawn() (lines []string, rest string) {
	raw := s.stdout.String()
	for _, m := range drawing.FindAllStringSubmatchIndex(raw, -1) {
		if m[2] >= 0 && m[2] < m[3] {
			lines = append(lines, raw[m[2]:m[3]])
		}
	}
	return lines, drawing.ReplaceAllString(raw, "")
}

// sent reports whether the terminal was sent the text, wherever it stands there.
func (s *screen) sent(text string) func() bool {
	return func() bool { return strings.Contains(s.stdout.String(), text) }
}

func (s *screen) draws(text string) func() bool {
	return func() bool {
		lines, _ := s.drawn()
		return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, text) })
	}
}

// pausing prints pieces with pauses. Behind a line that is until a file go-N is
// there; behind part of one it is long enough for the status line to be drawn.
const pausing = `n=0
for piece in "$@"; do
  printf "$piece"
  n=$((n + 1)); touch "printed-$n"
  case "$piece" in
  *'\n') while [ ! -e "go-$n" ]; do sleep 0.02; done ;;
  *) sleep 0.4 ;;
  esac
done`

// The bytes of the command arrive unchanged and in order around the line, at any
// width; the line fits, stands only at the start of a line, and is gone in the end.
func TestTheStatusLineLeavesOutputAlone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns int
		line    string
	}{
		{120, "looprun: iteration 1 of 10 · "},
		{40, "looprun: iteration 1 of 10 · "},
		{14, "1/10 · "},
	} {
		t.Run(fmt.Sprint(c.columns), func(t *testing.T) {
			t.Parallel()
			pieces := []string{`plain\n`, `\033[31mred\n`, `still red\033[0m\n`, `日本語のとても長い一行がここに続いて端末の幅を超える\n`, `no end`, `; end\n`, `50%% \r`, `100%%\n`}
			s := watched(t, c.columns, nil, slices.Concat([]string{"--", "sh", "-c", pausing, "sh"}, pieces)...)
			for n, piece := range pieces {
				until(t, "it is printed", s.has(fmt.Sprint("printed-", n+1)))
				if !strings.HasSuffix(piece, `\n`) {
					continue
				}
				before, _ := s.drawn()
				until(t, "the line is drawn after "+piece, func() bool { now, _ := s.drawn(); return len(now) > len(before) })
				if err := os.WriteFile(s.file(fmt.Sprint("go-", n+1)), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.ended(t); got != 0 {
				t.Errorf("ended with %d", got)
			}
			until(t, "all is shown", s.closed)
			lines, rest := s.drawn()
			var want strings.Builder
			for _, p := range pieces {
				want.WriteString(strings.NewReplacer(`\n`, "\r\n", `\033`, "\x1b", `\r`, "\r", `%%`, "%").Replace(p))
			}
			begin := "looprun: iteration 1 of 10\r\n"
			got, ok := strings.CutPrefix(rest, begin)
			got, _, ended := strings.Cut(got, "looprun: iteration 1: done")
			if !ok || !ended || got != want.String() {
				t.Errorf("arrived as\n%q, want\n%q", rest, begin+want.String())
			}
			for _, l := range lines {
				if !strings.HasPrefix(l, c.line) || len([]rune(l)) >= c.columns {
					t.Errorf("drawn: %q", l)
				}
			}
			raw := s.stdout.String()
			for _, m := range drawing.FindAllStringIndex(raw, -1) {
				before := drawing.ReplaceAllString(raw[:m[0]], "")
				if !strings.HasSuffix(before, "\n") && !strings.HasSuffix(before, "\n\x1b[0m") {
					t.Errorf("drawn behind %q", before[max(0, len(before)-20):])
				}
			}
			if shown := s.term.String(); strings.Contains(shown, " of 15m") || strings.Contains(shown, "1/10 ·") {
				t.Errorf("it is still there:\n%s", shown)
			}
		})
	}
}

// What the line says follows the run.
func TestTheStatusLineSaysWhereItStands(t *testing.T) {
	t.Parallel()
	work := `echo "--- FAIL: TestA (0.01s)"; while [ ! -e go-$LOOPRUN_ITERATION ]; do sleep 0.02; done; exit 1`
	s := watched(t, 120, nil, "--non-interactive", "--", "sh", "-c", work)
	for n, says := range []string{"iteration 1 of 10 · 0s of 15m", "iteration 2 of 10 · ", "1 failing · 2 of 3 alike"} {
		until(t, says, s.draws(says))
		if err := os.WriteFile(s.file(fmt.Sprint("go-", n+1)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.ended(t); got != 111 {
		t.Errorf("ended with %d", got)
	}
}

const waitForGo = `echo begun; while [ ! -e go ]; do sleep 0.02; done; echo over`

// Where nothing may be drawn, nothing is: no sequence of looprun's reaches it.
func TestWhereThereIsNoStatusLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env, flags []string
	}{
		"dumb terminal":     {env: []string{"TERM=dumb"}},
		"unknown terminal":  {env: []string{"TERM="}},
		"--progress off":    {flags: []string{"--progress", "off"}},
		"the variable":      {env: []string{"LOOPRUN_PROGRESS=off"}},
		"-q":                {flags: []string{"-q"}},
		"JSON":              {flags: []string{"--log-format", "json"}},
		"CI":                {env: []string{"CI=true"}},
		"a CI system":       {env: []string{"GITHUB_ACTIONS=true"}},
		"CI, not spoken to": {env: []string{"CI=true"}, flags: []string{"--ci", "off"}},
		"in another run":    {env: []string{"LOOPRUN=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := watched(t, 80, append(c.env, "WT_SESSION=1"), append(c.flags, "--", "sh", "-c", "echo begun; sleep 0.5; echo over")...)
			if got := s.ended(t); got != 0 {
				t.Errorf("ended with %d", got)
			}
			until(t, "all is shown", s.closed)
			if strings.Contains(s.stdout.String(), "\x1b") {
				t.Errorf("sent %q", s.stdout.String())
			}
		})
	}
}

// With colours switched off the line has none, and without that it has.
func TestTheStatusLinesColours(t *testing.T) {
	t.Parallel()
	for env, coloured := range map[string]bool{"NO_COLOR=1": false, "NO_COLOR=": true} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			s := watched(t, 80, []string{env}, "--", "sh", "-c", waitForGo)
			until(t, "it is drawn", s.draws("iteration 1 of 10"))
			if lines, _ := s.drawn(); strings.Contains(lines[0], "\x1b[") != coloured {
				t.Errorf("drawn: %q", lines[0])
			}
			_ = s.Process.Signal(syscall.SIGTERM)
			s.ended(t)
		})
	}
}

// However the run ends, and while it is stopped, the line is gone.
func TestTheStatusLineIsErased(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"interrupt": syscall.SIGINT, "terminate": syscall.SIGTERM, "quit": syscall.SIGQUIT} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := watched(t, 80, nil, "--", "sh", "-c", waitForGo)
			until(t, "it is drawn", s.shows(" of 15m"))
			if sig == syscall.SIGINT {
				s.keys(t, "\x03")
			} else if err := s.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			s.ended(t)
			until(t, "the last line is there", s.closed)
			if shown := s.term.String(); strings.Contains(shown, " of 15m") {
				t.Errorf("it is still there:\n%s", shown)
			}
		})
	}
}

// Ctrl-Z leaves the terminal to the shell without the line; in the background
// nothing is drawn; fg brings it back.
func TestTheStatusLineAndJobControl(t *testing.T) {
	needs(t, "bash")
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := watchedBy(t, 100, []string{"PS1=prompt> ", "LR=" + file}, exec.Command("bash", "--norc", "--noediting", "-i"))
	until(t, "the shell is there", s.shows("prompt> "))
	s.keys(t, `"$LR" -- sh -c '`+waitForGo+"'\r")
	until(t, "it is drawn", s.shows(" of 15m"))
	s.press(t, "\x1a", "it is stopped", s.shows("Stopped"))
	if shown := s.term.String(); strings.Contains(shown, " of 15m") {
		t.Errorf("stopped, it is still there:\n%s", shown)
	}
	n := len(drawing.FindAllString(s.stdout.String(), -1))
	s.keys(t, "bg\r")
	s.keys(t, "sleep 1; echo shell-$((40+2))\r")
	until(t, "the shell goes on", s.shows("shell-42"))
	if now := drawing.FindAllString(s.stdout.String(), -1); len(now) != n {
		t.Errorf("drawn in the background: %q", now[n:])
	}
	s.keys(t, "fg\r")
	until(t, "it is drawn again", s.shows(" of 15m"))
	if err := os.WriteFile(s.file("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "it ends", s.closed)
	until(t, "it is gone", func() bool { return !strings.Contains(s.term.String(), " of 15m") })
}

// A question is never drawn over.
func TestTheStatusLineAndTheQuestion(t *testing.T) {
	t.Parallel()
	s := watched(t, 100, nil, "--max-iterations", "1", "--", "sh", "-c", `test $LOOPRUN_ITERATION = 2 && { `+waitForGo+`; exit 0; }; exit 1`)
	until(t, "the question is asked", s.shows(cancelOption))
	before, _ := s.drawn()
	s.press(t, keyDown, "the first option is under the cursor", s.shows("> 1 g  Continue +5  "))
	if now, _ := s.drawn(); len(now) != len(before) {
		t.Errorf("drawn over the question: %q", now[len(before):])
	}
	s.press(t, "\r", "it goes on", s.shows("begun"))
	until(t, "it is drawn again", s.draws("iteration 2 of 6"))
	if err := os.WriteFile(s.file("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.ended(t); got != 0 {
		t.Errorf("ended with %d", got)
	}
}

// A window that changes is heard at once, and an interactive command has the
// terminal for itself.
func TestTheStatusLineAndTheWindow(t *testing.T) {
	t.Parallel()
	s := watched(t, 120, nil, "--", "sh", "-c", waitForGo)
	until(t, "it is drawn", s.draws("looprun: iteration 1 of 10"))
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: 24, Cols: 14}); err != nil {
		t.Fatal(err)
	}
	until(t, "it is drawn narrow", func() bool {
		lines, _ := s.drawn()
		return strings.HasPrefix(lines[len(lines)-1], "1/10 · ")
	})
	_ = s.Process.Signal(syscall.SIGTERM)
	s.ended(t)

	s = watched(t, 80, nil, "-i", "--", "sh", "-c", "echo begun; sleep 0.5; echo over")
	s.ended(t)
	until(t, "all is shown", s.closed)
	if strings.Contains(s.stdout.String(), "\x1b") {
		t.Errorf("drawn beside an interactive command: %q", s.stdout.String())
	}
}

// What the command itself asks comes in the middle of an iteration, while the line
// stands there.
func TestTheStatusLineAndTheCommandsQuestion(t *testing.T) {
	t.Parallel()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := watched(t, 100, nil, "--", "sh", "-c", `while [ ! -e go ]; do sleep 0.02; done; `+file+` ask "Which one?" --confirm; sleep 0.5`)
	until(t, "it is drawn", s.shows(" of 15m"))
	if err := os.WriteFile(s.file("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "it asks", s.shows("Which one?"))
	if shown := s.term.String(); strings.Contains(shown, " of 15m") {
		t.Errorf("the line is beside the question:\n%s", shown)
	}
	before, _ := s.drawn()
	s.take(t, "n", "it is answered", s.shows("Answer: "))
	until(t, "it is drawn again", func() bool { now, _ := s.drawn(); return len(now) > len(before) })
	_ = s.Process.Signal(syscall.SIGTERM)
	s.ended(t)
}
