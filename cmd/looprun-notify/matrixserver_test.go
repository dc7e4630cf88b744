package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// matrixServerEnv names the address of a real Matrix server with open registration, which the
// tests then use in place of the stand-in.
const matrixServerEnv = "LOOPRUN_TEST_MATRIX"

// matrixServer does what a Matrix server does with the requests of this program and of a client:
// accounts, rooms, state, sending once for each transaction, sync with long polling.
type matrixServer struct {
	mu     sync.Mutex
	users  map[string]string // by token
	rooms  map[string][]map[string]any
	sent   map[string]string // the events of transactions
	news   chan struct{}     // closed when there is an event
	refuse []int             // the statuses of the next requests that send
	count  int
}

// startMatrix returns the address of the server for a test, and the stand-in if it is that.
func startMatrix(t *testing.T) (string, *matrixServer) {
	t.Helper()
	if at := os.Getenv(matrixServerEnv); at != "" {
		return at, nil
	}
	s := &matrixServer{users: map[string]string{}, rooms: map[string][]map[string]any{}, sent: map[string]string{}, news: make(chan struct{})}
	of := httptest.NewServer(s)
	t.Cleanup(func() { of.CloseClientConnections(); of.Close() })
	return of.URL, s
}

func (s *matrixServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	say := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	var in map[string]any
	_ = json.NewDecoder(r.Body).Decode(&in)
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/_matrix/client/v3/"), "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	if path[0] == "register" {
		name, token := "@"+in["username"].(string)+":local", "token-"+strconv.Itoa(s.count)
		s.users[token] = name
		say(200, map[string]any{"user_id": name, "access_token": token})
		return
	}
	user := s.users[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	if user == "" {
		say(401, map[string]any{"errcode": "M_UNKNOWN_TOKEN"})
		return
	}
	switch {
	case path[0] == "createRoom":
		id := "!r" + strconv.Itoa(s.count) + ":local"
		s.rooms[id] = []map[string]any{}
		say(200, map[string]any{"room_id": id})
	case path[0] == "join" && s.rooms[path[1]] != nil:
		say(200, map[string]any{"room_id": path[1]})
	case path[0] == "rooms" && path[2] == "state" && r.Method == http.MethodPut:
		s.add(path[1], map[string]any{"type": path[3], "sender": user, "content": in, "state_key": ""})
		say(200, map[string]any{"event_id": "$state"})
	case path[0] == "rooms" && path[2] == "state":
		for _, e := range s.rooms[path[1]] {
			if e["type"] == path[3] {
				say(200, e["content"])
				return
			}
		}
		say(404, map[string]any{"errcode": "M_NOT_FOUND"})
	case path[0] == "rooms" && path[2] == "send" && r.Method == http.MethodPut:
		if len(s.refuse) > 0 {
			say(s.refuse[0], map[string]any{"errcode": "M_UNKNOWN"})
			s.refuse = s.refuse[1:]
			return
		}
		key := user + " " + path[4]
		if s.sent[key] == "" {
			s.sent[key] = s.add(path[1], map[string]any{"type": path[3], "sender": user, "content": in})
		}
		say(200, map[string]any{"event_id": s.sent[key]})
	case path[0] == "sync":
		say(200, s.sync(r))
	default:
		say(403, map[string]any{"errcode": "M_FORBIDDEN"})
	}
}

func (s *matrixServer) add(room string, event map[string]any) string {
	id := "$e" + strconv.Itoa(s.count)
	event["event_id"], event["at"] = id, s.count
	s.rooms[room] = append(s.rooms[room], event)
	close(s.news)
	s.news = make(chan struct{})
	return id
}

func (s *matrixServer) sync(r *http.Request) map[string]any {
	since, _ := strconv.Atoi(r.URL.Query().Get("since"))
	wait, _ := strconv.Atoi(r.URL.Query().Get("timeout"))
	var filter struct {
		Room struct {
			Rooms    []string
			Timeline struct {
				Types []string
				Limit int
			}
		}
	}
	_ = json.Unmarshal([]byte(r.URL.Query().Get("filter")), &filter)
	late := time.After(time.Duration(wait) * time.Millisecond)
	for {
		joined, next := map[string]any{}, since
		for _, id := range filter.Room.Rooms {
			var list []any
			for _, e := range s.rooms[id] {
				next = max(next, e["at"].(int))
				if e["at"].(int) > since && strings.Contains(fmt.Sprint(filter.Room.Timeline.Types), e["type"].(string)) {
					list = append(list, e)
				}
			}
			if over := len(list) - filter.Room.Timeline.Limit; list != nil {
				joined[id] = map[string]any{"timeline": map[string]any{"events": list[max(0, over):], "limited": over > 0}}
			}
		}
		answer := map[string]any{"next_batch": strconv.Itoa(next), "rooms": map[string]any{"join": joined}}
		if len(joined) > 0 || wait == 0 {
			return answer
		}
		news := s.news
		s.mu.Unlock()
		over := false
		select {
		case <-news:
		case <-late:
			over = true
		case <-r.Context().Done():
			over = true
		}
		s.mu.Lock()
		if over {
			return answer
		}
	}
}

// matrixClient is what a person has: a client of the server, with the API that this program uses.
type matrixClient struct {
	t                       *testing.T
	server, name, token, in string
	count                   int
}

// client registers a person.
func newMatrixClient(t *testing.T, server, name string) *matrixClient {
	t.Helper()
	c := &matrixClient{t: t, server: server}
	var is struct {
		ID    string `json:"user_id"`
		Token string `json:"access_token"`
	}
	c.do(http.MethodPost, "register", map[string]any{
		"username": name + strconv.FormatInt(time.Now().UnixNano(), 36), "password": "a long password", "auth": map[string]any{"type": "m.login.dummy"},
	}, &is)
	c.name, c.token = is.ID, is.Token
	return c
}

// meet creates a room for people and enters it.
func (c *matrixClient) meet(others ...*matrixClient) {
	c.t.Helper()
	var invited []string
	for _, of := range others {
		invited = append(invited, of.name)
	}
	var room struct {
		ID string `json:"room_id"`
	}
	c.do(http.MethodPost, "createRoom", map[string]any{"invite": invited, "preset": "private_chat"}, &room)
	c.in = room.ID
	for _, of := range others {
		of.in = c.in
		of.do(http.MethodPost, "join/"+url.PathEscape(c.in), map[string]any{}, new(any))
	}
}

func (c *matrixClient) do(method, path string, in, out any) {
	c.t.Helper()
	body, _ := json.Marshal(in)
	r, _ := http.NewRequest(method, c.server+"/_matrix/client/v3/"+path, bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+c.token)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer reply.Body.Close()
	if err := json.NewDecoder(reply.Body).Decode(out); err != nil || reply.StatusCode != 200 {
		c.t.Fatal(path, reply.StatusCode, err, out)
	}
}

func (c *matrixClient) send(kind string, content map[string]any) string {
	c.t.Helper()
	c.count++
	var sent struct {
		ID string `json:"event_id"`
	}
	c.do(http.MethodPut, fmt.Sprintf("rooms/%s/send/%s/%s-%d", url.PathEscape(c.in), kind, url.PathEscape(c.name), c.count), content, &sent)
	return sent.ID
}

// reply replies to a message, and react reacts to one.
func (c *matrixClient) reply(to, words string) {
	c.send("m.room.message", map[string]any{"msgtype": "m.text", "body": words, "m.relates_to": inReply(to)})
}

func inReply(to string) map[string]any {
	return map[string]any{"m.in_reply_to": map[string]any{"event_id": to}}
}

func (c *matrixClient) react(to, key string) {
	c.send("m.reaction", map[string]any{"m.relates_to": map[string]any{"rel_type": "m.annotation", "event_id": to, "key": key}})
}

// shows waits until the room shows a message, edits applied, that has all the words: the one of
// that event, unless it is empty. It returns the message's event and text.
func (c *matrixClient) shows(at string, words ...string) (event, text string) {
	c.t.Helper()
	filter, _ := json.Marshal(map[string]any{"room": map[string]any{"rooms": []string{c.in}, "timeline": map[string]any{"types": []string{"m.room.message"}, "limit": 100}}})
	var texts map[string]string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var news struct {
			Rooms struct {
				Join map[string]struct {
					Timeline struct {
						Events []struct {
							ID      string `json:"event_id"`
							Content struct {
								Body string
								New  struct{ Body string } `json:"m.new_content"`
								To   struct {
									Event string `json:"event_id"`
								} `json:"m.relates_to"`
							}
						}
					}
				}
			}
		}
		c.do(http.MethodGet, "sync?timeout=0&filter="+url.QueryEscape(string(filter)), nil, &news)
		texts = map[string]string{}
		for _, e := range news.Rooms.Join[c.in].Timeline.Events {
			if to := e.Content.To.Event; e.Content.New.Body != "" {
				texts[to] = e.Content.New.Body
			} else {
				texts[e.ID] = e.Content.Body
			}
		}
	next:
		for id, text := range texts {
			if at != "" && id != at {
				continue
			}
			for _, w := range words {
				if !strings.Contains(text, w) {
					continue next
				}
			}
			return id, text
		}
	}
	c.t.Fatalf("the room does not show %q: %q", words, texts)
	return "", ""
}
