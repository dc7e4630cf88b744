package looprun

import (
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
		{signature.KindTestFail, -1, 3, 5, "", "unknown; last was label", "3/5 tests passing"},
		{signature.KindError, -1, -1, -1, "", "unknown; last was label", "unknown"},
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
