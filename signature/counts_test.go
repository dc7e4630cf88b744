package signature

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// countedOtherwise are the groups whose labels count another thing than the tool does, by
// a part of their names.
var countedOtherwise = map[string]string{
	"go-test":    "subtests count beside their test",
	"eslint":     "the label counts rules, the tool findings",
	"gcc-de":     "the label counts files, the tool findings",
	"ninja":      "the label counts files, the tool findings",
	"msbuild":    "the label counts states, the tool findings",
	"pytest-xd":  "cases of one test count each",
	"pty-pytest": "cases of one test count each",
	"pytest-no":  "cases of one test count each",
	"behave":     "rows of an outline count each",
	"humanize":   "the label leaves out tests that the tool names as failed",
	"semver":     "the label leaves out tests that the tool names as failed",
	"deploy":     "a step failed, which no tool counts",
	"rollout":    "a step failed, which no tool counts",
	"git-push":   "a command failed, which no tool counts",
	"npm-inst":   "a command failed, which no tool counts",
	"docker-bu":  "a step failed, which no tool counts",
	"terraform":  "a command failed, which no tool counts",
}

// How many checks fail is said where it is known, and is right.
func TestCounts(t *testing.T) {
	var right, unknown, wrong, otherwise, totals, wrongTotals int
	seen := map[string]string{}
	for i, set := range benchDirs {
		if testing.Short() && i > 0 {
			break
		}
		b := loadBench(t, "../testdata/"+set.dir)
		sigs := b.sign()
		for _, r := range b.recordings {
			if len(r.Failing) == 0 || r.Exit == 0 {
				continue
			}
			sig := sigs[r.File]
			if sig.Total >= 0 && sig.Failing > sig.Total {
				t.Errorf("%s: %d of %d checks fail", r.File, sig.Failing, sig.Total)
			}
			if heading := []string{"Failure", "Error"}; slices.ContainsFunc(sig.Checks, func(c string) bool { return slices.Contains(heading, c) }) {
				t.Errorf("%s: a heading is the name of a check: %q", r.File, sig.Checks)
			}
			if r.Total > 0 && sig.Total >= 0 {
				if totals++; sig.Total != r.Total {
					wrongTotals++
				}
			}
			if sig.Failing == len(r.Failing) {
				right++
				continue
			}
			why := ""
			for part, reason := range countedOtherwise {
				if strings.Contains(r.Tool, part) {
					why = reason
				}
			}
			switch {
			case why != "":
				otherwise++
			case sig.Failing < 0:
				unknown++
			default:
				wrong++
			}
			if why == "" {
				why = fmt.Sprintf("%d %q", sig.Failing, sig.Checks)
			}
			seen[r.Tool] = fmt.Sprintf("%s, label %d %q: %s", r.File, len(r.Failing), r.Failing, why)
		}
	}
	all := right + unknown + wrong
	var sb strings.Builder
	for _, tool := range slices.Sorted(maps.Keys(seen)) {
		fmt.Fprintln(&sb, seen[tool])
	}
	t.Logf("counts of %d recordings: right %.3f, unknown %.3f, wrong %.3f; %d are counted otherwise\n%s", all, ratio(right, all), ratio(unknown, all), ratio(wrong, all), otherwise, sb.String())
	t.Logf("%d totals are stated, %d of them wrong", totals, wrongTotals)
	if ratio(wrongTotals, totals) > 0.03 {
		t.Errorf("%d of %d totals are wrong", wrongTotals, totals)
	}
	if ratio(right, all) < 0.92 || ratio(wrong, all) > 0.03 {
		t.Errorf("%.3f are right and %.3f wrong, want at least 0.92 and at most 0.03", ratio(right, all), ratio(wrong, all))
	}
}

// What a runner counts is told apart from what it only names.
func TestHowManyFail(t *testing.T) {
	tests := []struct {
		name, output   string
		failing, total int
		checks         string
	}{
		{"words before numbers", "==== a-1 adds FAILED\n==== a-1 FAILED\nall.tcl:\tTotal\t8\tPassed\t7\tSkipped\t0\tFailed\t1\n", 1, 8, "a-1,a-1 adds"},
		{"ctest", "38% tests passed, 5 tests failed out of 8\n", 5, 8, ""},
		{"googletest", "[==========] Running 8 tests from 2 test suites.\n[  FAILED  ] A.B (0 ms)\n[==========] 8 tests from 2 test suites ran. (1 ms total)\n[  PASSED  ] 7 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.B\n", 1, 8, "A.B"},
		{"junit", "[         8 tests found           ]\n[         5 tests successful      ]\n[         3 tests failed          ]\n", 3, 8, ""},
		{"a plan", "1..8\nok 1 a\nnot ok 2 b\n", 1, 8, "b"},
		{"steps are no checks", "5 scenarios (3 failed, 2 passed)\n15 steps (3 failed, 3 skipped, 9 passed)\n", 3, 5, ""},
		{"words with room behind them", "  Total:     4\n  Passed:    1\n  Failed:    3\n", 3, 4, ""},
		{"a fraction", "FAILURE\n3/4 test failures\n", 3, 4, ""},
		{"several services", "[a] 2 failed, 1 passed\n[b] 1 failed, 1 passed\n[a] x\n[b] y\n[a] z\n", 3, 5, ""},
		{"assertions of tests", "TAP version 13\n# adds\nok 1 should be equal\n# subtracts\nnot ok 2 should be equal\n# divides\nnot ok 3 should be equal\n1..3\n# tests 3\n# pass  1\n# fail  2\n", 2, 3, "divides,subtracts"},
		{"assertions within subtests", "TAP version 14\n# Subtest: adds\n    not ok 1 - should be equal\n    1..1\nnot ok 1 - adds\n1..1\n", 1, -1, "adds"},
		{"a group of tests", "TAP version 13\n# Subtest: sums\n    # Subtest: adds\n    not ok 1 - adds\n    1..1\nnot ok 1 - sums\n1..1\n", 1, -1, "adds"},
		{"marks and a log line", "• ✘ [2026-01-02T03:04:05.678Z] pid=7\n• ✘ (1 / 4)\n   FAIL  \"adds\"\n", 1, -1, "adds"},
		{"a runner's bars", "adds ... FAILED (35ms)\nFAILED | 1 passed | 1 failed (9ms)\n", 1, 2, "adds"},
	}
	for _, tt := range tests {
		sig := sign(tt.output, 1)
		if sig.Failing != tt.failing || sig.Total != tt.total || tt.checks != "" && strings.Join(sig.Checks, ",") != tt.checks {
			t.Errorf("%s: %d of %d, %q; want %d of %d, %s", tt.name, sig.Failing, sig.Total, sig.Checks, tt.failing, tt.total, tt.checks)
		}
	}
}

// The word after a number says what it counts, else the one before it.
func TestCountedLines(t *testing.T) {
	for line, want := range map[string][3]int{ // failing, passed, total
		"Tests:       1 failed, 1 skipped, 5 passed, 7 total": {1, 5, 7},
		"5 successes / 1 failure / 2 errors / 0 pending":      {3, 5, 8},
		"Ran 9 tests, 1 failure: cart keeps totals":           {1, -1, 9},
		"Tests: 7, Assertions: 12, Failures: 1.":              {1, -1, 7},
		"Tests run: 7, Failures: 1, Errors: 1, Skipped: 0":    {2, -1, 7},
		"Passed: 5, Failed: 3 tests":                          {3, 5, 8},
		"3 of 8 checks failed":                                {3, -1, 8},
	} {
		var c counts
		c.read([]byte(line))
		if got := [3]int{c.failing(), c.passed(), c.total()}; got != want {
			t.Errorf("%q: failing, passed, total are %v, want %v", line, got, want)
		}
	}
}
