//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/inputfile"
)

// ending is one way for a run to end, by the binary.
type ending struct {
	name   string
	args   []string
	policy string // the rule, in YAML; empty: no policy
	signal syscall.Signal
	code   int
	status core.Status
	guard  core.GuardID
	has    map[string]any // further fields
}

const rejecting = `LOOPRUN reject --task importer --agent fixer --reason-type BLOCKER --summary 'The registry is down.' ` +
	`--detail 'It answers 503 since noon.' --attempted 'ran npm ci twice' --attempted 'used the mirror' ` +
	`--blocking-factor 'the registry answers 503' --evidence 'type=api_response,data=503,source=curl' --alternative 'Run it again once the registry answers'; exit 1`

var endings = []ending{
	{name: "done", args: []string{"--", "true"}, status: core.StatusDone, has: map[string]any{"signature": "pass", "pending": false}},
	{name: "done before it began", args: []string{"--check", "true", "--", "false"}, status: core.StatusDone},
	{name: "tripped", args: []string{"--max-iterations", "1", "--", "false"}, code: 110, status: core.StatusTripped, guard: core.MaxIterations},
	{name: "tripped by a loop", args: []string{"-c", "echo Error: same; exit 1"}, code: 111, status: core.StatusTripped, guard: core.LoopDetected},
	{name: "tripped by errors", args: []string{"--max-errors", "1", "--error-codes", "9", "-c", "exit 9"}, code: 112, status: core.StatusTripped, guard: core.ConsecutiveErrors},
	{name: "tripped by the cost", args: []string{"--max-cost", "1", "-c", "LOOPRUN signal cost --usd 1.25; exit 1"}, code: 113, status: core.StatusTripped, guard: core.MaxCost},
	{name: "tripped in the middle", args: []string{"--max-runtime", "100ms", "--", "sleep", "30"}, code: 124, status: core.StatusTripped, guard: core.MaxRuntime},
	{name: "tripped by a rejection", args: []string{"-c", rejecting}, code: 115, status: core.StatusTripped, guard: core.Rejection},
	{
		name: "accepted", args: []string{"--max-iterations", "1", "--", "false"}, policy: "guard: max_iterations, answer: accept",
		code: 100, status: core.StatusAccepted, guard: core.MaxIterations,
		has: map[string]any{"decision": "accept", "responder": "policy", "reason": "Why."},
	},
	{
		name: "accepted with another code", args: []string{"--exit-code", "accepted=0", "--max-iterations", "1", "--", "false"}, policy: "guard: max_iterations, answer: accept",
		status: core.StatusAccepted, guard: core.MaxIterations,
	},
	{
		name: "cancelled", args: []string{"--max-iterations", "1", "--", "false"}, policy: "guard: max_iterations, answer: cancel",
		code: 101, status: core.StatusCancelled, guard: core.MaxIterations,
	},
	{
		name: "paused", args: []string{"--max-iterations", "1", "--", "false"}, policy: "guard: max_iterations, answer: pause",
		code: 102, status: core.StatusPaused, guard: core.MaxIterations, has: map[string]any{"pending": false},
	},
	{
		name: "deferred", args: []string{"--detached", "defer", "--max-iterations", "1", "--", "false"},
		code: 102, status: core.StatusPaused, has: map[string]any{"pending": true},
	},
	{
		name: "rejected", args: []string{"-c", rejecting}, policy: "guard: rejection, answer: accept",
		code: 103, status: core.StatusRejected, guard: core.Rejection,
	},
	{name: "not found", args: []string{"--", "./nowhere"}, code: 127, status: core.StatusFailed},
	{name: "not executable", args: []string{"--", "."}, code: 126, status: core.StatusFailed},
	{name: "stopped by its code", args: []string{"--stop-codes", "7", "-c", "exit 7"}, code: 7, status: core.StatusFailed},
	{name: "interrupted by itself", args: []string{"-c", "kill -INT $$"}, code: 130, status: core.StatusInterrupted},
	{name: "SIGINT", args: []string{"-c", "touch begun; sleep 30"}, signal: syscall.SIGINT, code: 130, status: core.StatusInterrupted},
	{name: "SIGTERM", args: []string{"-c", "touch begun; sleep 30"}, signal: syscall.SIGTERM, code: 143, status: core.StatusInterrupted},
	{name: "SIGHUP", args: []string{"-c", "touch begun; sleep 30"}, signal: syscall.SIGHUP, code: 129, status: core.StatusInterrupted},
}

// Every status that a run can end with is in a result.json that is right by its
// schema, and says what the process exited with.
func TestResultsByTheirSchema(t *testing.T) {
	t.Parallel()
	schema := validator(t, "result")
	var seen []core.Status
	for _, e := range endings {
		seen = append(seen, e.status)
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			e.check(t, schema)
		})
	}
	for _, s := range core.Statuses() {
		if !slices.Contains(seen, s) {
			t.Errorf("no run ends as %s", s)
		}
	}
}

func (e ending) check(t *testing.T, schema *jsonschema.Schema) {
	dir := t.TempDir()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--result", "verdict.json", "--non-interactive"}
	if e.policy != "" {
		text := "version: 1\nrules: [{" + e.policy + ", reason: Why.}]\n"
		if err := os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--policy", "policy.yaml")
	}
	for _, a := range e.args {
		args = append(args, string(bytes.ReplaceAll([]byte(a), []byte("LOOPRUN "), []byte(file+" "))))
	}
	run := begin(t, dir, args...)
	if e.signal != 0 {
		until(t, "the command begins", func() bool { return inputfile.IsFile(filepath.Join(dir, "begun")) })
		if err := run.Process.Signal(e.signal); err != nil {
			t.Fatal(err)
		}
	}
	err = run.Wait()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	code := run.ProcessState.ExitCode()
	if s, ok := run.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		code = 128 + int(s.Signal())
	}
	if code != e.code {
		t.Errorf("it exited with %d, want %d", code, e.code)
	}
	text, err := os.ReadFile(filepath.Join(dir, "verdict.json"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "state", "*", "result.json"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("result.json: %v, %v", kept, err)
	}
	if own, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(own, text) {
		t.Errorf("--result is no copy of result.json (%v)", err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	want := map[string]any{"status": string(e.status), "guard": string(e.guard), "run_id": filepath.Base(filepath.Dir(kept[0]))}
	for key, value := range e.has {
		want[key] = value
	}
	got, _ := v.(map[string]any)
	for key, value := range want {
		if key == "guard" && e.guard == "" && e.status == core.StatusPaused {
			continue // that of the question
		}
		if got[key] != value {
			t.Errorf("%s is %v, want %v", key, got[key], value)
		}
	}
	if n, _ := got["exit_code"].(interface{ Int64() (int64, error) }).Int64(); int(n) != code {
		t.Errorf("it says exit code %v, and was %d", got["exit_code"], code)
	}
}

// What no run can end with is refused.
func TestWrongResults(t *testing.T) {
	schema := validator(t, "result")
	right := map[string]any{
		"schema": "looprun.dev/result/v1", "run_id": "20260102-150405-3f9a", "status": "done", "exit_code": 0, "guard": "", "decision": "",
		"responder": "", "reason": "", "rule": "", "iterations": 1, "runtime_seconds": 0.5, "signature": "pass", "trips": 0, "cost_usd": 0.0, "tokens": 0, "pending": false,
	}
	if err := schema.Validate(right); err != nil {
		t.Fatal(err)
	}
	for key, values := range map[string][]any{
		"schema": {"looprun.dev/result/v2"}, "status": {"running", "crashed", ""}, "exit_code": {-1, 256, "0"}, "guard": {"max_iteration", nil},
		"responder": {"nobody"}, "iterations": {-1, 1.5}, "runtime_seconds": {-1}, "trips": {-1}, "cost_usd": {-0.5}, "pending": {"no"}, "decided_at": {"noon"}, "warnings": {[]any{}, []any{1}, "w"}, "other": {1},
	} {
		for _, value := range values {
			wrong := map[string]any{key: value}
			for k, v := range right {
				if k != key {
					wrong[k] = v
				}
			}
			if schema.Validate(wrong) == nil {
				t.Errorf("%s can be %v", key, value)
			}
		}
	}
	for key := range right {
		less := map[string]any{}
		for k, v := range right {
			if k != key {
				less[k] = v
			}
		}
		if schema.Validate(less) == nil {
			t.Errorf("%s can be left out", key)
		}
	}
}
