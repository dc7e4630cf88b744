package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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
	if is := regexp.MustCompile(`#token=([\w-]+)`).FindStringSubmatch(k.Opened); is != nil {
		post("", "api/enter", `{"token": "`+is[1]+`"}`)
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
	text, err := json.Marshal(knocks{Address: "http://" + v.url.Host + "/", Stolen: v.key})
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
	if fmt.Sprint(told.Codes) != "[403 403 403 403]" || strings.Contains(strings.Join(told.Said, ""), v.key) {
		t.Errorf("the command was told %d %q", told.Codes, told.Said)
	}
	if strings.Contains(told.Opened, v.token()) || strings.Contains(told.Opened, v.key) {
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
	is := regexp.MustCompile(`#token=([\w-]+)`).FindSubmatch(text)
	if err != nil || is == nil {
		t.Fatalf("%v: %s", err, text)
	}
	if code := v.enter(string(is[1])); code != 200 {
		t.Fatalf("the browser gets %d", code)
	}
	until(t, "the file is removed", func() bool { _, err := os.Stat(page); return os.IsNotExist(err) })
	if code := v.enter(string(is[1])); code != 401 {
		t.Errorf("the ticket works twice: %d", code)
	}
	var said any
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

// aPort is a free one that no connection of this machine's gets by itself.
func aPort(t *testing.T) string {
	t.Helper()
	for range 100 {
		at := strconv.Itoa(20000 + rand.IntN(10000))
		if ln, err := net.Listen("tcp4", "127.0.0.1:"+at); err == nil {
			ln.Close()
			return at
		}
	}
	t.Fatal("no port is free")
	return ""
}

// A browser of which the system does not say who started it, another user's among them, sees
// nothing, and is let in by the code that the terminal of looprun serve shows when it is asked to.
// Its answer counts then. It stays in when looprun serve is started again, and in another tab; not
// once it is revoked. Five wrong codes end the code.
func TestTheCodeLetsABrowserIn(t *testing.T) {
	b := browsertest.Start(t)
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "own"))
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
	port := aPort(t)
	serve := func() (page *screen, stop func()) {
		page = onTerminal(t, dir, "serve", "--port", port)
		until(t, "the address", func() bool { return strings.Contains(page.stdout.String(), "Ctrl-C ends it") })
		return page, func() {
			page.keys(t, "\x03")
			if code := page.ended(t); code != 0 {
				t.Errorf("looprun serve ended with %d", code)
			}
		}
	}
	page, stop := serve()

	b.Through("http://" + string(at))
	host := "127.0.0.1:" + port
	v := &window{b, &served{t: t, page: &page.started, url: &url.URL{Host: host}}}
	b.Open("http://"+host+"/", 1280)
	said := func() string { return browsertest.Eval[string](b, `document.getElementById("refused").textContent`) }
	enter := func(code string) {
		browsertest.Eval[any](b, `document.activeElement.blur(); document.getElementById("refused").textContent = ""`)
		v.tabTo(`e.id === "code"`)
		v.Call("Input.insertText", map[string]any{"text": code}, nil)
		v.Press("Enter")
		until(t, "the code is tried", func() bool {
			return said() != "" || !browsertest.Eval[bool](b, `document.getElementById("enter").checkVisibility()`)
		})
	}
	shown := regexp.MustCompile(`chrome-linux asks to be let in; the code is ([A-Z2-7]{8}),`)
	ask := func() string {
		t.Helper()
		before := len(shown.FindAllString(page.stdout.String(), -1))
		browsertest.Eval[any](b, `document.activeElement.blur()`)
		v.tabTo(`e.id === "ask"`)
		v.Press("Enter")
		until(t, "the code", func() bool { return len(shown.FindAllString(page.stdout.String(), -1)) > before })
		v.shows(`document.activeElement.id === "code"`)
		all := shown.FindAllStringSubmatch(page.stdout.String(), -1)
		return all[len(all)-1][1]
	}
	v.shows(`document.getElementById("enter").checkVisibility()`)
	if said := browsertest.Eval[string](b, `fetch("api/enter", { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"token": "x"}' }).then((res) => res.text())`); !strings.Contains(said, "cannot tell") {
		t.Fatalf("the system says who connects: %s", said)
	}
	v.sound("code")
	code := ask()
	enter("AAAAAAAA")
	if got := said(); !strings.HasPrefix(got, "wrong code") {
		t.Errorf("a wrong code: %s", got)
	}
	if shown := browsertest.Eval[string](b, `document.body.innerText`); strings.Contains(shown, asks.Text) || strings.Contains(shown, "No runs yet") {
		t.Errorf("it is shown without the code: %s", shown)
	}
	enter(code)
	v.shows(`!document.getElementById("enter").checkVisibility()`)
	v.shows(`document.querySelector(".question .options button")`)
	v.tabTo(fmt.Sprintf(`e.closest(".options") && e.textContent.startsWith(%q)`, asks.Options[0].Label))
	v.Press("Enter")
	until(t, "the answer", func() bool { return len(run.state(t).Answered) == 1 })
	if a := run.state(t).Answered[0].Answer; a.Option != asks.Options[0].ID || a.Via != core.ViaWeb {
		t.Errorf("%+v", a)
	}

	// It is started again: the open page carries on, and an address without a token does.
	stop()
	cut := `document.querySelector("#state.cut")?.textContent.startsWith("Cut off")`
	v.shows(cut)
	// It is cut off, too, where a proxy says 502 in its place.
	browsertest.Eval[any](b, `window.tries = 0; const asked = fetch; window.fetch = (...of) => asked(...of).then((res) => { tries += res.status === 502; return res; })`)
	v.shows(`tries > 2`)
	if !browsertest.Eval[bool](b, cut+` === true`) {
		t.Error("while the proxy cannot reach it, the page does not say that it is cut off")
	}
	begin(t, dir, "-q", "--name", "meanwhile", "--", "true").ended(t)
	page, stop = serve()
	v.shows(`!document.querySelector("#state.cut") && [...document.querySelectorAll("#runs b")].some((e) => e.textContent === "meanwhile")`)
	browsertest.Eval[any](b, `localStorage.clear()`) // what was of the last looprun serve
	b.Open("http://"+host+"/", 1280)
	v.shows(`document.querySelectorAll("#runs a").length === 2 && !document.getElementById("enter").checkVisibility()`)
	if shown.MatchString(page.stdout.String()) {
		t.Error("a code was shown again")
	}

	// Revoked, also the page that is open ends, and another code is needed.
	listed := begin(t, dir, "serve", "--devices")
	listed.ended(t)
	if row := strings.Fields(listed.stdout.String()); len(row) < 8 || !strings.Contains(listed.stdout.String(), "chrome-linux") || !strings.Contains(listed.stdout.String(), "127.0.0.1") {
		t.Errorf("%s", listed.stdout.String())
	}
	for _, want := range []int{0, 125} {
		if code := begin(t, dir, "serve", "--revoke", "chrome-linux").ended(t); code != want {
			t.Errorf("revoking it: %d, want %d", code, want)
		}
	}
	v.shows(`document.getElementById("enter").checkVisibility()`)
	code = ask()
	for range 5 {
		enter("AAAAAAAA")
	}
	enter(code)
	if got := said(); !strings.HasPrefix(got, "too many wrong codes") || !browsertest.Eval[bool](b, `document.getElementById("enter").checkVisibility()`) {
		t.Errorf("after five wrong codes: %s", got)
	}
	stop()
}
