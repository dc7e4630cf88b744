package waiting

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func matcher(t testing.TB, specs ...string) *Matcher {
	t.Helper()
	m, err := Compile(specs)
	if err != nil {
		t.Fatal(err)
	}
	m.Now, m.Location = func() time.Time { return noon }, time.UTC
	return m
}

// What each ready pattern knows; the package documentation says where from.
func TestReady(t *testing.T) {
	in := func(d time.Duration) time.Time { return noon.Add(d) }
	at := func(hour, minute int) time.Time {
		d := time.Date(2026, 11, 21, hour, minute, 0, 0, time.UTC)
		if d.Before(noon) {
			return d.AddDate(0, 0, 1)
		}
		return d
	}
	for _, c := range []struct {
		spec, output string
		until        time.Time
	}{
		{"@claude", "Claude AI usage limit reached|1795305600\n", time.Unix(1795305600, 0)},
		{"@claude", `{"type":"result","is_error":true,"result":"Claude AI usage limit reached|1795305600","session_id":"s","total_cost_usd":0}`, time.Unix(1795305600, 0)},
		{"@claude", `{"type":"result","subtype":"success","is_error":true,"result":"You've hit your limit · resets 7pm (UTC)"}`, at(19, 0)},
		{"@claude", "You've hit your session limit · resets 12:50am (UTC)\n/login to switch to an API usage-billed account.\n", at(0, 50)},
		{"@claude", "  ⎿  You’ve hit your weekly limit · resets Nov 24, 11am (Asia/Seoul)\r\n", time.Date(2026, 11, 24, 2, 0, 0, 0, time.UTC)},
		{"@claude", "You've hit your Opus limit - resets 3pm", at(15, 0)},
		{"@claude", "Claude usage limit reached. Your limit will reset at 5pm (Europe/Warsaw).", at(16, 0)},
		{"@claude", "\x1b[31m5-hour limit reached ∙ resets 3am\x1b[0m", at(3, 0)},
		{"@claude", "Your account's usage limit will reset at 9:30 PM.", at(21, 30)},
		{"@claude", "You're out of extra usage · resets Nov 24, 8pm (Europe/Budapest)", time.Date(2026, 11, 24, 19, 0, 0, 0, time.UTC)},
		{"@claude", " API Error: Server is temporarily limiting requests (not your usage limit) · Rate\n     limited\n", time.Time{}},
		{"@claude", `{"result":"API Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}"}`, time.Time{}},
		{"@claude", `Error: 429 {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\"}}`, time.Time{}},
		{"@claude", "API Error: Repeated 529 Overloaded errors", time.Time{}},
		{"@claude", `API Error (529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})`, time.Time{}},
		{"@claude", "API Error: Request rejected (429) · This request would exceed your account's rate limit.", time.Time{}},
		{"@claude", "You have exceeded your 5-hour usage limit. Please try again later.", time.Time{}},
		{"@claude", "You've hit your limit", time.Time{}},
		{"@claude", "rate_limit_event rejected five_hour · resets at 2026-11-21T15:45:00Z", at(15, 45)},
		{"@codex", "You have hit your usage limit. Upgrade to Pro or try again in 3 hours", in(3 * time.Hour)},
		{"@codex", "ERROR: You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or try again in 1 day 2 hours 11\nminutes.\n", in(26*time.Hour + 11*time.Minute)},
		{"@codex", "■ You've hit your usage limit. Try again at 3:45 PM.", at(15, 45)},
		{"@codex", `{"type":"error","message":"You've hit your usage limit. Try again at Nov 22nd, 2026 8:19 PM."}`, time.Date(2026, 11, 22, 20, 19, 0, 0, time.UTC)},
		{"@codex", "[2026-11-21T11:59:00] ERROR: exceeded retry limit, last status: 429 Too Many Requests, request id: 9c84", time.Time{}},
		{"@codex", "stream error: stream disconnected before completion: Rate limit is exceeded. Try again in 17 seconds.; retrying 1/5", in(17 * time.Second)},
		{"@codex", "ERROR: Rate limit reached for gpt-5 in organization o on tokens per min. Please try again in 11.5s.", in(11500 * time.Millisecond)},
		{"@codex", `{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_at":1795305600,"resets_in_seconds":60}}`, time.Unix(1795305600, 0)},
		{"@gemini", "[API Error: You have exhausted your capacity on this model. Your quota will reset after 4h28m20s.]", in(4*time.Hour + 28*time.Minute + 20*time.Second)},
		{"@gemini", "Attempt 1 failed: You have exhausted your capacity on this model. Your quota will reset after 5s.. Retrying after 6173ms...", in(5 * time.Second)},
		{"@gemini", `✕ [API Error: {"error":{"message":"{\n  \"error\": {\n    \"code\": 429,\n    \"message\": \"Resource has been exhausted (e.g. check quota).\"`, time.Time{}},
		{"@gemini", `[API Error: {"error":{"message":"The model is overloaded. Please try again later.","code":503,"status":"UNAVAILABLE"}}]`, time.Time{}},
		{"@opencode", "APIError 429 Rate limit reached for gpt-5.5.", time.Time{}},
		{"@opencode", "APIError 529 Overloaded", time.Time{}},
		{"@gemini", "      \"message\": \"Quota exceeded for quota metric 'Gemini 2.5 Pro Requests'\",\n", time.Time{}},
		{"@gemini", `      "status": "RESOURCE_EXHAUSTED",`, time.Time{}},
		{"@gemini", `    \"status\": \"RESOURCE_EXHAUSTED\",`, time.Time{}},
		{"@gemini", "You have reached your daily gemini-2.5-pro quota limit", time.Time{}},
		{"@gemini", "You exceeded your current quota, please check your plan. Please retry in 34.5s.", in(34500 * time.Millisecond)},
		{"@copilot", "rate_limit 429 Failed to get response from the AI model; retried 5 times Last error: 429 Rate limit reached", time.Time{}},
		{"@http429", "< HTTP/2 429\r\n< retry-after: 120\r\n< server: x\r\n", in(2 * time.Minute)},
		{"@http429", "< retry-after: 120\r\n< HTTP/2 429\r\n", in(2 * time.Minute)},
		{"@http429", "curl: (22) The requested URL returned error: 429", time.Time{}},
		{"@http429", "Request failed with status code 429", time.Time{}},
		{"@http429", "Error: 429 Too Many Requests", time.Time{}},
		{"@http429", `  "code": 429,`, time.Time{}},
		{"@network", "curl: (6) Could not resolve host: example.com", time.Time{}},
		{"@network", "fatal: unable to access 'https://example.com/': Failed to connect to example.com port 443", time.Time{}},
		{"@network", "npm error code ENOTFOUND", time.Time{}},
		{"@network", "dial tcp: lookup proxy.example.com: no such host", time.Time{}},
		{"@network", "dial tcp 192.0.2.1:443: i/o timeout", time.Time{}},
		{"@network", "ssh: connect to host example.com port 22: Connection refused", time.Time{}},
		{"@network", "API Error: Connection error.", time.Time{}},
	} {
		for _, spec := range []string{c.spec, "@all"} {
			text, until, ok := matcher(t, spec).Match([]byte("work\n"+c.output), false)
			if !ok || !until.Equal(c.until) || text == "" || strings.ContainsAny(text, "\n\r\x1b") {
				t.Errorf("%s %q: %q %s %v, want %s", spec, c.output, text, until, ok, c.until)
			}
		}
	}
}

// What is no limit: sentences about limits, and the work's own failures.
func TestReadyMatchesNothingElse(t *testing.T) {
	for _, output := range []string{
		"I added handling for the case that you've hit your usage limit.",
		"func TestUsageLimitReached(t *testing.T) {",
		"The message \"Claude AI usage limit reached\" is now recognised.",
		"--- FAIL: TestLimit: want \"You've hit your usage limit\"",
		"You've hit your stride with the limits",
		"test 429 passed", "line 429: error", "took 529 ms", "API errors: 3 of 529",
		"dial tcp 127.0.0.1:8080: connect: connection refused",
		"Error: connect ECONNREFUSED ::1:5432", "curl: (7) Failed to connect to localhost port 80",
		"Cannot connect to the Docker daemon at unix:///var/run/docker.sock",
		"RESOURCE_EXHAUSTED is handled by the retry loop",
		"the connection was refused by the reviewer",
		"ok",
	} {
		if text, _, ok := matcher(t, "@all").Match([]byte(output+"\n"), false); ok {
			t.Errorf("%q matches as %q", output, text)
		}
	}
}

// What no later iteration mends, as the agents say it today, and what only looks so.
func TestStops(t *testing.T) {
	for _, c := range []struct{ spec, output string }{
		{"@codex", "Missing environment variable: `OPENAI_API_KEY`."},
		{"@claude", "Not logged in · Please run /login"},
		{"@claude", "Invalid API key · Fix external API key"},
		{"@claude", "Credit balance is too low"},
		{"@claude", "OAuth token has expired · Please run /login"},
		{"@claude", `API Error: 401 {"type":"error"}`},
		{"@codex", "unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1:8080/v1/responses"},
		{"@codex", "ERROR: Quota exceeded. Check your plan and billing details."},
		{"@gemini", "Please set an Auth method in your /home/x/.gemini/settings.json"},
		{"@gemini", "Invalid auth method selected."},
		{"@gemini", `[API Error: {"error":{"code":"authentication_error","message":"invalid x-api-key","type":"authentication_error"},"type":"error"}]`},
		{"@gemini", `[API Error: {"error":{"message":"This API method requires billing to be enabled.","code":403,"status":"PERMISSION_DENIED"}}]`},
		{"@gemini", "Your prepayment credits are depleted."},
		{"@claude", "API Error: Request rejected (429) insufficient quota, please check your plan and billing details"},
		{"@codex", `{"error":{"code":"insufficient_quota"}}`},
		{"@copilot", "authentication 401 Authentication failed with provider at http://127.0.0.1:8080/v1 (HTTP 401)."},
		{"@opencode", "APIError 401 invalid x-api-key"},
		{"@opencode", "APIError 429 You exceeded your current quota, please check your plan and billing details."},
		{"@all", "Not logged in · Please run /login"},
		{"disk full", "write: disk full"},
	} {
		m, err := CompileStop([]string{c.spec})
		if err != nil {
			t.Fatal(err)
		}
		if text, _, ok := m.Match([]byte(c.output+"\n"), false); !ok || text != c.output {
			t.Errorf("%s: %q %v, want %q", c.spec, text, ok, c.output)
		}
	}
	m, err := CompileStop([]string{"@all"})
	if err != nil {
		t.Fatal(err)
	}
	for _, output := range []string{
		"the test says: Not logged in", "I made the page say Not logged in to guests", "401 tests passed", "test_invalid_api_key PASSED",
		"You've hit your limit · resets 7pm", "API Error: 529 Overloaded", "HTTP/1.1 401 Unauthorized",
	} {
		if text, _, ok := m.Match([]byte(output+"\n"), false); ok {
			t.Errorf("%q matches as %q", output, text)
		}
	}
	for _, wrong := range []string{"@network", "@clade", "", "(", ".*"} {
		if _, err := CompileStop([]string{wrong}); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// What an agent says of itself while the service that it needs is away, and what it says
// of other failures of its own.
func TestOutages(t *testing.T) {
	for _, text := range []string{
		`API Error: 500 {"type":"error","error":{"type":"api_error","message":"Internal server error"}}`,
		"API Error: 503 Service Unavailable",
		"API Error: Repeated 529 Overloaded errors",
		"API Error: Connection error.",
		"API Error: Request timed out.",
		"API Error: Unable to connect to API (ECONNREFUSED)",
		"API Error: The socket connection was closed unexpectedly",
		"api_retry 502 server_error",
		"unexpected status 502 Bad Gateway: , url: http://127.0.0.1:8080/v1/responses",
		"exceeded retry limit, last status: 500 Internal Server Error",
		"stream disconnected before completion: error sending request for url (http://127.0.0.1:9/v1/responses)",
		`[API Error: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}]`,
		"[API Error: exception TypeError: fetch failed sending request]",
		"APIError 504 Gateway Timeout",
		"APIError Unable to connect. Is the computer able to access the url?",
		"getaddrinfo EAI_AGAIN api.example.com",
		"query 500 Failed to get response from the AI model; retried 5 times (total retry wait time: 14.86 seconds) Last error: 500 Internal server error",
		"500 Internal Server Error",
		"read tcp 192.0.2.7:50000->192.0.2.1:443: i/o timeout",
	} {
		if said, _, ok := Outages().Match([]byte(text+"\n"), false); !ok || said != text {
			t.Errorf("%q is no outage: %q", text, said)
		}
	}
	for _, text := range []string{
		"error_max_turns", "Credit balance is too low", "API Error: 401 invalid x-api-key", "API Error: 400 prompt is too long: 250000 tokens",
		"unexpected status 404 Not Found", "The agent was not allowed to use Bash", "APIError 429 Too Many Requests", "took 500 ms", "line 503: syntax",
		"error: context of 500000 tokens is too long",
	} {
		if said, _, ok := Outages().Match([]byte(text+"\n"), false); ok {
			t.Errorf("%q is an outage: %q", text, said)
		}
	}
	for spec, want := range map[string]bool{"@claude": true, "@all": true, "@network": false, "@http429": false, "busy": false} {
		if got := NamesAgent([]string{spec}); got != want {
			t.Errorf("%s names an agent: %v", spec, got)
		}
	}
}

func TestMatcher(t *testing.T) {
	filler := func(n int) string { return strings.Repeat("line\n\n", n) }
	for _, c := range []struct {
		name, output string
		specs        []string
		want         string
	}{
		{"none", "syncing\n", nil, ""},
		{"one", "a\nmirror is syncing, try again in 5m\nb\n", []string{"mirror is syncing"}, "mirror is syncing, try again in 5m"},
		{"line anchors", "a\nsyncing\nb", []string{"^syncing$"}, "syncing"},
		{"crlf", "a\r\nsyncing\r\nb", []string{"^syncing$"}, "syncing"},
		{"no line break", "a\nsyncing", []string{"^syncing$"}, "syncing"},
		{"coloured", "\x1b[1msync\x1b[0ming", []string{"^syncing$"}, "syncing"},
		{"the last", "busy 1\nbusy 2\nx\n", []string{"busy"}, "busy 2"},
		{"any of them", "b\n", []string{"a", "b"}, "b"},
		{"ready ones look at the last lines", "429 Too Many Requests\n" + filler(lastLines-1), []string{"@http429"}, "429 Too Many Requests"},
		{"and no further", "429 Too Many Requests\n" + filler(lastLines), []string{"@http429"}, ""},
		{"regular expressions do", "429 Too Many Requests\n" + filler(lastLines), []string{"429 Too"}, "429 Too Many Requests"},
		{"and at the beginnings of lines", strings.Repeat("x", beginning-20) + " 429 Too Many Requests", []string{"@http429"}, ""},
		{"regular expressions at all of them", strings.Repeat("x", beginning) + "busy", []string{"busy"}, "…busy"},
		{"of a long line what the match has", `{"type":"result","x":"` + strings.Repeat("x", width) + `","result":"You've hit your session limit · resets 7pm","usage":{}}`, []string{"@claude"}, `…"result":"You've hit your session limit · resets 7pm","usage":{}}`},
		{"a long match is cut", "busy" + strings.Repeat("ü", 400), []string{"busy"}, "busy" + strings.Repeat("ü", (width-4)/2) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := matcher(t, c.specs...)
			for range 2 { // it keeps nothing
				if text, _, ok := m.Match([]byte(c.output), false); text != c.want || ok != (c.want != "") {
					t.Errorf("%q %v, want %q", text, ok, c.want)
				}
			}
			// What a cut line says is not known.
			if text, _, ok := m.Match([]byte("…"+c.output), true); ok && !strings.Contains(c.output, "\n") {
				t.Errorf("%q, of a line without its beginning", text)
			}
			if text, _, ok := m.Match([]byte("…\n"+c.output), true); text != c.want || ok != (c.want != "") {
				t.Errorf("behind a cut line: %q %v, want %q", text, ok, c.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"":         "is empty",
		"@cluade":  `unknown pattern "@cluade" to wait on; did you mean "@claude"?`,
		"@nothing": "use one of @claude, @codex, @gemini, @opencode, @copilot, @http429, @network, @all",
		"(":        "is not a regular expression",
		"a*":       "matches an empty line",
	} {
		if _, err := Compile([]string{"ok", spec}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", spec, err, want)
		}
	}
	m, err := Compile([]string{"@all", `\@home`})
	if err != nil || len(m.Patterns) != 2 {
		t.Error(m, err)
	}
	names := toWaitOn.names()
	if !slices.Contains(names, "@network") {
		t.Error(names)
	}
	for _, name := range names {
		if _, err := Compile([]string{name}); err != nil {
			t.Error(err)
		}
	}
}

// The present and the local zone are used where nothing else is said.
func TestMatcherReadsTheClock(t *testing.T) {
	m, err := Compile([]string{"busy"})
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	_, until, ok := m.Match([]byte("busy, try again in 2 hours"), false)
	if !ok || until.Before(before.Add(2*time.Hour)) || until.After(time.Now().Add(2*time.Hour)) {
		t.Error(until, ok)
	}
}

// FuzzMatcher: a match is one safe line, and a cut line before the output changes nothing.
func FuzzMatcher(f *testing.F) {
	for _, s := range []string{"You've hit your usage limit. Try again at 3:45 PM.", "HTTP/2 429\nretry-after: 120\n", "\x1b[1mbusy\r\nx", "Claude AI usage limit reached|1795305600", "\xff\n\"message\": \"Error: fetch failed\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, output string) {
		m := matcher(t, "@all", "busy")
		text, until, ok := m.Match([]byte(output), false)
		text2, until2, ok2 := m.Match([]byte("busy\n"+output), true)
		if text != text2 || until != until2 || ok != ok2 {
			t.Fatalf("%q %s %v, behind a cut line %q %s %v", text, until, ok, text2, until2, ok2)
		}
		if strings.ContainsAny(text, "\n\r\x1b") || len(text) > width+len("…") || !ok && (text != "" || !until.IsZero()) {
			t.Errorf("%q %s %v", text, until, ok)
		}
	})
}

func BenchmarkMatcher(b *testing.B) {
	text := []byte(strings.Repeat("2026-11-21T09:00:01Z INFO  worker 7 took 12ms for request 00ab of the connection pool\n", 750))
	m := matcher(b, "@all", "mirror is syncing")
	for b.Loop() {
		if _, _, ok := m.Match(text, true); ok {
			b.Fatal("it matches")
		}
	}
}
