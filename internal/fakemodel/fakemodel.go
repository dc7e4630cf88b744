// Package fakemodel is a model that follows a script. It speaks the wire formats of Anthropic
// (/v1/messages), OpenAI (/v1/responses and /v1/chat/completions) and Gemini (:generateContent
// and :streamGenerateContent), so that real coding agents can run without an account, a
// network or a bill.
//
//	m := fakemodel.New(script)
//	server := httptest.NewServer(m)
//	cmd.Env = append(env, fakemodel.Environ(server.URL)...)
//
// A [Script] defines what each process of an agent does. A request without any earlier message
// from the model starts the next process; the last entry serves all further ones. A request
// without tools is a side question (a title, a summary) and uses no step.
package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Script is what the processes of an agent do, with one list of steps for each process.
type Script [][]Step

// Step is the model's reply to one request: a text, a tool call, or a server error.
type Step struct {
	Text  string
	Tool  string // its name, as the agent offers it
	Input map[string]any

	Status int // 429 and the like; 0: no error
	Kind   string
	Error  string
	Detail map[string]any // of an error of Google's
	Header map[string]string

	Sleep time.Duration // before the answer
}

// after is the model's reply when a process makes more requests than its script has steps.
var after = Step{Text: "I have done what I can."}

// Model serves a script. Create one with [New].
type Model struct {
	mu        sync.Mutex
	script    Script
	processes int
	at        int
	requests  []Request
}

// Request is a request from an agent.
type Request struct {
	Path string
	Body []byte
}

// New returns a model that follows the script.
func New(script Script) *Model { return &Model{script: script} }

// Environ returns the variables that point the agents to the model at a URL, with fake keys.
func Environ(url string) []string {
	return []string{
		"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=made-up",
		"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=made-up",
		"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=made-up",
	}
}

// Processes returns how many processes have made requests so far.
func (m *Model) Processes() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.processes
}

// Requests returns all requests so far.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Request(nil), m.requests...)
}

// next returns the step for a request; fresh means that it has no earlier message from the
// model.
func (m *Model) next(fresh bool) Step {
	m.mu.Lock()
	defer m.mu.Unlock()
	if fresh {
		m.processes++
		m.at = 0
	}
	steps := m.script[min(max(m.processes, 1), len(m.script))-1]
	m.at++
	if m.at > len(steps) {
		if len(steps) > 0 && steps[len(steps)-1].Status != 0 {
			return steps[len(steps)-1] // an agent tries again, and it is still so
		}
		return after
	}
	return steps[m.at-1]
}

// ServeHTTP replies as the server of the path's format would.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 32<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.requests = append(m.requests, Request{Path: r.URL.Path, Body: body})
	m.mu.Unlock()
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/v1/messages"):
		m.answer(w, r.Context().Done(), body, anthropic{})
	case strings.HasSuffix(path, "/count_tokens"):
		reply(w, object{"input_tokens": 100})
	case strings.HasSuffix(path, "/responses"):
		m.answer(w, r.Context().Done(), body, responses{})
	case strings.HasSuffix(path, "/chat/completions"):
		m.answer(w, r.Context().Done(), body, chat{})
	case strings.Contains(path, "enerateContent"):
		m.answer(w, r.Context().Done(), body, gemini{stream: strings.Contains(path, "streamGenerateContent")})
	case strings.HasSuffix(path, "/models"):
		reply(w, object{"object": "list", "models": []any{}, "data": []any{object{"id": "fake", "object": "model"}}})
	default:
		w.WriteHeader(http.StatusNotFound)
		reply(w, object{"error": object{"message": "the scripted model does not serve this"}})
	}
}

// format is how a server parses requests and replies to them.
type format interface {
	// asks reports whether the model is asked to continue the work, and whether the request
	// has no earlier message from it.
	asks(request object) (work, fresh bool)
	// aside returns the reply to a side question.
	aside(request object) Step
	write(w http.ResponseWriter, request object, s Step, id string)
}

type (
	object = map[string]any
	array  = []any
)

func (m *Model) answer(w http.ResponseWriter, gone <-chan struct{}, body []byte, f format) {
	var request object
	if err := json.Unmarshal(body, &request); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		reply(w, object{"error": object{"message": err.Error()}})
		return
	}
	s := f.aside(request)
	if work, fresh := f.asks(request); work {
		s = m.next(fresh)
	}
	select {
	case <-time.After(s.Sleep):
	case <-gone: // who asked
		return
	}
	if s.Status != 0 {
		_, google := f.(gemini)
		fail(w, s, google)
		return
	}
	f.write(w, request, s, fmt.Sprintf("%024d", time.Now().UnixNano()))
}

func fail(w http.ResponseWriter, s Step, google bool) {
	for k, v := range s.Header {
		w.Header().Set(k, v)
	}
	kind := s.Kind
	if kind == "" {
		kind = "api_error"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(s.Status)
	if google {
		reply(w, object{"error": object{"code": s.Status, "status": kind, "message": s.Error, "details": array{s.Detail}}})
		return
	}
	reply(w, object{"type": "error", "error": object{"type": kind, "code": kind, "message": s.Error}})
}

func reply(w http.ResponseWriter, o object) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(o)
}

// event sends one event of a stream; without a name, only the data.
func event(w http.ResponseWriter, name string, data object) {
	w.Header().Set("Content-Type", "text/event-stream")
	text, _ := json.Marshal(data)
	if name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

// said reports whether one of the messages has the model's role.
func said(messages any, key, role string) bool {
	list, _ := messages.(array)
	for _, one := range list {
		if o, _ := one.(object); o[key] == role {
			return true
		}
	}
	return false
}

func tools(request object) bool {
	list, _ := request["tools"].(array)
	return len(list) > 0
}

func text(o any) string {
	b, _ := json.Marshal(o)
	return string(b)
}
