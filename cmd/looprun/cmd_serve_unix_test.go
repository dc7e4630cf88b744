//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/browsertest"
	"github.com/looprun/looprun/scratchpad"
)

// served is looprun serve with a browser that shows its page.
type served struct {
	*browsertest.Browser
	t   *testing.T
	url string
}

// startServe starts looprun serve in the directory and opens its page.
func startServe(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	b := browsertest.Start(t)
	page := ready(t, dir, append([]string{"serve"}, args...)...)
	beside := filepath.Join(filepath.Dir(page.Path), "looprun-serve")
	if out, err := exec.Command("go", "build", "-o", beside, "../looprun-serve").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
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
	v := &served{b, t, strings.TrimSpace(page.stdout.String())}
	b.Open(v.url, 1280)
	return v
}

// shows waits until an expression holds in the page.
func (v *served) shows(expression string) {
	v.t.Helper()
	until(v.t, expression, func() bool { return browsertest.Eval[bool](v.Browser, "!!("+expression+")") })
}

// quiet fails when the browser had anything to say, or the page asked for anything that
// is not this server's. Refusals that a test provokes are told in full.
func (v *served) quiet() {
	v.t.Helper()
	from, err := url.Parse(v.url)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, e := range v.Events {
		switch e.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening":
			v.t.Errorf("%s: %s", e.Method, e.Params)
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			if err := json.Unmarshal(e.Params, &p); err != nil || !strings.HasPrefix(p.Request.URL, "http://"+from.Host+"/") {
				v.t.Errorf("the page asks for %s", p.Request.URL)
			}
			if strings.Contains(p.Request.URL, from.Fragment[len("token="):]) {
				v.t.Errorf("the token is in a request's address: %s", p.Request.URL)
			}
		}
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

	v := startServe(t, dir)
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
	v := startServe(t, dir)
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
	v := startServe(t, dir)
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
	v := startServe(t, t.TempDir())
	v.shows(`document.querySelector(".empty")`)
	bare, _, _ := strings.Cut(v.url, "#")
	browsertest.Eval[any](v.Browser, `sessionStorage.clear()`)
	v.Open(bare, 1280)
	v.shows(`document.querySelector("#state").textContent.includes("token is missing")`)
}
