// Command looprun-notify sends messages to the services that URLs name: chats, phones, mail,
// web hooks. looprun runs it for --notify. It is a separate program and module because the
// library it uses is more than half the size of looprun, and needs more modules than all of
// looprun.
//
// It reads one JSON object from standard input: urls, title and body, and timeout_ms, after
// which it gives up. Without a title it sends nothing and only checks the URLs. Exit code 0
// means that all services accepted the message. Errors go to standard error, a line for each
// service. The URLs contain passwords and tokens: the output contains nothing of them but the
// name of the service, and none of the library's or the service's messages, which may quote
// them.
//
// With --carry it is the connection of looprun's courier to one service that brings answers
// back, until standard input ends. The first line there is the service's url, and each further
// one a message with its buttons. It prints a line for each button that was pressed.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// message is the message to send, and where to send it.
type message struct {
	URLs      []string `json:"urls"`
	Title     string   `json:"title"`
	Body      string   `json:"body"`
	TimeoutMS int64    `json:"timeout_ms"`
}

// stamp is the version that a release gives to the linker.
var stamp = "dev"

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Println(stamp)
		return
	}
	do := run
	if len(os.Args) == 2 && os.Args[1] == "--carry" {
		do = func(in io.Reader) error { return carry(in, os.Stdout) }
	}
	if err := do(os.Stdin); err != nil {
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
