package core

import (
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/signature"
)

func TestProgressInWords(t *testing.T) {
	for _, c := range []struct {
		kind                   string
		failing, passed, total int
		checks                 string
		summary, passing       string
	}{
		{signature.KindTestFail, 2, 3, 5, "auth logout", "2 of 5 tests failing: auth, logout", "3/5 tests passing"},
		{signature.KindTestFail, 1, 4, 5, "auth", "1 of 5 tests failing: auth", "4/5 tests passing"},
		{signature.KindTestFail, 1, 0, 1, "", "1 of 1 test failing", "0/1 test passing"},
		{signature.KindTestFail, 1, 2, -1, "", "1 test failing", "2 tests passing"},
		{signature.KindTestFail, 2, 1, -1, "", "2 tests failing", "1 test passing"},
		{signature.KindTestFail, 2, 1, 0, "", "2 tests failing", "1 test passing"},
		{signature.KindTestFail, 7, -1, -1, "a b c d e f g", "7 tests failing: a, b, c, d, e and 2 more", "unknown"},
		{signature.KindTestFail, 5, -1, -1, "a b c d e", "5 tests failing: a, b, c, d, e", "unknown"},
		{signature.KindLintFail, 2, 3, 5, "auth", "2 of 5 failing: auth", "3/5 passing"},
		{signature.KindBuildFail, 1, 1, -1, "", "1 failing", "1 passing"},
		{signature.KindTestFail, -1, 3, 5, "", "printed nothing", "3/5 tests passing"},
		{signature.KindError, -1, -1, -1, "", "printed nothing", "unknown"},
	} {
		s := &State{Last: &IterationFinished{Outcome: OutcomeNotDone, Signature: signature.Signature{
			Kind: c.kind, Label: "label", Hash: 1, Failing: c.failing, Passed: c.passed, Total: c.total, Checks: strings.Fields(c.checks),
		}}}
		if got := s.Summary(); got != c.summary {
			t.Errorf("%s %d %d %d: the summary is %q, want %q", c.kind, c.failing, c.passed, c.total, got, c.summary)
		}
		if got := s.CurrentState(); got != c.passing {
			t.Errorf("%s %d %d %d: the current state is %q, want %q", c.kind, c.failing, c.passed, c.total, got, c.passing)
		}
	}
}

// go test -v names each test and sums up nothing.
func TestNamedChecksAreCounted(t *testing.T) {
	names := func(skipped int, names ...string) *signature.Tally {
		return &signature.Tally{Ran: len(names) - skipped, Skipped: skipped, Names: names}
	}
	for _, c := range []struct {
		why     string
		tally   *signature.Tally
		failing string
		want    string
	}{
		{"one of three", names(0, "A", "B", "C"), "B", "2/3 tests passing"},
		{"a skipped one does not pass", names(1, "A", "B", "C"), "B", "1/3 tests passing"},
		{"subtests count, not their test", names(0, "A", "A/x", "A/y/z", "B"), "A/x", "2/3 tests passing"},
		{"a skipped one beside subtests", names(1, "A", "A/x", "A/y", "B"), "A/x", "unknown"},
		{"a test that fails beside its subtests", names(0, "A", "A/x", "B"), "A", "unknown"},
		{"another name", names(0, "A", "B"), "TestA", "unknown"},
		{"no names", &signature.Tally{Ran: 3}, "A", "unknown"},
		{"nothing stated", nil, "A", "unknown"},
	} {
		s := &State{Last: &IterationFinished{Outcome: OutcomeNotDone, Tally: c.tally, Signature: signature.Signature{
			Kind: signature.KindTestFail, Hash: 1, Failing: 1, Passed: -1, Total: -1, Checks: []string{c.failing},
		}}}
		if got := s.CurrentState(); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
	more := &IterationFinished{Tally: names(0, "A", "B", "C"), Signature: signature.Signature{
		Kind: signature.KindTestFail, Hash: 1, Failing: 2, Passed: -1, Total: -1, Checks: []string{"A"},
	}}
	if got := more.Progress().Passed; got != -1 {
		t.Errorf("a failing check without a name: %d pass, want -1", got)
	}
}

func TestWhatAnIterationCameTo(t *testing.T) {
	errors := func(lines ...string) signature.Signature {
		return signature.Signature{Hash: 1, Errors: lines, Failing: -1}
	}
	for _, tt := range []struct {
		name string
		d    IterationFinished
		want string
	}{
		{"passed", IterationFinished{Outcome: OutcomeDone}, ""},
		{"checks", IterationFinished{ExitCode: 1, Signature: signature.Signature{Hash: 1, Kind: signature.KindTestFail, Failing: 2, Checks: []string{"A", "B"}}}, "2 tests failing: A, B"},
		{"a crash", IterationFinished{ExitCode: 139}, "killed by SIGSEGV, printed nothing"},
		{"a crash that said something", IterationFinished{ExitCode: 134, OutputBytes: 4, Excerpt: "gone"}, "killed by SIGABRT: “gone”"},
		{"silence", IterationFinished{ExitCode: 3}, "exit code 3, printed nothing"},
		{"blank lines", IterationFinished{ExitCode: 3, OutputBytes: 2}, "exit code 3"},
		{"an error", IterationFinished{ExitCode: 1, OutputBytes: 9, Signature: errors("Error: no room")}, "Error: no room"},
		{"a line", IterationFinished{ExitCode: 1, OutputBytes: 9, Excerpt: "progress 2"}, "“progress 2”"},
		{"no such tool", IterationFinished{ExitCode: 127, OutputBytes: 9, Excerpt: "sh: 1: nosuch: not found"}, "nosuch was not found"},
		{"failures without names", IterationFinished{Signature: signature.Signature{Hash: 1, Failing: 2, Passed: -1, Total: -1, Errors: []string{"a.c:1:20: error: ‘x’ undeclared"}}}, "2 failing: a.c:1:20: error: ‘x’ undeclared"},
		{"too long", IterationFinished{ExitCode: 137, Cause: CauseIdleTimeout, OutputBytes: 9, Excerpt: "waiting"}, "“waiting”"},
	} {
		if got := tt.d.Says(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPlacesOfFailures(t *testing.T) {
	d := IterationFinished{Signature: signature.Signature{Hash: 1, Checks: []string{"TestLogin", "TestOut"}, Failing: 2}, Excerpt: "--- FAIL: TestLogin (0.50s)\n    auth_test.go:31: got 401\n--- FAIL: TestOut (20ms)\n    at 10:31 it stood still"}
	want := []FailingCheck{
		{Check: "TestLogin", Why: "auth_test.go:31: got 401", File: "auth_test.go", Line: 31, Seconds: 0.5},
		{Check: "TestOut", Why: "at 10:31 it stood still", Seconds: 0.02},
	}
	if got := d.Failing(5); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	d = IterationFinished{Signature: signature.Signature{Hash: 1, Errors: []string{"./slug.go:7:2: undefined: x"}, Failing: -1}}
	if got := d.Failing(5); len(got) != 1 || got[0].File != "./slug.go" || got[0].Line != 7 {
		t.Errorf("%+v", got)
	}
}
