package fakemodel

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// ask sends a request and returns what came back, on one line.
func ask(t *testing.T, url, body string) (int, string) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, strings.ReplaceAll(string(b), "\n", " ")
}

// Each format serves the script in its own words: two processes, the first of which
// calls a tool and then speaks, and the second meets an error that stays.
func TestFormats(t *testing.T) {
	script := Script{
		{{Tool: "run", Input: map[string]any{"cmd": "make"}}, {Text: "mended"}},
		{{Status: 429, Kind: "slow", Error: "too many", Header: map[string]string{"Retry-After": "7"}}},
	}
	for name, f := range map[string]struct{ path, fresh, on, beside string }{
		"anthropic": {
			"/v1/messages", `{"stream":true,"tools":[{}],"messages":[{"role":"user"}]}`,
			`{"tools":[{}],"messages":[{"role":"user"},{"role":"assistant"},{"role":"user"}]}`, `{"messages":[{"role":"user"}]}`,
		},
		"responses": {"/v1/responses", `{"input":[{"role":"user"}]}`, `{"input":[{"role":"user"},{"type":"function_call"}]}`, ""},
		"chat": {
			"/v1/chat/completions", `{"stream":true,"tools":[{}],"messages":[{"role":"user"}]}`,
			`{"tools":[{}],"messages":[{"role":"user"},{"role":"assistant"}]}`, `{"messages":[{"role":"user"}]}`,
		},
		"gemini": {
			"/v1beta/models/g:streamGenerateContent", `{"tools":[{}],"contents":[{"role":"user"}]}`,
			`{"tools":[{}],"contents":[{"role":"user"},{"role":"model"}]}`, `{"contents":[{"role":"user"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := New(script)
			server := httptest.NewServer(m)
			defer server.Close()
			url := server.URL + f.path
			expect := func(body string, status int, want string) {
				t.Helper()
				if code, got := ask(t, url, body); code != status || !strings.Contains(got, want) {
					t.Errorf("%s: %d %s; want %d with %s", body, code, got, status, want)
				}
			}
			if f.beside != "" {
				expect(f.beside, 200, `ok`)
			}
			expect(f.fresh, 200, `run`)
			if f.beside != "" {
				expect(f.beside, 200, `ok`) // in between: no step of the script
			}
			expect(f.on, 200, `mended`)
			expect(f.on, 200, `what I can`)
			expect(f.fresh, 429, `too many`)
			expect(f.fresh, 429, `too many`)
			if m.Processes() != 3 {
				t.Errorf("%d processes", m.Processes())
			}
			if n := len(m.Requests()); n < 5 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestEnviron(t *testing.T) {
	env := fmt.Sprint(Environ("http://127.0.0.1:1"))
	for _, want := range []string{"ANTHROPIC_BASE_URL=http://127.0.0.1:1 ", "OPENAI_BASE_URL=http://127.0.0.1:1/v1 ", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1 "} {
		if !strings.Contains(env, want) {
			t.Errorf("no %s in %s", want, env)
		}
	}
}
