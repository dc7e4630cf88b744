package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/format"
)

// do sends a request. Its error quotes neither the address nor the service.
func do(r *http.Request) (*http.Response, error) {
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, errors.New("the service could not be reached; check the host in the URL and the network")
	}
	return reply, nil
}

// option returns a value of the URL's query by its names, in any case, as the library reads them.
func option(u *url.URL, names ...string) string {
	for key, list := range u.Query() {
		if slices.Contains(names, strings.ToLower(key)) {
			return list[0]
		}
	}
	return ""
}

// schemeOf returns http if the URL turns encryption off, in a word that the library takes.
func schemeOf(u *url.URL) string {
	if no, _ := format.ParseBool(option(u, "disabletls"), false); no {
		return "http"
	}
	return "https"
}

// loopback reports whether the host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// refusal returns what the status of a reply means for a message; nil: it was taken.
func refusal(status int) error {
	switch {
	case status < 300:
		return nil
	case status == http.StatusTooManyRequests || status >= 500:
		return fmt.Errorf("the service answered with status %d", status)
	}
	return errRefused
}

// mostReply is how much of a reply is read, in bytes.
const mostReply = 8 << 20

// errLong means that a reply is longer than that.
var errLong = errors.New("the service sent a reply that is too long; what it held is lost: answer again")

// exchange sends in as JSON, unless it is nil, and reads the reply into out, also that to a
// request that was refused. token goes into a header; empty: none.
func exchange(ctx context.Context, patience time.Duration, method, address, token string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return errRefused
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return errURL
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	reply, err := do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	limited := &io.LimitedReader{R: reply.Body, N: mostReply}
	err = json.NewDecoder(limited).Decode(out)
	if refused := refusal(reply.StatusCode); refused != nil {
		return refused
	}
	if err != nil && limited.N == 0 {
		return errLong
	} else if err != nil {
		return errors.New("the service sent a reply that cannot be read")
	}
	return nil
}

// deaf marks a refusal as one to show the answers.
func deaf(err error) error {
	if errors.Is(err, errRefused) {
		return fmt.Errorf("%w: the service refuses; check the rest of the URL", errDeaf)
	}
	return err
}

// shown remembers where a service shows each message. Its zero value is ready.
type shown struct {
	mu    sync.Mutex
	at    map[string]string // the places of messages, by their ids
	reply map[string]string // the codes of replies, by the place of the message
	over  []string          // ids of messages that nobody can answer any more
}

// mostOver is how many of those are remembered: a late reply is told who was first.
const mostOver = 100

// place returns where a message is shown; empty: nowhere yet.
func (s *shown) place(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at[id]
}

// put notes where a message is shown.
func (s *shown) put(m outgoing, place string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at, s.reply = map[string]string{}, map[string]string{}
	}
	s.at[m.ID] = place
	if m.Reply != "" {
		s.reply[place] = m.Reply
	}
	if m.Over && !slices.Contains(s.over, m.ID) {
		s.over = append(s.over, m.ID)
	}
	if len(s.over) > mostOver {
		delete(s.reply, s.at[s.over[0]])
		delete(s.at, s.over[0])
		s.over = s.over[1:]
	}
}

// code returns the code of a reply to what is shown there; empty: nothing is.
func (s *shown) code(place string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reply[place]
}
