package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// ignoreText keeps the runs out of git, and the schemas in: who clones the
// repository has them too, without a network.
const ignoreText = "*\n!/.gitignore\n!/schemas/\n!/schemas/**\n"

// configText is the looprun.yaml.
func (s setup) configText() []byte {
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# yaml-language-server: $schema=%s", initConfigSchema)
	line("")
	line("# Defaults for \"looprun -- COMMAND\" in this folder and below. Each key is a flag")
	line("# of looprun run; flags and the variables LOOPRUN_... beat this file.")
	line("# \"looprun config check\" says what is wrong with it, and \"looprun config show\"")
	line("# where each value comes from.")
	line("")
	line("# It is done when this shell line exits with 0.%s", foundBy(s.found))
	line("check: %s", yamlText(s.check))
	line("")
	line("# What is run until then, where no command is given after --.")
	line("# shell: ./fix.sh")
	line("")
	line("# What stops it: so many iterations, so much time, the same failure so many")
	line("# times, so many errors in a row. off turns a guard off.")
	line("max_iterations: %s", s.iterations)
	line("max_runtime: 15m")
	line("loop_threshold: 3")
	line("max_errors: 3")
	line("")
	line("# Ends an iteration that hangs.")
	line("# iteration_timeout: 10m")
	if s.policy {
		line("")
		line("# Answers in place of a person. In CI, name it with --policy %s", initPolicy)
		line("# or LOOPRUN_POLICY; here it would answer before you are asked, too.")
		line("# policy: %s", initPolicy)
	}
	return b.Bytes()
}

func foundBy(file string) string {
	if file == "" {
		return ""
	}
	return " (" + file + ")"
}

// policyText is the policy: careful, and tested by itself.
func (s setup) policyText() []byte {
	accept, test := "", ""
	if s.verify != "" {
		accept = fmt.Sprintf(policyAccept, yamlText(s.verify))
		test = policyAcceptTest
	}
	return fmt.Appendf(nil, policyFrame, initPolicySchema, initPolicy, initPolicy, accept, test)
}

const policyFrame = `# yaml-language-server: $schema=%s

# What looprun does in CI, where nobody answers its questions:
#
#   looprun --policy %s -- ./fix.sh
#
# The first rule that matches answers. "looprun policy check %s"
# runs the tests at the end; "looprun policy schema facts" lists what a condition
# can mention.
version: 1

rules:
  # A limit is reached and the work moves: some more of it, twice at most.
  - guard: [max_iterations, max_runtime]
    when: improved && continues < 2
    answer: continue
    reason: Fewer checks fail than at the last trip, so the run may go on for a while.

%s  # Whatever else it is, a person has to look.
  - guard: "*"
    answer: cancel
    reason: No rule of this policy lets the run go on.

# What all the rules together may add to one run.
budget:
  continues: 2
  iterations: 10
  runtime: 20m

# When no rule matches, the run ends with the exit code of its guard.
detached: deny

tests:
  - name: goes on while it gets better
    facts: {guard: max_iterations, improved: true, continues: 1}
    expect: continue
  - name: goes on twice and no more
    facts: {guard: max_iterations, improved: true, continues: 2}
    expect: cancel
%s  - name: gives up when the same failure comes back
    facts: {guard: loop_detected, improved: true}
    expect: cancel
  - name: gives up on errors
    facts: {guard: consecutive_errors, errors: 3}
    expect: cancel
`

const policyAccept = `  # A limit is reached, and what is there still holds together.
  - guard: [max_iterations, max_runtime]
    answer: accept
    verify: %s
    reason: The checks do not all pass, but the project still builds, so the partial result is kept for review.

`

const policyAcceptTest = `  - name: keeps what holds together
    facts: {guard: max_runtime}
    verify: pass
    expect: accept
`

// harmless are the lines that YAML reads as text and nothing else.
var harmless = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]* [A-Za-z0-9_./ =-]*[A-Za-z0-9_./=-]$`)
})

// yamlText is one line of text as a value in YAML.
func yamlText(s string) string {
	if harmless().MatchString(s) {
		return s
	}
	var b strings.Builder
	enc := json.NewEncoder(&b) // what JSON calls a string is one in YAML too
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return fmt.Sprintf("%q", s)
	}
	// What YAML does not take as it is, and JSON does.
	var text strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		if r >= 0x7f && !unicode.IsPrint(r) && r <= 0xffff {
			fmt.Fprintf(&text, "\\u%04x", r)
			continue
		}
		text.WriteRune(r)
	}
	return text.String()
}
