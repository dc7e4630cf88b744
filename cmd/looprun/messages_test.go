package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun"
)

// While a limit is waited out a person sees how long it still takes: each minute,
// and in the last one each time.
func TestCountDown(t *testing.T) {
	var out bytes.Buffer
	m := &messages{w: &out}
	begin := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	until := begin.Add(150 * time.Second)
	s := &looprun.State{Until: &until}
	m.observe(looprun.Event{Time: begin, Data: looprun.WaitStarted{Match: "limit reached", Until: until}}, s)
	for after := 10 * time.Second; after <= 160*time.Second; after += 10 * time.Second {
		m.observe(looprun.Event{Time: begin.Add(after), Data: looprun.RunAlive{}}, s)
	}
	m.observe(looprun.Event{Time: until, Data: looprun.WaitFinished{}}, s)
	m.observe(looprun.Event{Time: until, Data: looprun.RunAlive{}}, &looprun.State{})
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		lines = append(lines, strings.TrimPrefix(line, "looprun: "))
	}
	want := "waiting: 2m20s left, waiting: 1m20s left, waiting: 1m0s left, waiting: 50s left, waiting: 40s left, waiting: 30s left, waiting: 20s left, waiting: 10s left, the wait is over"
	if got := strings.Join(lines, ", "); got != want {
		t.Errorf("said %s", got)
	}
}

// What an iteration warns of is said once, with -q too.
func TestWarningsOfIterations(t *testing.T) {
	var out strings.Builder
	m := &messages{w: &out, flags: outputFlags{Quiet: true}}
	for n := range 3 {
		d := looprun.IterationFinished{Iteration: n, Outcome: looprun.OutcomeDone, Warnings: []string{"something is left"}}
		m.observe(looprun.Event{Data: d}, &looprun.State{})
	}
	if want := "looprun: warning: something is left\n"; out.String() != want {
		t.Errorf("it says %q, want %q", out.String(), want)
	}
}
