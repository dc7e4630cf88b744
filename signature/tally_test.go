package signature_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/signature"
)

// Each output is in the form in which the tool prints it. -1 is a count that it does not state.
func TestTally(t *testing.T) {
	for name, c := range map[string]struct {
		output       string
		ran, skipped int
	}{
		"pytest":            {"collected 7 items\n\ntest_a.py ....F.s   [100%]\n\n=== short test summary info ===\nFAILED test_a.py::test_x - assert 1 == 2\n=== 1 failed, 5 passed, 1 skipped in 0.12s ===\n", 6, 1},
		"pytest -q":         {".....\n5 passed in 0.01s\n", 5, 0},
		"pytest, expected":  {"===== 5 passed, 2 xfailed, 3 warnings in 0.10s =====\n", 5, 2},
		"pytest, none":      {"=== no tests ran in 0.00s ===\n", 0, -1},
		"pytest, filtered":  {"=== 2 passed, 5 deselected in 0.01s ===\n", 2, 0},
		"pytest -x":         {"!!!!! stopping after 1 failures !!!!!\n=== 1 failed, 2 passed in 0.12s ===\n", 3, -1},
		"jest":              {"Test Suites: 1 failed, 2 passed, 3 total\nTests:       1 failed, 1 skipped, 5 passed, 7 total\nSnapshots:   0 total\nTime:        1.2 s\n", 6, 1},
		"jest, skipped":     {"Tests:       1 skipped, 6 passed, 7 total\n", 6, 1},
		"jest, none":        {"No tests found, exiting with code 0\n", 0, -1},
		"jest --json":       {`{"numFailedTests":1,"numPassedTests":5,"numPendingTests":1,"numTodoTests":0,"numTotalTests":7,"success":false,"testResults":[]}` + "\n", 6, 1},
		"jest --json, both": {"Tests:       1 failed, 1 skipped, 5 passed, 7 total\n" + `{"numFailedTests":1,"numPassedTests":5,"numPendingTests":1,"numTodoTests":0,"numTotalTests":7,"success":false,"testResults":[]}` + "\n", 6, 1},
		"vitest":            {" Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 5 passed | 1 skipped (7)\n   Start at  10:00:00\n", 6, 1},
		"unittest":          {"Ran 7 tests in 0.003s\n\nOK (skipped=2)\n", 5, 2},
		"unittest, failing": {"Ran 7 tests in 0.003s\n\nFAILED (failures=1, skipped=2)\n", 5, 2},
		"unittest, plain":   {"Ran 7 tests in 0.003s\n\nOK\n", 7, 0},
		"unittest, none":    {"Ran 0 tests in 0.000s\n\nOK\n", 0, 0},
		"mocha":             {"  5 passing (12ms)\n  1 pending\n  1 failing\n", 6, 1},
		"prove":             {"All tests successful.\nFiles=4, Tests=107,  1 wallclock secs ( 0.02 usr  0.01 sys +  0.3 cusr  0.0 csys =  0.3 CPU)\nResult: PASS\n", 107, -1},
		"cargo":             {"test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out\n", 7, 1},
		"cargo, stopped":    {"test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\nerror: test failed, to rerun pass `--lib`\n", 5, -1},
		"go test -v":        {"=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    a_test.go:3: later\n--- SKIP: TestB (0.00s)\nPASS\nok  \texample.com/a\t0.01s\n", 1, 1},
		"go test -json":     {`{"Action":"run","Package":"a","Test":"TestA"}` + "\n" + `{"Action":"pass","Package":"a","Test":"TestA"}` + "\n" + `{"Action":"run","Package":"a","Test":"TestB"}` + "\n" + `{"Action":"skip","Package":"a","Test":"TestB"}` + "\n" + `{"Action":"pass","Package":"a"}` + "\n", 1, 1},
		"go test, none":     {"testing: warning: no tests to run\nPASS\nok  \texample.com/a\t0.01s [no tests to run]\n", 0, -1},
		"gotestsum":         {"✓  a (1ms)\n\nDONE 7 tests, 2 skipped in 0.1s\n", 5, 2},
		"TAP":               {"TAP version 13\nok 1 - one\nnot ok 2 - two\nok 3 - three # SKIP later\n1..3\n", 2, 1},
		"node":              {"TAP version 13\nok 1 - one\n# tests 5\n# suites 0\n# pass 4\n# fail 0\n# cancelled 0\n# skipped 1\n# todo 0\n", 4, 1},
		"rspec":             {"7 examples, 1 failure, 2 pending\n", 5, 2},
		"phpunit":           {"Tests: 7, Assertions: 9, Failures: 1, Skipped: 1.\n", 6, 1},
		"phpunit, passing":  {"OK (7 tests, 9 assertions)\n", 7, 0},
		"surefire":          {"Tests run: 3, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s -- in A\nTests run: 7, Failures: 0, Errors: 0, Skipped: 1\n", 6, 1},
		"dotnet":            {"Passed!  - Failed:     0, Passed:     7, Skipped:     1, Total:     8, Duration: 4 ms - a.dll (net8.0)\n", 7, 1},
		"googletest":        {"[==========] 7 tests from 2 test suites ran. (0 ms total)\n[  PASSED  ] 7 tests.\n", 7, -1},
		"clojure.test":      {"Ran 5 tests containing 9 assertions.\n2 failures, 0 errors.\n", 5, 0},
		"bun":               {" 5 pass\n 1 fail\n 9 expect() calls\nRan 6 tests across 1 file. [12.00ms]\n", 6, 0},
		"CppUTest":          {"OK (5 tests, 5 ran, 10 checks, 0 ignored, 0 filtered out, 2 ms)\n", 5, 0},
		"alike but numbers": {"=== RUN   Test1\n=== RUN   Test2\n=== RUN   Test3\n--- SKIP: Test2 (0.00s)\n--- SKIP: Test3 (0.00s)\n", 1, 2},
		"nothing stated":    {"all fine\n3 files changed, 2 insertions\nok\n", -1, -1},
		"go test, plain":    {"--- FAIL: TestA (0.00s)\nFAIL\nFAIL\texample.com/a\t0.01s\n", -1, -1},
	} {
		s := signature.New(signature.Options{})
		_, _ = s.Stdout().Write([]byte(c.output))
		s.SumContent(0)
		ran, skipped := -1, -1
		if got := s.Tally(); got != nil {
			ran, skipped = got.Ran, got.Skipped
		}
		if ran != c.ran || skipped != c.skipped {
			t.Errorf("%s: ran %d, skipped %d; want %d and %d", name, ran, skipped, c.ran, c.skipped)
		}
	}
}

func TestTallyNames(t *testing.T) {
	s := signature.New(signature.Options{})
	_, _ = s.Stdout().Write([]byte("=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\nok  \ta\t0.1s\n?   \tb\t[no test files]\nok  \tc\t0.1s [no tests to run]\n"))
	s.SumContent(0)
	got := s.Tally()
	if got == nil || strings.Join(got.Names, " ") != "TestA TestB" || !slices.Equal(got.Parts, []string{"a"}) || !slices.Equal(got.Empty, []string{"b", "c"}) {
		t.Errorf("got %+v", got)
	}
	s.Reset()
	s.SumContent(0)
	if s.Tally() != nil {
		t.Errorf("after a reset: %+v", s.Tally())
	}
}

// Tools that print counts for each part of what they ran: they add up, and no more fail than
// there are.
func TestCountsOfParts(t *testing.T) {
	file := func(name, failed string) string {
		return name + " (Wstat: 256 (exited 1) Tests: 20 Failed: " + failed + ")\n  Failed tests:  1-" + failed + "\n"
	}
	for name, c := range map[string]struct {
		output                 string
		failing, passed, total int
	}{
		"prove":              {"Failed 6/20 subtests\n" + file("t/a.t", "6") + file("t/b.t", "6") + file("t/c.t", "1") + file("t/d.t", "3") + "Files=4, Tests=80,  3 wallclock secs\nResult: FAIL\n", 16, -1, 80},
		"prove, fewer":       {"Failed 6/20 subtests\n" + file("t/a.t", "6") + file("t/b.t", "3") + "Files=4, Tests=80,  3 wallclock secs\nResult: FAIL\n", 9, -1, 80},
		"prove, not all ran": {"Failed 15/20 subtests\nt/a.t (Wstat: 0 Tests: 5 Failed: 0)\n  Parse errors: Bad plan.  You planned 20 tests but ran 5.\nFiles=1, Tests=5,  0 wallclock secs\nResult: FAIL\n", 15, -1, -1},
		"cargo":              {"test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\ntest result: FAILED. 2 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out\n", 4, 6, 10},
		"a total follows":    {"Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in A\nTests run: 7, Failures: 2, Errors: 0, Skipped: 0\n", 2, -1, 7},
	} {
		s := signature.New(signature.Options{})
		_, _ = s.Stdout().Write([]byte(c.output))
		if got := s.Sum(1); got.Failing != c.failing || got.Passed != c.passed || got.Total != c.total {
			t.Errorf("%s: %d of %d fail, %d passed; want %d of %d, %d", name, got.Failing, got.Total, got.Passed, c.failing, c.total, c.passed)
		}
	}
}
