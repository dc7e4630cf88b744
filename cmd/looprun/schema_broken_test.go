//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/config"
)

const goodTemplate = `
guard: max_iterations
header: Limit
question: What now?
options:
  - {id: continue, label: Go on, action: continue, extend: {iterations: 5}}
  - {id: cancel, label: Stop, action: cancel}
`

// What both the schema and looprun refuse: an editor marks it while it is
// written, and nothing runs with it.
var brokenFiles = []struct{ kind, what, text string }{
	{"config", "a check of white space", "check: ' '\n"},
	{"config", "a shell line of white space", "shell: ' '\n"},
	{"config", "a debug command of white space", "debug: ' '\n"},
	{"config", "no retries", "retry: 0\n"},
	{"config", "an unknown key", "max_iteration: 5\n"},
	{"config", "a key with the dashes of its flag", "max-iterations: 5\n"},
	{"config", "a limit of 0", "max_iterations: 0\n"},
	{"config", "a limit below 0", "max_errors: -1\n"},
	{"config", "a limit in words", "max_iterations: many\n"},
	{"config", "a fraction of an iteration", "max_iterations: 2.5\n"},
	{"config", "a loop of one", "loop_threshold: 1\n"},
	{"config", "a runtime without a unit", "max_runtime: 15\n"},
	{"config", "no runtime at all", "max_runtime: 0s\n"},
	{"config", "a time below 0", "delay: -1s\n"},
	{"config", "an unknown word", "backoff: linear\n"},
	{"config", "an unknown word in a list", "assistant_for: [ask, guard]\n"},
	{"config", "an unknown detached mode", "detached: ask\n"},
	{"config", "an unknown detached mode of a guard", "detached: {max_cost: ask}\n"},
	{"config", "a word that is neither true nor false", "quiet: yes\n"},
	{"config", "an exit code above 255", "exit_codes: {accepted: 256}\n"},
	{"config", "an exit code for nothing", "exit_codes: {accept: 0}\n"},
	{"config", "a trip that looks like success", "exit_codes: {tripped: 0}\n"},
	{"config", "a guard's trip that looks like success", "exit_codes: {max_cost: 0}\n"},
	{"config", "no list of codes", "done_codes: 0-\n"},
	{"config", "a check that passes never", "check: make\npasses: 0\n"},
	{"config", "an empty promise", "promise: ''\n"},
	{"config", "an unknown hook", "hooks: {on_stop: ./tell.sh}\n"},
	{"config", "a mask without a pattern", "signature: {mask: [{name: WAVE}]}\n"},
	{"config", "a rule for an unknown fact", "signature: {extract: [{fact: wave, regexp: lost}]}\n"},
	{"config", "a rule with two patterns", "signature: {extract: [{fact: check, regexp: lost, pattern: lost}]}\n"},
	{"config", "an agent that is known", "agents: {claude: {command: [x]}}\n"},
	{"config", "an agent without a name", "agents: {My Own: {command: [x]}}\n"},
	{"config", "an agent without a command", "agents: {mine: {permit: x}}\n"},
	{"config", "an agent with an empty command", "agents: {mine: {command: []}}\n"},
	{"config", "an agent without a program", "agents: {mine: {command: ['', x]}}\n"},
	{"config", "an unknown key of an agent", "agents: {mine: {command: [x], agent: y}}\n"},
	{"config", "objects of every kind", "agents: {mine: {command: [x], transcript: [{when: {}, read: [{said: text}]}]}}\n"},
	{"config", "objects that lack something", "agents: {mine: {command: [x], transcript: [{when: {a: '-'}, read: [{said: text}]}]}}\n"},
	{"config", "objects with any name", "agents: {mine: {command: [x], transcript: [{when: {'*.a': b}, read: [{said: text}]}]}}\n"},
	{"config", "a turn that ends somehow", "agents: {mine: {command: [x], transcript: [{when: {a: b}, read: [{turn: over}]}]}}\n"},
	{"config", "an unknown rung", "ladder: [{rung: self_solve}, {rung: person}]\n"},
	{"config", "a ladder without a person", "ladder: [{rung: self_solve}]\n"},
	{"config", "a ladder that begins with experts", "ladder: [{rung: experts, experts: {a: ./a}}, {rung: human}]\n"},
	{"config", "a rung without attempts", "ladder: [{rung: self_solve, attempts: 0}, {rung: human}]\n"},
	{"config", "experts without a name", "ladder: [{rung: self_solve}, {rung: experts}, {rung: human}]\n"},
	{"config", "a person with attempts", "ladder: [{rung: self_solve}, {rung: human, attempts: 2}]\n"},
	{"config", "a list", "- check: make\n"},
	{"config", "a key without a value", "check:\n"},
	{"config", "a key twice", "check: a\ncheck: b\n"},
	{"config", "brokenFiles YAML", "check: [make\n"},

	{"policy", "no version", "rules: []\n"},
	{"policy", "another version", "version: 2\n"},
	{"policy", "an unknown key", "version: 1\nrule: []\n"},
	{"policy", "a rule without a reason", "version: 1\nrules: [{guard: max_cost, answer: cancel}]\n"},
	{"policy", "a rule with an empty reason", "version: 1\nrules: [{guard: max_cost, answer: cancel, reason: ' '}]\n"},
	{"policy", "a rule without an answer", "version: 1\nrules: [{guard: max_cost, reason: Why.}]\n"},
	{"policy", "an unknown guard", "version: 1\nrules: [{guard: max_iteration, answer: cancel, reason: Why.}]\n"},
	{"policy", "an unknown guard in a list", "version: 1\nrules: [{guard: [max_cost, max], answer: cancel, reason: Why.}]\n"},
	{"policy", "a guard twice", "version: 1\nrules: [{guard: [max_cost, max_cost], answer: cancel, reason: Why.}]\n"},
	{"policy", "no guard in a list", "version: 1\nrules: [{guard: [], answer: cancel, reason: Why.}]\n"},
	{"policy", "a star in a list", "version: 1\nrules: [{guard: ['*'], answer: cancel, reason: Why.}]\n"},
	{"policy", "the answer review", "version: 1\nrules: [{guard: max_cost, answer: review, reason: Why.}]\n"},
	{"policy", "an answer that is no id", "version: 1\nrules: [{guard: max_cost, answer: Go on, reason: Why.}]\n"},
	{"policy", "an empty verify", "version: 1\nrules: [{guard: max_cost, answer: accept, verify: '', reason: Why.}]\n"},
	{"policy", "no time for verify", "version: 1\nverify_timeout: 0s\n"},
	{"policy", "an empty budget", "version: 1\nbudget: {continues: 0}\n"},
	{"policy", "an unknown detached mode", "version: 1\ndetached: ask\n"},
	{"policy", "an unknown status", "version: 1\nexit_codes: {accept: 0}\n"},
	{"policy", "a trip that looks like success", "version: 1\nexit_codes: {max_iterations: 0}\n"},
	{"policy", "a test without an expectation", "version: 1\ntests: [{facts: {guard: max_cost}}]\n"},
	{"policy", "a test with an unknown fact", "version: 1\ntests: [{facts: {guard: max_cost, wave: 1}, expect: none}]\n"},

	{"template", "no guard", "header: Limit\nquestion: What now?\noptions: [{id: a, label: A, action: accept}, {id: cancel, label: B, action: cancel}]\n"},
	{"template", "an unknown guard", "guard: max_iteration\n" + goodTemplate[len("\nguard: max_iterations\n"):]},
	{"template", "an unknown key", goodTemplate + "title: x\n"},
	{"template", "a word that is neither true nor false", goodTemplate + "exclusive: maybe\n"},
	{"template", "a header that is too long", "guard: no_progress\nheader: " + strings.Repeat("long ", 13) + "\nshort: Limit\nquestion: What now?\noptions: [{id: a, label: A, action: continue}, {id: cancel, label: B, action: cancel}]\n"},
	{"template", "a short header that is too long", goodTemplate + "short: A limit of iterations\n"},
	{"template", "an empty short header", goodTemplate + "short: ''\n"},
	{"template", "a variable in the header", goodTemplate + "short: '{{.Max}}'\n"},
	{"template", "one option", "guard: no_progress\nheader: Limit\nquestion: What now?\noptions: [{id: cancel, label: B, action: cancel}]\n"},
	{"template", "no option that cancels", "guard: no_progress\nheader: Limit\nquestion: What now?\noptions: [{id: a, label: A, action: accept}, {id: b, label: B, action: pause}]\n"},
	{"template", "an unknown action", goodTemplate + "  - {id: stop, label: Halt, action: stop}\n"},
	{"template", "an id with capitals", goodTemplate + "  - {id: Go, label: Go, action: accept}\n"},
	{"template", "a limit that is not extended", goodTemplate + "  - {id: more, label: More, action: continue}\n"},
	{"template", "another limit that is extended", goodTemplate + "  - {id: more, label: More, action: continue, extend: {runtime: 5m}}\n"},
	{"template", "an extension by nothing", goodTemplate + "  - {id: more, label: More, action: continue, extend: {iterations: 0}}\n"},
	{"template", "an extension of what ends", goodTemplate + "  - {id: keep, label: Keep, action: accept, extend: {iterations: 5}}\n"},
	{"template", "an extension of what is no limit", "guard: no_progress\nheader: Limit\nquestion: What now?\noptions: [{id: go, label: A, action: continue, extend: {iterations: 1}}, {id: cancel, label: B, action: cancel}]\n"},
	{"template", "guidance for what ends", goodTemplate + "  - {id: keep, label: Keep, action: accept, guidance: Rest.}\n"},
	{"template", "a command that is not run", goodTemplate + "  - {id: keep, label: Keep, action: accept, command: make}\n"},
	{"template", "run without a command", goodTemplate + "  - {id: look, label: Look, action: run}\n"},
	{"template", "an unknown need", goodTemplate + "  - {id: keep, label: Keep, action: accept, requires: tests}\n"},

	{"messages", "an unknown key", "accepted: Done.\n"},
	{"messages", "an empty text", "summary_none: ''\n"},
	{"messages", "a list for a text", "summary_none: [nothing]\n"},
}

func TestBothRefuse(t *testing.T) {
	count := map[string]int{}
	for _, b := range brokenFiles {
		count[b.kind]++
		bySchema, byReader := refusals(t, validator(t, b.kind), b.kind, []byte(b.text))
		if bySchema == nil {
			t.Errorf("%s, %s: the schema takes it", b.kind, b.what)
		}
		if byReader == nil {
			t.Errorf("%s, %s: looprun takes it", b.kind, b.what)
		}
	}
	for kind, text := range map[string]string{"template": goodTemplate, "config": everyKey, "policy": "version: 1\nnever: [accept]\n", "messages": "summary_none: nothing\n"} {
		if count[kind] == 0 {
			t.Errorf("no file of the kind %s is brokenFiles", kind)
		}
		if bySchema, byReader := refusals(t, validator(t, kind), kind, []byte(text)); bySchema != nil || byReader != nil {
			t.Errorf("a right %s: %v, %v", kind, bySchema, byReader)
		}
	}
}

// What only looprun sees, since a schema looks at one value at a time and runs
// nothing: what one value means for another, expressions, variables, files.
var beyond = []struct{ kind, what, text string }{
	{"config", "a limit above its cap", "max_iterations: 90\ncap_iterations: 60\n"},
	{"config", "passes of no check", "passes: 2\n"},
	{"config", "a code that passes and is an error", "done_codes: 3\nerror_codes: 2-4\n"},
	{"config", "no regular expression", "redact: ['[']\n"},
	{"config", "a cost that no transcript has", "agents: {mine: {command: [x], cost_from: mine}}\n"},
	{"config", "a file that is not there", "policy: nowhere.yaml\n"},
	{"config", "two presets", "wait: true\nretry: 3\n"},
	{"config", "too many attempts in all", "ladder: [{rung: self_solve, attempts: 5}, {rung: experts, attempts: 2, experts: {a: ./a}}, {rung: human}]\n"},
	{"config", "what is for the system's file alone", "enforce: {max_iterations: 5}\n"},
	{"policy", "an option that the question has not", "version: 1\nrules: [{guard: loop_detected, answer: continue, reason: Why.}]\n"},
	{"policy", "no condition", "version: 1\nrules: [{guard: max_cost, when: failing <, answer: cancel, reason: Why.}]\n"},
	{"policy", "a rule that never matches", "version: 1\nrules: [{guard: '*', answer: cancel, reason: Why.}, {guard: max_cost, answer: cancel, reason: Why.}]\n"},
	{"policy", "a test that fails", "version: 1\nnever: [accept]\ntests: [{facts: {guard: max_cost}, expect: cancel}]\n"},
	{"template", "a default that is no option", goodTemplate + "default: pause\n"},
	{"template", "a long header without a short one", "guard: no_progress\nheader: The loop does not get on\nquestion: What now?\noptions: [{id: a, label: A, action: continue}, {id: cancel, label: B, action: cancel}]\n"},
	{"template", "an option twice", goodTemplate + "  - {id: cancel, label: Halt, action: cancel}\n"},
	{"template", "an id that is called like another action", goodTemplate + "  - {id: accept, label: Keep, action: pause}\n"},
	{"template", "an unknown variable", "guard: no_progress\nheader: Limit\nquestion: 'What {{.Now}}?'\noptions: [{id: a, label: A, action: continue}, {id: cancel, label: B, action: cancel}]\n"},
	{"messages", "an unknown variable", "summary_none: 'nothing {{.Now}}'\n"},
}

func TestWhatSchemasCannotSay(t *testing.T) {
	for _, b := range beyond {
		bySchema, byReader := refusals(t, validator(t, b.kind), b.kind, []byte(b.text))
		if byReader == nil {
			t.Errorf("%s, %s: looprun takes it", b.kind, b.what)
		}
		if bySchema != nil {
			t.Errorf("%s, %s: the schema can say it now, so it belongs with the others: %v", b.kind, b.what, bySchema)
		}
	}
}

// In the system's file enforce is right, and only there.
func TestEnforceByItsSchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "looprun.yaml")
	const text = "enforce: {max_iterations: 5}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	before := config.SystemFile
	t.Cleanup(func() { config.SystemFile = before })
	config.SystemFile = file
	v, err := yamlValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := validator(t, "config").Validate(v); err != nil {
		t.Error(err)
	}
	if err := readers["config"](file); err != nil {
		t.Error(err)
	}
}
