package core_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// Each check has the reason that the output gives for it, and none rather than another line.
func TestReasonsAreOfTheirOwnCheck(t *testing.T) {
	for _, c := range []struct {
		name, output string
		want         []string // a check and its reason, in turn
	}{
		{"the rest of the line", "FAILED test_a.py::test_x[2] - assert 3 == 4\nFAILED test_a.py::test_x[3] - assert 5 == 6\n2 failed, 5 passed in 0.01s", []string{"test_a.py::test_x[2]", "assert 3 == 4", "test_a.py::test_x[3]", "assert 5 == 6"}},
		{"the block below", "--- FAIL: TestA (0.00s)\n    a_test.go:7: not sorted\n--- FAIL: TestB (0.00s)\n    b_test.go:9: empty", []string{"TestA", "a_test.go:7: not sorted", "TestB", "b_test.go:9: empty"}},
		{"after what the program logs", "=== RUN   TestA\n2026/11/21 09:01:37 level=info msg=\"login failed\"\n    a_test.go:7: not sorted\n--- FAIL: TestA (0.00s)", []string{"TestA", "a_test.go:7: not sorted"}},
		{"after a colon", "  1) tokens\n       are kept:\n\n      Error: one is gone\n      at next (node:internal/x:1:2)", []string{"are kept", "Error: one is gone"}},
		{"below a frame", "FAIL: test_a (m.T)\n-----\nTraceback (most recent call last):\n  File \"m.py\", line 3, in test_a\n    self.check(1)\nValueError: 1 is odd", []string{"test_a", "ValueError: 1 is odd"}},
		{"a comment of TAP", "not ok 2 counts up\n# (in test file a.bats, line 4)\n#   `[ 1 -eq 2 ]' failed\nok 3 counts down", []string{"counts up", "`[ 1 -eq 2 ]' failed"}},
		{"YAML of TAP", "not ok 1 - trims\n  ---\n  duration_ms: 1.5\n  error: |-\n    a blank is left\n  ...", []string{"trims", "a blank is left"}},
		{"no tally", "[  FAILED  ] Lru.Evicts\n\n 1 FAILED TEST\nmake: *** [test] Error 1", []string{"Lru.Evicts", ""}},
		{"no other check's", "✘ a is sorted\n✔ a is empty, and failed before\n✘ b is sorted\n    expected 1", []string{"a is sorted", "", "b is sorted", "expected 1"}},
		{"nothing of a list at the end", "FAILED: lists\nfailures:\n    lists\n\nerror: test failed, run it again", []string{"lists", ""}},
		{"no suite's", " ❯ a.test.js (4 tests | 3 failed) 42ms\n FAIL  a.test.js > Cart > adds\nAssertionError: expected 2 to be 3", []string{"a.test.js > Cart > adds", "AssertionError: expected 2 to be 3"}},
		{"what is built", "[ 47%] Linking C executable grow\n[ 52%] Building free.c\n1/2 Test #1: grow ....***Failed  0.00 sec\nmain: capacity is 3, expected 4\n\n2/2 Test #2: free .... Passed", []string{"grow", "main: capacity is 3, expected 4"}},
	} {
		d := core.IterationFinished{Signature: signature.Signature{Failing: len(c.want) / 2}}
		for i := 0; i < len(c.want); i += 2 {
			d.Signature.Checks = append(d.Signature.Checks, c.want[i])
		}
		d.Explain(c.output)
		for i, f := range d.Failing(9)[:len(c.want)/2] {
			if f.Why != c.want[2*i+1] {
				t.Errorf("%s: %s fails since %q, want %q", c.name, f.Check, f.Why, c.want[2*i+1])
			}
		}
	}
}

// A suite, or a shorter name of the same check, is no check of its own: where fewer fail.
func TestGroupsAreNoChecks(t *testing.T) {
	for _, c := range []struct {
		output string
		named  []string
		want   string
	}{
		{"  1) tokens\n       are kept:\n\n      Error: one is gone", []string{"are kept", "tokens"}, "are kept"},
		{"==== words-1 count FAILED", []string{"words-1", "words-1 count"}, "words-1 count"},
		{"nothing is known", []string{"one", "two"}, "one two"},
	} {
		d := core.IterationFinished{Signature: signature.Signature{Failing: 1, Checks: slices.Clone(c.named)}}
		d.Explain(c.output)
		if got := strings.Join(d.Signature.Checks, " "); got != c.want {
			t.Errorf("%q: the checks are %q, want %q", c.output, got, c.want)
		}
	}
}
