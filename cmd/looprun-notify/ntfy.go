package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ntfy carries over a topic of an ntfy server. A button sends its code to a second topic, whose
// name ends in -answers, and the carrier listens there. Everybody must be allowed to write that
// topic, and nobody else has to read it: codes are worth nothing to anybody but the courier.
type ntfy struct {
	server         url.URL
	topic          string
	user, password string
	since          string // after which listen continues: the id of a message, or a time
}

const (
	// ntfyBody is how long the text of a message may be, in bytes; a longer one becomes a file.
	ntfyBody = 3500
	// mostCode is the size of a code, in bytes; whatever is longer is none.
	mostCode = 64
)

// ntfySilence is how long a connection may be silent: the server writes every 45 s.
var ntfySilence = 3 * time.Minute

// errSilent is usually the work of a proxy, which collects what the server writes.
var errSilent = fmt.Errorf("%w: the service writes nothing; check that no proxy holds back its replies", errDeaf)

func newNtfy(u *url.URL) (*ntfy, error) {
	n := &ntfy{server: url.URL{Scheme: schemeOf(u), Host: u.Host, Path: "/"}, topic: strings.Trim(u.Path, "/")}
	if scheme := option(u, "scheme"); scheme != "" && n.server.Scheme == "https" {
		n.server.Scheme = scheme
	}
	n.user = u.User.Username()
	n.password, _ = u.User.Password()
	if u.Host == "" || n.topic == "" || strings.Contains(n.topic, "/") || n.server.Scheme != "http" && n.server.Scheme != "https" {
		return nil, errURL
	}
	return n, nil
}

// answers returns the address of the topic for answers.
func (n *ntfy) answers() string { return n.server.JoinPath(n.topic + "-answers").String() }

func (n *ntfy) request(ctx context.Context, method, address string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, errURL
	}
	switch {
	case n.user == "" && n.password != "": // an access token
		r.Header.Set("Authorization", "Bearer "+n.password)
	case n.user != "":
		r.SetBasicAuth(n.user, n.password)
	}
	return do(r)
}

func (n *ntfy) send(ctx context.Context, m outgoing) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	type action struct {
		Action string `json:"action"`
		Label  string `json:"label"`
		URL    string `json:"url"`
		Method string `json:"method"`
		Body   string `json:"body"`
		Clear  bool   `json:"clear"`
	}
	of := struct {
		Topic    string   `json:"topic"`
		ID       string   `json:"sequence_id"`
		Title    string   `json:"title"`
		Message  string   `json:"message"`
		Priority int      `json:"priority"`
		Tags     []string `json:"tags"`
		Actions  []action `json:"actions"`
	}{n.topic, m.ID, m.Title, cut(m.Body, ntfyBody), 4, []string{"question"}, []action{}}
	if m.Over {
		of.Priority, of.Tags = 2, []string{"white_check_mark"}
	}
	for _, b := range m.Buttons {
		of.Actions = append(of.Actions, action{"http", b.Label, n.answers(), http.MethodPost, b.Code, true})
	}
	body, err := json.Marshal(of)
	if err != nil {
		return errRefused
	}
	reply, err := n.request(ctx, http.MethodPost, n.server.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(reply.Body, 1<<20))
	return refusal(reply.StatusCode)
}

func (n *ntfy) listen(ctx context.Context, opened func(), heard func(answer)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(ntfySilence, func() { cancel(errSilent) })
	defer silent.Stop()
	address := n.answers() + "/json"
	if n.since != "" {
		address += "?since=" + url.QueryEscape(n.since)
	}
	reply, err := n.request(ctx, http.MethodGet, address, nil)
	if err != nil {
		if context.Cause(ctx) == errSilent {
			return errSilent
		}
		return err
	}
	defer reply.Body.Close()
	if at, err := http.ParseTime(reply.Header.Get("Date")); err == nil && n.since == "" {
		n.since = strconv.FormatInt(at.Unix(), 10)
	}
	if reply.StatusCode >= 300 {
		return fmt.Errorf("%w: the service answered with status %d; check that the user may read the topic that ends in -answers", errDeaf, reply.StatusCode)
	}
	open := false
	lines := bufio.NewScanner(reply.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		silent.Reset(ntfySilence)
		var m struct {
			ID      string
			Event   string
			Message string
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		switch m.Event {
		case "open":
			open = true
			opened()
		case "message":
			if code := strings.TrimSpace(m.Message); code != "" && len(code) <= mostCode {
				heard(answer{Code: code})
			}
			n.since = m.ID
		}
	}
	if !open && context.Cause(ctx) == errSilent {
		return errSilent
	}
	return nil // it is connected again, and that is no news
}

// cut returns the beginning of a text, at most n bytes of it.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
