package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// ntfyServer does what an ntfy server does with the requests of this program and of a phone:
// publishing as JSON and to a topic, streams with since, a cache, access by password.
type ntfyServer struct {
	t    *testing.T
	addr string
	http *http.Server

	mu       sync.Mutex
	cache    []ntfyMessage
	streams  map[chan ntfyMessage]string // and their topics
	user     string                      // who may read and write, "name:password"; writing to -answers needs nobody
	lose     int                         // how many messages are accepted, and lost
	statuses []int                       // what the next publications get
	logins   int                         // refused for want of a password
	unread   bool                        // the streams are refused
}

type ntfyMessage struct {
	ID       string       `json:"id"`
	Time     int64        `json:"time"`
	Event    string       `json:"event"`
	Topic    string       `json:"topic"`
	Sequence string       `json:"sequence_id,omitempty"`
	Title    string       `json:"title,omitempty"`
	Message  string       `json:"message,omitempty"`
	Priority int          `json:"priority,omitempty"`
	Actions  []ntfyAction `json:"actions,omitempty"`
}

type ntfyAction struct {
	Action, Label, URL, Method, Body string
	Clear                            bool
}

func startNtfy(t *testing.T) *ntfyServer {
	t.Helper()
	for range 100 { // none that a connection of this machine gets by itself: it is used again
		addr := "127.0.0.1:" + strconv.Itoa(20000+rand.IntN(10000))
		if l, err := net.Listen("tcp", addr); err == nil {
			s := &ntfyServer{t: t, addr: addr, streams: map[chan ntfyMessage]string{}}
			s.serve(l)
			t.Cleanup(s.stop)
			return s
		}
	}
	t.Fatal("no port is free")
	return nil
}

// start starts it, again at the same address.
func (s *ntfyServer) start() {
	s.t.Helper()
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.serve(l)
}

func (s *ntfyServer) serve(l net.Listener) {
	s.http = &http.Server{Handler: s}
	go s.http.Serve(l)
}

// stop ends it and all connections. It keeps its cache.
func (s *ntfyServer) stop() { _ = s.http.Close() }

func (s *ntfyServer) url() string { return "ntfy://" + s.addr + "/topic?scheme=http" }

func (s *ntfyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	topic, stream := strings.CutSuffix(strings.Trim(r.URL.Path, "/"), "/json")
	name, password, _ := r.BasicAuth()
	s.mu.Lock()
	allowed := s.user == "" || s.user == name+":"+password || r.Method == http.MethodPost && strings.HasSuffix(topic, "-answers")
	if !allowed {
		s.logins++
	}
	refused := !allowed || s.unread && stream
	s.mu.Unlock()
	switch {
	case refused:
		w.WriteHeader(http.StatusForbidden)
	case r.Method == http.MethodGet && stream:
		s.stream(w, r, topic)
	case r.Method == http.MethodPost:
		s.publish(w, r, topic)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *ntfyServer) publish(w http.ResponseWriter, r *http.Request, topic string) {
	body, _ := io.ReadAll(r.Body)
	m := ntfyMessage{Topic: topic, Title: r.Header.Get("Title"), Message: string(body)}
	if topic == "" {
		if json.Unmarshal(body, &m) != nil || m.Topic == "" || len(m.Actions) > 3 || len(m.Message) > 4096 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.statuses) > 0 {
		w.WriteHeader(s.statuses[0])
		s.statuses = s.statuses[1:]
		return
	}
	m.ID, m.Time, m.Event = "m"+strconv.FormatUint(rand.Uint64(), 36), time.Now().Unix(), "message"
	if s.lose > 0 {
		s.lose--
	} else {
		s.cache = append(s.cache, m)
		for to, of := range s.streams {
			if of == m.Topic {
				to <- m
			}
		}
	}
	_ = json.NewEncoder(w).Encode(m)
}

func (s *ntfyServer) stream(w http.ResponseWriter, r *http.Request, topic string) {
	since := r.URL.Query().Get("since")
	s.mu.Lock()
	var list []ntfyMessage
	if since != "" {
		at := slices.IndexFunc(s.cache, func(m ntfyMessage) bool { return m.ID == since })
		from, _ := strconv.ParseInt(since, 10, 64)
		for i, m := range s.cache {
			if m.Topic == topic && i > at && m.Time >= from {
				list = append(list, m)
			}
		}
	}
	live := make(chan ntfyMessage, 100)
	s.streams[live] = topic
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.streams, live)
		s.mu.Unlock()
	}()
	to := json.NewEncoder(w)
	_ = to.Encode(ntfyMessage{ID: "open", Time: time.Now().Unix(), Event: "open", Topic: topic})
	for _, m := range list {
		_ = to.Encode(m)
	}
	w.(http.Flusher).Flush()
	for {
		select {
		case m := <-live:
			_ = to.Encode(m)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// shown returns what a phone shows: of each sequence the newest message.
func (s *ntfyServer) shown() (list []ntfyMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.cache {
		if m.Topic != "topic" {
			continue
		}
		i := slices.IndexFunc(list, func(of ntfyMessage) bool { return m.Sequence != "" && of.Sequence == m.Sequence })
		if i < 0 {
			list = append(list, m)
		} else {
			list[i] = m
		}
	}
	return list
}

// published returns how many of all messages fit.
func (s *ntfyServer) published(fits func(ntfyMessage) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.cache {
		if fits(m) {
			n++
		}
	}
	return n
}

// await waits until the phone shows a message that fits.
func (s *ntfyServer) await(what string, fits func(ntfyMessage) bool) ntfyMessage {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		list := s.shown()
		if i := slices.IndexFunc(list, fits); i >= 0 {
			return list[i]
		}
		if time.Now().After(end) {
			s.t.Fatalf("the phone does not show %s: %+v", what, list)
		}
	}
}

// button returns a message's button.
func (m ntfyMessage) button(label string) (ntfyAction, bool) {
	i := slices.IndexFunc(m.Actions, func(a ntfyAction) bool { return a.Label == label })
	if i < 0 {
		return ntfyAction{}, false
	}
	return m.Actions[i], true
}

// press presses a button, as a phone does.
func (s *ntfyServer) press(m ntfyMessage, label string) {
	s.t.Helper()
	a, ok := m.button(label)
	if !ok {
		s.t.Fatalf("there is no button %q: %+v", label, m)
	}
	s.post(a.URL, a.Body)
}

func (s *ntfyServer) post(url, body string) {
	s.t.Helper()
	reply, err := http.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		s.t.Fatal(fmt.Errorf("status %d", reply.StatusCode))
	}
}
