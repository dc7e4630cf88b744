package statusline

import (
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

func TestKnowsMark(t *testing.T) {
	for _, c := range []struct {
		env  string
		want bool
	}{
		{"", false},
		{"TERM=xterm-256color", false},
		{"WT_SESSION=1", true},
		{"ConEmuANSI=ON", true},
		{"ConEmuANSI=OFF", false},
		{"TERM_PROGRAM=ghostty TERM_PROGRAM_VERSION=1.2.0", true},
		{"TERM_PROGRAM=ghostty TERM_PROGRAM_VERSION=1.1.3", false},
		{"TERM_PROGRAM=ghostty", false},
		{"TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.6.6", true},
		{"TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.6.5", false}, // it would pop up a notification
		{"TERM_PROGRAM=iTerm.app TERM_PROGRAM_VERSION=3.10.0", true},
		{"TERM_PROGRAM=WezTerm TERM_PROGRAM_VERSION=20250209-182623-44866cc1", true},
		{"TERM_PROGRAM=WezTerm TERM_PROGRAM_VERSION=20240203-110809-5046fc22", false},
		{"TERM_PROGRAM=mintty TERM_PROGRAM_VERSION=3.7.0", true},
		{"TERM_PROGRAM=Apple_Terminal TERM_PROGRAM_VERSION=999", false},
		{"TERM_PROGRAM=vscode TERM_PROGRAM_VERSION=1.99.0 VTE_VERSION=", false},
		{"VTE_VERSION=8000", true},
		{"VTE_VERSION=7802", false},
		{"KONSOLE_VERSION=250400", true},
		{"KONSOLE_VERSION=241203", false},
		{"WT_SESSION=1 TMUX=/tmp/x", false},
		{"WT_SESSION=1 TERM=screen-256color", false},
		{"WT_SESSION=1 TERM=tmux-256color", false},
		{"WT_SESSION=1 STY=1", false},
	} {
		env := map[string]string{}
		for _, v := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		if got := KnowsMark(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("%s: %v", c.env, got)
		}
	}
}

func TestMarkOf(t *testing.T) {
	for _, c := range []struct {
		s              Status
		state, percent int
	}{
		{Status{}, markBusy, 0},
		{Status{Limit: 10}, markNormal, 0},
		{Status{Limit: 10, Done: 3}, markNormal, 30},
		{Status{Limit: 10, Done: 3, Runtime: time.Minute, Elapsed: 45 * time.Second}, markNormal, 75},
		{Status{Runtime: time.Minute, Elapsed: 45 * time.Second}, markNormal, 75},
		{Status{Runtime: time.Minute, Elapsed: 3 * time.Minute}, markNormal, 100},
		{Status{Limit: 10, Done: 10, Stuck: true}, markError, 100},
		{Status{Limit: 10, Done: 5, Waiting: true}, markPaused, 50},
	} {
		if got := markOf(c.s); got.state != c.state || got.percent != c.percent {
			t.Errorf("%+v: %+v", c.s, got)
		}
	}
}

// The mark is set when it changes, set again before a terminal forgets it, and
// removed in the end and when looprun is stopped.
func TestMark(t *testing.T) {
	s := newStage(Options{Mark: true})
	wrote := func(want string) {
		t.Helper()
		if got := s.raw.String(); got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
		s.raw.Reset()
	}
	s.begin()
	wrote("\x1b]9;4;1;0\x1b\\")
	s.quiet()
	wrote("")
	s.clock = s.clock.Add(markAgain)
	s.quiet()
	wrote("\x1b]9;4;1;0\x1b\\")
	s.clock = s.clock.Add(3 * time.Minute)
	s.quiet()
	wrote("\x1b]9;4;1;20\x1b\\")
	st := &core.State{Iterations: 3, Limits: core.DefaultLimits(), Trip: &core.Trip{}}
	s.Observe(core.Event{Time: s.clock, Data: core.GuardTripped{}}, st)
	wrote("\x1b]9;4;2;30\x1b\\")
	s.Lend() // it stays while the question is open
	wrote("")
	s.Leave()
	wrote("\x1b]9;4;0;0\x1b\\")
	s.Retake()
	s.Retake()
	s.quiet()
	wrote("\x1b]9;4;2;30\x1b\\")
	s.Close()
	wrote("\x1b]9;4;0;0\x1b\\")
	s.begin()
	s.quiet()
	wrote("")

	s = newStage(Options{Mark: true})
	s.ours = false
	s.begin()
	s.Close()
	wrote("") // where none was set none is removed
	s = newStage(Options{Line: true})
	s.begin()
	s.Close()
	wrote("")
}
