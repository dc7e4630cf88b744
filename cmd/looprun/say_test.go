package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun"
)

func environment(text string) func(string) string {
	env := map[string]string{}
	for _, v := range strings.Fields(text) {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	return func(name string) string { return env[name] }
}

// The flag beats the environment, the environment beats the terminal.
func TestColours(t *testing.T) {
	for _, c := range []struct {
		flag, env string
		terminal  bool
		want      bool
	}{
		{"auto", "", true, true},
		{"auto", "", false, false},
		{"always", "NO_COLOR=1 TERM=dumb", false, true},
		{"never", "FORCE_COLOR=1", true, false},
		{"auto", "NO_COLOR=1", true, false},
		{"auto", "NO_COLOR=", true, true},
		{"auto", "NO_COLOR=1 FORCE_COLOR=1", true, false},
		{"auto", "FORCE_COLOR=1", false, true},
		{"auto", "FORCE_COLOR=0", true, false},
		{"auto", "FORCE_COLOR=false", true, false},
		{"auto", "FORCE_COLOR=", false, false},
		{"auto", "CLICOLOR=0", true, false},
		{"auto", "CLICOLOR=1", false, false},
		{"auto", "CLICOLOR_FORCE=1", false, true},
		{"auto", "CLICOLOR_FORCE=0", false, false},
		{"auto", "TERM=dumb", true, false},
		{"auto", "TERM=dumb FORCE_COLOR=1", true, true},
	} {
		if got := colours(c.flag, c.terminal, environment(c.env)); got != c.want {
			t.Errorf("--color %s, %q, terminal %v: %v", c.flag, c.env, c.terminal, got)
		}
	}
}

func TestMessagesInColour(t *testing.T) {
	var out bytes.Buffer
	m := &messages{w: &out, colour: true}
	m.news("news")
	m.header("iteration 1")
	m.warn("one\ntwo")
	m.problem(errors.New("wrong \x1b[31mred\x1b[0m"))
	m.detail("not shown")
	const by = "\x1b[2mlooprun:\x1b[m "
	want := by + "news\n" + by + "\x1b[1miteration 1\x1b[m\n" + by + "\x1b[33mwarning: one\x1b[m\n" + by + "\x1b[33mtwo\x1b[m\n" + by + "\x1b[31mwrong red\x1b[m\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

// In JSON a message is an object on one line, whatever is in it.
func TestMessagesAsJSON(t *testing.T) {
	var out bytes.Buffer
	m := &messages{w: &out, colour: true, flags: outputFlags{LogFormat: "json", Verbose: true}}
	m.warn("one\ntwo \x1b[31m\"red\"")
	m.observe(looprun.Event{Data: looprun.RunStarted{RunID: "r", Dir: "/d"}}, &looprun.State{RunID: "r"})
	m.problem(errors.New("wrong"))
	m.summarize(&looprun.State{RunID: "r", Iterations: 2}, looprun.Result{RunID: "r", Iterations: 2, Ending: looprun.Ending{Status: looprun.StatusTripped, Guard: looprun.LoopDetected}}, 111, "")
	var got []string
	for line := range strings.Lines(out.String()) {
		var o struct {
			Time                  time.Time
			Level, Message, Event string
			Run                   string `json:"run_id"`
			Fields                struct{ Status, Guard string }
			ExitCode              int
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil || o.Time.IsZero() {
			t.Fatalf("%q: %v", line, err)
		}
		got = append(got, strings.Join([]string{o.Level, o.Message, o.Event, o.Run, o.Fields.Status, o.Fields.Guard}, "|"))
	}
	want := []string{
		"warning|one\ntwo \"red\"||||",
		"debug|run r in /d|run.started|r||",
		"error|wrong||r||",
		"warning|tripped (loop_detected) after 2 iterations, 0s; exit 111; next: looprun explain r||r|tripped|loop_detected",
	}
	if strings.Join(got, "\n\n") != strings.Join(want, "\n\n") {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

// A wrong command line is reported in the format that it asks for.
func TestEarlyFormat(t *testing.T) {
	for args, want := range map[string]string{
		"": "", "--log-format json": "json", "--log-format=json": "json", "-- x --log-format=json": "", "--log-format": "", "--log-format text -- x": "text",
	} {
		t.Setenv("LOOPRUN_LOG_FORMAT", "")
		if got := earlyFormat(strings.Fields(args)); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	t.Setenv("LOOPRUN_LOG_FORMAT", "json")
	if got := earlyFormat([]string{"--color", "x"}); got != "json" {
		t.Errorf("by the variable: %q", got)
	}
}
