//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/browsertest"
	"github.com/looprun/looprun/scratchpad"
)

// served is looprun serve, and where its page is.
type served struct {
	t   *testing.T
	url *url.URL
}

// startServe starts looprun serve in the directory.
func startServe(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	page := ready(t, dir, append([]string{"serve"}, args...)...)
	if err := servers(filepath.Dir(page.Path)); err != nil {
		t.Fatal(err)
	}
	if err := page.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = page.Process.Signal(os.Interrupt)
		if code := page.ended(t); code != 0 {
			t.Errorf("looprun serve ended with %d", code)
		}
	})
	until(t, "the address", func() bool { return strings.Contains(page.stdout.String(), "\n") })
	at, err := url.Parse(strings.TrimSpace(page.stdout.String()))
	if err != nil {
		t.Fatal(err)
	}
	return &served{t, at}
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

// call makes a request as the page does, and reads what comes back into into.
func (v *served) call(method, path, body string, into any) int {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, "http://"+v.url.Host+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+v.token())
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
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

// shows waits until an expression holds in the page.
func (v *window) shows(expression string) {
	v.t.Helper()
	until(v.t, expression, func() bool { return browsertest.Eval[bool](v.Browser, "!!("+expression+")") })
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
			var q looprun.Question
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
			if given[0].QuestionID != q.ID || a.String() != c.option || !a.Person || a.Responder != looprun.RespondedByUser || a.Via != looprun.ViaWeb ||
				a.Reason != "Enough." || a.Guidance != "Look at the log." {
				t.Errorf("%+v", given[0])
			}
			if code := v.call("POST", at+"/answer", `{"question":"`+q.ID+`",`+c.body+`}`, &said); code != 409 {
				t.Errorf("a second answer: %d %v", code, said)
			}
		})
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
	if code := v.call("POST", at+"/answer", `{"question":"`+shown.Questions[0].ID+`","option":"cancel"}`, &said); code != 200 {
		t.Fatalf("%d %v", code, said)
	}
	if code := v.call("POST", at+"/resume", "{}", &said); code != 200 {
		t.Fatalf("%d %v", code, said)
	}
	until(t, "the answer has ended it", func() bool {
		return run.state(t).Result().Status == looprun.StatusCancelled && !scratchpad.Locked(onlyRun(t, dir))
	})
	if code := v.call("POST", at+"/resume", "{}", &said); code != 409 {
		t.Errorf("a run that is over goes on: %d %v", code, said)
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

// With --read-only nothing that can be asked of the page changes anything.
func TestServeReadOnly(t *testing.T) {
	dir := t.TempDir()
	run := begin(t, dir, "-q", "--non-interactive", "--detached", "defer", "--max-iterations", "1", "-c", "echo x; exit 1")
	run.ended(t)
	q := run.state(t).Pending()[0]
	v := startServe(t, dir, "--read-only")
	at, before := v.run(), files(t, dir)
	var said any
	for _, what := range []string{"answer", "resume"} {
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

// A run asks; a person reads why in the browser, types a sentence, and clicks. The
// answer is in the journal, the run goes on from the page, and its output is seen live.
func TestAnswerInTheBrowser(t *testing.T) {
	dir := t.TempDir()
	run := begin(t, dir, "-q", "--name", `<img src=x onerror=alert(1)>`, "--detached", "defer", "--loop-threshold", "2", "-c",
		`printf '\033[31mred\033[0m <script>alert(1)</script>\n--- FAIL: TestLogin (0.01s)\n    auth_test.go:31: got 401, want 200\n'; exit 1`)
	run.ended(t)
	asks := run.state(t).Pending()[0]

	v := startServe(t, dir).open(browsertest.Start(t))
	v.shows(`document.querySelector(".question .options button")`)
	v.shows(`document.title.startsWith("(1) ")`)
	v.shows(`document.querySelector(".out .t0")?.textContent === "red"`)
	if n := browsertest.Eval[float64](v.Browser, `document.scripts.length * 1000 + document.images.length`); n != 1000 {
		t.Errorf("%v scripts and images", n)
	}
	v.Screenshot("serve-asks")
	browsertest.Eval[any](v.Browser, `document.querySelector("[name=guidance]").value = "Refresh the token."`)
	// What ends the run has to be pressed twice.
	browsertest.Eval[any](v.Browser, `document.querySelector(".options .end").click()`)
	v.shows(`document.querySelector(".options .sure")`)
	if len(run.state(t).Pending()) != 1 {
		t.Fatal("one press of a button that ends the run answered")
	}
	browsertest.Eval[any](v.Browser, fmt.Sprintf(`[...document.querySelectorAll(".options button")].find((b) => b.textContent.startsWith(%q)).click()`, asks.Options[0].Label))
	v.shows(`!document.querySelector(".question")`)
	before := run.state(t).Iterations
	given := run.state(t).Answered[0]
	if a := given.Answer; given.QuestionID != asks.ID || a.Option != asks.Options[0].ID || a.Guidance != "Refresh the token." || !a.Person || a.Responder != looprun.RespondedByUser {
		t.Errorf("%+v", given)
	}
	browsertest.Eval[any](v.Browser, `[...document.querySelectorAll("button")].find((b) => b.textContent === "Resume").click()`)
	v.shows(`document.querySelector(".question")`) // it is stuck again
	if got := run.state(t); got.Iterations <= before || len(got.Pending()) != 1 {
		t.Errorf("after %d iterations, %d questions", got.Iterations, len(got.Pending()))
	}
	v.quiet()
}

// What a command prints is seen while it runs, and nothing jumps.
func TestWatchInTheBrowser(t *testing.T) {
	dir := t.TempDir()
	v := startServe(t, dir).open(browsertest.Start(t))
	v.shows(`document.querySelector(".empty code").textContent.includes("looprun --check")`)
	v.Screenshot("serve-empty")
	run := begin(t, dir, "-q", "--max-iterations", "1", "-c", `echo first; while [ ! -e go ]; do sleep 0.05; done; echo second; while [ ! -e end ]; do sleep 0.05; done`)
	v.shows(`document.querySelector(".out")?.textContent.includes("first")`)
	top := browsertest.Eval[float64](v.Browser, `document.querySelector(".out").getBoundingClientRect().top`)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v.shows(`document.querySelector(".out").textContent.includes("second")`)
	if now := browsertest.Eval[float64](v.Browser, `document.querySelector(".out").getBoundingClientRect().top`); now != top {
		t.Errorf("the output moved from %v to %v", top, now)
	}
	v.Screenshot("serve-running")
	if err := os.WriteFile(filepath.Join(dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run.ended(t)
	v.shows(`document.querySelector("#runs .status").textContent === "done"`)
	v.quiet()
}

// The page can be read in light and dark, on a phone, with the keyboard alone, and with
// a thousand runs.
func TestPageOfManyRuns(t *testing.T) {
	dir := t.TempDir()
	run := begin(t, dir, "-q", "--name", "the first "+strings.Repeat("long ", 40), "--max-iterations", "3", "--loop-threshold", "off", "-c", "echo '--- FAIL: TestX (0s)'; exit 1")
	run.ended(t)
	state := filepath.Join(dir, "state")
	ids, err := scratchpad.IDs(state)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		copied := filepath.Join(state, fmt.Sprintf("20250101-000000-%04x", i))
		if err := os.CopyFS(copied, os.DirFS(filepath.Join(state, ids[0]))); err != nil {
			t.Fatal(err)
		}
	}
	v := startServe(t, dir).open(browsertest.Start(t))
	v.shows(`document.querySelectorAll("#runs a").length === 200`)
	v.shows(`document.querySelector("#more").textContent.startsWith("200 of 1001 runs")`)
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int{375, 1280} {
			v.Media("prefers-color-scheme=" + theme)
			v.Resize(width)
			if w := browsertest.Eval[float64](v.Browser, `document.documentElement.scrollWidth`); int(w) > width {
				t.Errorf("%s: %v pixels wide in a window of %d", theme, w, width)
			}
			if bad := browsertest.Eval[[]string](v.Browser, browsertest.Contrasts); len(bad) > 0 {
				t.Errorf("%s, %d: hard to read: %q", theme, width, bad)
			}
			v.Screenshot(fmt.Sprintf("serve-%s-%d", theme, width))
		}
	}
	browsertest.Eval[any](v.Browser, `document.querySelector("#search").value = "000-003e"; document.querySelector("#search").dispatchEvent(new Event("input"))`)
	v.shows(`document.querySelectorAll("#runs a").length === 1`)
	browsertest.Eval[any](v.Browser, `document.querySelector("#runs a").focus()`)
	v.Press("Enter")
	v.shows(`document.querySelector("#run .where").textContent.includes("000-003e")`)
	browsertest.Eval[any](v.Browser, `document.querySelector(".steps a").focus()`)
	v.Press("ArrowRight")
	v.Press("Enter")
	v.shows(`document.querySelector(".output h2").textContent.startsWith("Output of iteration 2")`)
	v.quiet()
}

// Nobody is told anything without the address that was printed.
func TestPageWithoutItsToken(t *testing.T) {
	v := startServe(t, t.TempDir()).open(browsertest.Start(t))
	v.shows(`document.querySelector(".empty")`)
	browsertest.Eval[any](v.Browser, `sessionStorage.clear()`)
	v.Open("http://"+v.url.Host+"/", 1280)
	v.shows(`document.querySelector("#state").textContent.includes("token is missing")`)
}
