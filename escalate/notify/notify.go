// Package notify sends messages to services named by URLs: chats, phones, mail, web hooks. It
// does so through looprun-notify, a separate program, because the library behind it weighs
// more than half of looprun.
//
//	s, err := notify.New("ntfy://ntfy.sh/my-topic")
//	…
//	err = s.Notify(ctx, "looprun asks", "5 of 5 iterations are used.")
//
// The URLs contain passwords and tokens. They are passed to that program only on its standard
// input, and errors contain nothing of them but the name of the service.
package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/proc"
)

// ErrNoProgram is returned by [New] if looprun-notify cannot be found.
var ErrNoProgram = errors.New("looprun-notify is neither beside looprun nor on the PATH; install it: go install github.com/looprun/looprun/cmd/looprun-notify@latest, or use a hook")

// Sender sends messages to services. The zero value has no services.
type Sender struct {
	program string
	urls    []string
}

// New returns a sender for these URLs without sending anything. An error names the service, or
// the URL's position in the list, and nothing else of the URL.
func New(urls ...string) (*Sender, error) {
	if len(urls) == 0 {
		return &Sender{}, nil
	}
	program, err := proc.Beside("looprun-notify")
	if err != nil {
		return nil, ErrNoProgram
	}
	s := &Sender{program, urls}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return s, s.run(ctx, "", "")
}

// Notify sends the message to all services at the same time and returns when all have answered
// or ctx has ended. The error names the services that did not accept it.
func (s *Sender) Notify(ctx context.Context, title, body string) error {
	if len(s.urls) == 0 {
		return nil
	}
	return s.run(ctx, title, body)
}

func (s *Sender) run(ctx context.Context, title, body string) error {
	timeout := time.Duration(0)
	if at, ok := ctx.Deadline(); ok {
		timeout = max(1, time.Until(at)*9/10) // so that it can say which service is late
	}
	message, err := helper.Document(map[string]any{"urls": s.urls, "title": title, "body": body, "timeout_ms": timeout.Milliseconds()})
	if err != nil {
		return err
	}
	var said helper.Head
	end := helper.Command{Argv: []string{s.program}, Input: message, Stderr: said.Take, KillAfter: time.Second}.Run(ctx)
	text := strings.TrimSpace(string(said))
	switch {
	case end.Cause == proc.StartFailed:
		return fmt.Errorf("looprun-notify could not be started: %w", end.StartErr)
	case end.Cause != proc.Exited:
		return errors.New("looprun-notify did not end in time; try again when the services can be reached")
	case end.Code == 0:
		return nil
	case text == "":
		return fmt.Errorf("looprun-notify ended with exit code %d", end.Code)
	}
	return errors.New(text)
}
