// Package browsertest drives a real browser in tests.
package browsertest

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/eventually"
)

// Browser is a headless Chromium, driven through its debugging pipe: no port, no driver, no
// library.
type Browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	next    int
	session string
	life    *time.Timer // ends a browser that does not answer
	// Events holds the browser's events since the last Open.
	Events []Message
}

// Message is a reply or an event from the browser.
type Message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// For returns the same browser for another test, such as a subtest of the one that started it:
// a browser takes seconds to start.
func (b *Browser) For(t *testing.T) *Browser {
	t.Helper()
	b.t = t
	b.Media()
	return b
}

// Start starts a browser. It skips the test if there is no Chromium.
func Start(t *testing.T) *Browser {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the debugging pipe needs file descriptors 3 and 4")
	}
	if testing.Short() {
		t.Skip("it starts a browser")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium: the page is not tried in a browser")
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "looprun-report")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	// --no-sandbox: containers have none, and the browser opens nothing but the page.
	cmd := exec.CommandContext(ctx, path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-extensions", "--no-first-run", "--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		_ = os.RemoveAll(profile)
		t.Skipf("Chromium does not start: %v", err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &Browser{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20), life: time.AfterFunc(eventually.Patience, cancel)}
	t.Cleanup(func() {
		b.session = ""
		fmt.Fprint(in, `{"id":999999,"method":"Browser.close"}`+"\x00")
		_ = cmd.Wait() // closed, or ended with the context
		b.life.Stop()
		cancel()
		in.Close()
		out.Close()
		// The browser's helper processes may outlive it for a moment, and write there.
		for end := time.Now().Add(5 * time.Second); os.RemoveAll(profile) != nil && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	if _, err = fmt.Fprint(in, `{"id":0,"method":"Browser.getVersion"}`+"\x00"); err == nil {
		_, err = b.out.ReadBytes(0)
	}
	if err != nil {
		t.Skipf("Chromium does not start: %v", err)
	}
	b.window(map[string]any{"url": "about:blank"})
	return b
}

// Through makes everything from here on reach its address through an HTTP proxy, even what is on
// this machine.
func (b *Browser) Through(proxy string) {
	b.t.Helper()
	b.session = ""
	var apart struct{ BrowserContextID string }
	b.Call("Target.createBrowserContext", map[string]any{"proxyServer": proxy, "proxyBypassList": "<-loopback>"}, &apart)
	b.window(map[string]any{"url": "about:blank", "browserContextId": apart.BrowserContextID})
}

// window opens the window that the calls from here on are about.
func (b *Browser) window(params map[string]any) {
	b.t.Helper()
	var target struct{ TargetID, SessionID string }
	b.Call("Target.createTarget", params, &target)
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	b.Call("Emulation.setScrollbarsHidden", map[string]any{"hidden": true}, nil)
	for _, domain := range []string{"Page", "Runtime", "Log", "Network", "Accessibility"} {
		b.Call(domain+".enable", nil, nil)
	}
}

// Call calls a method and waits for the reply; it keeps events that arrive before it.
func (b *Browser) Call(method string, params, result any) {
	b.t.Helper()
	b.life.Reset(eventually.Patience)
	b.next++
	request := map[string]any{"id": b.next, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	data, err := json.Marshal(request)
	if err == nil {
		_, err = b.in.Write(append(data, 0))
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		m := b.read()
		if m.ID != b.next {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

func (b *Browser) read() Message {
	b.t.Helper()
	data, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	var m Message
	if err := json.Unmarshal(data[:len(data)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if m.Method != "" {
		b.Events = append(b.Events, m)
	}
	return m
}

// Open opens a page in a window and waits until it has loaded. Requests that the previous page
// still makes are not counted as this page's.
func (b *Browser) Open(url string, width int) {
	b.t.Helper()
	b.Resize(width)
	for _, to := range []string{"about:blank", url} {
		b.Events = nil
		b.Call("Page.navigate", map[string]any{"url": to}, nil)
		for !b.Happened("Page.loadEventFired") {
			b.read()
		}
	}
}

// InWorker evaluates an expression in the page's service worker.
func (b *Browser) InWorker(expression string) {
	b.t.Helper()
	page := b.session
	defer func() { b.session = page }()
	b.session = ""
	var all struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	b.Call("Target.getTargets", nil, &all)
	for _, target := range all.TargetInfos {
		if target.Type == "service_worker" {
			var worker struct{ SessionID string }
			b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &worker)
			b.session = worker.SessionID
			Eval[any](b, expression)
			return
		}
	}
	b.t.Fatal("the page has no service worker")
}

// Resize sets the window's width, in pixels, and returns once the page has it.
func (b *Browser) Resize(width int) {
	b.t.Helper()
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	Eval[any](b, fmt.Sprintf("new Promise((ok) => { const look = () => innerWidth === %d ? ok() : setTimeout(look, 10); look(); })", width))
}

// Media sets the person's preferences as media features.
func (b *Browser) Media(features ...string) {
	b.t.Helper()
	list := []map[string]string{}
	for _, f := range features {
		name, value, _ := strings.Cut(f, "=")
		list = append(list, map[string]string{"name": name, "value": value})
	}
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": list}, nil)
}

// Happened reports whether the browser has reported such an event.
func (b *Browser) Happened(method string) bool {
	for _, e := range b.Events {
		if e.Method == method {
			return true
		}
	}
	return false
}

// Eval evaluates an expression in the page.
func Eval[T any](b *Browser, expression string) T {
	b.t.Helper()
	var result struct {
		Result           struct{ Value T }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &result)
	if result.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, result.ExceptionDetails)
	}
	return result.Result.Value
}

// Press presses a key, as a person would.
func (b *Browser) Press(key string) {
	b.t.Helper()
	code := map[string]int{"Tab": 9, "Enter": 13, "ArrowUp": 38, "ArrowDown": 40, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39, " ": 32}[key]
	text := map[string]string{"Enter": "\r", " ": " "}[key]
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}
		if kind == "keyDown" && text != "" {
			params["text"] = text
		}
		b.Call("Input.dispatchKeyEvent", params, nil)
	}
}

// Screenshot saves a picture of the whole page in the folder that LOOPRUN_SCREENSHOTS names.
func (b *Browser) Screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("LOOPRUN_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.Call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// Violations returns what axe-core finds wrong with the page, its closed details opened; nothing
// unless LOOPRUN_AXE names the file that make axe installs.
func (b *Browser) Violations() []string {
	b.t.Helper()
	name := os.Getenv("LOOPRUN_AXE")
	if name == "" {
		return nil
	}
	axe, err := os.ReadFile(name)
	if err != nil {
		b.t.Fatal(err)
	}
	Eval[any](b, "if (!window.axe) {"+string(axe)+"}\n0")
	return Eval[[]string](b, `(async () => {
		const shut = [...document.querySelectorAll("details:not([open], .changes)")];
		shut.forEach((e) => { e.open = true; });
		const { violations, passes } = await axe.run();
		shut.forEach((e) => { e.open = false; });
		if (!passes.length) return ["axe found nothing that it could check"];
		return violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 200)));
	})()`)
}

// Contrasts finds unreadable text and the bars of a list that cannot be seen: it compares the colour
// of each with that of its background, as WCAG 2 does.
const Contrasts = `(() => {
	const parse = (c) => { const v = c.match(/[\d.]+/g).map(Number); return v.length < 4 ? [...v, 1] : v; };
	const over = (a, b) => a.slice(0, 3).map((v, i) => v * a[3] + b[i] * (1 - a[3])).concat(1);
	const luminance = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const bad = new Set(), seen = new Set();
	const look = (e, property, least) => {
		let back = [255, 255, 255, 1], opacity = 1;
		const chain = [];
		for (let p = e; p; p = p.parentElement) chain.unshift(p);
		const place = chain.map((p) => p.tagName + "." + p.getAttribute("class") + p.getAttribute("aria-current")).join(" ");
		if (seen.has(place)) return; // its like has the same colours
		seen.add(place);
		for (const p of chain) { opacity *= Number(getComputedStyle(p).opacity); }
		for (const p of chain) { back = over(parse(getComputedStyle(p).backgroundColor), back); }
		const fore = parse(getComputedStyle(e)[property]);
		const text = over([...fore.slice(0, 3), fore[3] * opacity], back);
		const [x, y] = [luminance(text), luminance(back)].sort((p, q) => q - p);
		const ratio = (x + 0.05) / (y + 0.05);
		if (ratio < least) bad.add(ratio.toFixed(2) + " " + place.split(" ").slice(-3).join(" ") + " " + getComputedStyle(e)[property]);
	};
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (walk.currentNode.data.trim() && !e.closest("script, option, noscript, title") && e.checkVisibility()) look(e, "color", 4.5);
	}
	for (const bar of document.querySelectorAll("#runs rect")) look(bar, "fill", 3);
	return [...bad];
})()`
