package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// sender sends messages to services. Its zero value has none.
type sender struct{ services []service }

// service is one destination of messages.
type service struct {
	name string // what may be shown of its URL
	send func(ctx context.Context, title, body string) error
}

// newSender returns the sender for these URLs; it sends nothing. An error names the service,
// or the URL's position in the list, and nothing else of the URL.
func newSender(urls ...string) (*sender, error) {
	s := new(sender)
	for i, raw := range urls {
		name := label(raw, i)
		send, err := open(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		s.services = append(s.services, service{name, send})
	}
	return s, nil
}

// notify sends the message to all services concurrently and returns when all have replied or
// ctx has ended. The error names those that did not accept it.
func (s *sender) notify(ctx context.Context, title, body string) error {
	errs := make([]error, len(s.services))
	done := make(chan struct{})
	for i, to := range s.services {
		go func() {
			if err := to.send(ctx, title, body); err != nil {
				errs[i] = fmt.Errorf("%s: %w", to.name, err)
			}
			done <- struct{}{}
		}()
	}
	for range s.services {
		<-done
	}
	return errors.Join(errs...)
}

// label returns what may be shown of a URL: its scheme, if it looks like one, and its position
// in the list.
func label(raw string, i int) string {
	place := fmt.Sprintf("URL %d", i+1)
	scheme, _, found := strings.Cut(raw, "://")
	scheme, _, _ = strings.Cut(scheme, "+")
	if !found || scheme == "" || len(scheme) > 20 || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz") != "" {
		return place
	}
	return scheme + " (" + place + ")"
}
