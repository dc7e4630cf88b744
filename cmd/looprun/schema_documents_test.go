//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What looprun prints and keeps is right by its schema: a document of every kind, from
// runs of the binary.
func TestDocumentsFitTheirSchemas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	reject := strings.ReplaceAll(rejecting, "LOOPRUN ", file+" ")
	clarify := file + " signal clarify --task T-1 --agent coder --question 'Which hash?' --context 'sums.go needs one' --cause ambiguous_criteria --considered 'md5=It is broken.' --attempt 'asked the docs' --would-help 'its name'"
	outputs := map[string]string{
		"a.log": "--- FAIL: TestA (0.1s)\n    a_test.go:1: x\nFAIL\n", "b.log": "--- FAIL: TestB (0.1s)\n    a_test.go:2: y\nFAIL\n",
		"policy.yaml":    "version: 1\nrules: [{guard: max_iterations, answer: accept, reason: Why., when: 'improved && continues < 2'}]\n",
		"questions.yaml": "", "loops.yaml": "jobs: 1\nloops:\n  - {name: a, command: ['./fix.sh', a], check: 'true', max_iterations: 3, env: {A: b}, delay: 1s, templates: [t]}\n",
	}
	for name, text := range outputs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) []byte {
		t.Helper()
		s := ready(t, dir, append([]string{args[0], "--config=none"}, args[1:]...)...)
		_ = s.Run() // its exit code is what it is
		return []byte(s.stdout.String())
	}
	run("run", "--detached=defer", "--max-iterations=3", "--loop-threshold=2", "--name=t", "-c", "cat a.log; exit 1")
	run("run", "--detached=defer", "-c", clarify+"; exit 1")
	pending := run("show", "--pending", "--format=json")
	for _, want := range []string{`"schema": "looprun.dev/pending/v1"`, `"task": "T-1"`, `"agent": "coder"`, `"cause": "ambiguous_criteria"`, `"option": "md5"`, `"asked_at"`, `"age_seconds"`, `"what_would_help": "its name"`} {
		if !bytes.Contains(pending, []byte(want)) {
			t.Errorf("the question has no %s:\n%s", want, pending)
		}
	}
	run("run", "--detached=defer", "-c", file+" reject --reason-type BLOCKER --format json >broken.json; "+strings.NewReplacer(" reject ", " reject --format json ", "; exit 1", " >reply.json; exit 1").Replace(reject))
	rejected := run("show", "--pending", "--format=json")
	if !bytes.Contains(rejected, []byte(`"agent": "fixer"`)) || !bytes.Contains(rejected, []byte(`"cause": "BLOCKER"`)) {
		t.Errorf("the question has no cause:\n%s", rejected)
	}
	run("run", "--detached=deny", "--max-iterations=1", "--ci=off", "-c", file+" ask 'Go on?' --confirm --default yes; exit 1")
	kept := func(parts ...string) []byte {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(append([]string{dir}, parts...)...))
		if err != nil || len(names) != 1 {
			t.Fatalf("%q are not one file: %v", names, err)
		}
		text, err := os.ReadFile(names[0])
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	project := filepath.Join(dir, "project")
	repositoryIn(t, project)
	many := ready(t, dir, "many", "--config=none", "--for", "printf 'a\nb\n'", "--trees", filepath.Join(dir, "trees"), "--result", filepath.Join(dir, "many-result.json"), "--max-iterations", "1", "--", "test", "{}", "=", "a")
	many.Dir = project
	_ = many.Run()
	kinds := map[string][][]byte{
		"rejection-reply": {kept("broken.json"), kept("reply.json")},
		"many":            {kept("state", "many", "*", "many.json")}, "many-result": {kept("many-result.json"), kept("state", "many", "*", "result.json")},
		"pending": {pending, rejected}, "run": {run("show", "--format=json")}, "listed-run": {run("list", "--format=json")},
		"report": {run("report", "--format=json")}, "explanation": {run("explain", "--format=json")},
		"replay":         {run("replay", "--format=json", "a.log=1", "b.log=1")},
		"signature":      {run("signature", "--format=json", "--exit-code=1", "a.log"), run("signature", "--format=json", "--explain", "--exit-code=1", "a.log")},
		"signature-diff": {run("signature", "--diff", "--format=json", "a.log", "b.log")}, "rejection-stats": {run("stats", "rejections", "--format=json")},
		"rejection-graph": {run("stats", "rejections", "--format=graph")}, "doctor": {run("doctor", "--format=json")}, "prune": {run("prune", "--dry-run", "--keep=1", "--format=json")},
		"policy-replay": {run("policy", "test", "policy.yaml", "--format=json", "--all")},
		"policy-test":   {run("policy", "test", "policy.yaml", "--format=json", "--guard=max_iterations")}, "setting": {run("config", "show", "--format=json")},
		"agent": {run("agents", "--format=json")}, "listed-template": {run("template", "list", "--format=json")}, "version": {run("version", "--format=json")}, "check": {run("policy", "check", "policy.yaml", "--format=json")},
	}
	for name, texts := range kinds {
		for _, text := range texts {
			if err := fits(validator(t, name), text); err != nil {
				t.Errorf("%s: %v\n%.600s", name, err, text)
			}
			if !bytes.Contains(text, []byte(form(name)+`"`)) {
				t.Errorf("%s does not say what it is:\n%.300s", name, text)
			}
		}
	}
	loops, err := yamlValue([]byte(outputs["loops.yaml"]))
	if err == nil {
		err = validator(t, "loops").Validate(loops)
	}
	if err != nil {
		t.Error(err)
	}
	if err := journalsFit(validator(t, "journal"), filepath.Join(dir, "state")); err != nil {
		t.Error(err)
	}
	// Those that are described elsewhere are known by their own tests.
	others := strings.Fields("question answer choices signal rejection assistant-request assistant-reply hook config policy template messages loops result journal ")
	for _, s := range schemas() {
		if kinds[s.name] == nil && !strings.Contains(" "+strings.Join(others, " ")+" ", " "+s.name+" ") {
			t.Errorf("no document of the kind %s is looked at", s.name)
		}
	}
}
