//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"fmt"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

func TestSignalWhileAsking(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		for _, heeded := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v heeded %v", sig, heeded), func(t *testing.T) {
				su := asking()
				if heeded {
					su.Heeds = []syscall.Signal{sig}
				}
				s := start(t, su)
				s.onCancel()
				s.press(home)
				s.marks("Continue +5")
				if err := s.cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				switch {
				case heeded:
					s.withdrawn()
				case sig == syscall.SIGHUP: // the terminal was closed
					if out := s.unanswered(); !out.NoAnswer {
						t.Errorf("got %+v", out)
					}
				default:
					s.interrupted()
					s.shows("No answer: interrupted.")
				}
			})
		}
	}
}

func TestContextEndsWhileAsking(t *testing.T) {
	su := asking()
	su.Heeds = []syscall.Signal{syscall.SIGUSR1}
	s := start(t, su)
	s.onCancel()
	if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.withdrawn()
}

// Words that were typed when somebody else answered stay, whole and on one line, to be copied.
func TestWordsOfWhoIsTooLate(t *testing.T) {
	su := asking()
	su.Heeds = []syscall.Signal{syscall.SIGUSR1}
	s := start(t, su)
	unmarked(s)
	s.opens("w", "Type what to do")
	s.shows("type what to do · Enter continues with these words alone")
	s.press("use sha256")
	s.sees("the words", func(screen string) bool { return marked(screen) == "use sha256" })
	if err := s.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.withdrawn()
	s.shows("Your words were not sent:")
	s.sees("them", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "were not sent:")
		return strings.HasPrefix(strings.TrimSpace(after), "use sha256")
	})
}

func TestSignalBeforeKeysCount(t *testing.T) {
	su := asking()
	su.mute, su.Report = true, time.Hour
	s := start(t, su)
	s.shows("one moment")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.interrupted()
}

func TestRestoreAll(t *testing.T) {
	su := asking()
	su.RestoreAllOn = 3 // the first is none, when keys begin to count, the second marks
	s := start(t, su)
	s.onCancel()
	s.press(down)
	if out := s.ends(); !reflect.DeepEqual(out, outcome{}) {
		t.Fatalf("the child went on: %+v", out)
	}
}

func TestPanicIsNoAnswer(t *testing.T) {
	for name, keys := range map[string][]string{"on an arrow": {down}, "on Enter": {enter}} {
		t.Run(name, func(t *testing.T) {
			su := asking()
			su.PanicOn = 3 // as above
			s := start(t, su)
			s.onCancel()
			s.press(keys...)
			out := s.unanswered()
			if out.NoAnswer || !strings.Contains(out.Err, "the prompt broke") {
				t.Errorf("got %+v, want the panic as an error", out)
			}
		})
	}
}

func TestTerminalGoesAway(t *testing.T) {
	s := start(t, asking())
	s.onCancel()
	s.press(home)
	s.marks("Continue +5")
	s.gone()
}

// gone closes the window and checks that there was no answer: either the child
// says so, or the signal that comes with it ended the child after the prompt.
func (s *session) gone() {
	s.Helper()
	s.hangUp()
	select {
	case out := <-s.report:
		s.cmd.Wait()
		status, _ := s.cmd.ProcessState.Sys().(syscall.WaitStatus)
		ended := status.Signaled() && status.Signal() == syscall.SIGHUP && reflect.DeepEqual(out, outcome{})
		if !ended && (!reflect.DeepEqual(out.Answer, byPerson(core.Answer{}, "")) || out.Err == "") {
			s.Errorf("got %+v and %v, want no answer", out, s.cmd.ProcessState)
		}
	case <-time.After(patience):
		s.Fatal("the prompt did not end")
	}
}

func TestStoppedAndContinued(t *testing.T) {
	su := asking()
	su.Apart = "job"
	s := start(t, su)
	s.onCancel()
	s.press(home)
	s.marks("Continue +5")
	s.press(ctrlZ)
	s.shows("the job is stopped")
	s.untouched()
	s.press("typed at the shell\n" + enter)
	s.letGo()
	s.sees("the prompt drawn anew", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "the job is stopped")
		return marked(after) == "Continue +5" && strings.Contains(after, ready)
	})
	s.press(down)
	s.sees("the cursor to move", func(screen string) bool {
		_, after, _ := strings.Cut(screen, "the job is stopped")
		return marked(after) == "Accept current"
	})
	s.press(enter)
	s.chose("accept", "Accept current")
}
