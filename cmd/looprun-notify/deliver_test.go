package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// webhook is the URL of the library for a server of the tests, with a secret.
func webhook(server *httptest.Server) string {
	return "generic+" + server.URL + "/" + secret + "?token=" + secret
}

func TestAMessageArrives(t *testing.T) {
	bodies := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "{}") // one of the two expects JSON
		bodies <- string(b)
	}))
	defer server.Close()
	s, err := newSender(webhook(server), "ntfy://"+strings.TrimPrefix(server.URL, "http://")+"/topic?scheme=http")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.notify(t.Context(), "looprun asks", "the message"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if b := <-bodies; !strings.Contains(b, "the message") {
			t.Errorf("%q arrived", b)
		}
	}
}

// TestNoSecretIsShown takes all ways of failing.
func TestNoSecretIsShown(t *testing.T) {
	for _, raw := range []string{
		"nosuch://" + secret + "@host/" + secret,
		"ntfy://" + secret + ":%zz" + secret,
		"smtp://" + secret + "@host:99999999/?x=" + secret,
		"slack://" + secret, "telegram://" + secret, "discord://" + secret + "@", "pushover+https://" + secret,
		"generic+https://" + secret + " " + secret, secret, "",
	} {
		_, err := newSender(raw)
		check(t, raw, err)
	}
	quoting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such path: "+r.URL.String(), http.StatusForbidden)
	}))
	defer quoting.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, server := range []*httptest.Server{quoting, gone} {
		s, err := newSender(webhook(server))
		if err != nil {
			t.Fatal(err)
		}
		err = s.notify(t.Context(), "t", "b")
		check(t, server.URL, err)
		if !strings.HasPrefix(err.Error(), "generic (URL 1): ") {
			t.Errorf("%v does not say which one", err)
		}
	}
}

func check(t *testing.T, raw string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%q: no error", raw)
	} else if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%q: the error shows it: %v", raw, err)
	}
}

func TestAServiceThatHangs(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(reached)
		<-release
	}))
	defer server.Close()
	defer close(release)
	s, err := newSender(webhook(server))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reached
		cancel()
	}()
	overdue := time.AfterFunc(10*time.Minute, func() { panic("the message was waited for") })
	defer overdue.Stop()
	err = s.notify(ctx, "t", "b")
	check(t, "hanging", err)
	if !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("%v", err)
	}
}
