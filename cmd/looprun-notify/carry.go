package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A carrier brings messages to people and their answers back. It only makes connections, and
// accepts none.
type carrier interface {
	// send shows a message, in place of the earlier one with the same id. Each error but
	// errRefused is temporary.
	send(ctx context.Context, m outgoing) error
	// listen passes on what people send until the connection ends or ctx does. It continues
	// after what it has passed on before. opened is called when nothing sent from now on is
	// missed. The error is errDeaf if messages can be sent nevertheless.
	listen(ctx context.Context, opened func(), heard func(answer)) error
}

// errRefused means that the service will not take the message later either.
var errRefused = errors.New("the service did not take the message; check the rest of the URL")

// errDeaf means that the service takes messages, and does not show the answers.
var errDeaf = errors.New("answers cannot be read")

// outgoing is a message, as the courier writes it.
type outgoing struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Body    string   `json:"body"`
	Buttons []button `json:"buttons"`
	Reply   string   `json:"reply"` // the code of a reply to it
	Over    bool     `json:"over"`
}

type button struct {
	Label string `json:"label"`
	Code  string `json:"code"`
}

// answer is what a person has sent: the code of a button, or that of a message and a reply to it.
type answer struct {
	Code     string `json:"code"`
	From     string `json:"from,omitempty"`
	Words    string `json:"words,omitempty"`
	More     string `json:"more,omitempty"`     // what follows the words: more of them, or a signature
	Reaction bool   `json:"reaction,omitempty"` // Words is a sign below the message
	Lacks    string `json:"lacks,omitempty"`    // why there are no words
}

// mostWords is how long a reply may be, in bytes.
const mostWords = 8 << 10

const noText = "only text is read"

// retry is how long a carrier waits after a failure, at first and at most. Tests wait less.
var retryFirst, retryMost = time.Second, time.Minute

// carry connects the courier to the service until in ends.
func carry(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	var first struct {
		URL   string
		Check bool // whether the service takes the URL, and no more
	}
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &first) != nil {
		return errors.New("standard input has no url")
	}
	of, err := carrierFor(first.URL)
	if err != nil && !first.Check {
		_ = json.NewEncoder(out).Encode(map[string]string{"problem": err.Error()})
	}
	if err != nil || first.Check {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()

	var printing sync.Mutex
	print := func(line any) {
		printing.Lock()
		defer printing.Unlock()
		to := json.NewEncoder(out)
		to.SetEscapeHTML(false)
		_ = to.Encode(line)
	}
	say := func(key, value string) { print(map[string]string{key: value}) }
	listens := make(chan struct{})
	opened := sync.OnceFunc(func() { close(listens) })
	var deaf atomic.Bool
	all.Go(func() {
		again(ctx, func() error {
			err := of.listen(ctx, func() { deaf.Store(false); opened() }, func(a answer) {
				if len(a.Words)+len(a.More) > mostWords {
					a.Words, a.More, a.Lacks = "", "", "a reply may have 8 KiB"
				}
				print(a)
			})
			if errors.Is(err, errDeaf) { // who reads the message answers elsewhere
				deaf.Store(true)
				opened()
			}
			return err
		}, func(err error) { say("problem", err.Error()) })
	})
	box := outbox{wake: make(chan struct{}, 1)}
	all.Go(func() {
		select {
		case <-listens: // an answer that comes at once is not missed
		case <-ctx.Done():
			return
		}
		for m, ok := box.next(ctx); ok; m, ok = box.next(ctx) {
			again(ctx, func() error {
				now := m
				if deaf.Load() && (len(m.Buttons) > 0 || m.Reply != "") {
					now.Body = "Answering here may not work: answers cannot be read.\n" + m.Body
				}
				err := of.send(ctx, now)
				switch {
				case err == nil:
					say("sent", m.ID)
				case errors.Is(err, errRefused) || box.newer(m.ID):
					say("problem", err.Error())
				default:
					return err
				}
				return errDone
			}, func(err error) { say("problem", err.Error()) })
		}
	})
	for lines.Scan() {
		var m outgoing
		if json.Unmarshal(lines.Bytes(), &m) == nil && m.ID != "" {
			box.put(m)
		}
	}
	return lines.Err()
}

// errDone ends [again].
var errDone = errors.New("done")

// again repeats what fails, with growing pauses, until ctx ends or it returns errDone. It
// reports the first of a series of failures.
func again(ctx context.Context, do func() error, failed func(error)) {
	fails := false
	for pause := retryFirst; ctx.Err() == nil; pause = min(2*pause, retryMost) {
		err := do()
		switch {
		case errors.Is(err, errDone) || ctx.Err() != nil:
			return
		case err == nil:
			pause, fails = retryFirst, false
		case !fails:
			fails = true
			failed(err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// outbox holds the messages to be sent, and of those with the same id only the newest.
type outbox struct {
	mu   sync.Mutex
	list []outgoing
	wake chan struct{}
}

func (b *outbox) put(m outgoing) {
	b.mu.Lock()
	b.list = append(slices.DeleteFunc(b.list, func(of outgoing) bool { return of.ID == m.ID }), m)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// newer reports whether another message with that id waits.
func (b *outbox) newer(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.list, func(of outgoing) bool { return of.ID == id })
}

// next waits for a message; false means that ctx has ended.
func (b *outbox) next(ctx context.Context) (outgoing, bool) {
	for {
		b.mu.Lock()
		if len(b.list) > 0 {
			m := b.list[0]
			b.list = b.list[1:]
			b.mu.Unlock()
			return m, true
		}
		b.mu.Unlock()
		select {
		case <-b.wake:
		case <-ctx.Done():
			return outgoing{}, false
		}
	}
}

// carrierFor returns the carrier for a URL. The error does not quote it.
func carrierFor(raw string) (carrier, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errURL
	}
	switch u.Scheme {
	case "ntfy":
		return newNtfy(u)
	case "matrix":
		return newMatrix(u)
	case "telegram":
		return newTelegram(u)
	case "smtp":
		return newMail(u)
	}
	return nil, fmt.Errorf("%s: the service brings no answers back", strings.TrimSuffix(label(raw, 0), " (URL 1)"))
}
