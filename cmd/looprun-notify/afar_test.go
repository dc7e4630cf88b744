package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for something that must happen.
const patience = 5 * time.Minute

// built builds looprun and looprun-notify once, beside each other.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "looprun-afar-")
	if err != nil {
		return "", err
	}
	binaries = dir
	for from, pkg := range map[string]string{"../..": "./cmd/looprun", ".": "."} {
		cmd := exec.Command("go", "build", "-trimpath", "-o", dir+"/", pkg)
		cmd.Dir, cmd.Env = from, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
	}
	return dir, nil
})

// binaries is the folder of built; empty: it has not been made.
var binaries string

// lineEnv makes the test binary a client that writes a line to a socket, and exits: "PATH LINE".
const lineEnv = "AFAR_TEST_LINE"

func TestMain(m *testing.M) {
	if path, line, ok := strings.Cut(os.Getenv(lineEnv), " "); ok {
		c, err := net.Dial("unix", path)
		if err == nil {
			_, err = fmt.Fprintln(c, line)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
		return
	}
	code := m.Run()
	if binaries != "" {
		_ = os.RemoveAll(binaries)
	}
	os.Exit(code)
}

// home is a user: looprun and looprun-notify, a folder for state and configuration, and work.
type home struct {
	t        *testing.T
	bin, dir string
	env      []string
}

func newHome(t *testing.T) *home {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds looprun")
	}
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "looprun-home-")
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, bin: bin, dir: dir}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LOOPRUN") && !strings.HasPrefix(v, "XDG_") && !strings.HasPrefix(v, "CI=") && !strings.HasPrefix(v, "GITHUB_") {
			h.env = append(h.env, v)
		}
	}
	h.env = append(h.env, "HOME="+h.dir)
	t.Cleanup(func() {
		_, _, _ = h.looprun("", "__courier", "--stop")
		h.eventually("all processes have ended", func() bool { return os.RemoveAll(dir) == nil }) // a run may still write
	})
	return h
}

func (h *home) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(h.bin, "looprun"), args...)
	cmd.Dir, cmd.Env = filepath.Join(h.dir, dir), h.env
	if err := os.MkdirAll(cmd.Dir, 0o700); err != nil {
		h.t.Fatal(err)
	}
	return cmd
}

// looprun runs looprun in a folder of the home.
func (h *home) looprun(dir string, args ...string) (code int, stdout, stderr string) {
	h.t.Helper()
	cmd := h.command(dir, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// asks starts a run that asks after its only iteration, and returns its id.
func (h *home) asks(s *ntfyServer, dir string, flags ...string) string {
	h.t.Helper()
	args := append([]string{"--name", dir, "--max-iterations", "1", "--notify", "{url: '" + s.url() + "', answers: true}"}, flags...)
	code, _, stderr := h.looprun(dir, append(args, "-c", "echo 'FAIL: login'; env >>env; exit 1")...)
	if code != 102 {
		h.t.Fatalf("exit %d: %s", code, stderr)
	}
	return h.runs(dir)[0].ID
}

type listed struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

func (h *home) runs(dir string) (list []listed) {
	h.t.Helper()
	_, stdout, stderr := h.looprun(dir, "list", "--format", "json")
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || len(list) == 0 {
		h.t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	return list
}

// answers returns the answers in the journals of a folder's runs, as JSON.
func (h *home) answers(dir string) (list []string) {
	h.t.Helper()
	files, _ := filepath.Glob(filepath.Join(h.dir, dir, ".looprun", "*", "journal.jsonl"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			h.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, `"question.answered"`) {
				list = append(list, line)
			}
		}
	}
	return list
}

func (h *home) eventually(what string, holds func() bool) {
	h.t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			log, _ := os.ReadFile(filepath.Join(h.dir, ".local/state/looprun/courier/log"))
			h.t.Fatalf("it did not happen: %s\n%s", what, log)
		}
	}
}

func asks(name string) func(ntfyMessage) bool {
	return func(m ntfyMessage) bool {
		return strings.Contains(m.Title, "asks ("+name+")") && !strings.Contains(m.Message, "Are you sure")
	}
}

func over(name string) func(ntfyMessage) bool {
	return func(m ntfyMessage) bool { return strings.Contains(m.Title, "is answered ("+name+")") }
}

// A question of a run that has paused comes to the phone with what fails and where, is answered
// there, and the run continues: its next question comes too.
func TestAnsweredOnAPhone(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	id := h.asks(s, "shop")
	m := s.await("the question", asks("shop"))
	host, _ := os.Hostname()
	for _, want := range []string{"The only iteration is used", "FAIL: login", filepath.Join(h.dir, "shop") + " on " + host, "accept: Accept current"} {
		if !strings.Contains(m.Message, want) {
			t.Errorf("the message has no %q: %s", want, m.Message)
		}
	}
	labels := func(m ntfyMessage) (list []string) {
		for _, a := range m.Actions {
			list = append(list, a.Label)
		}
		return list
	}
	if len(m.Actions) != 3 || m.Actions[2].Label != "More…" {
		t.Errorf("buttons %q", labels(m))
	}
	goes := m.Actions[0].Label
	s.press(m, goes)
	after := s.await("that it was answered", over("shop"))
	if len(after.Actions) > 0 || !strings.Contains(after.Message, goes) || !strings.Contains(after.Message, "user over ntfy") || after.Sequence != m.Sequence {
		t.Errorf("%+v", after)
	}
	s.await("the next question", func(n ntfyMessage) bool { return asks("shop")(n) && n.Sequence != m.Sequence })
	given := h.answers("shop")
	if len(given) != 1 || !strings.Contains(given[0], `"via":"ntfy"`) || !strings.Contains(given[0], `"person":true`) || !strings.Contains(given[0], `"responder":"user"`) {
		t.Errorf("%q", given)
	}
	if _, stdout, _ := h.looprun("shop", "explain", id); !strings.Contains(stdout, "over ntfy") {
		t.Errorf("explain: %s", stdout)
	}
	_ = filepath.WalkDir(filepath.Join(h.dir, "shop"), func(name string, d os.DirEntry, err error) error {
		if text, _ := os.ReadFile(name); err != nil || bytes.Contains(text, []byte(s.addr)) {
			t.Errorf("%s has the address of the service: %v", name, err)
		}
		return nil
	})
}

// An option that ends the run is asked about once more, and No goes back.
func TestTheEndIsAskedAboutTwice(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	h.asks(s, "shop")
	m := s.await("the question", asks("shop"))
	sure := func(m ntfyMessage) bool { return strings.Contains(m.Message, "ends the run. Are you sure?") }
	find := func(label string) ntfyMessage {
		t.Helper()
		var of ntfyMessage
		for range 5 {
			if _, ok := m.button(label); ok {
				return m
			}
			before := m
			s.press(m, "More…")
			of = s.await("other options", func(n ntfyMessage) bool {
				return asks("shop")(n) && fmt.Sprint(n.Actions) != fmt.Sprint(before.Actions)
			})
			m = of
		}
		t.Fatalf("there is no option %q", label)
		return of
	}
	s.press(find("Accept current"), "Accept current")
	again := s.await("whether it is sure", sure)
	if len(again.Actions) != 2 || len(h.answers("shop")) != 0 {
		t.Errorf("%+v, answers %q", again, h.answers("shop"))
	}
	s.press(again, "No")
	m = s.await("the question again", asks("shop"))
	s.press(find("Accept current"), "Accept current")
	s.press(s.await("whether it is sure", sure), "Yes: Accept current")
	s.await("that it was answered", over("shop"))
	h.eventually("the run is accepted", func() bool { return h.runs("shop")[0].Status == "accepted" })
}

// A code that was changed, or one that another topic brings, answers nothing. A doubled answer
// counts once, and a late one is told what was answered.
func TestCodes(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	h.asks(s, "shop")
	m := s.await("the question", asks("shop"))
	other := startNtfy(t)
	h.asks(other, "other")
	o := other.await("the question", asks("other"))

	code := m.Actions[0].Body
	for i := range code {
		wrong := []byte(code)
		if wrong[i]++; wrong[i] == '{' || wrong[i] == '[' {
			wrong[i] = 'a'
		}
		s.post(m.Actions[0].URL, string(wrong))
	}
	s.post(m.Actions[0].URL, strings.Repeat(code, 100))
	s.post(m.Actions[0].URL, o.Actions[0].Body) // of another sender and run
	other.post(o.Actions[0].URL, code)
	log := filepath.Join(h.dir, ".local/state/looprun/courier/log")
	h.eventually("the codes are refused", func() bool {
		text, _ := os.ReadFile(log)
		return strings.Count(string(text), "a code was refused") == 20 // and no more are logged
	})
	if list := slices.Concat(h.answers("shop"), h.answers("other")); len(list) > 0 {
		t.Errorf("%q", list)
	}

	s.press(m, m.Actions[0].Label)
	s.press(m, m.Actions[0].Label)
	s.await("that it was answered", over("shop"))
	s.await("the next question", func(n ntfyMessage) bool { return asks("shop")(n) && n.Sequence != m.Sequence })
	updates := func() int {
		return s.published(func(of ntfyMessage) bool { return of.Sequence == m.Sequence && over("shop")(of) })
	}
	n := updates()
	s.press(m, m.Actions[1].Label) // another answer, and too late
	h.eventually("the late one is told", func() bool { return updates() > n })
	if list := h.answers("shop"); len(list) != 1 {
		t.Errorf("%q", list)
	}
}

// An answer to a message of a courier that has ended is not followed, and the phone says so, once.
func TestAnEarlierCourier(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	h.asks(s, "shop")
	m := s.await("the question", asks("shop"))
	if code, _, stderr := h.looprun("", "__courier", "--stop"); code != 0 {
		t.Fatal(stderr)
	}
	h.eventually("the courier has ended", func() bool { code, _, _ := h.looprun("", "__courier", "--stop"); return code != 0 })
	h.asks(s, "legal")
	next := s.await("the question", asks("legal"))
	said := func(m ntfyMessage) bool { return m.Title == "looprun did not follow an answer" }
	s.press(m, m.Actions[0].Label)
	if told := s.await("that it is not followed", said); !strings.Contains(told.Message, "with looprun answer") {
		t.Errorf("%+v", told)
	}
	s.press(m, m.Actions[1].Label)
	s.press(next, next.Actions[0].Label)
	s.await("that it was answered", over("legal"))
	if n, list := s.published(said), h.answers("shop"); n != 1 || len(list) > 0 {
		t.Errorf("it is said %d times; %q", n, list)
	}
}

// What is answered at the terminal is followed up on the phone.
func TestAnsweredElsewhere(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	id := h.asks(s, "shop")
	m := s.await("the question", asks("shop"))
	if code, _, stderr := h.looprun("shop", "answer", id, "accept", "--reason", "good enough"); code != 0 {
		t.Fatal(stderr)
	}
	after := s.await("that it was answered", over("shop"))
	if !strings.Contains(after.Message, "by user at") || len(after.Actions) > 0 {
		t.Errorf("%+v", after)
	}
	s.press(m, m.Actions[0].Label)
	h.eventually("the late one is told", func() bool { return s.published(over("shop")) == 2 })
	if list := h.answers("shop"); len(list) != 1 || strings.Contains(list[0], "via") {
		t.Errorf("%q", list)
	}
}

// A server that is away when the question is asked, and again when the answer is sent, costs
// nothing but time. Neither do errors of it.
func TestTheServerIsAway(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	s.stop()
	h.asks(s, "shop")
	s.mu.Lock()
	s.statuses = []int{500, 429, 503}
	s.mu.Unlock()
	s.start()
	m := s.await("the question", asks("shop"))
	s.http.Close() // the connection of the carrier ends
	s.mu.Lock()
	answer := m.Actions[0]
	s.cache = append(s.cache, ntfyMessage{ID: "whileaway", Time: time.Now().Unix(), Event: "message", Topic: "topic-answers", Message: answer.Body})
	s.mu.Unlock()
	s.start()
	s.await("that it was answered", over("shop"))
}

// An answer that the server loses can be given again.
func TestALostAnswer(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	h.asks(s, "shop")
	m := s.await("the question", asks("shop"))
	s.mu.Lock()
	s.lose = 1
	s.mu.Unlock()
	s.press(m, m.Actions[0].Label)
	s.press(m, m.Actions[0].Label)
	s.await("that it was answered", over("shop"))
}

// The courier carries for all runs, and each answer goes to its own.
func TestTwoRuns(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	h.asks(s, "one")
	h.asks(s, "two")
	one, two := s.await("a question", asks("one")), s.await("a question", asks("two"))
	s.press(two, two.Actions[0].Label)
	s.await("that it was answered", over("two"))
	if list := h.answers("one"); len(list) > 0 {
		t.Errorf("%q", list)
	}
	s.press(one, one.Actions[0].Label)
	s.await("that it was answered", over("one"))
}

// With a password only the carrier reads the topics; a button needs none.
func TestAPassword(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	const user = "me:s3cr3t-pass"
	s.mu.Lock()
	s.user = user
	s.mu.Unlock()
	code, _, stderr := h.looprun("shop", "--name", "shop", "--max-iterations", "1", "--notify", "{url: 'ntfy://"+user+"@"+s.addr+"/topic?scheme=http', answers: true}", "--", "false")
	if code != 102 {
		t.Fatal(stderr)
	}
	m := s.await("the question", asks("shop"))
	s.press(m, m.Actions[0].Label)
	s.await("that it was answered", over("shop"))
	text := fmt.Sprintf("%+v", s.shown())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logins > 0 || strings.Contains(text, "s3cr3t-pass") {
		t.Errorf("%d refused, %s", s.logins, text)
	}
}

// A question for a person only is answered from afar only where that was allowed: one that the
// command asks so, and one of a guard that a person must answer.
func TestExclusive(t *testing.T) {
	for _, mandatory := range []bool{false, true} {
		for _, exclusive := range []string{"", ", exclusive: true"} {
			s, h := startNtfy(t), newHome(t)
			ladder := filepath.Join(h.dir, "ladder.yaml")
			if err := os.WriteFile(ladder, []byte("ladder: [{rung: self_solve, attempts: 2}, {rung: human}]\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"--name", "shop", "--notify", "{url: '" + s.url() + "', answers: true" + exclusive + "}"}
			if mandatory {
				args = append(args, "--config", ladder, "--loop-threshold", "off", "-c", "echo Error: way $LOOPRUN_ITERATION; exit 1")
			} else {
				args = append(args, "--max-iterations", "2", "-c", filepath.Join(h.bin, "looprun")+" ask --exclusive --option a --option b 'Which one?'")
			}
			if code, _, stderr := h.looprun("shop", args...); code != 102 || mandatory && !strings.Contains(stderr, "ladder_exhausted") {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			m := s.await("the question", asks("shop"))
			if exclusive == "" {
				if len(m.Actions) > 0 || !strings.Contains(m.Message, "cannot be answered here") {
					t.Errorf("mandatory %v: %+v", mandatory, m)
				}
				continue
			}
			s.press(m, m.Actions[0].Label)
			s.await("that it was answered", over("shop"))
		}
	}
}

// A run that is killed while it asks leaves a question that the phone still answers.
func TestAKilledRun(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	cmd := h.command("shop", "--name", "shop", "--max-iterations", "1", "--wait-answer", "1h", "--notify", "{url: '"+s.url()+"', answers: true}", "--", "false")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m := s.await("the question", asks("shop"))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	s.press(m, m.Actions[0].Label)
	s.await("that it was answered", over("shop"))
	s.await("the next question", func(n ntfyMessage) bool { return asks("shop")(n) && n.Sequence != m.Sequence })
	if code, _, stderr := h.looprun("shop", "stop", h.runs("shop")[0].ID); code != 0 { // it waits for an hour
		t.Error(stderr)
	}
}

// A run stays connected to the courier until it ends, so that the courier does not end before the
// first question.
func TestARunKeepsTheCourier(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	dir := filepath.Join(h.dir, ".local/state/looprun/courier")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.dir, "socket")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err) // the path is too long here
	}
	defer l.Close()
	if err := os.WriteFile(filepath.Join(dir, "socket"), []byte(path+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	events := make(chan string, 100)
	go func() { // the courier
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var m struct{ Type string }
				in := bufio.NewReader(c)
				line, _ := in.ReadBytes('\n')
				_ = json.Unmarshal(line, &m)
				events <- m.Type
				if m.Type == "stay" {
					_, _ = in.ReadByte()
					events <- "gone"
					return
				}
				fmt.Fprintln(c, `{"ok":true,"reply":{}}`)
			}()
		}
	}()
	next := func(want string) {
		t.Helper()
		select {
		case got := <-events:
			if got != want {
				t.Fatalf("%q, want %q", got, want)
			}
		case <-time.After(patience):
			t.Fatalf("no %q", want)
		}
	}
	cmd := h.command("shop", "--max-iterations", "1", "--notify", "{url: '"+s.url()+"', answers: true}", "-c", "until test -e go; do sleep 0.05; done; exit 1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	next("here")
	next("stay")
	if err := os.WriteFile(filepath.Join(cmd.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	next("carry")
	next("gone")
	_ = cmd.Wait()
}

// A service whose topic for answers cannot be read still shows the question, and says so. An
// answer from there counts once it can be read.
func TestTheAnswersCannotBeRead(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	unread := func(is bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.unread = is
	}
	unread(true)
	h.asks(s, "shop")
	m := s.await("the question", asks("shop"))
	if !strings.HasPrefix(m.Message, "Answering here may not work") {
		t.Errorf("%+v", m)
	}
	s.press(m, m.Actions[0].Label)
	unread(false)
	s.await("that it was answered", over("shop"))
}

// The next run warns about a message that the service has refused, until it takes one.
func TestARefusedMessage(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	s.mu.Lock()
	s.statuses = []int{413}
	s.mu.Unlock()
	h.asks(s, "shop")
	warns := func() bool {
		code, _, stderr := h.looprun("next", "--notify", "{url: '"+s.url()+"', answers: true}", "--", "true")
		if code != 0 {
			t.Fatal(stderr)
		}
		return strings.Contains(stderr, "warning: an earlier question was not sent: ntfy: the service did not take the message")
	}
	h.eventually("a warning", warns)
	h.asks(s, "again")
	s.await("the question", asks("again"))
	h.eventually("no warning", func() bool { return !warns() })
}

// A question whose run is removed was not answered, and the message says neither.
func TestTheRunIsGone(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	h.asks(s, "shop")
	s.await("the question", asks("shop"))
	if err := os.RemoveAll(filepath.Join(h.dir, "shop", ".looprun")); err != nil {
		t.Fatal(err)
	}
	m := s.await("that it is over", func(m ntfyMessage) bool { return strings.Contains(m.Title, "has stopped asking (shop)") })
	if m.Message != "The run is gone." || len(m.Actions) > 0 {
		t.Errorf("%+v", m)
	}
}

// The questions of looprun many are answered on a phone, while it waits and after it has ended.
// Each loop asks once.
func TestManyAsks(t *testing.T) {
	s, h := startNtfy(t), newHome(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.c"}, args...)...)
		cmd.Dir, cmd.Env = filepath.Join(h.dir, "shop"), h.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	many := func(flags ...string) *exec.Cmd {
		args := append([]string{"many", "--for", "echo one; echo two", "--max-iterations", "1", "--notify", "{url: '" + s.url() + "', answers: true}"}, flags...)
		return h.command("shop", append(args, "-c", "echo 'FAIL: login' {}; exit 1")...)
	}
	many()
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "a")

	cmd := many("--wait-answer", "1h")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		m := s.await("the question", asks(name))
		for !slices.ContainsFunc(m.Actions, func(a ntfyAction) bool { return a.Label == "Accept current" }) {
			before := m
			s.press(m, "More…")
			m = s.await("other options", func(n ntfyMessage) bool { return asks(name)(n) && fmt.Sprint(n.Actions) != fmt.Sprint(before.Actions) })
		}
		s.press(m, "Accept current")
		s.press(s.await("whether it is sure", func(n ntfyMessage) bool {
			return n.Sequence == m.Sequence && strings.Contains(n.Message, "Are you sure?")
		}), "Yes: Accept current")
		s.await("that it was answered", over(name))
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 100 {
		t.Error(err)
	}
	if list := h.answers("shop"); len(list) != 2 || !strings.Contains(list[0], `"via":"ntfy"`) {
		t.Errorf("%q", list)
	}

	cmd = many()
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 102 {
		t.Errorf("exit %d", code)
	}
	m := s.await("the question", asks("one"))
	s.await("the question", asks("two"))
	if list := slices.DeleteFunc(s.shown(), func(m ntfyMessage) bool { return !asks("two")(m) }); len(list) != 1 {
		t.Errorf("two asks %d times: %+v", len(list), list)
	}
	s.press(m, m.Actions[0].Label)
	s.await("the next question", func(n ntfyMessage) bool { return asks("one")(n) && n.Sequence != m.Sequence })
}
