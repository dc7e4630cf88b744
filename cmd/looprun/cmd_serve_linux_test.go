package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/browsertest"
)

func init() {
	otherPrograms["TEST_KNOCK"] = knock
	otherPrograms["TEST_RELAY"] = relay
}

// A knock is what the looped command tries on the page, and what it was told.
type knocks struct {
	Address string // of the page
	Stolen  string // a token that it should not have
	Opened  string // the file that --open wrote, as it was when the command read it
	Codes   []int
	Said    []string
}

// knock is the looped command: it asks for the page's token, and answers a question of its run,
// with all that it finds.
func knock(file string) int {
	var k knocks
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	post := func(token, path, body string) string {
		r, err := http.NewRequest(http.MethodPost, k.Address+path, strings.NewReader(body)) //nolint:noctx // it ends with the run
		if err != nil {
			return err.Error()
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return err.Error()
		}
		defer res.Body.Close()
		said, _ := io.ReadAll(res.Body)
		k.Codes, k.Said = append(k.Codes, res.StatusCode), append(k.Said, string(said))
		return string(said)
	}
	found, _ := filepath.Glob(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "looprun-*.html"))
	for _, name := range found {
		if text, err := os.ReadFile(name); err == nil {
			k.Opened = string(text)
		}
	}
	if is := regexp.MustCompile(`#(token|ticket)=([\w-]+)`).FindStringSubmatch(k.Opened); is != nil && is[1] == "ticket" {
		post("", "api/enter", `{"ticket": "`+is[2]+`"}`)
	} else if is != nil {
		k.Stolen = is[2]
	}
	run := "api/runs/" + os.Getenv("TEST_KEY")
	post(k.Stolen, run+"/answer", `{"question": "`+os.Getenv("TEST_QUESTION")+`", "option": "accept"}`)
	post(k.Stolen, run+"/order", `{"order": "stop"}`)
	post(k.Stolen, run+"/resume", `{}`)
	text, err = json.Marshal(k)
	if err == nil {
		err = os.WriteFile(file+".told", text, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A command below a run is not the person: with what --open left for the browser, and with a
// token that it stole, the page gives it no token, no answer and no resumed run. The browser
// gets its token with the same ticket, once, and the file is gone.
func TestALoopedCommandIsNotThePerson(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := errors.Join(os.Mkdir(bin, 0o700), os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >"+dir+"/opened.new; mv "+dir+"/opened.new "+dir+"/opened\n"), 0o700)); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("XDG_RUNTIME_DIR", dir)
	asks := begin(t, dir, "-q", "--non-interactive", "--detached", "defer", "--max-iterations", "1", "--", "false")
	asks.ended(t)
	question := asks.state(t).Pending()[0].ID
	journal := filepath.Join(onlyRun(t, dir), "journal.jsonl")
	before, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	v := startServe(t, dir, "--open")
	until(t, "the browser is opened", v.page.has("opened"))
	at := v.run()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "knock")
	text, err := json.Marshal(knocks{Address: "http://" + v.url.Host + "/", Stolen: v.token()})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	loop := ready(t, dir, "-q", "--non-interactive", "--state-dir", filepath.Join(dir, "elsewhere"), "--max-iterations", "1", "--", self)
	loop.Env = append(loop.Env, "TEST_KNOCK="+file, "TEST_KEY="+filepath.Base(at), "TEST_QUESTION="+question)
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	if code := loop.ended(t); code != 0 {
		t.Fatalf("the command ended with %d", code)
	}
	var told knocks
	if text, err = os.ReadFile(file + ".told"); err == nil {
		err = json.Unmarshal(text, &told)
	}
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(told.Codes) != "[403 403 403 403]" || strings.Contains(strings.Join(told.Said, ""), v.token()) {
		t.Errorf("the command was told %d %q", told.Codes, told.Said)
	}
	if strings.Contains(told.Opened, v.token()) {
		t.Errorf("the token is in the file that the command can read: %s", told.Opened)
	}
	if after, err := os.ReadFile(journal); err != nil || !bytes.Equal(after, before) {
		t.Errorf("%v: the journal has become\n%s", err, after)
	}

	if said := v.page.stderr.String(); strings.Contains(said, "code") {
		t.Errorf("the code is where the command can read it: %s", said)
	}

	// The person's browser, afterwards.
	opened, err := os.ReadFile(filepath.Join(dir, "opened"))
	if err != nil {
		t.Fatal(err)
	}
	page := strings.TrimSpace(string(opened))
	text, err = os.ReadFile(page)
	is := regexp.MustCompile(`#ticket=([\w-]+)`).FindSubmatch(text)
	if err != nil || is == nil {
		t.Fatalf("%v: %s", err, text)
	}
	var given struct{ Token string }
	if code := v.call("POST", "/api/enter", `{"ticket": "`+string(is[1])+`"}`, &given); code != 200 || given.Token == "" {
		t.Fatalf("the browser gets %d and %q", code, given.Token)
	}
	until(t, "the file is removed", func() bool { _, err := os.Stat(page); return os.IsNotExist(err) })
	var said any
	if code := v.call("POST", "/api/enter", `{"ticket": "`+string(is[1])+`"}`, &said); code != 401 {
		t.Errorf("the ticket works twice: %d %v", code, said)
	}
	v.url = &url.URL{Host: v.url.Host, Fragment: "token=" + given.Token}
	if code := v.call("POST", at+"/answer", `{"question": "`+question+`", "option": "accept"}`, &said); code != 200 {
		t.Errorf("the person's answer: %d %v", code, said)
	}
}

// relay is a proxy whose connections the system does not attribute to a process of this user: to
// root it is another user, and to others its descriptors are closed. It writes its address into
// the file.
func relay(file string) int {
	err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	ln, listenErr := net.Listen("tcp4", "127.0.0.1:0")
	if err = errors.Join(err, listenErr); err == nil {
		err = errors.Join(os.WriteFile(file+".new", []byte(ln.Addr().String()), 0o600), os.Rename(file+".new", file))
	}
	if err == nil && os.Geteuid() == 0 {
		err = syscall.Setuid(65534)
	}
	if err == nil {
		err = http.Serve(ln, &httputil.ReverseProxy{Rewrite: func(*httputil.ProxyRequest) {}, FlushInterval: -1}) //nolint:gosec // it is killed
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// A browser of which the system does not say who started it sees nothing, and is let in by the
// code that the terminal of looprun serve shows. Its answer counts then.
func TestTheCodeLetsABrowserIn(t *testing.T) {
	b := browsertest.Start(t)
	dir := t.TempDir()
	run := begin(t, dir, "-q", "--detached", "defer", "--max-iterations", "1", "--", "false")
	run.ended(t)
	asks := run.state(t).Pending()[0]
	self, err := os.Executable()
	if err == nil {
		err = servers(filepath.Dir(run.Path))
	}
	if err != nil {
		t.Fatal(err)
	}
	proxy := &started{Cmd: exec.Command(self), dir: dir}
	proxy.Env = append(os.Environ(), "TEST_RELAY="+filepath.Join(dir, "proxy"))
	proxy.Cmd.Stderr = &proxy.stderr
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = proxy.Process.Kill()
		_ = proxy.Wait()
		if t.Failed() {
			t.Logf("proxy: %s", proxy.stderr.String())
		}
	})
	until(t, "the proxy listens", proxy.has("proxy"))
	at, err := os.ReadFile(filepath.Join(dir, "proxy"))
	if err != nil {
		t.Fatal(err)
	}
	page := onTerminal(t, dir, "serve")
	code := regexp.MustCompile(`asks for a code, it is ([A-Z2-7]{8})\s`)
	until(t, "the code", func() bool { return code.MatchString(page.stdout.String()) })
	said := page.stdout.String()
	address, err := url.Parse(regexp.MustCompile(`http://[\w.:]+/#token=[\w-]+`).FindString(said))
	if err != nil {
		t.Fatal(err)
	}

	b.Through("http://" + string(at))
	v := &window{b, &served{t, &page.started, &url.URL{Host: address.Host, Fragment: address.Fragment}}}
	b.Open("http://"+address.Host+"/", 1280)
	enter := func(code string) {
		browsertest.Eval[any](b, `document.activeElement.blur()`)
		v.tabTo(`e.id === "code"`)
		v.Call("Input.insertText", map[string]any{"text": code}, nil)
		v.Press("Enter")
	}
	v.shows(`document.getElementById("enter").checkVisibility()`)
	if said := browsertest.Eval[string](b, `fetch("api/enter", { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"ticket": "x"}' }).then((res) => res.text())`); !strings.Contains(said, "cannot tell") {
		t.Fatalf("the system says who connects: %s", said)
	}
	enter("AAAAAAAA")
	v.shows(`document.getElementById("refused").textContent.startsWith("wrong code")`)
	if shown := browsertest.Eval[string](b, `document.body.innerText`); strings.Contains(shown, asks.Text) {
		t.Errorf("it is shown without the code: %s", shown)
	}
	enter(code.FindStringSubmatch(said)[1])
	v.shows(`!document.getElementById("enter").checkVisibility()`)
	v.shows(`document.querySelector(".question .options button")`)
	v.tabTo(fmt.Sprintf(`e.closest(".options") && e.textContent.startsWith(%q)`, asks.Options[0].Label))
	v.Press("Enter")
	until(t, "the answer", func() bool { return len(run.state(t).Answered) == 1 })
	if a := run.state(t).Answered[0].Answer; a.Option != asks.Options[0].ID || a.Via != core.ViaWeb {
		t.Errorf("%+v", a)
	}
	page.keys(t, "\x03")
	if code := page.ended(t); code != 0 {
		t.Errorf("looprun serve ended with %d", code)
	}
}
