package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// matrix carries over one room of a Matrix server, which must not be encrypted. People answer
// with a reply to the message, or with a reaction such as 1️⃣.
type matrix struct {
	server url.URL
	token  string
	name   string // of the room in the URL: an id or an alias
	since  string // after which listen continues; empty: it has not listened yet
	once   string // of this process
	sends  int    // that the server has taken
	shown  shown
}

const (
	// matrixBody is how long the text of a message may be, in bytes.
	matrixBody = 16 << 10
	// matrixWait is how long the server may wait for news.
	matrixWait = 30 * time.Second
	// restPatience is how long any other request may take.
	restPatience = time.Minute
)

// encryption is the type of the state that encrypts a room.
const encryption = "m.room.encryption"

// errMissed is reported, and the next messages are read.
var errMissed = errors.New("the room had more messages than the server shows; if one was an answer, give it again")

var errEncrypted = fmt.Errorf("%w: the room is encrypted; use one that is not", errDeaf)

func newMatrix(u *url.URL) (*matrix, error) {
	m := &matrix{server: url.URL{Scheme: schemeOf(u), Host: u.Host}, name: option(u, "rooms", "room"), once: rand.Text()}
	if m.name != "" && !strings.HasPrefix(m.name, "!") && !strings.HasPrefix(m.name, "#") {
		m.name = "#" + m.name
	}
	m.token, _ = u.User.Password()
	if u.Host == "" || m.token == "" || m.name == "" {
		return nil, errURL
	}
	if strings.Contains(m.name, ",") {
		return nil, errors.New("answers come from one room; write an entry for each")
	}
	if u.User.Username() != "" {
		return nil, errors.New("answers need an access token in place of the password; write matrix://:TOKEN@HOST/?rooms=ROOM")
	}
	return m, nil
}

// call makes a request to the server's client API.
func (x *matrix) call(ctx context.Context, method string, path []string, query url.Values, in, out any) error {
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	address := x.server.String() + "/_matrix/client/v3/" + strings.Join(path, "/")
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return exchange(ctx, matrixWait+restPatience, method, address, x.token, in, out)
}

// room joins the room, which changes nothing in one that was joined, and returns its id.
func (x *matrix) room(ctx context.Context) (string, error) {
	var joined struct {
		ID string `json:"room_id"`
	}
	err := x.call(ctx, http.MethodPost, []string{"join", x.name}, nil, struct{}{}, &joined)
	return joined.ID, err
}

type matrixText struct {
	Type string `json:"msgtype"`
	Body string `json:"body"`
}

type matrixRelation struct {
	Type    string `json:"rel_type"`
	Event   string `json:"event_id"`
	Key     string `json:"key,omitempty"` // of a reaction
	ReplyTo struct {
		Event string `json:"event_id"`
	} `json:"m.in_reply_to,omitzero"`
}

func (x *matrix) send(ctx context.Context, m outgoing) error {
	room, err := x.room(ctx)
	if err != nil {
		return err
	}
	text := matrixText{"m.text", cut(m.Title+"\n"+m.Body, matrixBody)}
	content := struct {
		matrixText
		New     *matrixText     `json:"m.new_content,omitempty"`
		Relates *matrixRelation `json:"m.relates_to,omitempty"`
	}{matrixText: text}
	place := x.shown.place(m.ID)
	if place != "" {
		content.Body = "* " + content.Body
		content.New, content.Relates = &text, &matrixRelation{Type: "m.replace", Event: place}
	}
	// The server takes a transaction once: what is sent again is not shown twice.
	// A text that comes again later is shown again.
	sum := sha256.Sum256([]byte(place + "\x00" + m.ID + "\x00" + text.Body))
	transaction := fmt.Sprintf("%s-%d-%x", x.once, x.sends, sum[:8])
	var sent struct {
		ID string `json:"event_id"`
	}
	if err := x.call(ctx, http.MethodPut, []string{"rooms", room, "send", "m.room.message", transaction}, nil, content, &sent); err != nil {
		return err
	}
	x.sends++
	if place == "" {
		place = sent.ID
	}
	x.shown.put(m, place)
	return nil
}

func (x *matrix) listen(ctx context.Context, opened func(), heard func(answer)) error {
	room, err := x.room(ctx)
	if err != nil {
		return deaf(err)
	}
	var is any
	switch err := x.call(ctx, http.MethodGet, []string{"rooms", room, "state", encryption, ""}, nil, nil, &is); {
	case err == nil:
		return errEncrypted
	case !errors.Is(err, errRefused): // refused means that there is no such state
		return err
	}
	none := map[string]any{"types": []string{}}
	for ctx.Err() == nil {
		limit := 100
		if x.since == "" {
			limit = 1 // what came before is not read
		}
		filter, _ := json.Marshal(map[string]any{"presence": none, "account_data": none, "room": map[string]any{ // it always encodes
			"rooms": []string{room}, "state": none, "ephemeral": none, "account_data": none,
			"timeline": map[string]any{"types": []string{"m.room.message", "m.reaction", encryption}, "limit": limit},
		}})
		query := url.Values{"filter": {string(filter)}, "timeout": {"0"}}
		if x.since != "" {
			query.Set("since", x.since)
			query.Set("timeout", fmt.Sprint(matrixWait.Milliseconds()))
		}
		var news struct {
			Next  string `json:"next_batch"`
			Rooms struct {
				Join map[string]struct {
					Timeline struct {
						Events  []matrixEvent `json:"events"`
						Limited bool          `json:"limited"`
					} `json:"timeline"`
				} `json:"join"`
			} `json:"rooms"`
		}
		if err := x.call(ctx, http.MethodGet, []string{"sync"}, query, nil, &news); err != nil {
			if errors.Is(err, errLong) {
				x.since = "" // it would come again
			}
			return deaf(err)
		}
		timeline := news.Rooms.Join[room].Timeline
		missed := timeline.Limited && x.since != ""
		for _, of := range timeline.Events {
			if of.Type == encryption && of.State != nil { // anybody can send one that is no state
				return errEncrypted
			}
			if a := x.answer(of); a.Code != "" && x.since != "" {
				heard(a)
			}
		}
		x.since = news.Next
		opened()
		if missed {
			return errMissed
		}
	}
	return nil
}

type matrixEvent struct {
	Type    string  `json:"type"`
	Sender  string  `json:"sender"`
	State   *string `json:"state_key"`
	Content struct {
		Type    string         `json:"msgtype"`
		Body    string         `json:"body"`
		Relates matrixRelation `json:"m.relates_to"`
	} `json:"content"`
}

// answer returns what an event answers; without a code it is no answer.
func (x *matrix) answer(of matrixEvent) answer {
	to := of.Content.Relates
	a := answer{From: of.Sender, Words: of.Content.Body}
	switch {
	case of.Type == "m.reaction":
		a.Code, a.Words, a.Reaction = x.shown.code(to.Event), to.Key, true
	case of.Content.Type == "m.notice": // of a program
	case to.Type == "" || to.Type == "m.thread": // a reply, or one in a thread below the message
		a.Code = x.shown.code(to.ReplyTo.Event)
		if a.Code == "" {
			a.Code = x.shown.code(to.Event)
		}
	}
	if _, own, quotes := strings.Cut(a.Words, "\n\n"); quotes && strings.HasPrefix(a.Words, "> ") {
		a.Words = own // an older client quotes the message before
	}
	if !a.Reaction && of.Content.Type != "m.text" {
		a.Words, a.Lacks = "", noText
	}
	return a
}
