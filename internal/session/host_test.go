package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/looprun/looprun/escalate/policy"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/scratchpad"
)

// What a host returns leaves its machine: an answer of the policy and what was verified
// for it hold none of the secrets that are there.
func TestAnAnswerOfAHostIsMasked(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	const text = `version: 1
rules: [{guard: max_iterations, answer: accept, verify: "echo %[1]s", reason: "It has %[1]s."}]
`
	recorded, err := json.Marshal(Recorded{Command: []string{"true"}, Policy: policy.Sources{{Name: "policy.yaml", Text: fmt.Sprintf(text, secret)}}})
	if err != nil {
		t.Fatal(err)
	}
	run, err := scratchpad.CreateAs(t.TempDir(), "20260102-030405-0a1b", scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for _, env := range [][]string{nil, {"DEPLOY_TOKEN=" + secret}} {
		h, err := NewHost(HostOptions{
			Started: core.RunStarted{RunID: "test", Config: recorded}, Run: run, Dir: t.TempDir(), Env: append(env, "PATH=/usr/bin:/bin"),
			Say: &console.Observer{Messages: console.Messages{W: t.Output()}},
		})
		if err != nil {
			t.Fatal(err)
		}
		st := &core.State{}
		if err := st.Apply(core.Event{Seq: 1, Data: core.RunStarted{RunID: "test", Command: []string{"true"}}}); err != nil {
			t.Fatal(err)
		}
		r, err := h.Respond(t.Context(), core.Question{ID: "q", Guard: core.MaxIterations, Options: []core.Option{{ID: "accept", Action: core.ActionAccept}, {ID: "cancel", Action: core.ActionCancel}}}, st)
		if err != nil || r.Answer == nil || len(r.Events) == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		got := fmt.Sprintf("%+v %s", r.Events, r.Answer.Reason)
		want := "It has " + secret
		if env != nil {
			want = "It has ***."
		}
		if !strings.Contains(got, want) || strings.Contains(got, secret) != (env == nil) {
			t.Errorf("with %q: %s", env, got)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A worker relies on nobody for what it must not do: options that name its own files, or
// something that only the machine of a person has, are refused where they would be used.
func TestAHostRefusesFilesOfItsMachine(t *testing.T) {
	run, err := scratchpad.CreateAs(t.TempDir(), "20260102-030405-0a1b", scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	for name, o := range map[string]string{
		"stdin":       `{"stdin":"/etc/hostname"}`,
		"templates":   `{"templates":["/etc"]}`,
		"result":      `{"result":"/tmp/result.json"}`,
		"interactive": `{"interactive":true}`,
		"once":        `{"once":true}`,
		"policy":      `{"policy":"/etc/policy.yaml"}`,
		"tasks":       `{"tasks":"../../tasks.md"}`,
	} {
		_, err := NewHost(HostOptions{
			Started: core.RunStarted{RunID: "test", Config: json.RawMessage(`{"options":` + o + `,"command":["cat"]}`)}, Run: run, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"},
			Say: &console.Observer{Messages: console.Messages{W: t.Output()}},
		})
		if err == nil || !strings.Contains(err.Error(), "--"+name+": ") || !strings.Contains(err.Error(), "; ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
