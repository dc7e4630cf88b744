//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"strings"
	"syscall"
	"testing"

	"github.com/looprun/looprun/core"
)

// plainly is a session at a terminal that draws nothing.
func plainly(t *testing.T, q core.Question, change func(*setup)) *session {
	t.Helper()
	su := setup{scenario: scenario{Question: q, Env: []string{"TERM=dumb"}}}
	if change != nil {
		change(&su)
	}
	return start(t, su)
}

func (s *session) awaits(prompt string) {
	s.Helper()
	s.sees(prompt, func(screen string) bool {
		return strings.HasSuffix(strings.TrimSpace(screen), strings.TrimSpace(prompt))
	})
}

func TestPlain(t *testing.T) {
	several := commandAsks(core.KindSelect, func(q *core.Question) { q.Multi = true })
	chosen := "chosen at the terminal"
	for _, tt := range []struct {
		name     string
		question core.Question
		lines    []string
		want     core.Answer
	}{
		{"a number", testQuestion(), []string{"1"}, byPerson(core.Answer{Option: "continue"}, chosen)},
		{"a letter", testQuestion(), []string{"c"}, byPerson(core.Answer{Option: "cancel"}, chosen)},
		{"an id", testQuestion(), []string{"accept"}, byPerson(core.Answer{Option: "accept"}, chosen)},
		{"nothing, and what there is not", testQuestion(), []string{"", "9", "x", "yes please", "g"}, byPerson(core.Answer{Option: "continue"}, chosen)},
		{"words", testQuestion(), []string{"w", "use sha256"}, byPerson(core.Answer{Option: "continue", OwnWords: true, Guidance: "use sha256"}, "typed at the terminal")},
		{"a reason without an answer", commandAsks(core.KindConfirm, nil), []string{"n too early", "w", "n", "too early"}, byPerson(core.Answer{Option: core.No}, "too early")},
		{"no words after all", testQuestion(), []string{"w", "", "a"}, byPerson(core.Answer{Option: "accept"}, chosen)},
		{"a sentence that begins as an answer", testQuestion(), []string{"a plus is missing", "3 tests fail", "w a plus", "w", "a plus is missing"}, byPerson(core.Answer{Option: "continue", OwnWords: true, Guidance: "a plus is missing"}, "typed at the terminal")},
		{"another answer after it", testQuestion(), []string{"a plus is missing", "c"}, byPerson(core.Answer{Option: "cancel"}, chosen)},
		{"yes", commandAsks(core.KindConfirm, nil), []string{"", "y"}, byPerson(core.Answer{Option: core.Yes}, chosen)},
		{"several", several, []string{"1, 3"}, byPerson(core.Answer{Options: []string{"r", "b"}}, chosen)},
		{"a text", commandAsks(core.KindText, nil), []string{"", "v1.2"}, byPerson(core.Answer{Text: words("v1.2")}, "typed at the terminal")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := plainly(t, tt.question, nil)
			for _, line := range tt.lines {
				s.sees("a prompt", func(screen string) bool {
					end := strings.TrimSpace(screen)
					return strings.HasSuffix(end, "Answer:") || strings.HasSuffix(end, "Your words:")
				})
				before := s.screen.String()
				s.press(line + "\n")
				s.sees("the line taken", func(screen string) bool { return screen != before })
			}
			s.answered(tt.want)
		})
	}
}

func TestPlainIsRead(t *testing.T) {
	s := plainly(t, testQuestion(), nil)
	for _, text := range []string{
		"looprun asks: Iteration Limit", "Iteration limit (10) reached.", "FAIL auth", "1, g, Continue +5: Add 5 more iterations.",
		"3, c, Cancel: Stop the run.", "w, Type what to do: Continue with your instructions.", "p, Pause: ",
	} {
		s.shows(text)
	}
	s.awaits("Answer:")
	if screen := s.screen.String(); strings.ContainsAny(screen, "━▸>") {
		t.Errorf("something is drawn\n%s", screen)
	}
	s.press("r\n")
	s.shows("No iteration has ended yet.")
	s.awaits("Answer:")
	s.press("p\n")
	if out := s.ends(); !out.Deferred {
		t.Errorf("got %+v, want the question kept", out)
	}
	s = plainly(t, commandAsks(core.KindConfirm, nil), nil)
	s.shows("w, Say why: Mark yes or no first.")
	s.awaits("Answer:")
	s.press("y\n")
	s.chose(core.Yes, "Yes")
}

func TestPlainTypedAhead(t *testing.T) {
	s := plainly(t, testQuestion(), func(su *setup) { su.Held = true })
	s.shows("held")
	s.press("c\n")
	s.letGo()
	s.awaits("Answer:")
	s.press("g\n")
	s.chose("continue", "Continue +5")
}

func TestPlainIsNoAnswer(t *testing.T) {
	s := plainly(t, testQuestion(), nil)
	s.awaits("Answer:")
	s.press(ctrlD)
	s.shows(said(endNote))
	s.awaits("Answer:")
	s.press("accept\ncancel\n")
	s.shows("Several lines came at once")
	s.awaits("Answer:")
	s.gone()
	s = plainly(t, testQuestion(), nil)
	s.awaits("Answer:")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.interrupted()
	s = plainly(t, testQuestion(), func(su *setup) { su.Heeds = []syscall.Signal{syscall.SIGUSR1} })
	s.awaits("Answer:")
	if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if out := s.ends(); !out.Elsewhere || out.Answer.Option != "" {
		t.Errorf("got %+v, want the cause of the end of the context", out)
	}
	s.shows("Answered elsewhere.")
}
