package dashboard

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/origin"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/report"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
)

// created makes a run without events in a state directory; record adds one.
func created(t *testing.T, state string) (run *scratchpad.Run, record func(core.Data)) {
	t.Helper()
	run, err := scratchpad.Create(state, time.Now(), scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	s := new(core.State)
	return run, func(d core.Data) {
		t.Helper()
		if _, err := core.Record(s, run.Journal, nil, 0, d); err != nil {
			t.Fatal(err)
		}
	}
}

// recorded makes a run that ended, in a state directory.
func recorded(t *testing.T, state, name string) string {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	run, record := created(t, state)
	record(core.RunStarted{RunID: run.ID, Name: name, Command: []string{"true"}, Dir: state, Limits: core.Limits{Iterations: 3}})
	record(core.IterationStarted{Iteration: 1})
	record(core.IterationFinished{Iteration: 1, Outcome: core.OutcomeDone})
	record(core.RunFinished{Ending: core.Ending{Status: core.StatusDone}})
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	return run.Dir
}

// serving is a server with one run, and what was done through it.
type serving struct {
	*Server
	t    *testing.T
	dir  string
	key  string
	done []string
	from origin.Origin // of all requests
}

func newServing(t *testing.T, readOnly bool) *serving {
	t.Helper()
	state := filepath.Join(t.TempDir(), ".looprun")
	v := &serving{t: t, from: origin.Outside, dir: recorded(t, state, `<script>alert("x")</script>`)}
	o := Options{
		Say:     func(string) {},
		Dirs:    func() []string { return []string{state} },
		Explain: func(string) (string, error) { return "because", nil },
		Diff:    func(context.Context, string, int) (string, bool, error) { return "", true, nil },
		Actions: &Actions{
			Answer: func(_ context.Context, _ string, a ask.ShortAnswer) (string, error) {
				if a.Question != "q-1" {
					return "", errors.New("no such question waits")
				}
				v.done = append(v.done, "answer "+a.Option)
				return "ok", nil
			},
			Order: func(_ context.Context, _ string, order core.Order, words string) (string, error) {
				v.done = append(v.done, string(order)+" "+words)
				return "ok", nil
			},
			Resume: func(context.Context, string) (string, error) { v.done = append(v.done, "resume"); return "ok", nil },
		},
	}
	if readOnly {
		o.Actions = nil
	}
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.ln.Close() })
	v.Server = s
	s.who = func(*http.Request) origin.Origin { return v.from }
	s.runs.refresh(0)
	l, err := s.runs.list("", "", nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	v.key = l.Runs[0].Key
	return v
}

// request is one that the page itself could make, until it is changed.
func (v *serving) request(method, path, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = v.ln.Addr().String()
	r.Header.Set("Authorization", "Bearer "+v.tokenOf(""))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	v.Handler().ServeHTTP(w, r)
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

const anAnswer = `{"question": "q-1", "option": "accept"}`

// What attacks such a page, and what stops it. Each is a request that works but for the
// one thing that is wrong with it.
func TestAttacks(t *testing.T) {
	v := newServing(t, false)
	answer := "/api/runs/" + v.key + "/answer"
	rung := v.bell.next()
	if w := v.request("POST", answer, anAnswer); w.Code != 200 || len(v.done) != 1 {
		t.Fatalf("a good answer: %d %s", w.Code, w.Body)
	}
	select {
	case <-rung:
	default:
		t.Error("the pages are not told of an answer")
	}
	for name, c := range map[string]struct {
		method, path, body string
		change             func(*http.Request)
		want               int
	}{
		"no token":                     {"GET", "/api/runs", "", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"another token":                {"GET", "/api/runs", "", header("Authorization", "Bearer ."+random()), 401},
		"the address's token":          {"GET", "/api/runs", "", header("Authorization", "Bearer "+v.token), 401},
		"the token in the address":     {"GET", "/api/runs?token=" + v.tokenOf(""), "", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"the token in a cookie":        {"GET", "/api/runs", "", func(r *http.Request) { r.Header.Del("Authorization"); r.Header.Set("Cookie", "token="+v.tokenOf("")) }, 401},
		"a token of no scheme":         {"GET", "/api/runs", "", header("Authorization", v.tokenOf("")), 401},
		"an empty token":               {"GET", "/api/runs", "", header("Authorization", "Bearer "), 401},
		"a rebound name":               {"GET", "/api/runs", "", func(r *http.Request) { r.Host = "evil.example" }, 421},
		"a rebound name, the page":     {"GET", "/", "", func(r *http.Request) { r.Host = "evil.example:80" }, 421},
		"the name, another port":       {"GET", "/api/runs", "", func(r *http.Request) { r.Host = "127.0.0.1:1" }, 421},
		"another loopback name":        {"GET", "/api/runs", "", func(r *http.Request) { r.Host = "127.0.0.1.nip.io" }, 421},
		"another site's form":          {"POST", answer, anAnswer, header("Sec-Fetch-Site", "cross-site"), 403},
		"another origin":               {"POST", answer, anAnswer, header("Origin", "http://evil.example"), 403},
		"another port's page":          {"POST", answer, anAnswer, header("Sec-Fetch-Site", "same-site"), 403},
		"a form's content type":        {"POST", answer, anAnswer, header("Content-Type", "text/plain"), 400},
		"an unknown key":               {"POST", answer, `{"question": "q-1", "option": "accept", "person": true}`, nil, 400},
		"a key twice":                  {"POST", answer, `{"question": "q-1", "option": "accept", "option": "cancel"}`, nil, 400},
		"no question":                  {"POST", answer, `{"option": "accept"}`, nil, 400},
		"two documents":                {"POST", answer, anAnswer + anAnswer, nil, 400},
		"a body without end":           {"POST", answer, `{"question": "q-1", "reason": "` + strings.Repeat("x", maxBody) + `"}`, nil, 400},
		"an answer for an old page":    {"POST", answer, `{"question": "q-0", "option": "accept"}`, nil, 409},
		"a resume with orders":         {"POST", "/api/runs/" + v.key + "/resume", `{"args": ["--trust"]}`, nil, 400},
		"a resume by a form":           {"POST", "/api/runs/" + v.key + "/resume", "", header("Content-Type", "application/x-www-form-urlencoded"), 400},
		"an order that is none":        {"POST", "/api/runs/" + v.key + "/order", `{"order": "say --trust-run"}`, nil, 400},
		"an order with a flag":         {"POST", "/api/runs/" + v.key + "/order", `{"order": "stop", "args": []}`, nil, 400},
		"an order by a link":           {"GET", "/api/runs/" + v.key + "/order", "", nil, 405},
		"an order from another site":   {"POST", "/api/runs/" + v.key + "/order", `{"order": "stop"}`, header("Sec-Fetch-Site", "cross-site"), 403},
		"a report by a form":           {"POST", "/api/runs/" + v.key + "/report", "", header("Content-Type", "text/plain"), 400},
		"a report from another site":   {"POST", "/api/runs/" + v.key + "/report", "{}", header("Sec-Fetch-Site", "cross-site"), 403},
		"another site's address":       {"GET", "http://evil.example/api/runs", "", func(r *http.Request) { r.Host = r.URL.Host }, 421},
		"writing by a link":            {"GET", answer, "", nil, 405},
		"resuming by a link":           {"GET", "/api/runs/" + v.key + "/resume", "", nil, 405},
		"a run's directory as its key": {"GET", "/api/runs/..%2f..%2fetc", "", nil, 404},
		"a run that is not there":      {"GET", "/api/runs/0000000000000000", "", nil, 404},
		"a file beside the page":       {"GET", "/static/page.js", "", nil, 404},
		"a file above the page":        {"GET", "/..%2fpage.go", "", nil, 404},
		"an iteration that is none":    {"GET", "/api/runs/" + v.key + "/output/..%2f..%2fjournal.jsonl", "", nil, 400},
		"a negative iteration":         {"GET", "/api/runs/" + v.key + "/output/-1", "", nil, 400},
		"a log that is a path":         {"POST", "/api/runs/" + v.key + "/log/1", `{"name": "../journal.jsonl"}`, nil, 400},
		"an address without a ticket":  {"GET", "/once/" + v.key, "", nil, 404},
		"a filter that is none":        {"GET", "/api/runs?filter=all", "", nil, 400},
	} {
		t.Run(name, func(t *testing.T) {
			change := c.change
			if change == nil {
				change = func(*http.Request) {}
			}
			if w := v.request(c.method, c.path, c.body, change); w.Code != c.want || strings.Count(w.Body.String(), "\n") != 1 { // nothing after it
				t.Errorf("%d %s, want %d", w.Code, w.Body, c.want)
			}
		})
	}
	if len(v.done) != 1 {
		t.Errorf("done: %v", v.done)
	}
}

// door makes a server whose terminal can be read, and returns the code that it showed last.
func door(t *testing.T) (v *serving, shown func() string) {
	v = newServing(t, false)
	said := ""
	v.o.Terminal, v.o.Say = true, func(line string) { said = line }
	return v, func() string {
		_, code, _ := strings.Cut(said, "the code is ")
		code, _, _ = strings.Cut(code, ",")
		return code
	}
}

// enter asks to be let in, and returns the token or what was said.
func (v *serving) enter(body string, change ...func(*http.Request)) (code int, token, said string) {
	v.t.Helper()
	w := v.request("POST", "/api/enter", body, append(change, header("Authorization", ""))...)
	var given struct{ Token, Said string }
	if w.Code != 200 {
		if said = w.Body.String(); strings.Count(said, "\n") != 1 {
			v.t.Errorf("%s is refused, and then: %s", body, said)
		}
		return w.Code, "", said
	}
	if err := json.Unmarshal(w.Body.Bytes(), &given); err != nil {
		v.t.Fatal(err)
	}
	return w.Code, given.Token, given.Said
}

// Who is below a run changes nothing, and is not let in. Who knows the address is, once it is known
// that no run has started it or the address is on a terminal; everybody else needs the code.
func TestTheDoor(t *testing.T) {
	v, shown := door(t)
	gone := 0
	ticket := strings.TrimPrefix(v.Ticket(func() { gone++ }), v.Address()+"#token=")
	address := strings.TrimPrefix(v.URL(false), v.Address()+"#token=")
	if ticket == address {
		t.Fatal("the file has the address's token")
	}
	if code, _, said := v.enter("{}"); code != 200 || shown() == "" {
		t.Fatalf("%d %s", code, said)
	}
	if v.enter("{}"); shown() == "" {
		t.Fatal("a second code is shown while the first is good, and it is none")
	}
	for i, c := range []struct {
		name       string
		from       origin.Origin
		onTerminal bool
		body       string
		want       int
	}{
		{"a ticket below a run", origin.Inside, true, `{"token": "` + ticket + `"}`, 403},
		{"the address below a run", origin.Inside, true, `{"token": "` + address + `"}`, 403},
		{"the code below a run", origin.Inside, true, `{"code": "` + shown() + `"}`, 403},
		{"a code is shown below a run", origin.Inside, true, `{}`, 403},
		{"a ticket of unknown origin", origin.Unknown, false, `{"token": "` + ticket + `"}`, 401},
		{"a ticket of unknown origin, beside a terminal", origin.Unknown, true, `{"token": "` + ticket + `"}`, 401},
		{"an address of unknown origin", origin.Unknown, false, `{"token": "` + address + `"}`, 401},
		{"another address", origin.Outside, true, `{"token": "` + random() + `"}`, 401},
		{"a key of another form", origin.Outside, true, `{"ticket": "` + ticket + `"}`, 400},
		{"a ticket", origin.Outside, false, `{"token": "` + ticket + `"}`, 200},
		{"a ticket, again", origin.Outside, false, `{"token": "` + ticket + `"}`, 401},
		{"the address", origin.Outside, false, `{"token": "` + address + `"}`, 200},
		{"the address, again", origin.Outside, false, `{"token": "` + address + `"}`, 200},
		{"the address of a terminal", origin.Unknown, true, `{"token": "` + address + `"}`, 200},
		{"a wrong code", origin.Unknown, false, `{"code": "WRONGONE"}`, 401},
		{"the code", origin.Unknown, false, `{"code": " ` + strings.ToLower(shown()) + `"}`, 200},
		{"the code, again", origin.Unknown, false, `{"code": "` + shown() + `"}`, 401},
	} {
		v.from, v.shown = c.from, c.onTerminal
		if code, token, said := v.enter(c.body); code != c.want || (token != "") != (c.want == 200) {
			t.Errorf("%d, %s: %d %s", i, c.name, code, said)
		}
	}
	if gone != 1 {
		t.Errorf("the ticket was gone %d times", gone)
	}
	for path, body := range map[string]string{"answer": anAnswer, "resume": "{}", "order": `{"order": "stop"}`} {
		for from, want := range map[origin.Origin]int{origin.Inside: 403, origin.Unknown: 200, origin.Outside: 200} {
			v.from = from
			if w := v.request("POST", "/api/runs/"+v.key+"/"+path, body); w.Code != want {
				t.Errorf("%s from %d: %d %s", path, from, w.Code, w.Body)
			}
		}
	}
	if len(v.done) != 6 {
		t.Errorf("done: %v", v.done)
	}
	v.from = origin.Outside
	v.enter("{}")
	for range 5 {
		v.enter(`{"code": "WRONGONE"}`)
	}
	if _, _, said := v.enter("{}"); !strings.Contains(said, "after two minutes you can have another shown") {
		t.Errorf("after five wrong codes: %s", said)
	}
	v.o.Terminal = false
	if code, _, said := v.enter("{}"); code != 401 || !strings.Contains(said, "no terminal") {
		t.Errorf("a code where there is no terminal: %d %s", code, said)
	}
	addressed := func(remote string, local any) *http.Request {
		r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, local), "GET", "/", nil)
		r.RemoteAddr = remote
		return r
	}
	for _, r := range []*http.Request{addressed("127.0.0.1:9", nil), addressed("@", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9})} {
		if from := clientOf(r); from != origin.Unknown {
			t.Errorf("a request of which nobody knows the addresses is from %d", from)
		}
	}
}

// There is one code at a time. It ends after two minutes, after five wrong ones, and with the first
// browser that types it; a guesser cannot have another shown before the two minutes are over.
func TestTheCode(t *testing.T) {
	var p pairing
	now := time.Now()
	begin := func(at time.Time) string { code, _ := p.begin(at); return code }
	first := begin(now)
	if again, err := p.begin(now.Add(codeFor - 1)); again != "" || !errors.Is(err, errShown) {
		t.Error("there are two codes")
	}
	if err := p.check(first, now.Add(codeFor)); err == nil {
		t.Error("it works after two minutes")
	}
	now = now.Add(codeFor)
	second := begin(now)
	if err := p.check(first, now); err == nil || second == first || second == "" {
		t.Errorf("%q works, after it came %q", first, second)
	}
	if err := p.check(second, now); err != nil || p.check(second, now) == nil {
		t.Errorf("the second code: %v; then it works twice", err)
	}
	third := begin(now)
	for range 5 {
		if third == "" || p.check("WRONGONE", now) == nil {
			t.Fatal("a wrong code is right")
		}
	}
	if err := p.check(third, now); !errors.Is(err, origin.ErrTries) {
		t.Errorf("it can be guessed without end: %v", err)
	}
	if begin(now.Add(codeFor-1)) != "" || begin(now.Add(codeFor)) == "" {
		t.Error("after five wrong ones, another is shown at once or never")
	}
}

// A page that only reads has no way to write: the addresses are not there.
func TestReadOnly(t *testing.T) {
	v := newServing(t, true)
	for _, what := range []string{"answer", "order", "resume"} {
		if w := v.request("POST", "/api/runs/"+v.key+"/"+what, anAnswer); w.Code != 404 {
			t.Errorf("%s: %d", what, w.Code)
		}
	}
	if w := v.request("GET", "/api/runs/"+v.key, ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"writable":false`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := v.request("GET", "/api/runs", ""); w.Code != 200 || !strings.Contains(w.Body.String(), v.key) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A run that has just begun is found though nobody has read the list since. Of a run that cannot be
// read the page is told so, and nothing else.
func TestARunThatHasJustBegun(t *testing.T) {
	v := newServing(t, false)
	run, record := created(t, filepath.Dir(v.dir))
	record(core.RunStarted{RunID: run.ID, Command: []string{"true"}, Dir: v.dir})
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("/api/runs/%016x", xxhash.Sum64String(run.Dir))
	var ticket struct{ Path string }
	if err := json.Unmarshal(v.request("POST", at+"/report", "{}").Body.Bytes(), &ticket); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(run.Dir); err != nil {
		t.Fatal(err)
	}
	v.o.Explain = func(string) (string, error) { return "", errors.New("it is gone") }
	for _, path := range []string{ticket.Path, at + "/explain"} {
		if w := v.request("GET", path, ""); w.Code != 500 || strings.Count(w.Body.String(), "\n") != 1 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// Every reply says what a browser may do with it.
func TestHeaders(t *testing.T) {
	v := newServing(t, false)
	for _, path := range []string{"/", "/page.js", "/api/runs", "/nothing"} {
		h := v.request("GET", path, "").Header()
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "X-Frame-Options": "DENY",
		} {
			if !strings.HasPrefix(h.Get(name), want) {
				t.Errorf("%s: %s: %q", path, name, h.Get(name))
			}
		}
		if strings.Contains(h.Get("Content-Security-Policy"), "unsafe") || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, h)
		}
	}
}

// The address of a report works once, and in a sandbox.
func TestReportTicket(t *testing.T) {
	v := newServing(t, false)
	var ticket struct{ Path string }
	if err := json.Unmarshal(v.request("POST", "/api/runs/"+v.key+"/report", "{}").Body.Bytes(), &ticket); err != nil {
		t.Fatal(err)
	}
	bare := func(r *http.Request) { r.Header.Del("Authorization") }
	if w := v.request("HEAD", ticket.Path, "", bare); w.Code != 405 {
		t.Errorf("the headers alone: %d", w.Code)
	}
	w := v.request("GET", ticket.Path, "", bare)
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "sandbox") || !strings.Contains(w.Body.String(), "&lt;script&gt;") {
		t.Errorf("%d %s %s", w.Code, w.Header(), w.Body)
	}
	if w := v.request("GET", ticket.Path, "", bare); w.Code != 404 {
		t.Errorf("a second time: %d", w.Code)
	}
	page := func(http.ResponseWriter, *http.Request) {}
	late := v.opens.issue(page, time.Now().Add(-2*ticketFor))
	if w := v.request("GET", "/once/"+late, "", bare); w.Code != 404 {
		t.Errorf("too late: %d", w.Code)
	}
	for range maxTickets {
		v.opens.issue(page, time.Now())
	}
	if w := v.request("POST", "/api/runs/"+v.key+"/report", "{}"); w.Code != 429 {
		t.Errorf("one too many: %d", w.Code)
	}
}

// An output that is a link leads nowhere.
func TestOutputIsALink(t *testing.T) {
	v := newServing(t, false)
	other := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(other, []byte("do not show"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := scratchpad.OutputFile(v.dir, 1)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, name); err != nil {
		t.Skip(err)
	}
	for _, of := range []string{"/output/1", "/log/1"} {
		if w := v.request("GET", "/api/runs/"+v.key+of, ""); strings.Contains(w.Body.String(), "do not show") {
			t.Error(w.Body)
		}
	}
	var ticket struct{ Path string }
	if err := json.Unmarshal(v.request("POST", "/api/runs/"+v.key+"/log/1", "{}").Body.Bytes(), &ticket); err != nil {
		t.Fatal(err)
	}
	if w := v.request("GET", ticket.Path, ""); w.Code != 404 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Whoever asks once has all that was printed by then, however long the last reading took.
func TestOutputIsAllThatWasPrinted(t *testing.T) {
	v := newServing(t, false)
	name := scratchpad.OutputFile(v.dir, 1)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"300\n", "300\nthe end\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w := v.request("GET", "/api/runs/"+v.key+"/output/1", "")
		if strings.Contains(text, "the end") != strings.Contains(w.Body.String(), "the end") {
			t.Errorf("%q was printed: %s", text, w.Body)
		}
		k := v.tails.all[tailOf{v.dir, 1}]
		k.took = time.Hour
		v.tails.all[tailOf{v.dir, 1}] = k
	}
	for n := range 2*keptViews + 1 {
		v.request("GET", fmt.Sprintf("/api/runs/%s/output/%d", v.key, n), "")
	}
	if n := len(v.tails.all); n != keptViews { // one makes room, not all
		t.Errorf("%d outputs are kept", n)
	}
}

// A log has its lines by number, those that match a search, and never more than a page can
// have. It can be saved as it was printed, at an address that works once.
func TestLog(t *testing.T) {
	v := newServing(t, false)
	var printed strings.Builder
	for i := 1; i <= 2500; i++ {
		fmt.Fprintf(&printed, "\x1b[32mLine\x1b[0m <%d>\r\n", i)
	}
	printed.WriteString(strings.Repeat("x", 1<<20) + "\n\nthe END") // no line break ends it
	name := scratchpad.CheckOutputFile(v.dir, 1)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(printed.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	at := "/api/runs/" + v.key + "/log/1"
	for _, c := range []struct {
		query                            string
		first, shown, last, total, found int
		html                             string // of the last
	}{
		{"check", 1, logLines, logLines, 2503, 2503, `<span class="c2">Line</span> &lt;1000&gt;`},
		{"check&from=2400", 2400, 104, 2503, 2503, 2503, "the END"},
		{"check&from=9999", 0, 0, 0, 2503, 2503, ""},
		{"check&search=line+%3C24", 24, 111, 2499, 2503, 111, `<span class="c2">Line</span> &lt;2499&gt;`},
		{"check&search=the+end", 2503, 1, 2503, 2503, 1, "the END"},
		{"check&search=%1b", 0, 0, 0, 2503, 0, ""}, // nobody sees it
	} {
		w := v.request("GET", at+"?"+c.query, "")
		var l report.Log
		if err := json.Unmarshal(w.Body.Bytes(), &l); err != nil {
			t.Fatalf("%s: %d %v", c.query, w.Code, err)
		}
		var first, last report.LogLine
		if len(l.Lines) > 0 {
			first, last = l.Lines[0], l.Lines[len(l.Lines)-1]
		}
		if first.Number != c.first || len(l.Lines) != c.shown || last.Number != c.last || l.Total != c.total || l.Found != c.found || last.HTML != c.html {
			t.Errorf("%s: lines %d to %d, %d of them; %d of %d; the last is %q", c.query, first.Number, last.Number, len(l.Lines), l.Found, l.Total, last.HTML)
		}
		if w.Body.Len() > 512<<10 {
			t.Errorf("%s: %d bytes", c.query, w.Body.Len())
		}
	}
	if w := v.request("GET", at, ""); w.Code != 200 || w.Body.String() != `{"lines":[],"total":0,"found":0}`+"\n" {
		t.Errorf("the command, which printed nothing: %d %s", w.Code, w.Body)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	eventually.Holds(t, "the log is read no further when the client has left", func() bool { // it may be through before
		return v.request("GET", at+"?check", "", func(r *http.Request) { *r = *r.WithContext(left) }).Code != 200
	})
	if w := v.request("GET", at+"?from=one", ""); w.Code != 400 {
		t.Errorf("a line that is none: %d", w.Code)
	}
	var ticket struct{ Path string }
	if err := json.Unmarshal(v.request("POST", at, `{"check": true}`).Body.Bytes(), &ticket); err != nil {
		t.Fatal(err)
	}
	bare := func(r *http.Request) { r.Header.Del("Authorization") }
	if w := v.request("HEAD", ticket.Path, "", bare); w.Code != 405 {
		t.Errorf("the headers alone: %d", w.Code)
	}
	w := v.request("GET", ticket.Path, "", bare)
	if w.Code != 200 || w.Body.String() != printed.String() || w.Header().Get("Content-Disposition") != fmt.Sprintf("attachment; filename=%q", filepath.Base(v.dir)+"-0001.check.log") {
		t.Errorf("%d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
	}
	if w := v.request("GET", ticket.Path, "", bare); w.Code != 404 {
		t.Errorf("a second time: %d", w.Code)
	}
}

// Of long lines there are fewer at a time, but none is lost: going back from the last line each
// is there once, and a line is among those around it.
func TestALogOfLongLines(t *testing.T) {
	var printed strings.Builder
	const lines = 400
	for i := 1; i <= lines; i++ {
		fmt.Fprintf(&printed, "%d %s\n", i, strings.Repeat([]string{"x", "<", "\x1b[31m"}[i%3], 5000/len([]string{"x", "<", "\x1b[31m"}[i%3])))
	}
	read := func(part report.LogPart) (first, last int) {
		t.Helper()
		part.Most = logLines
		l, err := report.ReadLog(strings.NewReader(printed.String()), part, "")
		if err != nil || len(l.Lines) == 0 || l.Total != lines {
			t.Fatalf("%+v: %v, %d of %d lines", part, err, len(l.Lines), l.Total)
		}
		size := 0
		for i, one := range l.Lines {
			size += len(one.HTML)
			if one.Number != l.Lines[0].Number+i || !strings.HasPrefix(one.HTML, strconv.Itoa(one.Number)+" ") {
				t.Errorf("%+v: the line %d is %.20q", part, l.Lines[0].Number+i, one.HTML)
			}
		}
		if size > 256<<10 {
			t.Errorf("%+v: %d bytes", part, size)
		}
		return l.Lines[0].Number, l.Lines[len(l.Lines)-1].Number
	}
	for to, times := lines, 0; to > 0; times++ {
		end := to
		if times == 0 {
			end = math.MaxInt32 // wherever that is
		}
		first, last := read(report.LogPart{To: end})
		if last != to || times > lines {
			t.Fatalf("up to %d: it ends with %d", to, last)
		}
		if _, again := read(report.LogPart{From: first}); again < last {
			t.Errorf("from %d on: up to %d, and not to %d", first, again, last)
		}
		to = first - 1
	}
	for _, n := range []int{1, lines / 2, lines} {
		if first, last := read(report.LogPart{Around: n}); first > n || last < n || first == n && n > 1 || last == n && n < lines {
			t.Errorf("around %d: %d to %d", n, first, last)
		}
	}
	l, err := report.ReadLog(strings.NewReader(printed.String()), report.LogPart{To: lines, Most: 2}, "9 x") // 9 % 3 is 0
	if err != nil || len(l.Lines) != 2 || l.Lines[0].Number != 369 || l.Lines[1].Number != 399 {
		t.Errorf("the last two with a text: %v, %d of %d", err, len(l.Lines), l.Found)
	}
	l, err = report.ReadLog(strings.NewReader("a"+strings.Repeat("\x1b[31m", 20000)+"b\nc"), report.LogPart{Most: 9}, "")
	if err != nil || len(l.Lines) != 2 || !strings.HasPrefix(l.Lines[0].HTML, "a") || !strings.Contains(l.Lines[0].HTML, "…") || l.Lines[1].HTML != "c" {
		t.Errorf("a line that is cut: %v, %+v", err, l.Lines)
	}
}

// What a log takes from memory does not depend on how long it is, or its lines.
func TestALongLog(t *testing.T) {
	const mega = 1 << 20
	for name, line := range map[string]string{"lines": "a line like any other\n", "one line": "x"} {
		in := &repeated{text: []byte(strings.Repeat(line, mega/len(line))), left: 64}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		l, err := report.ReadLog(in, report.LogPart{Most: logLines}, "")
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err != nil || in.left != 0 || took > 8*mega {
			t.Errorf("%s: %d lines, %v; it took %d bytes", name, l.Total, err, took)
		}
	}
}

// repeated is a text so many times.
type repeated struct {
	text []byte
	at   int
	left int
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.text[r.at:])
	if r.at += n; r.at == len(r.text) {
		r.at = 0
		r.left--
	}
	return n, nil
}

// A phone's home screen gets the icon that it asks for: one without a transparent corner.
func TestTheHomeScreenHasAnIcon(t *testing.T) {
	v := newServing(t, false)
	w := v.request("GET", "/icon.png", "")
	icon, err := png.Decode(w.Body)
	if err != nil || w.Header().Get("Content-Type") != "image/png" || icon.Bounds().Dx() != 180 || icon.Bounds().Dy() != 180 {
		t.Fatal(w.Code, w.Header(), err)
	}
	if _, _, _, alpha := icon.At(0, 0).RGBA(); alpha != 0xffff {
		t.Error("its corner is transparent")
	}
	for page, link := range map[string]string{"/": `<link rel="apple-touch-icon" href="icon.png">`, "/manifest.json": `"src": "icon.png", "sizes": "180x180"`} {
		if text := v.request("GET", page, "").Body.String(); !strings.Contains(text, link) {
			t.Errorf("%s has no %s: %s", page, link, text)
		}
	}
}

// Another user of the machine can reach the port, and learns nothing there: without the
// token there are the page's own files, in which nothing of a run is.
func TestWithoutTheToken(t *testing.T) {
	v := newServing(t, false)
	bare := func(r *http.Request) { r.Header.Del("Authorization") }
	for _, path := range []string{"/", "/page.js", "/page.css", "/icon.svg", "/icon.png", "/report.css"} {
		w := v.request("GET", path, "", bare)
		if text := w.Body.String(); w.Code != 200 || strings.Contains(text, v.token) || strings.Contains(text, v.tokenOf("")) || strings.Contains(text, filepath.Base(v.dir)) || strings.Contains(text, v.key) {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	at := "/api/runs/" + v.key
	for _, r := range [][2]string{
		{"GET", "/api/runs"},
		{"GET", "/api/stream"},
		{"GET", "/api/stream?run=" + v.key},
		{"GET", at},
		{"GET", at + "/output/1"},
		{"GET", at + "/diff/1"},
		{"GET", at + "/log/1"},
		{"POST", at + "/log/1"},
		{"GET", at + "/explain"},
		{"POST", at + "/report"},
		{"POST", at + "/answer"},
		{"POST", at + "/order"},
		{"POST", at + "/resume"},
		{"POST", "/api/enter"},
	} {
		if w := v.request(r[0], r[1], "{}", bare); w.Code != 401 || strings.Contains(w.Body.String(), filepath.Base(v.dir)) {
			t.Errorf("%s: %d %s", r, w.Code, w.Body)
		}
	}
	if len(v.done) > 0 {
		t.Errorf("done: %v", v.done)
	}
}

// What a command calls itself and prints is text: in what is markup it is escaped, and
// nothing of it turns or hides what stands around it.
func TestHostileText(t *testing.T) {
	v := newServing(t, false)
	name := scratchpad.OutputFile(v.dir, 1)
	const hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\u202egnp\x1b[31;}body{display:none\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(hostile), 0o600)); err != nil {
		t.Fatal(err)
	}
	var shown struct{ Work string }
	if err := json.Unmarshal(v.request("GET", "/api/runs/"+v.key+"/output/1", "").Body.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img", "</pre", "evil.example", "\x1b", "\u202e", "\x07"} {
		if strings.Contains(shown.Work, bad) {
			t.Errorf("%q is in %q", bad, shown.Work)
		}
	}
	var run struct{ Course string }
	if err := json.Unmarshal(v.request("GET", "/api/runs/"+v.key, "").Body.Bytes(), &run); err != nil || strings.Contains(run.Course, "<script") {
		t.Errorf("%v: %s", err, run.Course)
	}
}

// When the server ends, what it does with a run still comes to its end, and the page is told; it
// waits for that, but not for ever.
func TestTheServerEnds(t *testing.T) {
	for _, waits := range []bool{true, false} {
		v := newServing(t, false)
		begun, end := make(chan struct{}), make(chan struct{})
		v.o.Actions.Resume = func(ctx context.Context, _ string) (string, error) {
			close(begun)
			<-end
			return "ok", ctx.Err()
		}
		if v.within.end = 0; waits {
			v.within.end = eventually.Patience
		}
		ctx, cancel := context.WithCancel(t.Context())
		served, told := make(chan error, 1), make(chan string, 1)
		go func() { served <- v.Serve(ctx) }()
		go func() {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, v.Address()+"api/runs/"+v.key+"/resume", strings.NewReader("{}"))
			r.Header = http.Header{"Authorization": {"Bearer " + v.tokenOf("")}, "Content-Type": {"application/json"}}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				told <- "nothing"
				return
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			told <- string(text)
		}()
		eventually.Receive(t, "it is under way", begun)
		cancel()
		want := "nothing"
		if waits {
			want = "{\"said\":\"ok\"}\n"
			close(end)
		}
		if got := eventually.Receive(t, "the page is told", told); got != want {
			t.Errorf("it is told %q, want %q", got, want)
		}
		if err := eventually.Receive(t, "the server has ended", served); err != nil {
			t.Error(err)
		}
		if !waits {
			close(end)
		}
	}
}

// It listens where only this machine is, and clients that are slow or very many keep
// nobody else out.
func TestManyConnections(t *testing.T) {
	v := newServing(t, false)
	if host, _, _ := net.SplitHostPort(v.ln.Addr().String()); host != "127.0.0.1" {
		t.Fatalf("it listens on %s", host)
	}
	v.within.head = time.Hour // what is half open stays so
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- v.Serve(ctx) }()
	page, err := net.Dial("tcp", v.ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	replies := bufio.NewReader(page)
	list := func() {
		fmt.Fprintf(page, "GET /api/runs HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", v.ln.Addr(), v.tokenOf(""))
		res, err := http.ReadResponse(replies, nil)
		if err != nil {
			t.Fatalf("the connection with a token is gone: %v", err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != 200 {
			t.Fatalf("%v: %s", err, res.Status)
		}
	}
	list()
	for i := range 2 * maxConnections {
		c, err := net.Dial("tcp", v.ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 { // the others send nothing
			_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: "))
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.Address(), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 {
		t.Error(res.Status)
	}
	list()
	v.conns.mu.Lock()
	if n := len(v.conns.fresh) + len(v.conns.kept); n > maxConnections || len(v.conns.kept) != 1 {
		t.Errorf("%d connections at once, %d with a token", n, len(v.conns.kept))
	}
	v.conns.mu.Unlock()
	page.Close()
	eventually.Holds(t, "a closed connection makes room", func() bool {
		v.conns.mu.Lock()
		defer v.conns.mu.Unlock()
		return len(v.conns.kept) == 0
	})
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// A client that does not read what it is told is let go.
func TestAClientThatDoesNotRead(t *testing.T) {
	let := make(chan error)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &events{w: w, c: http.NewResponseController(w), within: 50 * time.Millisecond}
		for blob := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`); out.err == nil; {
			out.send("output", blob)
		}
		let <- out.err
	}))
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := eventually.Receive(t, "it is let go", let); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// More streams than there is room for are told so, and one that ends makes room.
func TestStreamsAreBounded(t *testing.T) {
	v := newServing(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	replies := make(chan *httptest.ResponseRecorder, maxStreams)
	for range maxStreams {
		go func() {
			replies <- v.request("GET", "/api/stream", "", func(r *http.Request) { *r = *r.WithContext(ctx) })
		}()
	}
	eventually.Holds(t, "all streams are open", func() bool { return len(v.streams) == maxStreams })
	if w := v.request("GET", "/api/stream", ""); w.Code != 503 || !strings.Contains(w.Body.String(), "close some") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	cancel()
	for range maxStreams {
		if w := eventually.Receive(t, "a stream ends", replies); !strings.HasPrefix(w.Body.String(), "event: hello\n") {
			t.Errorf("%q", w.Body)
		}
	}
	if len(v.streams) != 0 {
		t.Errorf("%d streams are left", len(v.streams))
	}
}

// A run that goes on is read as it grows, and shown as if it had been read from its
// beginning; so is one that has ended, and one that goes on again.
func TestARunThatGrows(t *testing.T) {
	state := filepath.Join(t.TempDir(), ".looprun")
	run, record := created(t, state)
	x, v := newIndex(func() []string { return []string{state} }), &views{}
	same := func(what string) {
		t.Helper()
		x.refresh(0)
		got := x.rows[run.Dir]
		loaded, _, err := scratchpad.Load(run.Dir)
		if err != nil {
			t.Fatal(err)
		}
		want := rowOf(run.Dir, loaded, scratchpad.Locked(run.Dir), scratchpad.StampOf(run.Dir))
		if got == nil {
			t.Fatalf("%s: it is not in the list", what)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if string(a) != string(b) {
			t.Errorf("%s:\n%s, and from the beginning\n%s", what, a, b)
		}
		k, err := v.of(got)
		fresh, freshErr := (&views{}).of(got)
		if err != nil || freshErr != nil || string(k.shown) != string(fresh.shown) || !strings.Contains(string(k.shown), string(b[1:len(b)-1])) {
			t.Errorf("%s: %v %v\n%s, and from the beginning\n%s", what, err, freshErr, k.shown, fresh.shown)
		}
		for _, k := range v.list {
			k.took = 0 // nobody waits for the others
		}
	}
	record(core.RunStarted{RunID: run.ID, Command: []string{"false"}, Dir: state, Limits: core.Limits{Iterations: 9}})
	same("begun")
	for i := range 3 {
		record(core.IterationStarted{Iteration: i + 1})
		same("started")
		record(core.CostReported{USD: 0.5})
		record(core.IterationFinished{Iteration: i + 1, Outcome: core.OutcomeNotDone, ExitCode: 1, Signature: signature.Signature{
			Hash: 1, Kind: signature.KindTestFail, Label: "test-fail:1-login", Checks: []string{"TestLogin"}, Failing: 1, Passed: -1, Total: -1,
		}})
		same("finished")
		if got := x.rows[run.Dir].Label; got != "1 test failing: TestLogin" {
			t.Errorf("what it came to: %q", got)
		}
	}
	if len(x.live) != 1 {
		t.Errorf("%d runs are followed", len(x.live))
	}
	record(core.RunPaused{Reason: "the machine goes down"})
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	same("paused")
	if len(x.live) != 0 {
		t.Errorf("%d runs at rest are followed", len(x.live))
	}
}

// What an agent prints in JSON is read as at a terminal, and colours are colours.
func TestATranscriptIsReadable(t *testing.T) {
	v := newServing(t, false)
	name := scratchpad.OutputFile(v.dir, 1)
	text := `{"type":"result","subtype":"success","is_error":false,"result":"All <b>tests</b> pass.","session_id":"s"}` + "\n\x1b[31mred\x1b[0m\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	var shown struct{ Work string }
	if err := json.Unmarshal(v.request("GET", "/api/runs/"+v.key+"/output/1", "").Body.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(shown.Work, "All &lt;b&gt;tests&lt;/b&gt; pass.\n") || strings.Contains(shown.Work, "is_error") || !strings.Contains(shown.Work, `class="c1">red</span>`) {
		t.Errorf("%+v", shown)
	}
}

// A run that was removed is in the list no more, and of very many all are in it.
func TestTheListIsWhole(t *testing.T) {
	state := filepath.Join(t.TempDir(), ".looprun")
	first := recorded(t, state, "first")
	for i := range 2*atOnce + 1 {
		copied := filepath.Join(state, fmt.Sprintf("20250101-000000-%04x", i))
		if err := errors.Join(os.Mkdir(copied, 0o700), os.Link(filepath.Join(first, "journal.jsonl"), filepath.Join(copied, "journal.jsonl"))); err != nil {
			t.Fatal(err)
		}
	}
	x := newIndex(func() []string { return []string{state} })
	total := func() int {
		t.Helper()
		x.whole = time.Time{} // it is time to look at all of them
		x.refresh(0)
		l, err := x.list("", "", nil, listLimit)
		if err != nil || len(l.Runs) != listLimit || len(x.sorted) != len(x.byKey) || l.Total != len(x.sorted) {
			t.Fatalf("%v: %d of %d runs, %d, %d", err, len(l.Runs), l.Total, len(x.sorted), len(x.byKey))
		}
		return l.Total
	}
	if n := total(); n != 2*atOnce+2 {
		t.Errorf("%d runs", n)
	}
	if err := os.RemoveAll(first); err != nil {
		t.Fatal(err)
	}
	if n := total(); n != 2*atOnce+1 {
		t.Errorf("%d runs after one was removed", n)
	}
}

// A run whose question the run above asks does not ask; the row follows that run.
func TestAskedInTheRunAbove(t *testing.T) {
	state := filepath.Join(t.TempDir(), ".looprun")
	begun := func(parent string) (*scratchpad.Run, func(core.Data)) {
		run, record := created(t, state)
		record(core.RunStarted{RunID: run.ID, Parent: parent, Command: []string{"true"}, Dir: state, Limits: core.Limits{Iterations: 3}})
		record(core.IterationStarted{Iteration: 1})
		return run, record
	}
	question := core.Question{ID: "ask-1", Kind: core.KindText, Header: "Which", Text: "Which one?", From: core.FromCommand}
	outer, above := begun("")
	inner, within := begun(outer.ID)
	within(core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone})
	within(core.QuestionAsked{Question: question})
	within(core.RunPaused{Reason: "x"})
	if err := inner.Close(); err != nil {
		t.Fatal(err)
	}
	x := newIndex(func() []string { return []string{state} })
	stands := func() string {
		x.refresh(0)
		r := x.rows[inner.Dir]
		return fmt.Sprintf("%s, asks %v", r.Elsewhere, r.Asks)
	}
	if got := stands(); got != ", asks true" {
		t.Errorf("before the run above asks: %s", got)
	}
	question.Path = []string{"run " + inner.ID}
	above(core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone})
	above(core.QuestionAsked{Question: question})
	if got := stands(); got != "asked in "+outer.ID+", asks false" {
		t.Errorf("when it asks: %s", got)
	}
	above(core.QuestionAnswered{QuestionID: "ask-1", Answer: core.Answer{Text: new("this"), Responder: core.RespondedByUser}})
	if got := stands(); got != "answered in "+outer.ID+", asks false" {
		t.Errorf("when it is answered: %s", got)
	}
	if err := outer.Close(); err != nil {
		t.Fatal(err)
	}
}

// A run that was answered and not resumed waits for no answer any more.
func TestAnAnsweredRunWaitsNoMore(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	run, record := created(t, state)
	record(core.RunStarted{RunID: run.ID, Command: []string{"true"}, Dir: state, Limits: core.Limits{Iterations: 3}})
	record(core.IterationStarted{Iteration: 1})
	record(core.IterationFinished{Iteration: 1, Outcome: core.OutcomeNotDone})
	record(core.GuardTripped{Trip: core.Trip{Guard: core.MaxIterations, Iteration: 1}})
	record(core.QuestionAsked{Question: core.Question{ID: "max_iterations-4", Guard: core.MaxIterations, Kind: core.KindSelect, Text: "Used up", Options: []core.Option{{ID: "go", Label: "Go", Action: core.ActionContinue, Extend: core.Extend{Iterations: 5}}}}})
	record(core.RunPaused{Reason: "the question waits for an answer"})
	record(core.QuestionAnswered{QuestionID: "max_iterations-4", Answer: core.Answer{Option: "go", Responder: core.RespondedByUser}})
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	shown, err := (&views{}).of(&row{dir: run.Dir})
	if err != nil {
		t.Fatal(err)
	}
	if page := string(shown.shown); !strings.Contains(page, `"answered":"Go"`) || strings.Contains(page, `"reason":"the question waits`) {
		t.Errorf("%s", page)
	}
}

// An open batch does not make the list any longer, and its loops have what other runs have.
func TestAnOpenBatchIsLimited(t *testing.T) {
	state := filepath.Join(t.TempDir(), ".looprun")
	first := recorded(t, state, "first")
	plan := &many.Plan{ID: "20250101-000000-ffff", State: state, Loops: []many.Loop{{Name: "first", RunID: filepath.Base(first)}}}
	for i := range listLimit {
		l := many.Loop{Name: strconv.Itoa(i), RunID: fmt.Sprintf("20250101-000000-%04x", i)}
		if err := errors.Join(os.Mkdir(filepath.Join(state, l.RunID), 0o700), os.Link(filepath.Join(first, "journal.jsonl"), filepath.Join(state, l.RunID, "journal.jsonl"))); err != nil {
			t.Fatal(err)
		}
		plan.Loops = append(plan.Loops, l)
	}
	x, b := newIndex(func() []string { return []string{state} }), &batch{"b", plan}
	x.refresh(0)
	for _, l := range plan.Loops {
		x.batchOf[filepath.Join(state, l.RunID)] = b
	}
	for range 2 { // what was looked up is kept
		l, err := x.list("", "", []string{"b"}, listLimit)
		if err != nil || len(l.Runs) != listLimit || l.Left != 2 || l.Runs[0].Group == nil || l.Runs[0].Group.Done != listLimit+1 {
			t.Fatalf("%v: %d runs, %d left", err, len(l.Runs), l.Left)
		}
		for _, r := range l.Runs[1:] {
			if r.In != "b" || r.Limit != 3 {
				t.Fatalf("%s is in %q, of %d iterations", r.Title, r.In, r.Limit)
			}
		}
	}
	if l, err := x.list("", "", nil, listLimit); err != nil || len(l.Runs) != 1 || l.Left != 0 {
		t.Errorf("closed: %v, %d runs, %d left", err, len(l.Runs), l.Left)
	}
	plan.Loops = plan.Loops[:1]
	if l, err := x.list("", "", nil, listLimit); err != nil || l.Runs[0].Title != "1 loop: first" {
		t.Errorf("of one loop: %v, %q", err, l.Runs[0].Title)
	}
}

// Where the task stands on the ladder is in words: what failed, whom it asked, and who
// decides in the end.
func TestTheLadderInWords(t *testing.T) {
	s := &core.State{Rungs: ladder.Config{{Rung: ladder.SelfSolve}, {Rung: ladder.Experts, Experts: []ladder.Expert{{Name: "dba"}, {Name: "ops"}}}, {Rung: ladder.Human}}}
	s.Ladder.Record(ladder.Attempt{Number: 1, Type: ladder.BySelf, Iteration: 1})
	s.Ladder.ExpertFinished("", "dba", true, "", 1)
	want := "by itself: 1 failed attempt|with experts: 0 failed attempts; dba: asked; ops: not asked|a person decides"
	if got := strings.Join(ladderOf(s), "|"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Who comes while the runs are read for the first time sees the first of them, and does
// not wait for the others.
func TestTheFirstRunsAreShownWhileTheOthersAreRead(t *testing.T) {
	state := filepath.Join(t.TempDir(), ".looprun")
	dir := recorded(t, state, "first")
	x := newIndex(func() []string { return []string{state} })
	x.reading.Lock() // as a refresh has it until all are read
	defer x.reading.Unlock()
	listed := make(chan int)
	go func() {
		x.refresh(time.Hour)
		l, _ := x.list("", "", nil, listLimit)
		listed <- l.Total
	}()
	x.take(x.read([]string{dir}), nil)
	x.opened()
	select {
	case n := <-listed:
		if n != 1 {
			t.Errorf("%d runs", n)
		}
	case <-time.After(time.Minute):
		t.Error("it waits for the others")
	}
}

// The view of a run of 3,000 iterations takes no more than 60 KB, also at 167, where each has its own
// row. Everything is the same as without compression; what has a length, as a saved log, keeps it.
func TestCompressed(t *testing.T) {
	v := newServing(t, false)
	zipped := func(path string) (*httptest.ResponseRecorder, string) {
		t.Helper()
		w := v.request("GET", path, "", header("Accept-Encoding", "gzip, br"))
		if w.Code != 200 || w.Header().Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s: %d %v", path, w.Code, w.Header())
		}
		sent := w.Body.Len()
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes as %d", path, len(text), sent)
		if sent > 60_000 {
			t.Errorf("%s takes %d bytes", path, sent)
		}
		return w, string(text)
	}
	for _, path := range []string{"/", "/page.js", "/report.css"} {
		if w, text := zipped(path); text != v.request("GET", path, "").Body.String() || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: %v", path, w.Header())
		}
	}
	if h := v.request("GET", "/api/runs/"+v.key+"/explain", "", header("Accept-Encoding", "gzip")).Header(); h.Get("Content-Encoding") != "" {
		t.Errorf("a small reply: %v", h)
	}
	for _, n := range []int{167, 3000} {
		run, record := created(t, filepath.Dir(v.dir))
		record(core.RunStarted{RunID: run.ID, Command: []string{"./fix.sh"}, Dir: filepath.Dir(v.dir)})
		for i := range n {
			sum := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
			record(core.IterationStarted{Iteration: i + 1})
			failing, name := int(sum[9]%20), fmt.Sprintf("Test%x", sum[10:14])
			label := fmt.Sprintf("test-fail:%d-%s", failing, name)
			record(core.IterationFinished{
				Iteration: i + 1, Outcome: core.OutcomeNotDone, DurationMS: int64(sum[0]) * 37, Excerpt: "--- FAIL: " + name,
				Signature: signature.Signature{Kind: signature.KindTestFail, Label: label, Hash: signature.Hash(binary.BigEndian.Uint64(sum[1:])), Failing: failing, Checks: []string{name}},
			})
		}
		record(core.RunFinished{Ending: core.Ending{Status: core.StatusDone}})
		if err := run.Close(); err != nil {
			t.Fatal(err)
		}
		v.runs.refresh(0)
		zipped(fmt.Sprintf("/api/runs/%016x", xxhash.Sum64String(run.Dir)))
	}
}
