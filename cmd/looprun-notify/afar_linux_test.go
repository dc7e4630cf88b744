package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A command that starts a run of its own, with a service of its own, gets no buttons for it, and
// cannot end the courier. Its question is only sent.
func TestTheCommandGetsNoButtons(t *testing.T) {
	s, theirs, h := startNtfy(t), startNtfy(t), newHome(t)
	self := filepath.Join(h.bin, "looprun")
	inner := "for v in $(env | grep -o '^LOOPRUN[A-Z_]*'); do unset $v; done; " + self + " __courier --stop 2>&1; " +
		self + " --name inner --max-iterations 1 --notify \"{url: '" + theirs.url() + "', answers: true}\" -- false 2>&1; exit 1"
	code, stdout, stderr := h.looprun("shop", "--name", "shop", "--max-iterations", "1", "--notify", "{url: '"+s.url()+"', answers: true}", "-c", inner)
	if code != 102 {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	if n := strings.Count(stdout, "a run inside another one cannot be answered from afar: the outer one asks"); n != 2 {
		t.Errorf("%d refusals: %s", n, stdout)
	}
	m := theirs.await("that it was sent", func(m ntfyMessage) bool { return strings.Contains(m.Title, "asks (inner)") })
	if len(m.Actions) > 0 {
		t.Errorf("%+v", m)
	}
	s.press(s.await("the question", asks("shop")), "Continue +5") // the courier is still there
	s.await("that it was answered", over("shop"))
}

// A carrier that is killed is started again and shows the question again, which is answered.
func TestAKilledCarrier(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	h.asks(s, "shop")
	m := s.await("the question", asks("shop"))
	shown, carriers := s.published(asks("shop")), h.carriers()
	if len(carriers) != 1 {
		t.Fatalf("carriers %v", carriers)
	}
	if err := syscall.Kill(carriers[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	h.eventually("the question is shown again", func() bool { return s.published(asks("shop")) > shown })
	s.press(m, m.Actions[0].Label)
	s.await("that it was answered", over("shop"))
	if list := h.answers("shop"); len(list) != 1 {
		t.Errorf("%q", list)
	}
}

// carriers returns the processes of this user's looprun-notify --carry.
func (h *home) carriers() (list []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		line, _ := os.ReadFile(name)
		env, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "environ"))
		if string(line) == filepath.Join(h.bin, "looprun-notify")+"\x00--carry\x00" && bytes.Contains(env, []byte("HOME="+h.dir+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			list = append(list, pid)
		}
	}
	return list
}
