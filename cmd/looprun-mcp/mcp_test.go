//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bin has both programs, built once.
var bin string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "looprun-mcp-test-")
	if err == nil {
		bin = dir
		err = build(filepath.Join(dir, "looprun"), "../..", "./cmd/looprun")
	}
	if err == nil {
		err = build(filepath.Join(dir, "looprun-mcp"), ".", ".")
	}
	code := 2
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(file, dir, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-o", file, pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// generations of the protocol: the one without a handshake, and the one before.
var generations = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

// client is a client that has started the program in a folder of its own.
type client struct {
	*mcp.ClientSession
	t   *testing.T
	dir string
	env []string
	// progress has what the program says of a call's progress.
	progress chan *mcp.ProgressNotificationParams
}

// person answers what a form asks; nil: the client shows no forms.
type person func(*mcp.ElicitParams) *mcp.ElicitResult

func connect(t *testing.T, version string, who person, args ...string) *client {
	t.Helper()
	return dial(t, version, true, who, args...)
}

// dial is connect; unless all runs are in one place, each folder has its own.
func dial(t *testing.T, version string, onePlace bool, who person, args ...string) *client {
	t.Helper()
	c := &client{t: t, dir: t.TempDir(), progress: make(chan *mcp.ProgressNotificationParams, 16)}
	for _, v := range os.Environ() { // CI's own variables among them: they change nothing
		if !strings.HasPrefix(v, "LOOPRUN") {
			c.env = append(c.env, v)
		}
	}
	c.env = append(c.env, "HOME="+t.TempDir())
	if onePlace {
		c.env = append(c.env, "LOOPRUN_STATE_DIR="+filepath.Join(c.dir, ".looprun"))
	}
	cmd := exec.Command(filepath.Join(bin, "looprun-mcp"), args...)
	cmd.Dir, cmd.Env, cmd.Stderr = c.dir, c.env, os.Stderr
	options := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { c.progress <- r.Params }}
	if who != nil {
		options.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return who(r.Params), nil }
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		until(t, "the loops, which end a moment after they say so, write no more", func() bool {
			held, _ := filepath.Glob(filepath.Join(c.dir, ".looprun", "*", "reserve")) // a loop removes it last
			return len(held) == 0
		})
	})
	c.ClientSession = session
	if got := session.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("the protocol is %s; want %s", got, version)
	}
	return c
}

type arguments = map[string]any

// call calls a tool, and is what it says; failed: as an error.
func (c *client) call(tool string, a arguments) (text string, failed bool) {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		return err.Error(), true
	}
	for _, one := range r.Content {
		text += one.(*mcp.TextContent).Text
	}
	return text, r.IsError
}

// says calls a tool that has to say all of that.
func (c *client) says(tool string, a arguments, want ...string) string {
	c.t.Helper()
	text, failed := c.call(tool, a)
	if failed {
		c.t.Fatalf("%s failed: %s", tool, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			c.t.Fatalf("%s says no %q: %s", tool, w, text)
		}
	}
	return text
}

// fails calls a tool that has to fail and say that.
func (c *client) fails(tool string, a arguments, want string) {
	c.t.Helper()
	if text, failed := c.call(tool, a); !failed || !strings.Contains(text, want) {
		c.t.Errorf("%s %v: %v %s; want an error with %q", tool, a, failed, text, want)
	}
}

// begin starts a loop, and is its id.
func (c *client) begin(a arguments) string {
	c.t.Helper()
	text := c.says("loop_start", a, `"status":"running"`)
	var begun struct{ Run string }
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&begun); err != nil {
		c.t.Fatal(err)
	}
	return begun.Run
}

// rests waits until the loop has ended or is paused, and is its status: one that asks
// pauses next, since it has no terminal.
func (c *client) rests(run string) (s struct{ Status, Question, Next, Reason string }) {
	c.t.Helper()
	for {
		if err := json.Unmarshal([]byte(c.says("loop_status", arguments{"run": run, "wait_seconds": 20})), &s); err != nil {
			c.t.Fatal(err)
		}
		if s.Status != "running" && s.Status != "awaiting_answer" {
			return s
		}
	}
}

// looprun runs looprun itself in the client's folder.
func (c *client) looprun(args ...string) string {
	c.t.Helper()
	cmd := exec.Command(filepath.Join(bin, "looprun"), args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("looprun %v: %v %s", args, err, out)
	}
	return string(out)
}

// until waits for a condition that no message tells of.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) { // between two looks
		if time.Now().After(end) {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

// stuck is a loop that a guard stops.
var stuck = arguments{"command": "true", "check": "echo 'FAIL: test_login expected 3'; exit 1", "task": "mend the login"}

func accept(option, reason string) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"option": option, "reason": reason}}
}

// From the start of a loop to the person's answers, in each generation of the protocol:
// what the person chose is on record as theirs, and the loop goes on, and ends, by it.
func TestAPersonIsAskedAndTheLoopGoesOn(t *testing.T) {
	for _, version := range generations {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			choose, asked := "new_approach", []string(nil)
			c := connect(t, version, func(p *mcp.ElicitParams) *mcp.ElicitResult {
				asked = append(asked, p.Message)
				return accept(choose, "look at the token")
			})
			run := c.begin(stuck)
			if s := c.rests(run); s.Status != "paused" || !strings.Contains(s.Question, "same failure 3 times") || !strings.Contains(s.Next, "question_to_person") {
				t.Fatalf("%+v", s)
			}
			c.says("loop_explain", arguments{"run": run}, "test_login expected 3")
			c.says("question_to_person", arguments{"run": run}, "continues or ends")
			if s := c.rests(run); s.Status != "paused" || s.Question == "" {
				t.Fatalf("after a new approach: %+v", s)
			}
			choose = "cancel"
			c.says("question_to_person", arguments{}, "continues or ends") // the latest
			if s := c.rests(run); s.Status != "cancelled" || s.Question != "" {
				t.Fatalf("after a cancel: %+v", s)
			}
			if len(asked) != 2 || !strings.Contains(asked[0], "test_login") || !strings.Contains(asked[0], "Try different approach") {
				t.Errorf("the person saw %q", asked)
			}
			journal, err := os.ReadFile(filepath.Join(c.dir, ".looprun", run, "journal.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{`"responder":"user"`, `"option":"new_approach"`, `"option":"cancel"`, "look at the token"} {
				if !strings.Contains(string(journal), want) {
					t.Errorf("the journal has no %s", want)
				}
			}
			c.says("question_to_person", arguments{"run": run}, "waits with no question")
			for uri, want := range map[string]string{
				"looprun://latest/scratchpad.md": "mend the login", "looprun://" + run + "/result.json": `"cancelled"`, "looprun://latest/last-output": "test_login expected 3",
			} {
				r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
				if err != nil || len(r.Contents) != 1 || !strings.Contains(r.Contents[0].Text, want) || r.Contents[0].MIMEType == "" {
					t.Errorf("%s: %v %v", uri, r, err)
				}
			}
		})
	}
}

// Nothing but the answer of a person moves a loop that asks: not a client without forms,
// not one who declines, not one whose answer is none of the options.
func TestNobodyAnswersForThePerson(t *testing.T) {
	for _, version := range generations[:2] {
		for name, who := range map[string]person{
			"no forms":  nil,
			"declines":  func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "decline"} },
			"cancels":   func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "cancel"} },
			"no option": func(*mcp.ElicitParams) *mcp.ElicitResult { return accept("proceed", "") },
			"empty":     func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "accept"} },
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				t.Parallel()
				c := connect(t, version, who)
				run := c.begin(stuck)
				c.rests(run)
				text, failed := c.call("question_to_person", arguments{"run": run})
				if refused := name != "declines" && name != "cancels"; failed != refused {
					t.Errorf("%v %s", failed, text)
				}
				if name == "no forms" && !strings.Contains(text, "shows the person no questions; the person can answer with looprun answer "+run) {
					t.Error(text)
				}
				if !strings.Contains(c.looprun("show", run, "--pending"), "Try different approach") {
					t.Error("the question waits no more")
				}
				text, failed = c.call("ask_person", arguments{"question": "Which?", "options": []string{"a", "b"}})
				if consents := strings.Contains(text, `"option"`); consents || !failed && !strings.Contains(text, "did not answer") {
					t.Errorf("ask_person: %v %s", failed, text)
				}
			})
		}
	}
}

// An answer that comes when another question waits is refused: the two rounds of a call
// do not depend on what a client keeps in between.
func TestAnAnswerIsForTheQuestionThatWasShown(t *testing.T) {
	c := connect(t, generations[0], func(*mcp.ElicitParams) *mcp.ElicitResult { return nil })
	run := c.begin(stuck)
	c.rests(run)
	for _, key := range []string{run + " loop_detected-9999", "ask", ""} {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{
			Name: "question_to_person", Arguments: arguments{"run": run}, InputResponses: mcp.InputResponseMap{key: accept("new_approach", "")},
		})
		if err == nil && !r.IsError {
			t.Errorf("%q: %+v", key, r)
		}
	}
	if !strings.Contains(c.looprun("show", run, "--pending"), "Try different approach") {
		t.Error("the question waits no more")
	}
}

func TestTheAgentAsks(t *testing.T) {
	for _, version := range generations {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := connect(t, version, func(p *mcp.ElicitParams) *mcp.ElicitResult {
				if !strings.HasPrefix(p.Message, "The agent asks: Red or") || strings.Contains(p.Message, "\x1b") {
					t.Errorf("the person sees %q", p.Message)
				}
				return accept("blue", "it is calm")
			})
			c.says("ask_person", arguments{"question": "Red or \x1b[31mblue?", "options": []string{"red", "blue"}}, `"option":"blue"`, `"reason":"it is calm"`)
			c.fails("ask_person", arguments{"question": "Red?", "options": []string{"red"}}, "options")
		})
	}
}

// A loop goes on when the agent's session ends, and what it prints hurts nobody.
func TestALoopOutlivesTheSession(t *testing.T) {
	c := connect(t, generations[0], nil)
	if err := syscall.Mkfifo(filepath.Join(c.dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := c.begin(arguments{"command": "seq 1 100000 >&2; seq 1 100000; touch printed; read x <go; seq 1 100000 >&2"})
	until(t, "it prints, though nobody reads it", func() bool {
		_, err := os.Stat(filepath.Join(c.dir, "printed"))
		return err == nil
	})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "go"), []byte("x\n"), 0); err != nil { // waits for the loop to read
		t.Fatal(err)
	}
	_ = exec.Command(filepath.Join(bin, "looprun"), "show", "--follow", run).Run()
	until(t, "the loop ends", func() bool {
		return strings.Contains(c.looprun("show", run, "--format", "json"), `"status": "done"`)
	})
}

// Whatever an agent names as a run, no other file is read and no flag gets to looprun.
func TestHostileNames(t *testing.T) {
	c := connect(t, generations[0], nil)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("a secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"../../etc", "--state-dir=/", "-h", "20261122-120000-3f9a/..", "20261122-120000-3f9a\n--all", "2026", ".", "\x00", "latest ", strings.Repeat("2", 41)} {
		c.fails("loop_say", arguments{"run": id, "words": "x"}, "")
		for _, tool := range []string{"loop_status", "loop_explain", "loop_pause", "loop_stop", "question_to_person"} {
			c.fails(tool, arguments{"run": id}, "")
		}
		if r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "looprun://" + id + "/result.json"}); err == nil {
			t.Errorf("%q: %+v", id, r)
		}
	}
	run := c.begin(arguments{"command": "echo hi"})
	c.rests(run)
	dir := filepath.Join(c.dir, ".looprun", run)
	for _, uri := range []string{
		"looprun://" + run + "/journal.jsonl", "looprun://" + run + "/../../secret", "looprun://" + run + "/output/0001.log", "looprun:///result.json",
		"looprun://" + run + "/result.json/..", "file://" + secret, "looprun://" + run + "/", "looprun://" + run + "/%2e%2e/secret",
	} {
		if r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: %+v", uri, r)
		}
	}
	for name, hostile := range map[string]func(string) error{
		"scratchpad.md": func(file string) error { return os.Symlink(secret, file) },
		"result.json":   func(file string) error { return syscall.Mkfifo(file, 0o600) },
	} {
		file := filepath.Join(dir, name)
		_ = os.Remove(file)
		if err := hostile(file); err != nil {
			t.Fatal(err)
		}
		if r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "looprun://" + run + "/" + name}); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// The arguments of a tool are those that it names, within bounds, and none of them is a
// flag of looprun's: an agent does not choose who answers.
func TestArguments(t *testing.T) {
	c := connect(t, generations[0], nil)
	for _, a := range []arguments{
		{},
		{"command": ""},
		{"command": 7},
		{"command": "true", "policy": "mine.yaml"},
		{"command": "true", "detached": "defaults"},
		{"command": "true", "max_iterations": 0},
		{"command": "true", "max_iterations": 5000},
		{"command": "true", "max_minutes": -1},
		{"command": "true", "max_cost_usd": 0},
		{"command": "true", "agent": "claude", "task": "x"},
		{"command": "true", "folder": "gone"},
		{"command": strings.Repeat("x", 9000)},
	} {
		c.fails("loop_start", a, "")
	}
	run := c.begin(arguments{"command": "--version", "check": "--help", "task": "--policy=x", "max_iterations": 1})
	c.rests(run)
	if got := c.looprun("show", run, "--format", "json"); !strings.Contains(got, `"name": "--policy=x"`) || !strings.Contains(got, `"--version"`) {
		t.Errorf("the words are not those that were given: %s", got)
	}
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	document, _ := json.Marshal(tools)
	if len(document) > 6<<10 || strings.Contains(string(document), `"null"`) {
		t.Errorf("%d bytes of tools: %s", len(document), document)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "ask_person loop_explain loop_list loop_pause loop_say loop_start loop_status loop_stop question_to_person same_failure" {
		t.Errorf("the tools are %s: is there one by which an agent answers?", got)
	}
	if described := slices.Sorted(maps.Keys(readTools(t))); !slices.Equal(described, names) {
		t.Errorf("tools.json describes %v; served are %v", described, names)
	}
}

// described is a tool of tools.json, with all keys that are in use there.
type described struct {
	Description string
	Annotations mcp.ToolAnnotations
	InputSchema schema
}

type schema struct {
	Type, Description                        string
	AdditionalProperties                     *bool
	Properties                               map[string]schema
	Required                                 []string
	Items                                    *schema
	UniqueItems                              bool
	MinLength, MaxLength, MinItems, MaxItems int
	Minimum, Maximum, ExclusiveMinimum       float64
}

// readTools reads tools.json and allows no unknown keys, which the SDK would ignore.
func readTools(t *testing.T) (tools map[string]described) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(toolsJSON))
	d.DisallowUnknownFields()
	if err := d.Decode(&tools); err != nil {
		t.Fatalf("tools.json: %v", err)
	}
	return tools
}

// Each tool takes what its code reads and nothing else, and a client is told whether it changes
// or ends anything.
func TestToolsAreDescribed(t *testing.T) {
	const reads, adds, destroys = "reads", "adds", "destroys"
	want := map[string]struct {
		do   any
		does string
	}{
		"loop_start": {(*toolbox).start, destroys}, "loop_stop": {(*toolbox).stop, destroys},
		"loop_list": {(*toolbox).list, reads}, "loop_status": {(*toolbox).status, reads}, "loop_explain": {(*toolbox).explain, reads}, "same_failure": {(*toolbox).same, reads},
		"loop_say": {(*toolbox).say, adds}, "loop_pause": {(*toolbox).pause, adds}, "ask_person": {(*toolbox).ask, adds}, "question_to_person": {(*toolbox).pass, adds},
	}
	for name, tool := range readTools(t) {
		does, destructive := adds, tool.Annotations.DestructiveHint
		switch {
		case tool.Annotations.ReadOnlyHint:
			does = reads
		case destructive == nil || *destructive:
			does = destroys
		}
		if does != want[name].does {
			t.Errorf("%s %s by its hints; want %q", name, does, want[name].does)
			continue
		}
		var read []string
		if in := reflect.TypeOf(want[name].do).In(3); in.Kind() == reflect.Map { // of start
			read = append(slices.Collect(maps.Keys(startFlags)), "folder")
		} else {
			for i := range in.NumField() {
				read = append(read, in.Field(i).Tag.Get("json"))
			}
		}
		slices.Sort(read)
		if got := slices.Sorted(maps.Keys(tool.InputSchema.Properties)); !slices.Equal(got, read) {
			t.Errorf("%s is described with %v; its code reads %v", name, got, read)
		}
		if more := tool.InputSchema.AdditionalProperties; more == nil || *more || tool.Description == "" {
			t.Errorf("%s takes any argument, or has no description", name)
		}
	}
}

// A loop takes what looprun run does, also in another folder, where each tool finds it.
func TestStartInAFolder(t *testing.T) {
	c := dial(t, generations[0], false, nil)
	other := t.TempDir()
	tasks := filepath.Join(other, "TODO.md")
	if err := os.WriteFile(tasks, []byte("- [ ] one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := c.begin(arguments{"command": "sed -i 's/\\[ \\]/[x]/' TODO.md", "folder": other, "tasks": "TODO.md", "task": "tick", "max_cost_usd": 0.5})
	if s := c.rests(run); s.Status != "done" {
		t.Errorf("%+v", s)
	}
	c.says("loop_explain", arguments{"run": run}, "done")
	if got := c.looprun("show", run, "--format", "json", "--state-dir", filepath.Join(other, ".looprun")); !strings.Contains(got, `"cost": 0.5`) {
		t.Errorf("the limit is not the one that was given: %s", got)
	}
	c.says("loop_list", nil, "[]")
	c.says("loop_list", arguments{"folder": other}, run)
	promised := c.begin(arguments{"command": "echo NEVER", "promise": "DONE", "max_iterations": 1, "folder": other})
	if s := c.rests(promised); s.Status == "done" {
		t.Errorf("%+v", s)
	}
	c.fails("loop_start", arguments{"agent": "no-such-agent", "task": "x", "check": "true"}, "is not an agent that looprun knows")
	c.fails("loop_start", arguments{"agent": "claude", "check": "true"}, "no task")
}

func TestList(t *testing.T) {
	c := connect(t, generations[0], nil)
	c.says("loop_list", nil, "[]")
	run := c.begin(arguments{"command": "true", "task": "first"})
	c.rests(run)
	second := c.begin(stuck)
	c.rests(second)
	text := c.says("loop_list", nil, `"id":"`+run+`","status":"done","name":"first","iterations":1`, `"id":"`+second+`","status":"paused"`)
	if strings.Index(text, second) > strings.Index(text, run) {
		t.Errorf("the newest does not come first: %s", text)
	}
	if text := c.says("loop_list", arguments{"number": 1}, second); strings.Contains(text, run) {
		t.Errorf("more than one: %s", text)
	}
	for _, latest := range []arguments{nil, {"run": "latest"}} {
		c.says("loop_status", latest, second)
	}
}

// A client that waits hears of each iteration, and may cease to wait: the loop goes on.
func TestProgressAndCancellation(t *testing.T) {
	for _, version := range generations {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := connect(t, version, nil)
			run := c.begin(arguments{"command": "until test -e go$LOOPRUN_ITERATION; do sleep 0.02; done; exit $((LOOPRUN_ITERATION != 3))", "max_iterations": 5})
			ctx, cancel := context.WithCancel(t.Context())
			params := &mcp.CallToolParams{Name: "loop_status", Arguments: arguments{"run": run, "wait_seconds": 50}}
			params.SetProgressToken("mine")
			ended := make(chan error, 1)
			go func() {
				_, err := c.CallTool(ctx, params)
				ended <- err
			}()
			touch := func(name string) {
				if err := os.WriteFile(filepath.Join(c.dir, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for n, name := range []string{"go1", "go2"} {
				touch(name)
				var p *mcp.ProgressNotificationParams
				select {
				case p = <-c.progress:
				case err := <-ended:
					t.Fatalf("the call ended before it told of iteration %d: %v", n+1, err)
				}
				if p.ProgressToken != "mine" || p.Progress != float64(n+1) || p.Total != 5 {
					t.Errorf("%+v", p)
				}
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			touch("go3")
			if s := c.rests(run); s.Status != "done" {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestSameFailure(t *testing.T) {
	c := connect(t, generations[0], nil)
	c.says("same_failure", arguments{"first": "--- FAIL: TestA (0.01s)\n", "second": "--- FAIL: TestA (7.20s)\n"}, `"same":true`)
	c.says("same_failure", arguments{"first": "--- FAIL: TestA (0.01s)\n", "second": "--- FAIL: TestB (0.01s)\n"}, `"same":false`)
	c.fails("same_failure", arguments{"first": "x"}, "second")
	limit := readTools(t)["same_failure"].InputSchema.Properties["first"].MaxLength
	c.fails("same_failure", arguments{"first": strings.Repeat("x", limit+1), "second": "x"}, "maxLength")
}

// A configuration that nobody has agreed to is not run for an agent either.
func TestConsent(t *testing.T) {
	c := connect(t, generations[0], nil)
	if err := os.WriteFile(filepath.Join(c.dir, "looprun.yaml"), []byte("check: touch ran\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.fails("loop_start", arguments{"command": "true"}, "needs consent")
	if _, err := os.Stat(filepath.Join(c.dir, "ran")); err == nil {
		t.Error("it was run")
	}
}

// An agent cannot start loops without end.
func TestLoopsAreCounted(t *testing.T) {
	c := connect(t, generations[0], nil)
	var runs []string
	for range maxLoops {
		runs = append(runs, c.begin(arguments{"command": "until test -e go; do sleep 0.05; done"}))
	}
	c.fails("loop_start", arguments{"command": "true"}, "are still active")
	if err := os.WriteFile(filepath.Join(c.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		c.rests(run)
	}
	until(t, "they are seen to have ended, so that another can be started", func() bool {
		_, failed := c.call("loop_start", arguments{"command": "true"})
		return !failed
	})
	c.rests("")
}

// An agent says something to a loop that goes on, and stops it: on record as a program's.
func TestSayAndStop(t *testing.T) {
	c := connect(t, generations[0], nil)
	run := c.begin(arguments{"command": "touch began; until test -e go; do sleep 0.02; done; cat $LOOPRUN_GUIDANCE_FILE >told; exit 1"})
	until(t, "the first iteration", func() bool { _, err := os.Stat(filepath.Join(c.dir, "began")); return err == nil })
	c.fails("loop_say", arguments{"run": run, "words": " "}, "there are no words")
	c.says("loop_say", arguments{"run": run, "words": "--help: the port is 8081"}, "was told")
	c.says("loop_stop", arguments{"run": run}, "was told")
	if s := c.rests(run); s.Status != "cancelled" {
		t.Errorf("%+v", s)
	}
	journal, err := os.ReadFile(filepath.Join(c.dir, ".looprun", run, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"order":"say","words":"--help: the port is 8081","responder":"program","via":"mcp"`, `"order":"stop","responder":"program","via":"mcp"`} {
		if !strings.Contains(string(journal), want) {
			t.Errorf("the journal lacks %s:\n%s", want, journal)
		}
	}
	c.fails("loop_say", arguments{"run": run, "words": "more"}, "looprun resume")
	c.fails("loop_stop", arguments{"run": run}, "there is nothing to stop")
}

// A loop that an agent paused waits to be resumed.
func TestPause(t *testing.T) {
	c := connect(t, generations[0], nil)
	run := c.begin(arguments{"command": "touch began; until test -e go; do sleep 0.02; done; exit 1"})
	until(t, "the first iteration", func() bool { _, err := os.Stat(filepath.Join(c.dir, "began")); return err == nil })
	c.says("loop_pause", arguments{"run": run}, "was told")
	if err := os.WriteFile(filepath.Join(c.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := c.rests(run); s.Status != "paused" || s.Question != "" || s.Next != "looprun resume "+run+" continues it" {
		t.Errorf("%+v", s)
	}
	c.fails("loop_pause", arguments{"run": run}, "is not active")
}

func TestLooprunIsMissing(t *testing.T) {
	c := connect(t, generations[0], nil, "-looprun", "/nothing/here")
	for tool, a := range map[string]arguments{"loop_start": {"command": "true"}, "loop_status": {}, "loop_explain": {}} {
		c.fails(tool, a, "looprun is neither beside looprun-mcp nor on the PATH; see https://github.com/looprun/looprun")
	}
}

// A message without an end is not kept in memory.
func TestAMessageIsBounded(t *testing.T) {
	cmd := exec.Command(filepath.Join(bin, "looprun-mcp"))
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", maxMessage+1))
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "maximum line length") {
		t.Errorf("%v %s", err, out)
	}
}

// Of a looprun that prints without an end no more is kept than the bound.
func TestACallIsBounded(t *testing.T) {
	program := filepath.Join(t.TempDir(), "looprun")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nhead -c $2 /dev/zero\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{maxPrinted - 1: "<nil>", 3 * maxPrinted: "looprun show prints 8388608 bytes or more"} {
		out, err := looprun{program: program}.call(t.Context(), "", "show", fmt.Sprint(n))
		if fmt.Sprint(err) != want || err == nil && len(out) != n {
			t.Errorf("%d of %d bytes: %v", len(out), n, err)
		}
	}
}
