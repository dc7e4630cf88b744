//go:build unix

package main

import (
	"fmt"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/looprun/looprun/internal/rounds"
)

// mutants are what becomes of a YAML text with one thing wrong in it, or with
// one thing that is merely different, as far as it is wanted: look gets each, with
// a name that says where.
func mutants(t *testing.T, text string, wanted func() bool, look func(name string, text []byte)) {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	emit := func(name string) {
		if !wanted() {
			return
		}
		b, err := yaml.Marshal(&doc)
		if err != nil {
			t.Fatal(err)
		}
		look(name, b)
	}
	values := make([]yaml.Node, len(strangers))
	for i, other := range strangers {
		if err := yaml.Unmarshal([]byte(other), &values[i]); err != nil {
			t.Fatal(err)
		}
	}
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		kept := *n
		for i, other := range strangers {
			*n = *values[i].Content[0]
			emit(path + " = " + other)
		}
		*n = kept
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i < len(n.Content); i += 2 {
				key, value := n.Content[i], n.Content[i+1]
				name := key.Value
				key.Value = name + "_x"
				emit(path + "/" + name + " renamed")
				key.Value = name
				n.Content = slices.Delete(slices.Clone(kept.Content), i, i+2)
				emit(path + "/" + name + " removed")
				n.Content = kept.Content
				walk(value, path+"/"+name)
			}
		case yaml.SequenceNode:
			for i, item := range n.Content {
				n.Content = slices.Delete(slices.Clone(kept.Content), i, i+1)
				emit(fmt.Sprintf("%s/%d removed", path, i))
				n.Content = append(slices.Clone(kept.Content), item)
				emit(fmt.Sprintf("%s/%d twice", path, i))
				n.Content = kept.Content
				walk(item, fmt.Sprintf("%s/%d", path, i))
			}
		}
	}
	walk(doc.Content[0], "")
}

// strangers are put in the place of every value.
var strangers = []string{
	"word", `""`, `" "`, "0", "1", "-1", "2.5", "300", "true", "off", "none", "10m", "0s", "-5s", "50%", "[]", "{}", "[word]", "[[]]", "{a: b}", `"*"`,
	"cancel", "review", "max_cost", "[max_cost, max_cost]", "10000000000000", `"{{.Nope}}"`, "yes", "null",
}

// everyKey is a looprun.yaml with nearly every key that there is.
const everyKey = `
shell: ./fix.sh
check: make test
no_precheck: true
passes: 2
promise: ALL DONE
promise_match: anywhere
done_codes: 0,3
error_codes: [2, 70-78]
work_error_codes: none
stop_codes: 125
max_iterations: 20
max_runtime: 90s
loop_threshold: "off"
max_errors: 4
max_cost: 2.5
max_tokens: 500k
max_idle_iterations: 3
detect_workspace_cycles: 2
cap_iterations: 60
cap_runtime: 2h
cap_cost: 10
cap_tokens: 2M
iteration_timeout: 5m
idle_timeout: 30s
kill_after: 2s
delay: 1s
backoff: exponential
loop_match: loose
signature:
  mask: [{pattern: 'wave [0-9]+', name: WAVE}]
  ignore: [{pattern: '^DEBUG'}]
  extract: [{id: lost, fact: check, regexp: 'lost: (?P<name>\w+)'}]
  reports: [report.xml]
agents:
  mine:
    command: [mine, --json]
    cost_from: codex
    wait_on: ['Busy']
    stop_on: ['No account']
    permit: --yes
    login: mine login
    transcript:
      - when: {type: words, kind: a|b, sub: '-'}
        each: parts
        read:
          - {when: {type: text}, said: text, piece: true}
          - {name: tool, id: id, input: args, output: text|error, broken: {ok: 'false'}}
      - {when: {type: end}, begins: type, follows: true, read: [{turn: failed, last: why, trouble: why, usd: cost, tokens: in&out, session: id}]}
cost_from: claude
wait_on: ['rate limit', '@http429']
wait_delay: 45s
signals: text
ladder:
  - {rung: self_solve, attempts: 2}
  - {rung: experts, attempts: 2, experts: {crypto: ./crypto.sh}}
  - {rung: human}
detached: {all: deny, confirm: defaults}
wait_answer: 1m
assistant:
  command: ./assistant.sh
  name: reviewer
  model: claude-haiku-4-5
  for: [ask, guards]
  escalation: true
  timeout: 30s
assistants:
  loop_detected: {command: ./doctor.sh, name: doctor, model: claude-opus-4-1, escalation: true}
non_interactive: true
hooks: {on_question: ./ask.sh, on_end: ./end.sh}
hook_on_trip: ./trip.sh
hook_timeout: 5s
ci: generic
ci_commands: allow
redact: ['secret-[a-z]+']
no_redact: false
stdin: none
no_pty: true
keep_background: true
name: nightly
debug: ./debug.sh
state_dir: runs
sync: each
result: result.json
passthrough: true
exit_codes: {accepted: 0, max_iterations: 7}
quiet: true
color: always
`

// What an editor marks, looprun refuses: for every file that is right, with one
// thing changed in every place in turn. The other way round looprun may know
// more than a schema can say; TestWhatSchemasCannotSay lists that.
func TestSchemasRefuseNothingThatLooprunTakes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	n, refused, at, step := 0, 0, 0, rounds.Step(163) // of 40,000
	for _, s := range append(goodFiles(t), sample{"every key of looprun.yaml", "config", everyKey}) {
		if readers[s.kind] == nil || seen[s.text] {
			continue
		}
		seen[s.text] = true
		wanted := func() bool { at++; return at%step == 0 }
		mutants(t, s.text, wanted, func(name string, text []byte) {
			bySchema, byReader := refusals(t, validator(t, s.kind), s.kind, text)
			n++
			if bySchema != nil {
				refused++
			}
			if bySchema != nil && byReader == nil {
				t.Errorf("%s: %s: looprun takes it, and the schema says %v", s.name, name, bySchema)
			}
		})
	}
	if n < 30_000/step || refused < n/3 {
		t.Errorf("%d files were tried, and the schemas refuse %d of them", n, refused)
	}
	t.Logf("%d files, of which the schemas refuse %d", n, refused)
}
