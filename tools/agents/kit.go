package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/fakemodel"
)

// kit is what an agent needs to work with a scripted model.
type kit struct {
	name    string
	tool    string              // its tool that runs shell lines
	line    string              // what the tool calls such a line
	more    map[string]any      // what else the tool has to be given
	env     []string            // variables of its own
	files   map[string]string   // in its home
	project map[string]string   // in the work tree; @URL@ is the model's
	permit  []string            // flags that let it work, which a person would pass too
	model   []string            // flags that lead it to the model
	prints  map[string][]string // how it is called to print a format that a stand-in prints
}

var kits = []kit{
	{
		name: "claude", tool: "Bash", line: "command", more: map[string]any{"description": "work"},
		env:    []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_MAX_RETRIES=1"},
		permit: []string{"--permission-mode", "acceptEdits", "--allowedTools", "Bash"},
		prints: map[string][]string{"json": {"-p", "--output-format", "json"}, "stream-json": {"-p", "--output-format", "stream-json", "--verbose"}},
	},
	{
		name: "codex", tool: "exec_command", line: "cmd",
		prints: map[string][]string{"json": {"exec", "--json"}},
		permit: []string{"--dangerously-bypass-approvals-and-sandbox"}, // the sandbox needs a kernel of its own
		model: []string{
			"--skip-git-repo-check", "-c", "model_provider=fake", "-c", "model=gpt-5.5", "-c",
			`model_providers.fake={name="fake",base_url="@URL@/v1",wire_api="responses",env_key="OPENAI_API_KEY",request_max_retries=0,stream_max_retries=0,supports_websockets=false}`,
		},
	},
	{
		name: "gemini", tool: "run_shell_command", line: "command", more: map[string]any{"description": "work"},
		files:  map[string]string{".gemini/settings.json": `{"general":{"maxAttempts":1},"security":{"auth":{"selectedType":"gemini-api-key"}}}`},
		permit: []string{"--yolo"}, model: []string{"--skip-trust"},
		prints: map[string][]string{"json": {"--output-format", "json", "-p", ""}, "stream-json": {"--output-format", "stream-json", "-p", ""}},
	},
	{
		name: "opencode", tool: "bash", line: "command", more: map[string]any{"description": "work"},
		project: map[string]string{"opencode.json": `{"autoupdate":false,"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"fake","options":{"baseURL":"@URL@/v1","apiKey":"made-up"},"models":{"m":{"name":"m","tool_call":true,"limit":{"context":100000,"output":8000}}}}},"model":"fake/m","small_model":"fake/m","permission":"allow"}`},
		model:   []string{"--model", "fake/m"},
	},
	{
		name: "copilot", tool: "bash", line: "command", more: map[string]any{"description": "work"},
		env:    []string{"COPILOT_PROVIDER_BASE_URL=@URL@/v1", "COPILOT_PROVIDER_API_KEY=made-up", "COPILOT_MODEL=gpt-4.1", "COPILOT_OFFLINE=true"},
		permit: []string{"--allow-all-tools"},
	},
	{
		name: "qwen", tool: "run_shell_command", line: "command", more: map[string]any{"description": "work", "is_background": false},
		permit: []string{"--yolo"}, model: []string{"--auth-type", "openai", "--openai-api-key", "made-up", "--openai-base-url", "@URL@/v1", "--model", "m"},
	},
}

func names() (all []string) {
	for _, k := range kits {
		all = append(all, k.name)
	}
	return all
}

// story is what a model does, for any agent: one list of steps for each process. A step that
// begins with $ is a shell line, any other a text.
type story [][]string

// The fix for each bug of examples/testfix, without sed -i: Qwen Code refuses it for a file that
// it has not read.
const (
	nine  = `$ sed 's/"VIIII"/"IX"/' roman.go >fixed && mv fixed roman.go`
	zero  = `$ sed 's/n < 0 ||/n < 1 ||/' roman.go >fixed && mv fixed roman.go`
	lower = `$ sed 's/n, rest := 0, text$/n, rest := 0, strings.ToUpper(text)/' roman.go >fixed && mv fixed roman.go`
)

// hangs is a step in which the model stops responding: some agents do not wait for a tool that
// takes long.
const hangs = "Never said."

var stories = map[string]story{
	"mends":   {{nine, "Nine is written IX now."}, {zero, "Zero has no numeral any more."}, {lower, "Lower case is read too.\n\n<promise>COMPLETE</promise>"}},
	"lies":    {{"$ echo '// tried again' >> roman.go", "I have fixed the bug; all tests pass now."}},
	"asks":    {{`$ looprun ask 'Which of the two?' --option one --option two --default two > answer.txt`, "I know now."}},
	"hangs":   {{`$ setsid sleep 301 >/dev/null 2>&1 & sleep 302`, hangs}},
	"does":    {{nine, zero, lower, "$ sleep 303", hangs}},
	"nothing": {{"I cannot do that."}},
	"writes":  {chapter("one", ""), chapter("two", ""), chapter("three", ""), chapter("four", ""), chapter("five", "ALL DONE")},
	"commits": {commit("one", ""), commit("two", ""), commit("three", ""), commit("four", ""), commit("five", "ALL DONE")},
	// All within one session, which looprun hook stop judges.
	"mends-in-session": {{nine, "Nine is written IX now.", zero, "Zero has no numeral any more.", lower, "Lower case is read too."}},
	"lies-in-session":  {slices.Repeat([]string{"$ echo '// tried again' >> roman.go", "I have fixed the bug; all tests pass now."}, 9)},
}

// chapter is a turn that writes a file, and ends with those words.
func chapter(name, last string) []string {
	return []string{"$ echo " + name + " > " + name + ".txt", "I wrote a chapter.\n\n" + last}
}

// commit is a turn that commits such a file.
func commit(name, last string) []string {
	turn := chapter(name, last)
	turn[0] += " && git add -A && git -c user.name=t -c user.email=t@t commit -qm " + name
	return turn
}

func scripts() []string { return slices.Sorted(maps.Keys(stories)) }

// script translates a story into the agent's own tools.
func (k kit) script(s story) fakemodel.Script {
	var out fakemodel.Script
	for _, process := range s {
		var steps []fakemodel.Step
		for _, step := range process {
			if step == hangs {
				steps = append(steps, fakemodel.Step{Text: step, Sleep: time.Hour})
				continue
			}
			line, ok := strings.CutPrefix(step, "$ ")
			if !ok {
				steps = append(steps, fakemodel.Step{Text: step})
				continue
			}
			input := map[string]any{k.line: line}
			maps.Copy(input, k.more)
			steps = append(steps, fakemodel.Step{Tool: k.tool, Input: input})
		}
		out = append(out, steps)
	}
	return out
}

// flags returns the flags that a person passes to the agent after --.
func (k kit) flags(url string) []string {
	var out []string
	for _, f := range slices.Concat(k.permit, k.model) {
		out = append(out, strings.ReplaceAll(f, "@URL@", url))
	}
	return out
}

// fill replaces @FLAGS@ with the flags.
func (k kit) fill(args []string, url string) (out []string) {
	for _, a := range args {
		if a == "@FLAGS@" {
			out = append(out, k.flags(url)...)
			continue
		}
		out = append(out, a)
	}
	return out
}

// environ prepares a home, and returns the whole environment of an agent.
func (k kit) environ(home, url string) ([]string, error) {
	for name, text := range k.files {
		if err := place(filepath.Join(home, name), text); err != nil {
			return nil, err
		}
	}
	bin, err := installed()
	if err != nil {
		return nil, err
	}
	path := bin + string(filepath.ListSeparator) + os.Getenv("PATH")
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return nil, err
	}
	env := []string{
		"PATH=" + path, "HOME=" + home, "LANG=C.UTF-8", "TERM=xterm-256color", "SHELL=/bin/sh",
		"GOCACHE=" + strings.TrimSpace(string(cache)), "GOTOOLCHAIN=local",
	}
	for _, v := range k.env {
		env = append(env, strings.ReplaceAll(v, "@URL@", url))
	}
	return slices.Concat(env, fakemodel.Environ(url)), nil
}

// prepare puts the files that the agent needs into a work tree.
func (k kit) prepare(dir, url string) error {
	for name, text := range k.project {
		if err := place(filepath.Join(dir, name), strings.ReplaceAll(text, "@URL@", url)); err != nil {
			return err
		}
	}
	return nil
}

func place(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// installed returns the folder of the agents that make agents installed.
func installed() (string, error) {
	_, self, _, _ := runtime.Caller(0) // with -trimpath that is no folder: a test has its own
	var err error
	for _, dir := range []string{filepath.Dir(self), "."} {
		var bin string
		if bin, err = filepath.Abs(filepath.Join(dir, ".installed", "node_modules", ".bin")); err != nil {
			return "", err
		}
		if _, err = os.Stat(bin); err == nil {
			return bin, nil
		}
	}
	return "", fmt.Errorf("no agents are installed; run make agents: %w", err)
}
