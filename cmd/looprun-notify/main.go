// Command looprun-notify sends messages to the services that URLs name: chats, phones,
// mail, web hooks. looprun runs it for --notify. It is a program and a module of its own
// because the library behind it weighs more than half of looprun, and needs more modules
// than all of that.
//
// It reads one JSON object from standard input: urls, title and body, and timeout_ms, after
// which it gives up. Without a title nothing is sent: the URLs are checked. Exit code 0 says
// that all services took the message. What went wrong is on standard error, a line for each
// service. The URLs hold passwords and tokens: nothing that is printed has anything of
// them but the name of the service, nor anything that the library or the service has said,
// as that may quote them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// message is what is to be sent, and where.
type message struct {
	URLs      []string `json:"urls"`
	Title     string   `json:"title"`
	Body      string   `json:"body"`
	TimeoutMS int64    `json:"timeout_ms"`
}

func main() {
	if err := run(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader) error {
	var m message
	if json.NewDecoder(io.LimitReader(in, 1<<20)).Decode(&m) != nil { // its error may quote a URL
		return fmt.Errorf("standard input is not a message in JSON")
	}
	s, err := newSender(m.URLs...)
	if err != nil || m.Title == "" {
		return err
	}
	ctx := context.Background()
	if m.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(m.TimeoutMS)*time.Millisecond)
		defer cancel()
	}
	return s.notify(ctx, m.Title, m.Body)
}
