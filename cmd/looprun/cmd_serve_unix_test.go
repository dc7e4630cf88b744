//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/browsertest"
	"github.com/looprun/looprun/internal/origin"
	"github.com/looprun/looprun/scratchpad"
)

// served is looprun serve, and where its page is.
type served struct {
	t    *testing.T
	page *started
	url  *url.URL // with a token, for a browser
	key  string   // of the requests that a test makes itself
}

// startServe starts looprun serve in the directory.
func startServe(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	return startPage(t, ready(t, dir, append([]string{"serve"}, args...)...))
}

// startPage starts a program that serves the page.
func startPage(t *testing.T, page *started) *served {
	t.Helper()
	if err := servers(filepath.Dir(page.Path)); err != nil {
		t.Fatal(err)
	}
	if err := page.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { page.stop(t) })
	until(t, "the address", func() bool { return strings.Contains(page.stdout.String(), "\n") })
	at, err := url.Parse(strings.TrimSpace(page.stdout.String()))
	if err != nil {
		t.Fatal(err)
	}
	v := &served{t: t, page: page, url: at}
	if code := v.enter(v.token()); code == http.StatusUnauthorized && !origin.Known {
		t.Skip("this system does not say that the test is no run's command")
	} else if code != http.StatusOK {
		t.Fatalf("the address does not let the test in: %d", code)
	}
	return v
}

// enter trades the token of an address for one of the test's own.
func (v *served) enter(token string) int {
	v.t.Helper()
	var given any
	code := v.call("POST", "/api/enter", `{"token": "`+token+`"}`, &given)
	if reply, ok := given.(map[string]any); ok {
		v.key = fmt.Sprint(reply["token"])
	}
	return code
}

// stop ends a server, once.
func (s *started) stop(t *testing.T) {
	t.Helper()
	if s.ProcessState != nil {
		return
	}
	_ = s.Process.Signal(os.Interrupt)
	if code := s.ended(t); code != 0 {
		t.Errorf("looprun serve ended with %d", code)
	}
}

var (
	serverBuilt sync.Once
	errServer   error
)

// servers puts looprun-serve beside looprun, once.
func servers(dir string) error {
	serverBuilt.Do(func() {
		if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "looprun-serve"), "../looprun-serve").CombinedOutput(); err != nil {
			errServer = fmt.Errorf("%w: %s", err, out)
		}
	})
	return errServer
}

func (v *served) token() string { return strings.TrimPrefix(v.url.Fragment, "token=") }

// request is a request as the page makes it.
func (v *served) request(method, path, body string) *http.Request {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, "http://"+v.url.Host+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+v.key)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// call makes a request, and reads what comes back into into.
func (v *served) call(method, path, body string, into any) int {
	v.t.Helper()
	res, err := http.DefaultClient.Do(v.request(method, path, body))
	if err != nil {
		v.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		text, err = json.Marshal(strings.TrimSpace(string(text)))
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		v.t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
	return res.StatusCode
}

// run is the address of the only run.
func (v *served) run() string {
	v.t.Helper()
	var list struct{ Runs []struct{ Key string } }
	if code := v.call("GET", "/api/runs", "", &list); code != 200 || len(list.Runs) != 1 {
		v.t.Fatalf("%d: %d runs", code, len(list.Runs))
	}
	return "/api/runs/" + list.Runs[0].Key
}

// window is a browser that shows the page.
type window struct {
	*browsertest.Browser
	*served
}

func (v *served) open(b *browsertest.Browser) *window {
	v.t.Helper()
	b.Open(v.url.String(), 1280)
	return &window{b, v}
}

// step ends the n-th iteration of a command in dir, which waits for a file, and waits until the page
// has its mark.
func (v *window) step(dir string, n int) {
	v.t.Helper()
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("go%d", n)), nil, 0o600); err != nil {
		v.t.Fatal(err)
	}
	v.shows(fmt.Sprintf(`document.querySelectorAll(".steps .cell").length === %d`, n))
}

// shows waits until an expression holds in the page.
func (v *window) shows(expression string) {
	v.t.Helper()
	until(v.t, expression, func() bool { return browsertest.Eval[bool](v.Browser, "!!("+expression+")") })
}

// holds keeps back the answers to requests whose path contains this, in window.held. Setting
// window.fetch to window.real ends that for new requests.
func (v *window) holds(path string) {
	v.t.Helper()
	browsertest.Eval[any](v.Browser, fmt.Sprintf(`(() => {
		const real = window.real ||= fetch, held = window.held = [];
		window.fetch = async (path, init) => {
			const res = await real(path, init), text = path.includes(%q) && await res.text();
			if (text) res.text = () => new Promise((go) => held.push({ path, go: () => go(text) }));
			return res;
		};
	})()`, path))
}

// lets gives the page the answers that were kept back, in this order.
func (v *window) lets(order string) {
	v.t.Helper()
	browsertest.Eval[any](v.Browser, `(async () => { window.fetch = window.real; `+order+`.forEach((h) => h.go()); await new Promise((done) => setTimeout(done)); })()`)
}

// quiet fails when the browser had anything to say, or the page asked for anything that
// is not this server's. Refusals that a test provokes are told in full.
func (v *window) quiet() {
	v.t.Helper()
	for _, e := range v.Events {
		switch e.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening":
			v.t.Errorf("%s: %s", e.Method, e.Params)
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			if err := json.Unmarshal(e.Params, &p); err != nil || !strings.HasPrefix(p.Request.URL, "http://"+v.url.Host+"/") {
				v.t.Errorf("the page asks for %s", p.Request.URL)
			}
			if strings.Contains(p.Request.URL, v.token()) {
				v.t.Errorf("the token is in a request's address: %s", p.Request.URL)
			}
		}
	}
}

// An answer of the page goes through the door of looprun answer: to the question that
// was shown and to no other, of a run that waits and of one that has exited, with its
// reason and guidance, as a person's who was in the browser.
func TestAnswersByTheSameDoor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args         []string
		live         bool
		body, option string // of the answer
		code         int    // of a run that goes on by the answer
	}{
		"deferred": {
			args: []string{"--detached", "defer", "--max-iterations", "1", "--", "false"},
			body: `"option":"accept","reason":"Enough.","guidance":"Look at the log."`, option: "accept",
		},
		"pending": {
			args: []string{"--wait-answer", "1h", "--max-iterations", "1", "--", "false"}, live: true,
			body: `"option":"accept","reason":"Enough.","guidance":"Look at the log."`, option: "accept", code: 100,
		},
		"mandatory": {
			args: []string{"--detached", "defer", "-c", `"$BIN" ask "Drop it?" --confirm --exclusive >answer; exit 0`},
			body: `"option":"no","reason":"Enough.","guidance":"Look at the log."`, option: "no",
		},
		"several": {
			args: []string{"--detached", "defer", "-c", `"$BIN" ask "Which?" --option a=A --option b=B --option c=C --multi; exit 1`},
			body: `"options":["a","c"],"reason":"Enough.","guidance":"Look at the log."`, option: "a, c",
		},
		"words": {
			args: []string{"--detached", "defer", "-c", `"$BIN" ask "Which?" --text; exit 1`},
			body: `"text":"The third.","reason":"Enough.","guidance":"Look at the log."`, option: "The third.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run := ready(t, dir, append([]string{"-q", "--non-interactive"}, c.args...)...)
			run.Env = append(run.Env, "BIN="+run.Path)
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			var q core.Question
			if c.live {
				q = waitsFor(t, run, "")
			} else {
				run.ended(t)
				q = run.state(t).Pending()[0]
			}
			v := startServe(t, dir)
			at := v.run()
			journal := filepath.Join(onlyRun(t, dir), "journal.jsonl")
			before, err := os.ReadFile(journal)
			if err != nil {
				t.Fatal(err)
			}
			var said any
			if code := v.call("POST", at+"/answer", `{"question":"`+q.ID+`0",`+c.body+`}`, &said); code != 409 || !strings.Contains(fmt.Sprint(said), q.ID) {
				t.Errorf("an answer for another question: %d %v", code, said)
			}
			if after, err := os.ReadFile(journal); err != nil || string(after) != string(before) {
				t.Errorf("it is on record: %v", err)
			}
			if code := v.call("POST", at+"/answer", `{"question":"`+q.ID+`",`+c.body+`}`, &said); code != 200 {
				t.Fatalf("%d %v", code, said)
			}
			if c.live {
				if code := run.ended(t); code != c.code {
					t.Errorf("the run ended with %d", code)
				}
			}
			given := run.state(t).Answered
			if len(given) != 1 {
				t.Fatalf("%+v", given)
			}
			a := given[0].Answer
			if given[0].QuestionID != q.ID || a.String() != c.option || !a.Person || a.Responder != core.RespondedByUser || a.Via != core.ViaWeb ||
				a.Reason != "Enough." || a.Guidance != "Look at the log." {
				t.Errorf("%+v", given[0])
			}
			if !c.live { // it ends, or goes on at once
				until(t, "the run rests again", func() bool {
					text, err := os.ReadFile(journal)
					return err == nil && strings.Contains(string(text), `"type":"run.resumed"`) && run.state(t).Ending != nil && !scratchpad.Locked(onlyRun(t, dir))
				})
			}
			if code := v.call("POST", at+"/answer", `{"question":"`+q.ID+`",`+c.body+`}`, &said); code != 409 {
				t.Errorf("a second answer: %d %v", code, said)
			}
			var page struct{ Settled []struct{ ID, Said string } }
			if code := v.call("GET", at, "", &page); code != 200 || len(page.Settled) != 1 || page.Settled[0].ID != q.ID ||
				!strings.HasPrefix(page.Settled[0].Said, fmt.Sprintf("user in the browser answered it with %q at ", c.option)) {
				t.Errorf("whoever answers too late is told: %d %+v", code, page.Settled)
			}
		})
	}
}

// An answer after which looprun cannot resume the run is on record, and the page says both.
func TestAnAnswerThatStopsThere(t *testing.T) {
	dir := t.TempDir()
	run := begin(t, dir, "-q", "--non-interactive", "--detached", "defer", "--max-iterations", "1", "--", "false")
	run.ended(t)
	writeFile(t, dir, "looprun", "#!/bin/sh\ntest \"$1\" != resume || { echo 'looprun: no room' >&2; exit 125; }\nexec "+run.Path+" \"$@\"\n")
	broken := filepath.Join(dir, "looprun")
	if err := os.Chmod(broken, 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	page := ready(t, dir, "--looprun", broken, "--state-dir", filepath.Join(dir, "state"))
	page.Path = filepath.Join(filepath.Dir(page.Path), "looprun-serve")
	v := startPage(t, page)
	var said string
	if code := v.call("POST", v.run()+"/answer", `{"question":"`+run.state(t).Pending()[0].ID+`","option":"continue"}`, &said); code != 409 || said != "the answer is recorded, but the run does not continue: no room" {
		t.Errorf("%d %s", code, said)
	}
	if n := len(run.state(t).Answered); n != 1 {
		t.Errorf("%d answers", n)
	}
}

// Ctrl-C in the terminal of looprun serve does not break off an answer that is on its way.
func TestAnAnswerWhileServeEnds(t *testing.T) {
	dir := t.TempDir()
	run := begin(t, dir, "-q", "--non-interactive", "--detached", "defer", "--max-iterations", "1", "--", "false")
	run.ended(t)
	slow := filepath.Join(dir, "looprun")
	writeFile(t, dir, "looprun", "#!/bin/sh\ntest \"$1\" != answer || { >begun; while [ -e begun ] && [ ! -e go ]; do sleep 0.02; done; }\nexec "+run.Path+" \"$@\"\n")
	if err := os.Chmod(slow, 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	page := ready(t, dir, "--looprun", slow, "--state-dir", filepath.Join(dir, "state"))
	page.Path, page.SysProcAttr = filepath.Join(filepath.Dir(page.Path), "looprun-serve"), &syscall.SysProcAttr{Setpgid: true}
	v := startPage(t, page)
	r := v.request("POST", v.run()+"/answer", `{"question":"`+run.state(t).Pending()[0].ID+`","option":"cancel"}`)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		if res, err := http.DefaultClient.Do(r); err == nil { // it is told, unless this machine is very slow
			_ = res.Body.Close()
		}
	}()
	until(t, "it is on its way", page.has("begun"))
	if err := syscall.Kill(-page.Process.Pid, syscall.SIGINT); err != nil { // as a terminal does
		t.Fatal(err)
	}
	until(t, "it listens no more", func() bool {
		c, err := net.Dial("tcp", v.url.Host)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	writeFile(t, dir, "go", "")
	if got := page.ended(t); got != 0 {
		t.Errorf("looprun serve ended with %d", got)
	}
	until(t, "the answer is on record", func() bool { return len(run.state(t).Answered) == 1 })
	<-sent
}

// The page shows the runs of its folder, and those of all folders when it is told to. It says where
// a run works, wherever it is kept.
func TestServeAll(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "notes"))
	for _, state := range []string{"state", "other"} {
		begin(t, dir, "-q", "--state-dir", filepath.Join(dir, state), "--", "true").ended(t)
	}
	for n, args := range map[int][]string{1: nil, 2: {"--all"}} {
		var list struct{ Runs []struct{ Folder string } }
		if code := startServe(t, dir, args...).call("GET", "/api/runs", "", &list); code != 200 || len(list.Runs) != n || filepath.Base(list.Runs[0].Folder) != filepath.Base(dir) {
			t.Errorf("%q: %d, %+v", args, code, list.Runs)
		}
	}
}

// A run that stopped without a question goes on from the page, and what it asks then
// waits on the page, whatever it was set up with.
func TestResumeFromThePage(t *testing.T) {
	dir := t.TempDir()
	run := begin(t, dir, "-q", "--non-interactive", "--max-iterations", "1", "--", "false")
	run.ended(t)
	v := startServe(t, dir)
	at := v.run()
	var shown struct {
		Resumable bool
		Asks      bool
		Questions []struct{ ID string }
	}
	if v.call("GET", at, "", &shown); !shown.Resumable || shown.Asks {
		t.Fatalf("%+v", shown)
	}
	var said any
	if code := v.call("POST", at+"/resume", "{}", &said); code != 200 {
		t.Fatalf("%d %v", code, said)
	}
	until(t, "it asks", func() bool {
		v.call("GET", at, "", &shown)
		return shown.Asks && len(shown.Questions) == 1 && !scratchpad.Locked(onlyRun(t, dir))
	})
	if v.call("GET", at, "", &shown); shown.Resumable {
		t.Error("a run that waits for an answer can be resumed without one")
	}
	first := shown.Questions[0].ID
	if code := v.call("POST", at+"/answer", `{"question":"`+first+`","option":"continue"}`, &said); code != 200 {
		t.Fatalf("%d %v", code, said)
	}
	until(t, "it went on by the answer alone, and asks again", func() bool {
		v.call("GET", at, "", &shown)
		return shown.Asks && len(shown.Questions) == 1 && shown.Questions[0].ID != first && !scratchpad.Locked(onlyRun(t, dir))
	})
	if code := v.call("POST", at+"/answer", `{"question":"`+shown.Questions[0].ID+`","option":"cancel"}`, &said); code != 200 {
		t.Fatalf("%d %v", code, said)
	}
	until(t, "the answer has ended it", func() bool {
		return run.state(t).Result().Status == core.StatusCancelled && !scratchpad.Locked(onlyRun(t, dir))
	})
	if code := v.call("POST", at+"/resume", "{}", &said); code != 409 {
		t.Errorf("a run that is over goes on: %d %v", code, said)
	}
}

// A run that goes on is told something from the page, through the door of the command line.
func TestOrdersFromThePage(t *testing.T) {
	run := beginWorker(t)
	v := startServe(t, run.dir)
	at := v.run()
	var said any
	for _, c := range []struct {
		body string
		code int
	}{
		{`{"order":"say","words":"  "}`, 409},
		{`{"order":"say","words":"--help; the port is 8081"}`, 200},
		{`{"order":"pause"}`, 200},
		{`{"order":"pause"}`, 409},
		{`{"order":"stop"}`, 200},
	} {
		if code := v.call("POST", at+"/order", c.body, &said); code != c.code {
			t.Errorf("%s: %d %v", c.body, code, said)
		}
	}
	if got := run.ended(t); got != core.StatusCancelled.ExitCode() {
		t.Errorf("ended with %d", got)
	}
	got := run.recorded(t)
	if len(got) != 3 || got[0].Words != "--help; the port is 8081" || got[1].Order != core.OrderPause || got[2].Order != core.OrderStop || got[2].Who() != "user in the browser" {
		t.Errorf("on record is %+v", got)
	}
	if code := v.call("POST", at+"/order", `{"order":"stop"}`, &said); code != 409 {
		t.Errorf("a run that is over: %d %v", code, said)
	}
}

// files are the names, sizes and times of all that a folder holds.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	if err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, name, info.Mode(), info.Size(), info.ModTime())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A shell needs a terminal, so the page does not offer one; an agent can look without it.
func TestThePageOffersNoShell(t *testing.T) {
	for debug, offered := range map[string]bool{"": false, "--debug=true": true} {
		dir := t.TempDir()
		args := []string{"-q", "--non-interactive", "--detached", "defer", "--loop-threshold", "2", "-c", "echo x; exit 1"}
		if debug != "" {
			args = append(args, debug)
		}
		begin(t, dir, args...).ended(t)
		v := startServe(t, dir)
		var page struct {
			Questions []struct{ Options []struct{ ID string } }
		}
		if code := v.call("GET", v.run(), "", &page); code != 200 || len(page.Questions) != 1 || len(page.Questions[0].Options) < 3 {
			t.Fatalf("%d %+v", code, page)
		}
		if got := slices.Contains(page.Questions[0].Options, struct{ ID string }{"debug"}); got != offered {
			t.Errorf("%q: the page offers debug: %t", debug, got)
		}
	}
}

// With --read-only nothing that can be asked of the page changes anything.
func TestServeReadOnly(t *testing.T) {
	dir := t.TempDir()
	run := begin(t, dir, "-q", "--non-interactive", "--detached", "defer", "--max-iterations", "1", "-c", "echo x; exit 1")
	run.ended(t)
	q := run.state(t).Pending()[0]
	v := startServe(t, dir, "--read-only")
	at, before := v.run(), files(t, dir)
	var said any
	for _, what := range []string{"answer", "order", "resume"} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "GET"} {
			if code := v.call(method, at+"/"+what, `{"question":"`+q.ID+`","option":"accept"}`, &said); code != 404 && code != 405 {
				t.Errorf("%s %s: %d %v", method, what, code, said)
			}
		}
	}
	for _, path := range []string{"", "/output/1", "/explain"} {
		if code := v.call("GET", at+path, "", &said); code != 200 {
			t.Errorf("%s: %d %v", path, code, said)
		}
	}
	if code := v.call("POST", at+"/report", "{}", &said); code != 200 {
		t.Errorf("the report: %d %v", code, said)
	}
	if after := files(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

// The token is where it is needed and nowhere else: not on a command line, which other
// users can read, not in what the server says, and in no file.
func TestWhereTheTokenIs(t *testing.T) {
	dir := t.TempDir()
	opener := filepath.Join(dir, "bin", "xdg-open")
	if err := errors.Join(os.Mkdir(filepath.Dir(opener), 0o700), os.WriteFile(opener, []byte("#!/bin/sh\necho \"$*\" > "+dir+"/opened.new; mv "+dir+"/opened.new "+dir+"/opened\n"), 0o700)); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(opener)+":"+os.Getenv("PATH"))
	t.Setenv("XDG_RUNTIME_DIR", dir)
	v := startServe(t, dir, "--open")
	for _, path := range []string{"/", "/nothing?token=" + v.token(), "/api/runs/..%2f.."} {
		v.call("GET", path, "", nil)
	}
	pid := v.page.Process.Pid
	if runtime.GOOS == "linux" {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || !strings.Contains(string(line), "looprun-serve") || strings.Contains(string(line), v.token()) {
			t.Errorf("%v: %q", err, line)
		}
	}
	if runtime.GOOS == "darwin" {
		return // there it is open, which no test replaces
	}
	until(t, "the browser is opened", v.page.has("opened"))
	opened, err := os.ReadFile(filepath.Join(dir, "opened"))
	if err != nil || strings.Contains(string(opened), v.token()) {
		t.Fatalf("%v: %s", err, opened)
	}
	name := strings.TrimSpace(string(opened))
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v: %v", info, err)
	}
	if text, err := os.ReadFile(name); err != nil || strings.Contains(string(text), v.token()) || !strings.Contains(string(text), "#token=") {
		t.Errorf("%v: %s", err, text)
	}
	if said := v.page.stderr.String(); strings.Contains(said, v.token()) {
		t.Errorf("it says %s", said)
	}
	v.page.stop(t)
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("the file is left behind: %v", err)
	}
}

// All in one browser, which takes seconds to start.
func TestServeInABrowser(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *browsertest.Browser)
	}{
		{"answer", browserAnswer},
		{"watch", browserWatch},
		{"notices", browserNotices},
		{"steady", browserSteady},
		{"changes", browserChanges},
		{"transcript", browserTranscript},
		{"many", browserMany},
		{"batch", browserBatch},
		{"keys", browserKeys},
		{"apart", browserApart},
		{"nested", browserNested},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, b.For(t)) })
	}
}

// sound fails where the page is hard to use: in light and dark, wide and narrow, by its
// contrast, its width, its names for a screen reader, or what moves though it should not.
func (v *window) sound(picture string) {
	v.t.Helper()
	for _, theme := range []string{"dark", "light"} {
		for _, width := range []int{375, 1280} {
			v.Media("prefers-color-scheme="+theme, "prefers-reduced-motion=reduce")
			v.Resize(width)
			if w := browsertest.Eval[float64](v.Browser, `document.documentElement.scrollWidth`); int(w) > width {
				v.t.Errorf("%s: %v pixels wide in a window of %d", theme, w, width)
			}
			if cut := browsertest.Eval[[]string](v.Browser, `[...document.querySelectorAll("#runs a")].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth)
				.map((e) => [e.scrollWidth, e.clientWidth, ...[...e.children].map((k) => k.textContent + " " + k.scrollWidth)].join())`); len(cut) > 0 {
				v.t.Errorf("%s, %d: wider than the list: %q", theme, width, cut)
			}
			if bad := browsertest.Eval[[]string](v.Browser, browsertest.Contrasts); len(bad) > 0 {
				v.t.Errorf("%s, %d: hard to read: %q", theme, width, bad)
			}
			if bad := v.Violations(); len(bad) > 0 {
				v.t.Errorf("%s, %s, %d: axe finds %q", picture, theme, width, bad)
			}
			v.Screenshot(fmt.Sprintf("serve-%s-%s-%d", picture, theme, width))
		}
	}
	if moves := browsertest.Eval[[]string](v.Browser, `[...document.querySelectorAll("*")].filter((e) => { const s = getComputedStyle(e); return parseFloat(s.transitionDuration) > 0 || s.animationName !== "none"; }).map((e) => e.outerHTML.slice(0, 80))`); len(moves) > 0 {
		v.t.Errorf("it moves: %q", moves)
	}
	if other := browsertest.Eval[[]string](v.Browser, `[...document.querySelectorAll(":is(a, button)[aria-label]")].filter((e) => !e.ariaLabel.includes(e.innerText.replace(/\s+/g, " ").trim())).map((e) => e.outerHTML.slice(0, 120))`); len(other) > 0 {
		v.t.Errorf("it is called something else than it shows: %q", other)
	}
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	v.Call("Accessibility.getFullAXTree", nil, &tree)
	for _, n := range tree.Nodes {
		switch role := fmt.Sprint(n.Role.Value); role {
		case "button", "link", "textbox", "searchbox", "combobox", "checkbox", "region", "navigation", "image", "heading":
			if name := fmt.Sprint(n.Name.Value); !n.Ignored && (name == "" || name == "<nil>") {
				v.t.Errorf("a %s has no name", role)
			}
		}
	}
	v.Media()
}

// tabTo presses Tab until what has the focus fits the expression, in which it is e.
func (v *window) tabTo(expression string) {
	v.t.Helper()
	for range 100 {
		v.Press("Tab")
		if browsertest.Eval[bool](v.Browser, "((e) => !!("+expression+"))(document.activeElement)") {
			return
		}
	}
	v.t.Fatalf("Tab does not lead to %s", expression)
}

// A run asks; a person reads why in the browser, types a sentence, and answers, with the
// keyboard alone. The answer is in the journal, the run goes on from the page, and what
// it asks then is seen. What the command printed does nothing.
func browserAnswer(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	begin(t, dir, "-q", "--name", "another", "--", "true").ended(t)
	run := begin(t, dir, "-q", "--name", `<img src=x onerror=alert(1)>`, "--detached", "defer", "--loop-threshold", "2", "-c",
		`printf '\033[31mred\033[0m <script>alert(1)</script>\n--- FAIL: TestLogin (0.01s)\n    auth_test.go:31: got 401, want 200\n'; exit 1`)
	run.ended(t)
	asks := run.state(t).Pending()[0]

	v := startServe(t, dir).open(b)
	v.shows(`document.querySelector(".question .options button")`)
	v.shows(`document.title.startsWith("(1) ")`)
	v.shows(fmt.Sprintf(`!location.href.includes(%q)`, v.token()))
	v.shows(`document.querySelector(".out .c1")?.textContent === "red"`)
	if n := browsertest.Eval[float64](v.Browser, `document.scripts.length * 1000 + document.images.length`); n != 1000 {
		t.Errorf("%v scripts and images", n)
	}
	evidence := browsertest.Eval[string](v.Browser, `document.querySelector(".question pre").textContent`)
	if want := strings.Join(asks.ForPerson().Details, "\n"); evidence != want {
		t.Errorf("the evidence is\n%s, and at the terminal\n%s", evidence, want)
	}
	v.sound("asks")
	// What ends the run has to be pressed twice.
	browsertest.Eval[any](v.Browser, `document.querySelector(".options .end").click()`)
	v.shows(`document.querySelector(".options .sure")`)
	if len(run.state(t).Pending()) != 1 {
		t.Fatal("one press of a button that ends the run answered")
	}
	browsertest.Eval[any](v.Browser, `document.activeElement.blur()`)
	v.tabTo(`e.name === "guidance"`)
	v.Call("Input.insertText", map[string]any{"text": "Refresh the token."}, nil)
	browsertest.Eval[any](v.Browser, `document.querySelector("#runs a:not([aria-current])").click()`)
	v.shows(`document.querySelector("main h1")?.textContent === "another" && !document.querySelector(".question")`)
	browsertest.Eval[any](v.Browser, `document.querySelector("#runs a:not([aria-current])").click()`)
	v.shows(`document.querySelector("[name=guidance]")?.value === "Refresh the token."`)
	v.tabTo(fmt.Sprintf(`e.closest(".options") && e.textContent.startsWith(%q)`, asks.Options[0].Label))
	before := run.state(t).Iterations
	v.Press("Enter")
	until(t, "the answer", func() bool { return len(run.state(t).Answered) == 1 })
	given := run.state(t).Answered[0]
	if a := given.Answer; given.QuestionID != asks.ID || a.Option != asks.Options[0].ID || a.Guidance != "Refresh the token." || !a.Person || a.Via != core.ViaWeb {
		t.Errorf("%+v", given)
	}
	v.shows(`document.querySelector(".trips").textContent.includes("by user in the browser")`)
	until(t, "it is stuck again", func() bool { s := run.state(t); return s.Iterations > before && len(s.Pending()) == 1 })

	// Words are there after a reload, and can be copied when somebody else answers.
	v.shows(`document.querySelector(".question:not(.settled)")`)
	v.tabTo(`e.name === "guidance" && !e.readOnly`)
	v.Call("Input.insertText", map[string]any{"text": "Too late."}, nil)
	v.Call("Page.reload", nil, nil)
	v.shows(`document.querySelector("[name=guidance]")?.value === "Too late."`)
	// A late answer from before the question was answered does not bring it back.
	v.holds("api/runs/")
	again := `(Date.now = () => performance.timeOrigin + performance.now() + (window.ahead = (window.ahead || 0) + 30000), document.dispatchEvent(new Event("visibilitychange")))`
	browsertest.Eval[any](v.Browser, again)
	v.shows(`window.held.length`)
	browsertest.Eval[any](v.Browser, `window.fetch = window.real`)
	begin(t, dir, "answer", "cancel").ended(t)
	browsertest.Eval[any](v.Browser, again)
	v.shows(`document.querySelector(".settled")`)
	v.lets(`window.held`)
	if verdict := browsertest.Eval[string](v.Browser, `document.querySelector(".verdict").textContent`); strings.Contains(verdict, "asks") {
		t.Errorf("after a late answer the page says %q", verdict)
	}
	v.shows(`document.querySelector(".settled [name=guidance][readonly]")?.value === "Too late."`)
	v.shows(`document.querySelector(".settled .said").textContent.includes('user answered it with "cancel"')`)
	v.shows(`document.querySelector(".verdict").textContent === "cancelled (loop detected)1 test failing: TestLogin"`) // nobody gave a reason
	v.quiet()
}

// What a command prints is seen while it runs, and nothing jumps; times count on; who
// agreed to it is told when a run asks.
func browserWatch(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	v := startServe(t, dir).open(b)
	v.shows(`document.querySelector(".empty code")?.textContent.includes("looprun --check")`)
	v.sound("empty")
	run := begin(t, dir, "-q", "--detached", "defer", "--max-iterations", "1", "-c",
		`echo first; until [ -e go ]; do sleep 0.05; done; seq 200; until [ -e end ]; do sleep 0.05; done; exit 1`)
	v.shows(`document.querySelector(".out")?.textContent.includes("first")`)
	browsertest.Eval[any](v.Browser, `window.shifts = []; new PerformanceObserver((l) => shifts.push(...l.getEntries().map((e) => e.value))).observe({ type: "layout-shift" })`)
	counted := browsertest.Eval[string](v.Browser, `document.querySelector("[data-since]").textContent`)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v.shows(`document.querySelector(".out").textContent.includes("200")`)
	v.shows(fmt.Sprintf(`document.querySelector("[data-since]").textContent !== %q`, counted))
	if shifts := browsertest.Eval[[]float64](v.Browser, `shifts`); len(shifts) > 0 {
		t.Errorf("it jumped: %v", shifts)
	}
	v.sound("running")
	v.Resize(2560) // list, run, and the output at full height
	places := `(scrollTo(0, 1e4), [".output", ".work-out", ".course"].map((e) => document.querySelector(e).getBoundingClientRect()))`
	v.shows(`(([all, out, course]) => out.left > course.right && out.height > 0.6 * innerHeight && all.top > 0 && out.bottom < all.bottom && all.bottom < innerHeight)(` + places + `)`)
	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run.ended(t)
	v.shows(`document.title.startsWith("(1) ") && document.querySelector("#heard").textContent.endsWith(" asks.")`)
	v.quiet()
}

// A page that is out of sight gives a notice of each question, which a click opens and an answer
// removes, and one of a run's end, if both are wanted. That the browser blocks them is said.
func browserNotices(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	v := startServe(t, dir).open(b)
	v.shows(`document.querySelector(".empty")`)
	permit := func(setting string) {
		v.Call("Browser.setPermission", map[string]any{"origin": "http://" + v.url.Host, "permission": map[string]any{"name": "notifications"}, "setting": setting}, nil)
	}
	permit("denied")
	browsertest.Eval[any](v.Browser, `document.querySelector("#notify").click()`)
	for _, box := range []string{"asks", "ends"} {
		v.tabTo(fmt.Sprintf(`e.id === "wants-%s"`, box))
		v.Press(" ")
	}
	v.shows(`document.querySelector("#blocked").textContent.includes("blocks the notices") && document.querySelector("#notify").textContent === "Notices are blocked"`)
	v.sound("notices")
	permit("granted")
	browsertest.Eval[any](v.Browser, `window.again = () => { document.querySelector("#notices").close(); document.querySelector("#notify").click(); };
		navigator.serviceWorker.register = () => Promise.reject(new Error("no room")); again()`)
	v.shows(`document.querySelector("#blocked").textContent.endsWith("no room")`)
	browsertest.Eval[any](v.Browser, `delete navigator.serviceWorker.register; again()`)
	until(t, "it is tried again", func() bool {
		return browsertest.Eval[bool](v.Browser, `navigator.serviceWorker.getRegistration().then((by) => !!by?.active && document.querySelector("#blocked").textContent === "")`)
	})
	v.Open("http://"+v.url.Host+"/", 1280) // it keeps what is wanted
	v.shows(`document.querySelector("#notify").textContent === "Notices" && document.querySelector("#wants-asks").checked && document.querySelector("#wants-ends").checked`)
	v.shows(`document.querySelector(".empty")`)
	// Chromium removes a notice after 25 seconds unless it has to stay. Here all stay, and those that have to by themselves are marked.
	browsertest.Eval[any](v.Browser, `const show = ServiceWorkerRegistration.prototype.showNotification;
		ServiceWorkerRegistration.prototype.showNotification = function (title, o) { return show.call(this, title, { ...o, data: { ...o.data, stays: o.requireInteraction ? " (stays)" : "" }, requireInteraction: true }); };
		window.hide = (value) => { Object.defineProperty(document, "hidden", { value, configurable: true }); document.dispatchEvent(new Event("visibilitychange")); };
		hide(true); document.querySelector("#search").value = "nothing has this"`)

	told := func(want string) {
		t.Helper()
		said := ""
		defer func() {
			if t.Failed() {
				t.Logf("the notices are %q; the list is %q", said, browsertest.Eval[string](v.Browser, `document.querySelector("#runs").textContent`))
			}
		}()
		until(t, "the notices "+want, func() bool {
			// Chromium shows none while it is asked for them all the time.
			said = browsertest.Eval[string](v.Browser, `new Promise((ok) => setTimeout(ok, 200)).then(() => navigator.serviceWorker.getRegistration()).then((by) => by?.getNotifications()).then((list) => (list || []).map((n) => n.title + ": " + n.body + n.data.stays).sort().join("|"))`)
			return said == want
		})
	}
	ends := begin(t, dir, "-q", "--name", "ends", "--", "sh", "-c", "until [ -e go ]; do sleep 0.02; done")
	v.shows(`document.querySelector("#runs").textContent.includes("ends")`)
	stuck := begin(t, dir, "-q", "--name", "stuck", "--detached", "defer", "--max-iterations", "1", "--", "false")
	stuck.ended(t)
	asks := "stuck asks: " + stuck.state(t).Pending()[0].ForPerson().Text + " (stays)"
	told(asks)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ends.ended(t)
	told("ends: done|" + asks)
	v.shows(`!document.querySelector("main h1").textContent.includes("stuck")`)
	v.InWorker(`registration.getNotifications().then((list) => dispatchEvent(new NotificationEvent("notificationclick", { notification: list.find((n) => n.title === "stuck asks") })))`)
	v.shows(`document.querySelector("main h1").textContent === "stuck" && document.querySelector(".question .options button")`)
	told("ends: done")

	again := begin(t, dir, "-q", "--name", "again", "--detached", "defer", "--max-iterations", "1", "--", "false")
	again.ended(t)
	told("again asks: " + again.state(t).Pending()[0].ForPerson().Text + " (stays)|ends: done")
	begin(t, dir, "answer", again.state(t).RunID, "cancel").ended(t)
	told("again: cancelled (max iterations)|ends: done")

	// What asked while the list was of others is no news when it is of all again. What is removed waits no more.
	browsertest.Eval[any](v.Browser, `hide(false)`)
	v.shows(`document.querySelector("#more").textContent === "No run matches."`)
	begin(t, dir, "-q", "--name", "early", "--detached", "defer", "--max-iterations", "1", "--", "false").ended(t)
	v.shows(`document.querySelector("#state").textContent.includes("2 ask you")`)
	browsertest.Eval[any](v.Browser, `hide(true)`)
	v.shows(`document.querySelector("#runs").textContent.includes("early")`)
	late := begin(t, dir, "-q", "--name", "late", "--detached", "defer", "--max-iterations", "1", "--", "false")
	late.ended(t)
	told("again: cancelled (max iterations)|ends: done|late asks: " + late.state(t).Pending()[0].ForPerson().Text + " (stays)")
	if err := os.Rename(filepath.Join(dir, "state", late.state(t).RunID), filepath.Join(dir, "removed")); err != nil {
		t.Fatal(err)
	}
	until(t, "its notice ends", func() bool {
		return browsertest.Eval[bool](v.Browser, `new Promise((ok) => setTimeout(ok, 200)).then(() => navigator.serviceWorker.getRegistration()).then((by) => by.getNotifications()).then((list) => !list.some((n) => n.title === "late asks"))`)
	})
	v.quiet()
}

// What somebody reads stays where it is while the run goes on: the table that is open, the focus
// in the timeline, what is selected in an output, and where it is scrolled to. A button does what
// it says, also after others came beside it.
func browserSteady(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	run := begin(t, dir, "-q", "--non-interactive", "--max-iterations", "4", "--loop-threshold", "off", "-c",
		`i=$(cat i || echo 0); i=$((i+1)); echo $i >i; seq 300; until [ -e go$i ]; do sleep 0.02; done; echo the end; exit 1`)
	v := startServe(t, dir).open(b)
	v.shows(`document.querySelector(".work-out")?.textContent.includes("300")`)
	buttons := `[...document.querySelectorAll("#run > .actions button")].map((b) => b.textContent).join()`
	v.shows(buttons + ` === "Full report"`)
	browsertest.Eval[any](v.Browser, `document.querySelector("#run > .actions button").focus()`)
	v.step(dir, 1)
	v.shows(buttons + ` === "Why?,Full report"`)
	browsertest.Eval[any](v.Browser, `document.querySelector("#run > .actions button").click()`)
	v.shows(`document.querySelector(".explained, #run .bad")?.className === "explained"`)
	v.shows(`document.activeElement.textContent === "Full report"`)
	browsertest.Eval[any](v.Browser, `window.tab = {}, window.report = document.activeElement, window.open = () => tab; report.click()`)
	v.shows(`tab.location && !report.disabled && document.querySelector(".explained")`) // a report keeps what is beside it
	v.shows(`document.querySelector(".output h2").textContent.startsWith("Output of iteration 2") && document.querySelector(".work-out").textContent.endsWith("300\n")`)
	browsertest.Eval[any](v.Browser, `window.out = document.querySelector(".work-out"); out.scrollTop = 100; getSelection().selectAllChildren(out.childNodes[7]);
		document.querySelector(".plain").open = true; document.querySelector(".cell").focus({ preventScroll: true });`)
	at := browsertest.Eval[string](v.Browser, `window.steady = () => [out.scrollTop, getSelection().toString().trim(), document.querySelector(".plain").open, document.activeElement.getAttribute("href"), scrollY].join(); steady()`)
	if !strings.Contains(at, ",8,true,#i1,") {
		t.Fatal(at)
	}
	v.step(dir, 2)
	v.shows(`out.isConnected && out.textContent.endsWith("the end\n")`)
	v.step(dir, 3)
	if after := browsertest.Eval[string](v.Browser, `steady()`); after != at {
		t.Errorf("it moved from %s to %s", at, after)
	}
	browsertest.Eval[any](v.Browser, `[...document.querySelectorAll(".output h2 button")].find((b) => b.textContent === "Back to the latest").click()`)
	latest := `document.querySelector(".output h2").textContent.startsWith("Output of iteration 4")`
	v.shows(latest)

	// An output that was requested earlier does not replace it.
	v.holds("/output/2")
	browsertest.Eval[any](v.Browser, `document.querySelectorAll(".cell")[1].click()`)
	v.shows(`window.held.length`)
	browsertest.Eval[any](v.Browser, `document.querySelector(".output h2 button").click()`)
	v.shows(`document.querySelector(".work-out").textContent.trim()`)
	v.lets(`window.held`)
	if !browsertest.Eval[bool](v.Browser, latest) {
		t.Error("the output is that of an iteration before the latest")
	}

	// An iteration that cannot be shown leaves a way back.
	browsertest.Eval[any](v.Browser, `const asked = fetch; window.fetch = async (at, init) => at.endsWith("/output/1") ? new Response("It is gone.", { status: 404 }) : asked(at, init); document.querySelector(".cell").click()`)
	v.shows(`[...document.querySelectorAll(".output h2 button")].some((b) => b.checkVisibility())`)
	browsertest.Eval[any](v.Browser, `document.querySelector(".output h2 button").click()`)
	v.shows(`![...document.querySelectorAll(".output h2 button")].some((b) => b.checkVisibility())`)
	v.step(dir, 4)
	run.ended(t)
	v.quiet()
}

// What an iteration changed is shown where its files were kept, and as much of it as a page can
// have; one that was not kept says so. It stays open while the run goes on.
func browserChanges(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("go*\ni\nstate\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Skipf("git: %v: %s", err, out)
	}
	run := begin(t, dir, "-q", "--checkpoint", "--non-interactive", "--max-iterations", "3", "--loop-threshold", "off", "-c",
		`i=$(cat i || echo 0); i=$((i+1)); echo $i >i; until [ -e go$i ]; do sleep 0.02; done
		case $i in 1) echo '++ <b>one</b>' >a;; 2) seq 60000 >a;; esac; exit 1`)
	v := startServe(t, dir).open(b)
	v.shows(`document.querySelector(".output summary")?.checkVisibility() === false`)
	v.step(dir, 1)
	v.shows(`document.querySelector(".output h2").textContent.startsWith("Output of iteration 2")`)
	browsertest.Eval[any](v.Browser, `document.querySelector(".output summary").click()`)
	v.shows(`document.querySelector(".diff").textContent.includes("iteration 2 has no checkpoint; there are those of 1 to 1")`)
	browsertest.Eval[any](v.Browser, `document.querySelector(".cell").click()`)
	v.shows(`document.querySelector(".output h2").textContent.startsWith("Output of iteration 1")`)
	browsertest.Eval[any](v.Browser, `document.querySelector(".output details").open || document.querySelector(".output summary").click()`)
	v.shows(`[...document.querySelectorAll(".diff .add")].map((e) => e.textContent).join() === "+++ <b>one</b>"`)
	v.sound("diff")
	v.step(dir, 2)
	v.shows(`document.querySelector(".diff .add")?.textContent === "+++ <b>one</b>"`)
	browsertest.Eval[any](v.Browser, `document.querySelectorAll(".cell")[1].click()`)
	v.shows(`document.querySelector(".output h2").textContent.startsWith("Output of iteration 2")`)
	browsertest.Eval[any](v.Browser, `document.querySelector(".output summary").click()`)
	v.shows(`document.querySelector(".diff .add")?.textContent === "+1"`)
	v.shows(`/The rest is left out here; looprun diff [0-9a-f-]+ 2 prints all of it/.test(document.querySelector(".diff").lastChild.textContent)`)
	if n := browsertest.Eval[float64](v.Browser, `document.querySelector(".diff").textContent.length`); n > 300<<10 {
		t.Errorf("%v characters", n)
	}
	v.step(dir, 3)
	run.ended(t)

	// A run that is gone says so, also while what it changed is asked for; it is shown again when it is back.
	browsertest.Eval[any](v.Browser, `const asked = fetch, now = Date.now; let later = 0;
		window.lost = (is) => { window.is = is; later += 60000; Date.now = () => now() + later; document.dispatchEvent(new Event("visibilitychange")); };
		window.fetch = async (at, init) => /^api.runs.\w+$/.test(at) && window.is ? new Response("It is gone.", { status: 404 }) : at.includes("/diff/") ? new Promise((ok) => { window.release = () => { ok(asked(at, init)); }; }) : asked(at, init);
		document.querySelector(".output details").open = false; document.querySelectorAll(".cell")[1].click()`)
	v.shows(`!document.querySelector(".diff").firstChild`)
	browsertest.Eval[any](v.Browser, `document.querySelector(".output summary").click()`)
	v.shows(`window.release`)
	browsertest.Eval[any](v.Browser, `window.lost(true)`)
	v.shows(`document.querySelector("#run > .bad")?.textContent === "It is gone." && !document.querySelector("main h1")`)
	browsertest.Eval[any](v.Browser, `release(); new Promise((ok) => setTimeout(ok, 300)).then(() => lost(false))`)
	v.shows(`document.querySelector("main h1")`)
	v.quiet()
}

// What an agent prints in JSON is readable, however much of it there is; below it are
// what it cost and what became of its task.
func browserTranscript(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent.sh"), []byte(`i=0 long=$(printf '%02000d' 0)
while [ $i -lt 300 ]; do i=$((i+1))
printf '{"uuid":"'$long'","type":"assistant","message":{"id":"m%s","role":"assistant","content":[{"type":"text","text":"Step %s: I look at <b>session.go</b> once more; the token is refreshed after it has expired."}]},"session_id":"s"}\n' $i $i
done
echo '{"type":"result","subtype":"success","is_error":false,"result":"The last word.","session_id":"s"}'
"$BIN" signal cost --usd 0.42
echo '--- FAIL: TestLogin (0.01s)'; exit 1
`), 0o600); err != nil {
		t.Fatal(err)
	}
	run := ready(t, dir, "-q", "--name", "refresh the token in time", "--max-iterations", "4", "--loop-threshold", "off", "--", "sh", "agent.sh")
	run.Env = append(run.Env, "BIN="+run.Path)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	run.ended(t)
	v := startServe(t, dir).open(b)
	v.shows(`document.querySelector(".work-out")?.textContent.includes("The last word.")`)
	v.shows(`document.querySelector(".work-out").textContent.includes("Step 300: I look at <b>session.go</b>")`)
	v.shows(`!document.querySelector(".work-out").textContent.includes("session_id")`)
	v.shows(`[...document.querySelectorAll("figcaption h3")].map((e) => e.textContent).join() === "Failing checks,Duration,Cost"`)
	v.shows(`document.querySelector(".work-out").scrollTop > 0`) // its end
	v.sound("transcript")
	browsertest.Eval[any](v.Browser, `[...document.querySelectorAll("button")].find((b) => b.textContent === "Whole log").click()`)
	shown := `/^Lines ([0-9]+) to ([0-9]+) of 302$/.exec(document.querySelector("#log-says").textContent)`
	v.shows(shown + `?.[1] === "1" && ` + shown + `[2] < 302`) // they are long: it cannot have all
	v.shows(`document.activeElement.id === "log-search"`)
	browsertest.Eval[any](v.Browser, `document.querySelector("#log-last").click()`)
	v.shows(shown + `?.[2] === "302" && (window.first = ` + shown + `[1]) > 1 && [...document.querySelectorAll("#log .l")].at(-1).textContent.includes("TestLogin")`)
	browsertest.Eval[any](v.Browser, `document.querySelector("#log-earlier").click()`)
	v.shows(shown + `?.[2] == first - 1`)
	browsertest.Eval[any](v.Browser, `document.querySelector("#log-search").focus()`)
	v.Call("Input.insertText", map[string]any{"text": "STEP 300:"}, nil)
	v.shows(`document.querySelector("#log-says").textContent.startsWith("1 of 302 lines")`)
	v.sound("log")
	v.tabTo(`e.matches("#log button.l")`)
	v.Press("Enter")
	v.shows(`document.querySelector("#log .found")?.dataset.n === "300"`)
	browsertest.Eval[any](v.Browser, `document.querySelector("#log-close").click()`)
	v.shows(`document.querySelector("#log:not([open])")`)
	browsertest.Eval[any](v.Browser, `[...document.querySelectorAll("button")].find((b) => b.textContent === "Why?").click()`)
	v.shows(`document.querySelector(".explained")?.textContent.includes("4 of 4 iterations are used")`)
	v.quiet()
}

// A thousand runs can be searched, and read with the keyboard alone.
func browserMany(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	run := begin(t, dir, "-q", "--name", "the first "+strings.Repeat("long ", 40), "--max-iterations", "3", "--loop-threshold", "off", "-c", "echo '--- FAIL: TestX (0s)'; exit 1")
	run.ended(t)
	first := onlyRun(t, dir)
	for i := range 1000 {
		copied := filepath.Join(dir, "state", fmt.Sprintf("20250101-000000-%04x", i))
		if err := os.Mkdir(copied, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"journal.jsonl", "result.json"} {
			if err := os.Link(filepath.Join(first, name), filepath.Join(copied, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	v := startServe(t, dir).open(b)
	v.shows(`document.querySelectorAll("#runs a").length === 200`)
	v.shows(`performance.getEntriesByName("first-contentful-paint").length > 0`) // it may be told after the list is there
	t.Logf("first paint after %.0f ms", browsertest.Eval[float64](v.Browser, `performance.getEntriesByName("first-contentful-paint")[0].startTime`))
	v.shows(`document.querySelector("#more").textContent.startsWith("200 of 1001 runs")`)
	v.shows(`document.querySelectorAll("#runs a")[150].querySelector("svg").getAttribute("aria-label") === "failing: 1, 1, 1"`)
	if n := browsertest.Eval[float64](v.Browser, `[...document.querySelectorAll("#runs a")].filter((e) => e.getBoundingClientRect().bottom <= 900).length`); n < 40 {
		t.Errorf("%v runs in 900 pixels", n)
	}
	v.sound("many")
	browsertest.Eval[any](v.Browser, `document.activeElement.blur()`)
	v.tabTo(`e.id === "search"`)
	v.Call("Input.insertText", map[string]any{"text": "000-003e"}, nil)
	v.shows(`document.querySelectorAll("#runs a").length === 1`)
	v.tabTo(`e.closest("#runs")`)
	v.Press("Enter")
	v.shows(`document.querySelector("#run .where").textContent.includes("000-003e")`)
	v.tabTo(`e.closest(".steps")`)
	v.Press("ArrowRight")
	v.Press("Enter")
	v.shows(`document.querySelector(".output h2").textContent.startsWith("Output of iteration 2")`)
	v.quiet()
}

// The loops of looprun many are one line, with a bar of what became of them; those that wait for
// their turn are among them. It opens, and stays open and in focus while they go on. Open, it has
// which of them change the same files, which does not come while somebody goes through the list.
func browserBatch(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "--allow-empty", "-m", "one"}} {
		cmd := exec.Command("git", args...)
		if cmd.Dir = dir; cmd.Run() != nil {
			t.Skip("git is needed")
		}
	}
	run := begin(t, dir, "many", "--jobs", "1", "--trees", filepath.Join(t.TempDir(), "trees"), "--min-free", "0", "--detached", "defer", "--loop-threshold", "2",
		"--for", "echo first; echo second; echo asks; echo last", "-c", fmt.Sprintf(
			`case {} in asks) ;; *) echo {} >f;; esac; case {} in asks) echo '--- FAIL: TestX (0s)'; exit 1;; second) until [ -e '%s/go' ]; do sleep 0.02; done;; last) until [ -e '%[1]s/end' ]; do sleep 0.02; done;; esac`, dir))
	v := startServe(t, dir).open(b)
	bar := `document.querySelector("#runs > button svg")?.ariaLabel`
	v.shows(bar + ` === "1 run, 1 done, 2 waiting"`)
	if lines := browsertest.Eval[string](v.Browser, `[...document.querySelectorAll("#runs > *")].map((e) => e.querySelector("b").textContent).join()`); lines != "4 loops: first, second, asks, last" {
		t.Errorf("the list is %q", lines)
	}
	v.tabTo(`e.matches("#runs > button")`)
	v.Press("Enter")
	rows := `[...document.querySelectorAll("#runs > .in")].map((e) => e.querySelector("b").textContent + " " + e.querySelector(".status").textContent).join()`
	v.shows(rows + ` === "first done,second runs,asks waits,last waits"`)
	v.shows(`document.activeElement.matches("#runs > button") && document.activeElement.ariaExpanded === "true"`)
	v.sound("batch")
	v.Resize(1280)
	browsertest.Eval[any](v.Browser, `document.querySelector("#runs > button").focus()`) // a phone hides the list
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v.shows(bar + ` === "1 asks, 1 run, 2 done"`)
	v.shows(`document.activeElement.matches("#runs > button")`)
	same := `[...document.querySelectorAll("#runs > p")].find((e) => e.textContent.includes("overlap"))?.querySelector("b").textContent`
	if said := browsertest.Eval[*string](v.Browser, same+` ?? null`); said != nil {
		t.Errorf("under the focus there comes %q", *said)
	}
	browsertest.Eval[any](v.Browser, `document.activeElement.blur()`)
	v.shows(same + ` === "first and second both change f"`)
	// The batch is opened and closed while requests are open. Whatever the order of their answers,
	// the last choice holds.
	v.tabTo(`e.matches("#runs > button")`)
	chosen := func(sent, order string) {
		t.Helper()
		v.holds("api/runs?")
		v.Press("ArrowDown")
		v.shows(`window.held.length`)
		v.Press("ArrowUp")
		v.Press("Enter")
		v.shows(`window.held.some((h) => ` + sent + `)`)
		v.lets(order)
	}
	shown := func(want string) {
		t.Helper()
		if got := browsertest.Eval[string](v.Browser, `document.querySelector("#runs > button").ariaExpanded + ": " + `+rows); got != want {
			t.Errorf("the rows are %q, want %q", got, want)
		}
	}
	chosen(`!h.path.includes("open=")`, `window.held`)
	shown("false: asks asks") // closed, what asks is still there
	chosen(`h.path.includes("open=")`, `window.held.reverse()`)
	shown("true: first done,second done,asks asks,last runs")
	chosen(`!h.path.includes("open=")`, `window.held.reverse()`)
	shown("false: asks asks")
	v.Press("w")
	if bad := browsertest.Eval[[]string](v.Browser, browsertest.Contrasts); len(bad) > 0 {
		t.Errorf("hard to see on the wall: %q", bad)
	}
	if bad := v.Violations(); len(bad) > 0 {
		t.Errorf("axe finds on the wall %q", bad)
	}
	v.Screenshot("serve-batch-wall")
	v.Press("w")
	v.Press("Enter")
	v.shows(same + ` === "first and second both change f"`)
	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v.shows(bar + ` === "1 asks, 3 done"`)
	var found struct {
		Runs []struct{ Title, In string }
	}
	if v.call("GET", "/api/runs?filter=done", "", &found); len(found.Runs) != 3 || found.Runs[0].Title != "last" || found.Runs[0].In != "" {
		t.Errorf("those that are done: %+v", found.Runs)
	}
	run.ended(t)
	v.shows(`document.querySelector("#runs > button .status").textContent === "asks"`)
	browsertest.Eval[any](v.Browser, `document.activeElement.blur()`)
	v.shows(same + ` === "first, second and last all change f"`)
	v.quiet()
}

// Before a loop of looprun many is taken, its diff says which others of its batch change the same
// files, also where the user has changed something, and where the iteration changed nothing.
func TestADiffNamesWhatOverlaps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "--allow-empty", "-m", "one"}} {
		cmd := exec.Command("git", args...)
		if cmd.Dir = dir; cmd.Run() != nil {
			t.Skip("git is needed")
		}
	}
	trees := filepath.Join(t.TempDir(), "trees")
	for _, all := range []string{"same", "$1"} { // of the second batch each has a file of its own
		begin(t, dir, "many", "--trees", trees, "--min-free", "0", "--for", "echo one; echo two; echo apart", "--", "sh", "-c", `case $1 in apart) f=other;; *) f=`+all+`;; esac; [ -e $f ] && exit; echo $1 >$f; exit 1`, "sh", "{}").ended(t)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v := startServe(t, dir)
	var found struct{ Runs []struct{ Key, Title string } }
	if v.call("GET", "/api/runs?filter=done", "", &found); len(found.Runs) != 6 {
		t.Fatalf("%+v", found)
	}
	var got []string
	for _, r := range found.Runs {
		for _, n := range []string{"1", "2"} {
			var diff struct{ Text string }
			v.call("GET", "/api/runs/"+r.Key+"/diff/"+n, "", &diff)
			said, _, _ := strings.Cut(diff.Text, "diff --git")
			if got = append(got, r.Title+" "+n+" "+said); n == "1" && said == diff.Text {
				t.Errorf("%s: %s", r.Title, diff.Text)
			}
		}
	}
	slices.Sort(got)
	const lines = "one and two both change same\n"
	if want := []string{"apart 1 ", "apart 1 ", "apart 2 ", "apart 2 ", "one 1 ", "one 1 " + lines, "one 2 ", "one 2 " + lines + "It changed nothing.\n", "two 1 ", "two 1 " + lines, "two 2 ", "two 2 " + lines + "It changed nothing.\n"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The list can be used with keys that ? shows; they are letters where somebody types. Nothing in
// it moves while somebody goes through it. A search that finds nothing is no empty page.
func browserKeys(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	begin(t, dir, "-q", "--name", "one", "--", "true").ended(t)
	begin(t, dir, "-q", "--name", "two", "--detached", "defer", "--loop-threshold", "2", "-c", "echo '--- FAIL: TestX (0s)'; exit 1").ended(t)
	v := startServe(t, dir).open(b)
	names := `[...document.querySelectorAll("#runs b")].map((e) => e.textContent).join()`
	v.shows(names + ` === "two,one"`) // what asks comes first
	v.shows(`document.querySelector(".question .options button")`)
	title := `document.querySelector("main h1")?.textContent`
	for _, step := range []struct{ key, shows string }{
		{"j", title + ` === "one"`},
		{"j", title + ` === "one"`},
		{"k", title + ` === "two" && document.querySelector(".question .options button")`},
		{"b", `document.activeElement === document.querySelectorAll(".options button")[1]`},
		{"a", `document.activeElement === document.querySelectorAll(".options button")[0]`},
		{"g", `document.activeElement.closest(".options")`},
		{"l", `document.activeElement.textContent.includes("two")`},
		{"?", `document.querySelector("#keys[open]")`},
		{"j", `document.querySelector("#keys[open]") && ` + title + ` === "two"`},
	} {
		v.Press(step.key)
		v.shows(step.shows)
	}
	browsertest.Eval[any](v.Browser, `document.querySelector("#keys button").click()`)
	v.shows(`document.activeElement.closest("#runs")`) // where the focus was

	// The wall has a tile for each run, beside each other, with a bar of its state's colour and its whole
	// name; one that is chosen is shown.
	v.Press("w")
	v.shows(`!document.querySelector("main").checkVisibility() && new Set([...document.querySelectorAll("#runs a")].map((e) => e.getBoundingClientRect().top)).size === 1`)
	v.shows(`((s) => s.borderLeftColor === s.color)(getComputedStyle(document.querySelector("#runs > .good")))`)
	browsertest.Eval[any](v.Browser, `document.querySelector("#runs b").append(" and what else it is called")`)
	v.shows(`((b) => b.scrollWidth === b.clientWidth && b.scrollHeight === b.clientHeight)(document.querySelector("#runs b"))`)
	v.sound("wall")
	v.Resize(1280)
	browsertest.Eval[any](v.Browser, `[...document.querySelectorAll("#runs a")].find((e) => e.textContent.includes("two")).focus()`)
	v.Press("Enter")
	v.shows(`document.querySelector("main").checkVisibility() && ` + title + ` === "two"`)
	browsertest.Eval[any](v.Browser, `document.querySelector("#runs a").focus()`)

	begin(t, dir, "-q", "--name", "three", "--", "true").ended(t)
	v.shows(`document.querySelector("#fresh").checkVisibility() && document.querySelector("#fresh").textContent.startsWith("1 new")`)
	v.shows(names + ` === "two,one"`)
	v.Press("/")
	v.shows(names + ` === "two,three,one" && document.activeElement.id === "search" && !document.querySelector("#fresh").checkVisibility()`)
	for _, key := range []string{"j", "?"} {
		v.Call("Input.insertText", map[string]any{"text": key}, nil)
	}
	v.shows(`document.querySelector("#search").value === "j?" && !document.querySelector("#runs a")`)
	v.shows(`document.querySelector("#more").textContent === "No run matches."`)
	v.shows(`!document.querySelector(".empty") && document.querySelector("#state").textContent.includes("3 runs") && ` + title + ` === "two"`)
	v.quiet()
}

// A page that is cut off says so, and shows what it missed once it is not; without the
// address that was printed it is told nothing.
func browserApart(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	v := startServe(t, dir).open(b)
	v.shows(`document.querySelector(".empty")`)
	network := func(off bool) {
		v.Call("Network.emulateNetworkConditions", map[string]any{"offline": off, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}, nil)
	}
	network(true) // what is open stays open, until the machine wakes up after a minute
	browsertest.Eval[any](v.Browser, `const now = Date.now; Date.now = () => now() + 60000; document.dispatchEvent(new Event("visibilitychange"))`)
	v.shows(`document.querySelector("#state.cut")?.textContent.startsWith("Cut off")`)
	begin(t, dir, "-q", "--", "true").ended(t)
	network(false)
	v.shows(`document.querySelector("#runs .status")?.textContent === "done" && !document.querySelector("#state.cut")`)
	browsertest.Eval[any](v.Browser, `localStorage.clear()`)
	v.Open("http://"+v.url.Host+"/", 1280)
	v.shows(`document.querySelector("#state").textContent.includes("not let in") && document.querySelector("#ask").checkVisibility()`)
	v.shows(`!document.querySelector("#runs a") && !document.querySelector(".empty")`)
	// Let in, it says so no more, also before it hears of anything new.
	browsertest.Eval[any](v.Browser, fmt.Sprintf(`const asked = fetch; window.fetch = async (at, init) => at === "api/enter" ? new Response(JSON.stringify({ token: %q })) : at.startsWith("api/stream") ? new Promise(() => {}) : asked(at, init);
		document.querySelector("#code").value = "X"; document.querySelector("#enter").requestSubmit()`, v.key))
	v.shows(`document.querySelector("#runs a") && document.querySelector("#state").textContent === "1 run" && !document.querySelector("#enter").checkVisibility()`)
}

// The question of an inner run is asked once, in the run above, and the page says so.
func browserNested(t *testing.T, b *browsertest.Browser) {
	dir := t.TempDir()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	run := begin(t, dir, "-q", "--name", "outer", "--detached", "defer", "-c",
		fmt.Sprintf(`"%[1]s" -q --name inner --state-dir state --detached defer -c '"%[1]s" ask Go? --confirm'`, file))
	run.ended(t)
	outer := run.state(t)
	v := startServe(t, dir).open(b)
	inner := func(holds string) {
		t.Helper()
		v.shows(`[...document.querySelectorAll("#runs a")].some((a) => a.querySelector("b").textContent === "inner" && ` + holds + `)`)
	}
	inner(fmt.Sprintf(`a.querySelector(".status").textContent === "asked in %s"`, outer.RunID))
	v.shows(`document.title.startsWith("(1) ")`)
	browsertest.Eval[any](v.Browser, `[...document.querySelectorAll("#runs a")].find((a) => a.querySelector("b").textContent === "inner").click()`)
	v.shows(`document.querySelector("main h1")?.textContent === "inner"`)
	v.shows(fmt.Sprintf(`document.querySelector(".verdict .status").textContent === "asked in %s" && !document.querySelector(".question")`, outer.RunID))
	v.sound("nested")
	begin(t, dir, "-q", "answer", outer.RunID, "yes").ended(t)
	inner(fmt.Sprintf(`a.querySelector(".status").textContent === "answered in %s"`, outer.RunID))
	v.shows(fmt.Sprintf(`document.querySelector(".verdict .status").textContent === "answered in %s"`, outer.RunID))
}
