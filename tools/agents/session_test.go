//go:build agents && linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/fakemodel"
	"github.com/looprun/looprun/internal/hook"
)

// hooked are the agents that looprun hook stop keeps going where they are used from a script.
var hooked = []string{"claude", "codex", "gemini", "copilot"}

// session is an agent that somebody talks to, in a project of its own, with a scripted
// model; no looprun is around it.
type session struct {
	t         *testing.T
	k         kit
	url       string
	dir, home string
	model     *fakemodel.Model
	env       []string
	out       bytes.Buffer
}

func newSession(t *testing.T, k kit, script fakemodel.Script) *session {
	t.Helper()
	looprun, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, k: k, dir: t.TempDir(), home: t.TempDir(), model: fakemodel.New(script)}
	server := httptest.NewServer(s.model)
	t.Cleanup(server.Close)
	s.url = server.URL
	if err := os.CopyFS(s.dir, os.DirFS("../../examples/testfix")); err != nil {
		t.Fatal(err)
	}
	if err := k.prepare(s.dir, server.URL); err != nil {
		t.Fatal(err)
	}
	if s.env, err = k.environ(s.home, server.URL); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "GEMINI_CLI_TRUST_WORKSPACE=true") // as a person says once
	if k.name == "copilot" {
		if err := place(filepath.Join(s.home, ".copilot", "config.json"), `{"trustedFolders":["`+s.dir+`"]}`); err != nil {
			t.Fatal(err)
		}
	}
	s.env[0] = "PATH=" + filepath.Dir(looprun) + ":" + strings.TrimPrefix(s.env[0], "PATH=")
	s.run("git", "init", "-q", ".")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\n%s", tail(s.out.String()), s.list())
		}
	})
	return s
}

// run runs a command as the person would, and is what it printed.
func (s *session) run(name string, args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	out, err := s.command(ctx, name, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %v: %v %s", name, args, err, out)
	}
	return string(out)
}

func (s *session) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	for dir := range strings.SplitSeq(strings.TrimPrefix(s.env[0], "PATH="), ":") {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			name = filepath.Join(dir, name)
			break
		}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// prompt gives the agent a task, as somebody does who uses it from a script, and waits
// until it has stopped.
func (s *session) prompt(more ...string) {
	s.t.Helper()
	a, _ := agent.Agents(nil).Find(s.k.name)
	args := slices.Concat(a.Command[1:], s.k.flags(s.url), more)
	if s.k.name == "codex" {
		args = append(args, "--trust", "--dangerously-bypass-hook-trust") // what /hooks in Codex is for a person
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := s.command(ctx, a.Command[0], args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("Make the tests pass"), &s.out, &s.out
	if err := cmd.Run(); err != nil {
		s.t.Errorf("%s: %v", s.k.name, err)
	}
}

// listed is a run, as looprun list shows it.
type listed struct {
	Status, Guard string
	Iterations    int
}

// runs are those of the project.
func (s *session) runs() (all []listed) {
	s.t.Helper()
	out, err := s.command(s.t.Context(), "looprun", "list", "--format", "json").Output()
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil {
		s.t.Fatalf("looprun list: %v %s", err, out)
	}
	return all
}

// list is what looprun list says to a person.
func (s *session) list() string {
	out, _ := s.command(context.Background(), "looprun", "list").CombinedOutput()
	return string(out)
}

// ended fails the test unless the project's runs are those.
func (s *session) ended(want ...listed) {
	s.t.Helper()
	if got := s.runs(); !slices.Equal(got, want) {
		s.t.Errorf("the runs are %+v; want %+v", got, want)
	}
}

// told reports whether the model was told that it is not done.
func (s *session) told() bool {
	return s.toldThat("You are not done: the check of this project does not pass")
}

func (s *session) toldThat(text string) bool {
	return slices.ContainsFunc(s.model.Requests(), func(r fakemodel.Request) bool { return bytes.Contains(r.Body, []byte(text)) })
}

const goTest = "go test ./..."

func TestSessionMendsInThreeStops(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		s := newSession(t, k, k.script(stories["mends-in-session"]))
		s.run("looprun", "hook", "install", k.name, "--check", goTest)
		s.prompt()
		s.ended(listed{"done", "", 3})
		if !s.told() {
			t.Error("the model was not told why it is not done")
		}
		s.run("go", "test", "./...")
	}, hooked...)
}

func TestSessionLiesAndIsStoppedAtTheThird(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		s := newSession(t, k, k.script(stories["lies-in-session"]))
		s.run("looprun", "hook", "install", k.name, "--check", goTest)
		s.prompt()
		s.ended(listed{"paused", "loop_detected", 3})
		if !s.told() {
			t.Error("the model was not told why it is not done")
		}
		if k.name == "copilot" && !s.toldThat("Say this to the person, word for word, and stop:") { // it shows no message
			t.Error("the person does not hear why it may stop")
		}
		if !strings.Contains(s.run("looprun", "show", "--pending"), "The same failure 3 times in a row") {
			t.Error("the question is not kept")
		}
	}, hooked...)
}

func TestSessionCheckHangs(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		s := newSession(t, k, k.script(stories["lies-in-session"]))
		s.run("looprun", "hook", "install", k.name, "--check", "sleep 601")
		file := filepath.Join(s.dir, hook.Find(k.name).Project)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		// In ten minutes it would do the same.
		text = bytes.ReplaceAll(text, []byte(hook.Command), []byte(hook.Command+" --timeout 3s"))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		s.prompt()
		if !strings.Contains(s.list(), "a stop hook could not judge: the check did not end within 3s") {
			t.Error("looprun list does not say why the stop was allowed")
		}
		if running("sleep\x00601") {
			t.Error("the check goes on")
		}
	}, hooked...)
}

func TestSessionTwoAtOnce(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		one := newSession(t, k, k.script(stories["lies-in-session"]))
		one.run("looprun", "hook", "install", k.name, "--check", goTest)
		two := newSession(t, k, k.script(stories["lies-in-session"]))
		two.dir = one.dir
		var err error
		if two.env, err = k.environ(one.home, two.url); err != nil {
			t.Fatal(err)
		}
		two.env[0] = one.env[0]
		two.env = append(two.env, one.env[len(one.env)-1])
		over := make(chan bool)
		go func() {
			defer close(over)
			two.prompt()
		}()
		one.prompt()
		<-over
		one.ended(listed{"paused", "loop_detected", 3}, listed{"paused", "loop_detected", 3})
	}, hooked...)
}

func TestSessionNestedUnderLooprun(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		s := newSession(t, k, k.script(stories["mends"]))
		s.run("looprun", "hook", "install", k.name, "--check", goTest)
		s.out.WriteString(s.run("looprun", slices.Concat([]string{"--non-interactive", "--agent", k.name, "Make the tests pass", "--"}, s.k.flags(s.url))...))
		s.ended(listed{"done", "", 3})
		if s.told() {
			t.Error("two loopruns judged")
		}
	}, hooked...)
}

// The lines of the page, run as written, end with what the page shows.
func TestSessionOfThePage(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		page, err := os.ReadFile("../../docs/inside-an-agent.md")
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(string(page), "## In two minutes")
		blocks := strings.SplitN(text, "```", 5) // of text, and between them lines to run, and what they print
		_, lines, _ := strings.Cut(blocks[1], "\n")
		_, want, _ := strings.Cut(blocks[3], "\n")
		s := newSession(t, k, k.script(stories["mends-in-session"]))
		if err := place(filepath.Join(s.home, ".claude", "settings.json"), `{"permissions":{"defaultMode":"acceptEdits","allow":["Bash"]}}`); err != nil {
			t.Fatal(err)
		}
		got := s.run("sh", "-ec", "exec 2>&1\n"+lines)
		same := func(text string) string {
			for _, r := range [][2]string{{`\d{8}-\d{6}-[0-9a-f]{4}`, "RUN"}, {`/\S*/(looprun.yaml|\.claude)`, "$1"}, {`[\dms]+ ago|just now`, "AGO"}, {`\d[\d.ms]*s`, "TIME"}, {` +`, " "}} {
				text = regexp.MustCompile(r[0]).ReplaceAllString(text, r[1])
			}
			return text
		}
		if !strings.HasSuffix(same(got), same(want)) {
			t.Errorf("it prints\n%s\nwhich does not end with\n%s", got, want)
		}
	}, "claude")
}

// opencode run ends at the first stop; in a server of opencode's, which its interface is too,
// the plugin prompts it again. Before it loads a plugin it installs a package, which make
// agents has fetched.
func TestSessionInOpencode(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		bin, _ := installed()
		needs := filepath.Join(bin, "..", "..", "opencode")
		if _, err := os.Stat(needs); err != nil {
			t.Skip("NOT TESTED: ", err)
		}
		s := newSession(t, k, k.script(stories["mends-in-session"]))
		s.run("looprun", "hook", "install", k.name, "--check", goTest)
		for _, dir := range []string{filepath.Join(s.dir, ".opencode"), filepath.Join(s.home, ".config", "opencode")} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			s.run("cp", "-r", needs+"/.", dir)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		server := s.command(ctx, "opencode", "serve", "--port", "0")
		out, err := server.StdoutPipe()
		if err == nil {
			err = server.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { cancel(); _ = server.Wait() }()
		address := ""
		for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
			_, address, _ = strings.Cut(lines.Text(), "listening on ")
		}
		go func() { _, _ = io.Copy(io.Discard, out) }()
		s.prompt("--attach", address)
		eventually.Holds(t, "the third stop", func() bool { return slices.Equal(s.runs(), []listed{{"done", "", 3}}) })
	}, "opencode")
}

const plugins = "../../integrations/"

// agree is what looprun hook install does beside its entry: a check, and consent to it.
func (s *session) agree() {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "looprun.yaml"), []byte("check: "+goTest+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.run("looprun", "--trust", "--dry-run", "--", "true")
}

// claudePlugin is a session of Claude Code with the plugin, installed from its folder.
func claudePlugin(t *testing.T, k kit, script fakemodel.Script) *session {
	dir, err := filepath.Abs(plugins + "claude")
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, k, script)
	s.agree()
	s.run("claude", "plugin", "validate", "--strict", dir)
	s.run("claude", "plugin", "validate", "--strict", filepath.Join(dir, "looprun"))
	s.run("claude", "plugin", "marketplace", "add", dir)
	s.run("claude", "plugin", "install", "looprun@looprun")
	return s
}

func TestSessionWithThePlugin(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		s := claudePlugin(t, k, k.script(stories["mends-in-session"]))
		s.prompt()
		s.ended(listed{"done", "", 3})
	}, "claude")
}

func TestSessionWithTheExtension(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		s := newSession(t, k, k.script(stories["mends-in-session"]))
		s.agree()
		if err := os.CopyFS(filepath.Join(s.home, ".gemini", "extensions", "looprun"), os.DirFS(plugins+"gemini")); err != nil { // as gemini extensions install does
			t.Fatal(err)
		}
		s.prompt()
		s.ended(listed{"done", "", 3})
	}, "gemini")
}

// Without looprun the agent stops as ever, and says in one line what is missing.
func TestSessionWithoutLooprun(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		s := claudePlugin(t, k, k.script(stories["lies-in-session"]))
		_, s.env[0], _ = strings.Cut(s.env[0], ":")
		s.env[0] = "PATH=" + s.env[0]
		s.prompt()
		if n := strings.Count(s.out.String(), "looprun is not on the PATH, so this stop was not judged; see https://github.com/looprun/looprun"); n != 1 || s.told() {
			t.Errorf("it says so %d times", n)
		}
	}, "claude")
}

// The agent starts a loop over MCP, waits for it, and has the person asked; claude -p has
// nobody to ask, so that the question waits.
func TestSessionOverMCP(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		s := overMCP(t, k, []fakemodel.Step{
			{Tool: mcpTool + "loop_start", Input: map[string]any{"command": "true", "check": goTest, "task": "mend roman.go"}},
			{Tool: mcpTool + "loop_status", Input: map[string]any{"wait_seconds": 50}},
			{Tool: mcpTool + "loop_explain", Input: map[string]any{}},
			{Tool: mcpTool + "same_failure", Input: map[string]any{"first": "--- FAIL: TestA (0.01s)", "second": "--- FAIL: TestA (0.02s)"}},
			{Tool: mcpTool + "question_to_person", Input: map[string]any{}},
			{Tool: "ReadMcpResourceTool", Input: map[string]any{"server": "plugin:looprun:looprun", "uri": "looprun://latest/scratchpad.md"}},
			{Text: "It is stuck, and the person has to say how to go on."},
		})
		s.prompt("--allowedTools", "mcp__plugin_looprun_looprun", "ReadMcpResourceTool", "--settings", `{"disableAllHooks":true}`)
		s.ended(listed{"paused", "loop_detected", 3})
		s.modelTold(`\"status\":\"running\"`, "same failure 3 times in a row", `\"same\":true`, "the question still waits", "mend roman.go")
	}, "claude")
}

// The agent is told of each iteration while it waits. When it stops waiting it says so, and the
// loop continues.
func TestSessionWaitsOverMCP(t *testing.T) {
	eachAgent(t, func(t *testing.T, k kit) {
		s := overMCP(t, k, []fakemodel.Step{
			{Tool: k.tool, Input: map[string]any{k.line: "touch go0 go1", "description": "work"}},
			{Tool: mcpTool + "loop_start", Input: map[string]any{"command": "true", "check": "until test -e go$LOOPRUN_ITERATION; do sleep 0.1; done; exit $((LOOPRUN_ITERATION != 2))", "max_iterations": 5}},
			{Tool: mcpTool + "loop_status", Input: map[string]any{"wait_seconds": 50}},
			{Tool: k.tool, Input: map[string]any{k.line: "touch go2", "description": "work"}},
			{Tool: mcpTool + "loop_status", Input: map[string]any{"wait_seconds": 50}},
			{Text: "It is done."},
		})
		dir, path := t.TempDir(), strings.TrimPrefix(s.env[0], "PATH=")
		looprunMCP, _, _ := strings.Cut(path, ":")
		wire := "#!/bin/sh\ntee " + dir + "/asked | " + looprunMCP + "/looprun-mcp | tee " + dir + "/replied\n"
		if err := os.WriteFile(filepath.Join(dir, "looprun-mcp"), []byte(wire), 0o755); err != nil {
			t.Fatal(err)
		}
		s.env[0] = "PATH=" + dir + ":" + path
		s.env = append(s.env, "MCP_TOOL_TIMEOUT=20000") // less than wait_seconds
		s.prompt("--allowedTools", "mcp__plugin_looprun_looprun", k.tool, "--settings", `{"disableAllHooks":true}`)
		s.ended(listed{"done", "", 2})
		s.modelTold("timed out", `\"status\":\"done\"`)
		for name, want := range map[string]string{"asked": `"method":"notifications/cancelled"`, "replied": `"message":"exit code 1, printed nothing","progress":1,"total":5`} {
			if said, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(said), want) {
				t.Errorf("%s has no %s: %v %s", name, want, err, tail(string(said)))
			}
		}
	}, "claude")
}

// mcpTool begins the names of looprun's tools.
const mcpTool = "mcp__plugin_looprun_looprun__"

// overMCP returns a session with the plugin, whose program is built beside looprun.
func overMCP(t *testing.T, k kit, steps []fakemodel.Step) *session {
	t.Helper()
	looprun, err := program()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-C", "../../cmd/looprun-mcp", "-o", filepath.Join(filepath.Dir(looprun), "looprun-mcp"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return claudePlugin(t, k, fakemodel.Script{steps})
}

// modelTold checks that the last request has those texts.
func (s *session) modelTold(texts ...string) {
	s.t.Helper()
	requests := s.model.Requests()
	last := string(requests[len(requests)-1].Body)
	for _, want := range texts {
		if !strings.Contains(last, want) {
			s.t.Errorf("the model was not told %s: %s", want, tail(last))
		}
	}
}

// What Cursor sends is written from its documentation: a real one needs an account.
func TestSessionOfDocumentedInput(t *testing.T) {
	s := newSession(t, kits[0], nil)
	s.run("looprun", "hook", "install", "cursor", "--check", goTest)
	for stop := range 4 {
		cmd := s.command(t.Context(), "looprun", "hook", "stop")
		cmd.Stdin = strings.NewReader(`{"conversation_id":"c","generation_id":"g","model":"m","hook_event_name":"stop","status":"completed","loop_count":0,"workspace_roots":["` + s.dir + `"]}`)
		out, err := cmd.Output()
		if blocked := strings.HasPrefix(string(out), `{"followup_message":"You are not done`); err != nil || blocked != (stop < 2) || !blocked && string(out) != "{}\n" {
			t.Errorf("stop %d: %s %v", stop+1, out, err)
		}
	}
	s.ended(listed{"paused", "loop_detected", 3})
}
