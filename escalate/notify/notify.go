// Package notify sends messages to the services that URLs name: chats, phones,
// mail, web hooks. The library behind it weighs more than half of looprun, so it
// is built in only with the build tag notify; without, [New] says so.
//
//	s, err := notify.New("ntfy://ntfy.sh/my-topic")
//	…
//	err = s.Notify(ctx, "looprun asks", "5 of 5 iterations are used.")
//
// The URLs hold passwords and tokens. No error, no message and no log line has
// anything of them but the name of the service, nor anything that the library or
// the service has said, as that may quote them.
package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNotBuilt is returned by [New] where the library was not built in.
var ErrNotBuilt = errors.New("this looprun was built without notify; build it with -tags notify, or use a hook")

// Sender sends messages to services. Its zero value has none.
type Sender struct{ services []service }

// service is one place that messages go to.
type service struct {
	name string // what may be shown of its URL
	send func(ctx context.Context, title, body string) error
}

// New makes the sender for these URLs; nothing is sent. An error names the
// service, or the place of the URL in the list, and no more of the URL.
func New(urls ...string) (*Sender, error) {
	s := new(Sender)
	for i, raw := range urls {
		name := label(raw, i)
		send, err := open(raw)
		if err != nil {
			return nil, fmt.Errorf("notify %s: %w", name, err)
		}
		s.services = append(s.services, service{name, send})
	}
	return s, nil
}

// Notify sends the message to all services at the same time and returns when all
// have answered or ctx has ended. The error names those that did not take it.
func (s *Sender) Notify(ctx context.Context, title, body string) error {
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

// label is what may be shown of a URL: its scheme, if it is formed like one, and
// its place in the list.
func label(raw string, i int) string {
	place := fmt.Sprintf("URL %d", i+1)
	scheme, _, found := strings.Cut(raw, "://")
	scheme, _, _ = strings.Cut(scheme, "+")
	if !found || scheme == "" || len(scheme) > 20 || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz") != "" {
		return place
	}
	return scheme + " (" + place + ")"
}
