package hook

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/signature"
)

// What the agents send, as they were seen to or as their documentation says (Copilot,
// Cursor), and who is recognised.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want Stop
	}{
		"claude": {
			`{"session_id":"s","transcript_path":"/t","cwd":"/w","prompt_id":"p","permission_mode":"default","effort":{"level":"high"},"hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"Done","background_tasks":[],"session_crons":[]}`,
			Stop{Agent: "claude", Session: "s", Prompt: "p", SameTurn: true, Dir: "/w"},
		},
		"claude, in the background": {
			`{"session_id":"s","cwd":"/w","background_tasks":[{"id":"b"}]}`,
			Stop{Agent: "claude", Session: "s", Dir: "/w", Unfinished: "a task of the agent's still runs in the background"},
		},
		"claude, in plan mode": {
			`{"session_id":"s","permission_mode":"plan","hook_event_name":"Stop"}`,
			Stop{Agent: "claude", Session: "s", Unfinished: "the agent plans, and may change nothing"},
		},
		"claude, a prompt": {
			`{"session_id":"s","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"mend it"}`,
			Stop{Agent: "claude", Session: "s", Dir: "/w", Begins: "mend it"},
		},
		"gemini, a prompt":            {`{"session_id":"s","hook_event_name":"BeforeAgent","prompt":"mend it"}`, Stop{Agent: "gemini", Session: "s", Prompt: "mend it", Begins: "mend it"}},
		"codex":                       {`{"session_id":"s","turn_id":"t","cwd":"/w","hook_event_name":"Stop","model":"m"}`, Stop{Agent: "codex", Session: "s", Prompt: "t", SameTurn: true, Dir: "/w"}},
		"gemini":                      {`{"session_id":"s","cwd":"/w","hook_event_name":"AfterAgent","prompt":"mend it","prompt_response":"ok"}`, Stop{Agent: "gemini", Session: "s", Prompt: "mend it", Dir: "/w"}},
		"gemini, again":               {`{"session_id":"s","hook_event_name":"AfterAgent","prompt":"p","stop_hook_active":true}`, Stop{Agent: "gemini", Session: "s", Prompt: "p", SameTurn: true}},
		"claude, no id":               {`{"session_id":"s","stop_hook_active":true}`, Stop{Agent: "claude", Session: "s", SameTurn: true}},
		"copilot":                     {`{"sessionId":"s","cwd":"/w","timestamp":1}`, Stop{Agent: "copilot", Session: "s", Dir: "/w"}},
		"copilot, a prompt":           {`{"sessionId":"s","cwd":"/w","timestamp":1,"prompt":"mend it"}`, Stop{Agent: "copilot", Session: "s", Dir: "/w", Begins: "mend it"}},
		"copilot, an empty prompt":    {`{"sessionId":"s","prompt":""}`, Stop{Agent: "copilot", Session: "s", Begins: "a prompt"}},
		"copilot, sent back":          {`{"sessionId":"s","prompt":"You are not done: the check of this project does not pass.\n\nx"}`, Stop{Agent: "copilot", Session: "s", Unfinished: "the agent was sent back, which is no prompt of the person's"}},
		"cursor":                      {`{"conversation_id":"c","generation_id":"g","status":"completed","loop_count":0,"workspace_roots":["/w"]}`, Stop{Agent: "cursor", Session: "c", Prompt: "g", SameTurn: true, Dir: "/w"}},
		"cursor, stopped":             {`{"conversation_id":"c","status":"aborted"}`, Stop{Agent: "cursor", Session: "c", Unfinished: "the agent was stopped: aborted"}},
		"cursor, in one of its roots": {`{"conversation_id":"c","status":"completed","cwd":"/v","workspace_roots":["/w"]}`, Stop{Agent: "cursor", Session: "c", Dir: "/v"}},
		"keys of its own":             {`{"session_id":"s","something":{"new":[1,2]}}`, Stop{Agent: "claude", Session: "s"}},
		"a hostile status":            {"{\"conversation_id\":\"c\",\"status\":\"a\\u001b[31m\"}", Stop{Agent: "cursor", Session: "c", Unfinished: "the agent was stopped: a"}},
	} {
		got, err := Read(t.Context(), strings.NewReader(c.in), "")
		if err != nil || got != c.want {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	for name, in := range map[string]string{
		"nothing": "", "no JSON": "done", "a list": "[]", "another document": `{"a":1}`, "a number for a session": `{"session_id":7}`,
		"a number for a folder": `{"session_id":"s","cwd":7}`,
		"a key twice":           `{"session_id":"s","cwd":"/w","cwd":"/x"}`, "a key twice, in another case": `{"session_id":"s","stop_hook_active":true,"Stop_Hook_Active":false}`,
		"two documents": `{"session_id":"s"}{}`, "more than is read": `{"session_id":"` + strings.Repeat("x", MaxInput) + `"}`,
	} {
		if got, err := Read(t.Context(), strings.NewReader(in), ""); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A decision is one that each agent understands, and an empty one lets it stop.
func TestDecisionJSON(t *testing.T) {
	for _, c := range []struct {
		agent string
		d     Decision
		want  map[string]string
	}{
		{"claude", Decision{}, map[string]string{}},
		{"claude", Decision{Block: "no"}, map[string]string{"decision": "block", "reason": "no"}},
		{"claude", Decision{Message: "m"}, map[string]string{"systemMessage": "m"}},
		{"codex", Decision{Block: "no"}, map[string]string{"decision": "block", "reason": "no"}},
		{"gemini", Decision{Block: "no"}, map[string]string{"decision": "deny", "reason": "no"}},
		{"cursor", Decision{Block: "no"}, map[string]string{"followup_message": "no"}},
		{"cursor", Decision{}, map[string]string{}},
		{"cursor", Decision{Message: "m"}, map[string]string{}},
		{"copilot", Decision{Message: "m"}, map[string]string{}},
		{"copilot", Decision{Block: "no"}, map[string]string{"decision": "block", "reason": "no"}},
		{"", Decision{Message: "m"}, map[string]string{"systemMessage": "m"}},
	} {
		text, got := c.d.JSON(c.agent), map[string]string{}
		if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %+v: %s %v", c.agent, c.d, text, err)
		}
	}
}

// What install puts in, remove takes out, byte for byte; between the two the file has
// all that it had, and the hook once however often it is installed.
func TestInstallAndRemove(t *testing.T) {
	eventually.Ends(t)
	texts := []string{
		"", "{}", "{}\n", `{"model":"opus"}`, "{\n  \"model\": \"opus\"\n}\n", `{"hooks":{}}`, `{"hooks":{"Stop":[]},"a":1}`,
		"{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say hi\"}]}\n    ]\n  }\n}\n",
		`{"hooks":{"Other":[1,{"a":[]}],"Stop":["x","y"]},"version":1}`, "{\"b\": \"a \\\"hooks\\\": {\", \"hooks\": {\"stop\": [{\"command\":\"x\"}], \"AfterAgent\": [{}, {}]}}",
	}
	for _, a := range Agents() {
		if a.Name == "" || a.User == "" || a.Project == "" || a.entry() == "" {
			t.Errorf("the row of %q lacks a key: %+v", a.Name, a)
		}
		for _, text := range texts {
			if a.Whole != "" && text != "" {
				continue
			}
			before := []byte(text)
			if text == "" {
				before = nil
			}
			with, err := a.With(before)
			if err != nil {
				t.Fatalf("%s: %q: %v", a.Name, text, err)
			}
			if again, err := a.With(with); err != nil || string(again) != string(with) {
				t.Errorf("%s: twice: %s %v", a.Name, again, err)
			}
			file := filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(file, with, 0o600); err != nil {
				t.Fatal(err)
			}
			if has, err := a.Installed(file); !has || err != nil {
				t.Errorf("%s: %s: not found again: %v", a.Name, with, err)
			}
			if a.Whole == "" && !json.Valid(with) {
				t.Errorf("%s: %q became %s", a.Name, text, with)
			}
			if a.Whole == "" { // one that somebody added by hand goes too
				_, _, entries, _ := placeIn(with, a.Lists[0])
				twice := splice(with, entries[0].end, entries[0].end, ","+a.entry())
				if without, err := a.Without(twice); err != nil || strings.Contains(string(without), Command) {
					t.Errorf("%s: two in %s: %s %v", a.Name, twice, without, err)
				}
				alone, _ := a.put([]byte("{}"), a.Lists[0]) // and where the other has gone already
				if without, err := a.Without(alone); err != nil || without != nil {
					t.Errorf("%s: alone in %s: %q %v", a.Name, alone, without, err)
				}
			}
			without, err := a.Without(with)
			emptied := strings.NewReplacer(`"hooks":{}`, "", `{"hooks":{"Stop":[]},`, "{").Replace(text)
			if err != nil || string(without) != text && string(without) != emptied && strings.TrimSpace(text) != "{}" && emptied != "{}" {
				t.Errorf("%s: %q became %q and then %q (%v)", a.Name, text, with, without, err)
			}
		}
	}
}

// What is added to a list stands as what is in it does.
func TestInstallSetsOut(t *testing.T) {
	for text, want := range map[string]string{
		`{"hooks":{"Stop":["x" ]}}`:            `["x", {`,
		"{\"hooks\":{\"Stop\":[\n  \"x\"\n]}}": "[\n  \"x\",\n  {",
	} {
		if got, err := Find("claude").With([]byte(text)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

// A file that is not what its agent documents is left alone.
func TestInstallRefuses(t *testing.T) {
	eventually.Ends(t)
	claude := Find("claude")
	for _, text := range []string{
		"{", "[]", "nothing", `{"hooks":[]}`, `{"hooks":{"Stop":{}}}`, `{"hooks":"x"}`, `{"hooks":{"Stop":"x"}}`, `{"hooks":{"Stop":[,{}]}}`, "// a comment\n{}", "{}{}", "{} x",
		`{"hooks":x}`, `{"hooks":{"UserPromptSubmit":"x"}}`, `{"hooks":{"UserPromptSubmit":{}}}`,
	} {
		if got, err := claude.With([]byte(text)); err == nil {
			t.Errorf("%q became %q", text, got)
		}
		if got, err := claude.Without([]byte(text)); err == nil || got != nil {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
	opencode := Find("opencode")
	if _, err := opencode.With([]byte("export const mine = 1\n")); err == nil {
		t.Error("somebody's plugin was written over")
	}
	if _, err := opencode.Without([]byte("export const mine = 1\n")); err == nil {
		t.Error("somebody's plugin was removed")
	}
}

// The embedded plugin is, as it is, what install writes: it has no CMD to fill in.
func TestTheIntegrationIsWhatIsInstalled(t *testing.T) {
	if has, err := Find("opencode").Installed("opencode.js"); !has || err != nil {
		t.Errorf("internal/hook/opencode.js is not what is installed (%v)", err)
	}
}

// However much there is to say, an agent that is blocked is told what fails, and at most
// 4 KB.
func TestABlockHasTheFactsFirst(t *testing.T) {
	for _, words := range []string{"Look at the token.", strings.Repeat("Look at the token.\n", 900), strings.Repeat("token", 3000)} {
		failed := core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone, Signature: signature.Signature{Checks: []string{"TestLogin"}, Failing: 1}, Excerpt: strings.Repeat("got 1, want 2\n", 50)}
		d := decide(&core.State{
			Words: words, Last: &failed, Errors: []core.IterationFinished{failed}, Iterations: 1,
			Ended: true, Ending: &core.Ending{Status: core.StatusPaused},
		}, "/x/20260101-000000-abcd")
		fails, told := strings.Index(d.Block, "- `TestLogin`"), strings.Index(d.Block, "Look at the token.")
		if len(d.Block) > 4096 || fails < 0 || told >= 0 && told < fails || strings.HasPrefix(words, "Look") && told < 0 {
			t.Errorf("%d bytes: %s", len(d.Block), d.Block)
		}
	}
}

// A repository that another user planted where everyone can write is nobody's project:
// nothing is written beside it.
func TestFileOfAProject(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git, dir := filepath.Join(top, ".git"), filepath.Join(top, "a", "b")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Mkdir(git, 0o700), os.Chmod(top, 0o777)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	want := func(of string) {
		t.Helper()
		if got, err := Find("claude").File(OfProject); err != nil || got != filepath.Join(of, ".claude", "settings.json") {
			t.Errorf("%s, %v; want it in %s", got, err, of)
		}
	}
	want(top)
	t.Setenv("HOME", filepath.Join(top, "home"))
	t.Setenv("USERPROFILE", filepath.Join(top, "home"))
	if got, err := Find("claude").File(OfUser); err != nil || got != filepath.Join(top, "home", ".claude", "settings.json") {
		t.Errorf("the user's is %s, %v", got, err)
	}
	if got, err := Find("cursor").File(OfLocal); got != "" || err != nil {
		t.Errorf("a file that cursor does not have is %s, %v", got, err)
	}
	if err := os.Chown(git, os.Geteuid()+1, -1); err != nil {
		t.Skip(err)
	}
	want(dir)
	if err := os.Remove(dir); err != nil {
		t.Skip(err)
	}
	if got, err := Find("claude").File(OfProject); err == nil {
		t.Errorf("in a folder that is gone it is %s", got)
	}
	if got, err := WriteCheck("true", ""); err == nil || !strings.Contains(err.Error(), "current directory") {
		t.Errorf("in a folder that is gone: %q, %v", got, err)
	}
	if got, err := Project(); err == nil {
		t.Errorf("a folder that is gone is in %s", got)
	}
	if d, err := (Judge{}).Decide(t.Context(), Stop{Agent: "claude", Session: "s"}); err == nil || !strings.Contains(err.Error(), "cannot be used") {
		t.Errorf("in a folder that is gone: %+v, %v", d, err)
	}
}

// A file has the hook where all of it is there, and one that cannot be read is not without it.
func TestWhatIsInstalled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	for _, c := range []struct {
		agent, text string
		wrong       bool
	}{{"claude", "", false}, {"claude", "{}", false}, {"claude", "{", true}, {"opencode", "export const mine = 1\n", false}} {
		if c.text != "" {
			if err := Write(file, []byte(c.text)); err != nil {
				t.Fatal(err)
			}
		}
		if has, err := Find(c.agent).Installed(file); has || (err != nil) != c.wrong {
			t.Errorf("%s: %q: %v, %v", c.agent, c.text, has, err)
		}
	}
	for _, agent := range []string{"claude", "opencode"} {
		if has, err := Find(agent).Installed(filepath.Dir(file)); has || err == nil {
			t.Errorf("%s: a folder: %v, %v", agent, has, err)
		}
	}
}
