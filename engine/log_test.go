package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/looptest"
)

// logKeys are those that the documentation of LogObserver names.
var logKeys = []string{
	"run", "iteration", "outcome", "exit_code", "duration", "signature", "failing", "cause", "guard", "also", "question", "option",
	"action", "responder", "rule", "status", "iterations", "usd", "tokens", "signal", "until", "error",
}

// Whatever happens, nothing that comes from the command or from a person's words
// is logged, and no key but the documented ones.
func TestLogsHoldNoOutput(t *testing.T) {
	seen := map[string]bool{}
	state := &core.State{RunID: "r", Last: &core.IterationFinished{Excerpt: looptest.Leaked, Fatal: 127}, Ending: &core.Ending{Status: core.StatusFailed, ExitCode: 127, Reason: looptest.Leaked}}
	for _, d := range looptest.EveryEvent() {
		var out bytes.Buffer
		l := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		engine.LogObserver(t.Context(), l)(core.Event{Seq: 1, Data: d}, state)
		if strings.Contains(out.String(), "hunter2") {
			t.Errorf("%s: %s", d.Type(), out.String())
		}
		var line map[string]any
		if err := json.Unmarshal(out.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", d.Type(), err)
		}
		if line["msg"] != string(d.Type()) || line["run"] != "r" {
			t.Errorf("%s: %s", d.Type(), out.String())
		}
		for key := range line {
			if seen[key] = true; !slices.Contains(append([]string{"time", "level", "msg"}, logKeys...), key) {
				t.Errorf("%s: the key %s is not documented", d.Type(), key)
			}
		}
	}
	for _, key := range logKeys {
		if !seen[key] && key != "error" { // of looprun's own failures: TestLogsFailures
			t.Errorf("no event has the key %s", key)
		}
	}
}

// Each level has its events.
func TestLogLevels(t *testing.T) {
	finished := func(o core.Outcome) core.Data { return core.IterationFinished{Outcome: o} }
	for _, c := range []struct {
		data   core.Data
		status core.Status
		want   slog.Level
	}{
		{core.RunStarted{}, "", slog.LevelInfo},
		{core.IterationStarted{}, "", slog.LevelDebug},
		{finished(core.OutcomeNotDone), "", slog.LevelInfo},
		{finished(core.OutcomeDone), "", slog.LevelInfo},
		{finished(core.OutcomeError), "", slog.LevelWarn},
		{core.GuardTripped{}, "", slog.LevelWarn},
		{core.IterationWithdrawn{}, "", slog.LevelWarn},
		{core.QuestionClosed{Unanswered: true}, "", slog.LevelWarn},
		{core.QuestionClosed{}, "", slog.LevelInfo},
		{core.AnswerInvalid{}, "", slog.LevelWarn},
		{core.AdviceGiven{}, "", slog.LevelWarn},
		{core.MessageRefused{}, "", slog.LevelWarn},
		{core.ActionApplied{}, "", slog.LevelInfo},
		{core.SignalReceived{}, "", slog.LevelDebug},
		{core.SignalReceived{Problem: "x"}, "", slog.LevelWarn},
		{core.InterruptReceived{}, "", slog.LevelWarn},
		{core.OrderReceived{Order: core.OrderSay, Words: "a secret"}, "", slog.LevelInfo},
		{core.RunAlive{}, "", slog.LevelDebug},
		{core.RunFinished{}, core.StatusTripped, slog.LevelInfo},
		{core.RunFinished{}, core.StatusFailed, slog.LevelError},
	} {
		var got []slog.Level
		l := slog.New(levels{&got})
		engine.LogObserver(t.Context(), l)(core.Event{Data: c.data}, &core.State{Ending: &core.Ending{Status: c.status}})
		if !slices.Equal(got, []slog.Level{c.want}) {
			t.Errorf("%s (%s) is logged as %v, want %s", c.data.Type(), c.status, got, c.want)
		}
	}
}

// levels remembers the levels of what is logged.
type levels struct{ got *[]slog.Level }

func (levels) Enabled(context.Context, slog.Level) bool { return true }
func (l levels) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l levels) WithGroup(string) slog.Handler          { return l }
func (l levels) Handle(_ context.Context, r slog.Record) error {
	*l.got = append(*l.got, r.Level)
	return nil
}

// contextKey is what a handler finds its trace by.
type contextKey struct{}

// tracing is a handler that needs the context.
type tracing struct {
	slog.Handler
	traces *[]any
}

func (h tracing) Handle(ctx context.Context, r slog.Record) error {
	*h.traces = append(*h.traces, ctx.Value(contextKey{}))
	return h.Handler.Handle(ctx, r)
}

// Run gives its context to the handler, tells both the observer and the log, and
// logs why looprun itself failed.
func TestRunLogsFailures(t *testing.T) {
	var out bytes.Buffer
	var traces []any
	events := 0
	_, err := looprun.Run(context.WithValue(t.Context(), contextKey{}, "trace"), looprun.Config{
		Work:    engine.Func(func(context.Context, engine.Invocation) error { return errors.New(looptest.Leaked) }),
		Limits:  core.DefaultLimits(),
		Guards:  guards.Default(),
		Journal: &journalOnce{},
		Observe: func(core.Event, *core.State) { events++ },
		Log:     slog.New(tracing{slog.NewJSONHandler(&out, nil), &traces}),
	})
	if err == nil {
		t.Fatal("the journal did not fail")
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	last := lines[len(lines)-1]
	if !strings.Contains(last, `"level":"ERROR","msg":"run.finished"`) || !strings.Contains(last, `"error":"the journal cannot be written: no space left"`) {
		t.Errorf("the failure is not in the log: %s", out.String())
	}
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("output is in the log: %s", out.String())
	}
	if events == 0 || len(traces) == 0 || traces[0] != "trace" {
		t.Errorf("%d events, traces %v", events, traces)
	}
}

// journalOnce fails once, at the end of the first iteration.
type journalOnce struct{ failed bool }

func (j *journalOnce) Append(e core.Event) error {
	if _, ends := e.Data.(core.IterationFinished); ends && !j.failed {
		j.failed = true
		return errors.New("no space left")
	}
	return nil
}

func (j *journalOnce) Sync() error { return nil }

// Without a logger nothing is logged, and nothing breaks.
func TestNoLogger(t *testing.T) {
	engine.LogObserver(t.Context(), nil)(core.Event{Data: core.RunAlive{}}, &core.State{})
	result, err := looprun.Run(t.Context(), looprun.Config{
		Work:   engine.Func(func(context.Context, engine.Invocation) error { return nil }),
		Limits: core.DefaultLimits(), Guards: guards.Default(),
	})
	if err != nil || result.Status != core.StatusDone {
		t.Error(fmt.Sprint(result), err)
	}
}
