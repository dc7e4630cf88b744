package main

import (
	"bytes"
	"encoding/json"
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

// courier starts the courier of a home. It returns the process and the path of its socket, which
// does not lie in a folder that the system removes at logout.
func (h *home) courier() (process *os.Process, path string) {
	h.t.Helper()
	runtime := filepath.Join(h.dir, "runtime")
	if err := os.Mkdir(runtime, 0o700); err != nil {
		h.t.Fatal(err)
	}
	h.env = append(h.env, "XDG_RUNTIME_DIR="+runtime)
	dir := filepath.Join(h.dir, ".local/state/looprun/courier")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer log.Close()
	cmd := h.command("", "__courier")
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	h.t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	h.eventually("the courier is there", func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "socket"))
		path = strings.TrimSpace(string(text))
		return path != ""
	})
	if !strings.HasPrefix(path, dir) {
		h.t.Errorf("the socket is %s", path)
	}
	return cmd.Process, path
}

// A command that has gone before the courier reads its message cannot hand over a question with a
// service of its own, nor end the courier.
func TestACommandThatHasGone(t *testing.T) {
	theirs, h := startNtfy(t), newHome(t)
	courier, path := h.courier()
	if code, _, stderr := h.looprun("shop", "--name", "shop", "--max-iterations", "1", "--detached", "defer", "--", "false"); code != 102 {
		t.Fatal(stderr)
	}
	files, _ := filepath.Glob(filepath.Join(h.dir, "shop", ".looprun", "*", "journal.jsonl"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	var asked struct{ ID string }
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"question.asked"`) {
			_ = json.Unmarshal([]byte(line), &asked)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	carry, _ := json.Marshal(map[string]any{
		"type": "carry", "dir": filepath.Dir(files[0]), "id": asked.ID, "title": "looprun asks (theirs)", "body": "b",
		"services": []any{map[string]any{"url": theirs.url(), "exclusive": true}}, "env": h.env,
	})
	if err := courier.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	env := h.env
	for _, line := range []string{string(carry), `{"type":"stop"}`} {
		h.env = append(env, lineEnv+"="+path+" "+line)
		if code, stdout, stderr := h.looprun("command", "--max-iterations", "1", "--", self); code != 0 {
			t.Fatal(stdout, stderr)
		}
	}
	h.env = env
	if err := courier.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	h.eventually("both are handled", func() bool {
		text, _ := os.ReadFile(filepath.Join(h.dir, ".local/state/looprun/courier/log"))
		return strings.Contains(string(text), `got the reply to "carry"`) && strings.Contains(string(text), `got the reply to "stop"`)
	})
	h.asks(theirs, "legal") // and this is sent after what came before
	theirs.await("the question", asks("legal"))
	for _, m := range theirs.shown() {
		if asks("theirs")(m) {
			t.Errorf("%+v", m)
		}
	}
	if err := courier.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the courier: %v", err)
	}
}

// A courier that is stopped holds up neither the start of a run nor its question, which is sent.
func TestAStoppedCourier(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	courier, _ := h.courier()
	cmd := h.command("shop", "--name", "shop", "--max-iterations", "1", "--notify", "{url: '"+s.url()+"', answers: true}", "-c", "touch began; until test -e go; do sleep 0.05; done; exit 1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.eventually("the run has started", func() bool {
		_, err := os.Stat(filepath.Join(cmd.Dir, "began"))
		return err == nil
	})
	if err := courier.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cmd.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if m := s.await("the question", asks("shop")); len(m.Actions) > 0 {
		t.Errorf("%+v", m)
	}
	_ = cmd.Wait()
	code, _, stderr := h.looprun("next", "--notify", "{url: '"+s.url()+"', answers: true}", "--", "true")
	if code != 0 || !strings.Contains(stderr, "cannot be answered from afar: it runs, and does not reply") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if err := courier.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// A live run is answered too, and the phone shows what looprun answer said.
func TestALiveRun(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	cmd := h.command("shop", "--name", "shop", "--max-iterations", "1", "--wait-answer", "1h", "--notify", "{url: '"+s.url()+"', answers: true}", "--", "false")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m := s.await("the question", asks("shop"))
	s.press(m, m.Actions[0].Label)
	id := h.runs("shop")[0].ID
	if m := s.await("that it was answered", over("shop")); !strings.Contains(m.Message, "; run "+id+" continues") {
		t.Errorf("%+v", m)
	}
	s.await("the next question", func(n ntfyMessage) bool { return asks("shop")(n) && n.Sequence != m.Sequence })
	if code, _, stderr := h.looprun("shop", "stop", id); code != 0 {
		t.Error(stderr)
	}
	_ = cmd.Wait()
}
