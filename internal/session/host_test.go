package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/scratchpad"
)

// What a host returns leaves its machine: an answer of the policy and what was verified
// for it hold none of the secrets that are there.
func TestAnAnswerOfAHostIsMasked(t *testing.T) {
	const secret = "hunter2-hunter2-hunter2"
	const text = `version: 1
rules: [{guard: max_iterations, answer: accept, verify: "echo %[1]s", reason: "It has %[1]s."}]
`
	submitted := Recorded{Command: []string{"true"}, Policy: policy.Sources{{Name: "policy.yaml", Text: fmt.Sprintf(text, secret)}}}
	submitted.Options.Policy = []string{"policy.yaml"}
	recorded, err := json.Marshal(submitted)
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
		"protect":     `{"protect":["*_test.go"]}`,
		"policy":      `{"policy":["/etc/policy.yaml"]}`,
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

// hostOf returns a host of a run with these options and this policy, empty for none.
func hostOf(t *testing.T, options, rules string) *Host {
	t.Helper()
	run, err := scratchpad.CreateAs(t.TempDir(), "20260102-030405-0a1b", scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Close() })
	r := Recorded{Command: []string{"true"}}
	if err := json.Unmarshal([]byte(options), &r.Options); err != nil {
		t.Fatal(err)
	}
	if rules != "" {
		r.Options.Policy = []string{"policy.yaml"}
		r.Policy = policy.Sources{{Name: "policy.yaml", Text: "version: 1\n" + rules}}
	}
	recorded, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHost(HostOptions{
		Started: core.RunStarted{RunID: "test", Config: recorded}, Run: run, Dir: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"},
		Say: &console.Observer{Messages: console.Messages{W: t.Output()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// Where no person is, the policy answers, or else the assistant where it may, or else the mode;
// without a mode the question waits for a person.
func TestWhoAnswersForAHost(t *testing.T) {
	const (
		accepts = `"assistant":"cat >/dev/null; echo '{\"reason\":\"good\",\"answer\":\"accept\"}'"`
		cancels = `"assistant":"cat >/dev/null; echo '{\"reason\":\"stuck\",\"answer\":\"cancel\"}'","assistant_escalation":true`
		raves   = `"assistant":"cat >/dev/null; echo continue"`
		silent  = `rules: [{guard: max_cost, answer: accept, reason: "Enough."}]`
	)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name, options, policy string
		ended                 bool   // the context has ended
		by                    string // who answers; empty: nobody
		denied                bool   // nobody will
		events                string
	}{
		{name: "nobody", options: `{}`},
		{name: "deny", options: `{"detached":"deny"}`, denied: true},
		{name: "defer", options: `{"detached":"defer"}`},
		{name: "defaults", options: `{"detached":"defaults"}`, by: core.RespondedByDetached},
		{name: "the policy", options: `{"detached":"deny"}`, policy: `rules: [{guard: max_iterations, answer: accept, reason: "Enough."}]`, by: core.RespondedByPolicy},
		{name: "a policy whose tests are wrong", options: `{}`, policy: `rules: [{guard: max_iterations, when: signature == "" || sender == "x" || "a" in failing_checks, answer: accept, reason: "Enough."}]` + "\ntests: [{facts: {guard: max_iterations, label: x}, expect: none}]", by: core.RespondedByPolicy},
		{name: "a policy without a rule for it", options: `{}`, policy: silent},
		{name: "the policy's mode", options: `{}`, policy: "detached: deny\n" + silent, denied: true},
		{name: "the run's mode, not the policy's", options: `{"detached":"defaults"}`, policy: "detached: deny\n" + silent, by: core.RespondedByDetached},
		{name: "a policy whose command fails to run", options: `{}`, policy: `rules: [{guard: max_iterations, answer: accept, verify: "exit 1", reason: "Enough."}]`, events: "verify.finished"},
		{name: "an assistant that is not for it", options: `{` + accepts + `}`},
		{name: "an assistant by the mode", options: `{"detached":"auto",` + accepts + `}`, by: core.RespondedByAssistant},
		{name: "an assistant for all guards", options: `{"assistant_for":["guards"],` + accepts + `}`, by: core.RespondedByAssistant},
		{name: "an assistant for this guard", options: `{"assistants":{"max_iterations":{"command":"cat >/dev/null; echo '{\"reason\":\"good\",\"answer\":\"accept\"}'"}}}`, by: core.RespondedByAssistant},
		{name: "the policy before an assistant", options: `{"detached":"auto",` + accepts + `}`, policy: `rules: [{guard: max_iterations, answer: accept, reason: "Enough."}]`, by: core.RespondedByPolicy},
		{name: "an assistant that raves", options: `{"detached":"auto",` + raves + `}`, denied: true, events: "answer.invalid"},
		{name: "an assistant that advises", options: `{"assistant_for":["guards"],` + cancels + `}`, events: "advice.given"},
		{name: "an assistant that advises against the default", options: `{"detached":"defaults","assistant_for":["guards"],` + cancels + `}`, denied: true, events: "advice.given"},
		{name: "an assistant after the end", options: `{"detached":"auto",` + accepts + `}`, ended: true},
		{name: "a policy after the end", options: `{"detached":"defaults"}`, policy: `rules: [{guard: max_iterations, answer: accept, verify: "true", reason: "Enough."}]`, ended: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hostOf(t, c.options, c.policy)
			st := &core.State{}
			if err := st.Apply(core.Event{Seq: 1, Data: core.RunStarted{RunID: "test", Command: []string{"true"}}}); err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			if c.ended {
				ctx = ended
			}
			q := core.Question{ID: "q", Text: "What now?", Kind: core.KindSelect, Guard: core.MaxIterations, Default: "accept", Options: []core.Option{{ID: "accept", Label: "Accept", Action: core.ActionAccept}, {ID: "cancel", Label: "Cancel", Action: core.ActionCancel}}}
			r, err := h.Respond(ctx, q, st)
			if (err != nil) != c.ended {
				t.Fatalf("%+v, %v", r, err)
			}
			if c.ended {
				return
			}
			by := ""
			if r.Answer != nil {
				by = r.Answer.Responder
			}
			var events []string
			for _, e := range r.Events {
				events = append(events, string(e.Type()))
			}
			if by != c.by || (r.Unanswered != "") != c.denied || strings.Join(events, " ") != c.events {
				t.Errorf("answered by %q, unanswered %q, %q", by, r.Unanswered, events)
			}
		})
	}
}

// An agent that decides itself needs no policy and no assistant.
func TestAnAgentOfAHostDecidesItself(t *testing.T) {
	q := core.Question{ID: "q", Kind: core.KindText, AskID: core.AgentAsks, Returned: true}
	for options, want := range map[string]bool{`{"agent_questions":"go_on"}`: true, `{"agent_questions":"ask"}`: false} {
		r, err := hostOf(t, options, "").Respond(t.Context(), q, &core.State{})
		if err != nil || (r.Answer != nil) != want {
			t.Errorf("%s: %+v, %v", options, r, err)
		}
	}
}

// A host's when_stuck answers before its policy, once, and only what a program may.
func TestWhenStuckOfAHost(t *testing.T) {
	h := hostOf(t, `{"when_stuck":"claude -p `+strings.Repeat("x", 100)+`"}`, `rules: [{guard: loop_detected, answer: cancel, reason: "Enough."}]`)
	st := looptest.Folded(t, core.RunStarted{RunID: "test", Command: []string{"true"}, Limits: looptest.Defaults})
	q := core.Question{ID: "q", Kind: core.KindSelect, Guard: core.LoopDetected, Options: []core.Option{{ID: "debug", Action: core.ActionDebug}, {ID: "again", Action: core.ActionContinue}, {ID: "cancel", Action: core.ActionCancel}}}
	by := func(q core.Question) (core.Answer, string) {
		r, err := h.Respond(t.Context(), q, st)
		if err != nil {
			t.Fatal(err)
		}
		if r.Answer == nil {
			return core.Answer{}, ""
		}
		return *r.Answer, r.Answer.Responder
	}
	if a, who := by(q); who != core.RespondedByWhenStuck || a.Option != "again" || a.Escalate != 3 || a.Reason != "now claude -p "+strings.Repeat("x", 49)+"… works for 3 iterations" {
		t.Errorf("answered %+v", a)
	}
	for _, c := range []struct {
		name   string
		change func(*core.Question)
		want   string
	}{
		{"for a person", func(q *core.Question) { q.Exclusive = true }, ""},
		{"never to go on", func(q *core.Question) { q.Never = []core.Action{core.ActionContinue} }, core.RespondedByPolicy},
		{"no way to go on", func(q *core.Question) { q.Options = q.Options[2:] }, core.RespondedByPolicy},
	} {
		changed := q
		c.change(&changed)
		if a, who := by(changed); who != c.want {
			t.Errorf("%s: answered %+v", c.name, a)
		}
	}
	st.Escalated = &core.Escalation{Until: 3}
	if a, who := by(q); who != core.RespondedByPolicy {
		t.Errorf("a second time: answered %+v", a)
	}
}

// All commands that a submitted run can start are listed, and what cannot be read lists none.
func TestTheCommandsOfASubmittedRun(t *testing.T) {
	for _, c := range []struct {
		config string
		want   []string
	}{
		{`{"command":["make","all"],"options":{"check":"make test"}}`, []string{"make all", "make test"}},
		{`{"command":["make"],"options":{"when_stuck":"claude -p"}}`, []string{"make", "claude -p"}},
		{`{"options":{"shell":"make all"}}`, []string{"make all"}},
		{`{"command":["make"],"policy":[{"name":"p.yaml","text":"version: 1\nrules: [{guard: max_iterations, answer: accept, verify: git status, reason: x}, {guard: max_cost, answer: cancel, reason: x}]\n"}]}`, []string{"make", "git status"}},
		{`{"command":["make"],"policy":[{"name":"p.yaml","text":"version: 9\n"}]}`, nil},
		{`[]`, nil},
	} {
		got, err := CommandsOf(json.RawMessage(c.config))
		if !slices.Equal(got, c.want) || (err != nil) != (c.want == nil) {
			t.Errorf("%s: %q, %v", c.config, got, err)
		}
	}
}

// A host runs no debug command that the run's state does not ask for.
func TestAHostRunsOnlyWhatIsNext(t *testing.T) {
	h := hostOf(t, `{"debug":"echo ran"}`, "")
	st := &core.State{Question: &core.Question{ID: "q", Options: []core.Option{{ID: "cancel", Action: core.ActionCancel}}}, Answer: &core.Answer{Option: "debug"}}
	if d, err := h.Debug(t.Context(), st); err == nil || d.Findings != "" {
		t.Errorf("debug: %+v, %v", d, err)
	}
}

// Where nobody can be asked, a question that is a person's, or that an assistant recommended to
// reject, gets no answer: not even an agent's, which otherwise decides itself.
func TestWhatNobodyAnswers(t *testing.T) {
	agent := core.Question{ID: "q", Kind: core.KindText, AskID: core.AgentAsks, Returned: true, Default: "yes"}
	guard := core.Question{ID: "q", Kind: core.KindSelect, Guard: core.MaxIterations, Default: "accept", Options: []core.Option{{ID: "accept", Action: core.ActionAccept}}}
	for _, c := range []struct {
		mode         string
		agent, guard bool // the question is answered
	}{{"deny", true, false}, {"defaults", true, true}} {
		s := hostOf(t, `{"detached":"`+c.mode+`"}`, "").s
		for name, change := range map[string]func(*core.Question){
			"":          func(*core.Question) {},
			"advised":   func(q *core.Question) { q.Advice = &core.Advice{Text: "it deletes the data"} },
			"exclusive": func(q *core.Question) { q.Exclusive = true },
			"mandatory": func(q *core.Question) { q.Mandatory = true },
		} {
			for _, q := range []core.Question{agent, guard} {
				want := name == "" && (q.Guard == "" && c.agent || q.Guard != "" && c.guard)
				change(&q)
				a, err := s.detached(q)
				if (err == nil) != want || err != nil && !errors.Is(err, core.ErrNoAnswer) {
					t.Errorf("%s, %s %s: %+v, %v", c.mode, name, q.Kind, a, err)
				}
				if want && q.Guard == "" && *a.Text != decideYourself {
					t.Errorf("%s: the agent is told %q", c.mode, *a.Text)
				}
			}
		}
	}
	s := hostOf(t, `{"detached":"defer"}`, "").s
	if _, err := s.detached(agent); !errors.Is(err, core.ErrDeferred) {
		t.Errorf("defer: %v", err)
	}
}
