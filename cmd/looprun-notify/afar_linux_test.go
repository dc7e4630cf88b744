package main

import (
	"path/filepath"
	"strings"
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
