package policy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

// accepting is a policy that accepts if the command says so, and else pauses.
func accepting(t testing.TB, command string) *Policy {
	p := parse(t, "rules:\n  - {guard: \"*\", answer: accept, verify: "+strconv.Quote(command)+", reason: r}\n  - {guard: \"*\", answer: pause, reason: r}\n")
	p.Rules[0].VerifyTimeout = 20 * time.Second
	return p
}

func TestVerify(t *testing.T) {
	for _, c := range []struct {
		name, command string
		limit         time.Duration // zero: long enough
		accepted      bool
		why           string
		timedOut      bool
		code          int
	}{
		{"passes", "exit 0", 0, true, "", false, 0},
		{"fails", "exit 3", 0, false, `"exit 3" exited with 3`, false, 3},
		{"is a shell line", "false || true && test \"$GIVEN\" = yes", 0, true, "", false, 0},
		{"fails in a pipe's end", "true | false", 0, false, "exited with 1", false, 1},
		{"is not found", "no-such-command-at-all", 0, false, "exited with 127", false, 127},
		{"is no shell line", "if", 0, false, "exited with 2", false, 2},
		{"is killed", "kill -9 $$", 0, false, "exited with 137", false, 137},
		{"takes too long", "exec sleep 60", 100 * time.Millisecond, false, "took longer than 100ms", true, -1},
		{"exits with 0 when it is told to end", "trap 'exit 0' TERM; echo; sleep 60 & wait", 500 * time.Millisecond, false, "took longer than 500ms", true, -1},
		{"will not end", "trap '' TERM; while :; do sleep 60; done", 100 * time.Millisecond, false, "took longer than 100ms", true, -1},
		{"runs in the run's directory", "test -f marker", 0, true, "", false, 0},
		{"has no input", "read x", 0, false, "exited with 1", false, 1},
		{"has the environment given and no other", `test -z "$HOME"`, 0, true, "", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "marker"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			p := accepting(t, c.command)
			if c.limit > 0 {
				p.Rules[0].VerifyTimeout = c.limit
			}
			var ends []core.VerifyFinished
			before := 0
			o := Options{
				Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH"), "GIVEN=yes"}, KillAfter: 100 * time.Millisecond,
				BeforeVerify: func(context.Context) error { before++; return nil },
				AfterVerify:  func(v core.VerifyFinished) error { ends = append(ends, v); return nil },
			}
			e, err := p.Evaluate(t.Context(), question(t, core.MaxRuntime), state(core.MaxRuntime), o)
			want := map[bool]string{true: "accept", false: "pause"}[c.accepted]
			if err != nil || e.Answer == nil || e.Answer.Option != want {
				t.Fatalf("%+v %v, want %s", e, err, want)
			}
			if got := e.Rules[0]; got.Matched != c.accepted || !strings.Contains(got.Why, c.why) {
				t.Errorf("%+v, want %q", got, c.why)
			}
			if before != 1 || len(ends) != 1 || *e.Rules[0].Verify != ends[0] {
				t.Fatalf("told %d times before, and %+v", before, ends)
			}
			v := ends[0]
			if v.Rule != "p.yaml:3" || v.Command != c.command || v.TimedOut != c.timedOut || (c.code >= 0 && v.ExitCode != c.code) || v.DurationMS > 15000 {
				t.Errorf("%+v", v)
			}
		})
	}
}

// A rule's own time limit comes before that of the file.
func TestVerifyTimeoutOfARule(t *testing.T) {
	p := parse(t, `
verify_timeout: 10m
rules:
  - {guard: "*", answer: accept, verify: exec sleep 60, verify_timeout: 100ms, reason: r}
  - {guard: "*", answer: pause, reason: r}
`)
	e, err := p.Evaluate(t.Context(), question(t, core.MaxRuntime), state(core.MaxRuntime), Options{KillAfter: 100 * time.Millisecond})
	if err != nil || e.Answer == nil || e.Answer.Option != "pause" || !strings.Contains(e.Rules[0].Why, "took longer than 100ms") {
		t.Errorf("%+v %v", e, err)
	}
}

// A verify command runs only if nothing else keeps its rule from matching.
func TestVerifyRunsLast(t *testing.T) {
	for name, text := range map[string]string{
		"another guard":          "rules: [{guard: max_iterations, answer: accept, verify: touch ran, reason: r}]",
		"a condition":            `rules: [{guard: max_runtime, when: improved, answer: accept, verify: touch ran, reason: r}]`,
		"a spent budget":         "budget: {continues: 1}\nrules: [{guard: max_runtime, answer: continue, verify: touch ran, reason: r}]",
		"given already":          "rules: [{guard: max_runtime, answer: pause, verify: touch ran, reason: r}]",
		"an earlier rule":        `rules: [{guard: "*", answer: cancel, when: trips > 0, reason: r}, {guard: "*", answer: accept, verify: touch ran, reason: r}]`,
		"an option that is gone": "rules: [{guard: [max_runtime, loop_detected], answer: new_approach, verify: touch ran, reason: r}]",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			q, s := question(t, core.MaxRuntime), state(core.MaxRuntime)
			s.PolicyContinues = 1
			q.Given = []core.Given{{Option: "pause", Responder: "policy", Rule: "p.yaml:2"}}
			_, _ = parse(t, text).Responder(Options{Dir: dir, BeforeVerify: func(context.Context) error {
				t.Error("something was about to run")
				return nil
			}}).Respond(t.Context(), q, s)
			if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
				t.Error("the command ran")
			}
		})
	}
	// Looking at a policy runs nothing.
	dir := t.TempDir()
	for _, v := range []Verifying{VerifyFail, VerifyPass} {
		if _, err := accepting(t, "touch ran").Evaluate(t.Context(), question(t, core.MaxRuntime), state(core.MaxRuntime), Options{Dir: dir, Verifying: v}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the command ran")
	}
	// A run verifies, whatever else the options say.
	if a, err := accepting(t, "exit 1").Responder(Options{Verifying: VerifyPass}).Respond(t.Context(), question(t, core.MaxRuntime), state(core.MaxRuntime)); a.Option != "pause" {
		t.Errorf("%+v %v", a, err)
	}
}

// When nothing can be decided there is no answer, not even that of a later rule.
func TestVerifyErrors(t *testing.T) {
	boom := errors.New("the disk is full")
	stopped, stop := context.WithCancelCause(t.Context())
	for _, c := range []struct {
		name string
		ctx  context.Context
		o    Options
		want error
	}{
		{"before", t.Context(), Options{BeforeVerify: func(context.Context) error { return boom }}, boom},
		{"after", t.Context(), Options{AfterVerify: func(core.VerifyFinished) error { return boom }}, boom},
		{"interrupted", stopped, Options{BeforeVerify: func(context.Context) error { stop(boom); return nil }}, boom},
	} {
		a, err := accepting(t, "exit 0").Responder(c.o).Respond(c.ctx, question(t, core.MaxRuntime), state(core.MaxRuntime))
		if !errors.Is(err, c.want) || a.Option != "" || !strings.HasPrefix(err.Error(), "p.yaml:3: ") {
			t.Errorf("%s: %+v %v", c.name, a, err)
		}
	}
	// An interrupt ends the command at once.
	ctx, stop := context.WithCancelCause(t.Context())
	_, err := accepting(t, "echo started; exec sleep 600").Responder(Options{Output: func([]byte) { stop(boom) }}).Respond(ctx, question(t, core.MaxRuntime), state(core.MaxRuntime))
	if !errors.Is(err, boom) {
		t.Error(err)
	}
}
