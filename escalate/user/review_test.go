//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"strings"
	"syscall"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
	"github.com/looprun/looprun/templates"
)

func testState(iterations int) *core.State {
	s := &core.State{Iterations: iterations}
	for i := 1; i <= iterations; i++ {
		s.History = append(s.History, core.IterationFinished{
			Iteration: i, Outcome: core.OutcomeNotDone, ExitCode: 1, DurationMS: 1500,
			Signature: signature.Signature{Label: "test-fail:2-auth,logout", Hash: 0xabc},
			Excerpt:   "--- FAIL: auth\x1b[2J\n",
		})
	}
	s.Errors = s.History[max(0, iterations-2):]
	return s
}

// An iteration that is suspended while the question waits comes last, with its output.
func TestAReviewShowsTheSuspendedIteration(t *testing.T) {
	s := testState(1)
	s.Running, s.Trip = true, &core.Trip{Guard: core.MaxRuntime, Iteration: 2, Output: "waiting\x1b[2J\n\n  for a lock\n"}
	review := strings.Join(History(s, templates.Builtin()), "\n")
	if want := "\n   2  …\n      waiting"; !strings.Contains(review, want) || !strings.Contains(review, "\n        for a lock\n") {
		t.Errorf("%s", review)
	}
	s.Running = false
	if review = strings.Join(History(s, templates.Builtin()), "\n"); strings.Contains(review, "waiting") {
		t.Errorf("after it ended: %s", review)
	}
}

// A question can come before any iteration counts: in the first, behind a precheck
// that did not pass.
func TestAReviewBeforeTheFirstIterationHasEnded(t *testing.T) {
	failed := &core.IterationFinished{Outcome: core.OutcomeNotDone, ExitCode: 1}
	for name, s := range map[string]*core.State{
		"no state": nil, "nothing ran": {}, "a precheck": {Last: failed, Ran: failed}, "one that was cut off": {Ran: failed},
	} {
		if lines := History(s, templates.Builtin()); len(lines) != 1 || lines[0] != said("history_empty") {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

// Before a person calls a pass correct, the review shows what changed in the protected files.
func TestAReviewShowsTheDiffOfProtectedFiles(t *testing.T) {
	s := testState(1)
	s.Passed = true
	s.Last = &core.IterationFinished{Iteration: 1, Outcome: core.OutcomeDone, Weakened: "Passes, and judge.sh has changed", Diff: "-test -e fixed\n+exit 0\x1b[2J\n"}
	got := strings.Join(History(s, templates.Builtin()), "\n")
	if want := "What changed in protected files\n-test -e fixed\n+exit 0\n"; !strings.HasPrefix(got, want) {
		t.Errorf("the review begins with:\n%q\nwant %q", got, want)
	}
	s.Last.Weakened = ""
	if got := strings.Join(History(s, templates.Builtin()), "\n"); strings.Contains(got, "protected") {
		t.Errorf("a pass that is not weakened shows:\n%s", got)
	}
}

// All of a review is in the words of the pack, the known issues and the signatures too.
func TestAReviewSpeaksThePacksLanguage(t *testing.T) {
	set, err := templates.Load("../../examples/templates/german")
	if err != nil {
		t.Fatal(err)
	}
	s := testState(2)
	for i := range s.History {
		s.History[i].Excerpt = ""
	}
	s.Known = []core.KnownIssue{{Hash: 0xabc, Label: "output:1"}}
	got := strings.Join(History(s, set), "\n")
	if n := strings.Count(got, "ohne Ausgabe"); n != 6 || strings.Contains(got, "printed nothing") {
		t.Errorf("%d lines say it in German:\n%s", n, got)
	}
}

func TestReviewIsPrintedAndAsksAgain(t *testing.T) {
	su := asking()
	su.State = testState(3)
	s := start(t, su)
	unmarked(s)
	s.opens("r", "Review …")
	s.shows("3×  0000000000000abc  “--- FAIL: auth”, last in iteration 3")
	s.sees("the question again", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "Signatures")
		return marked(after) == "Review …" && strings.Contains(after, ready)
	})
	s.press(down)
	s.sees("the cursor to move", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "Signatures")
		return marked(after) == "Pause"
	})
	s.opens("c", "Cancel")
	s.chose("cancel", "Cancel")
}

func TestLongReviewIsPaged(t *testing.T) {
	su := asking()
	su.State = testState(40)
	su.Env = []string{"PAGER=sed -n 's/^  *40  not done/paged &/p'"}
	s := start(t, su)
	unmarked(s)
	s.opens("r", "Review …")
	s.shows("paged")
	s.sees("the question again", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "paged")
		return marked(after) == "Review …" && strings.Contains(after, ready)
	})
	s.press(home)
	s.sees("the cursor to move", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "paged")
		return marked(after) == "Continue +5"
	})
	s.press(enter)
	s.chose("continue", "Continue +5")
}

// Neither a signal nor the end of the context waits for the pager.
func TestPagerEnds(t *testing.T) {
	for sig, says := range map[syscall.Signal]string{syscall.SIGUSR1: "Answered elsewhere.", syscall.SIGTERM: "No answer: interrupted."} {
		t.Run(sig.String(), func(t *testing.T) {
			su := asking()
			su.State = testState(40)
			if sig == syscall.SIGUSR1 {
				su.Heeds = []syscall.Signal{sig}
			}
			su.Env = []string{"PAGER=echo the pager; exec sleep 1000"}
			s := start(t, su)
			unmarked(s)
			s.opens("r", "Review …")
			s.shows("the pager")
			if err := s.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			out := s.ends()
			if out.Answer.Option != "" || out.Elsewhere != (sig == syscall.SIGUSR1) || out.Interrupted != (sig == syscall.SIGTERM) {
				t.Errorf("got %+v", out)
			}
			s.shows(says)
		})
	}
}
