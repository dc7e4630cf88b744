package courier

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/termsafe"
)

// outgoing is a message to people. One with the id of an earlier one replaces it.
type outgoing struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Body    string   `json:"body"`
	Buttons []button `json:"buttons,omitempty"`
	Reply   string   `json:"reply,omitempty"` // the code of a reply to it; empty: none is read
	Over    bool     `json:"over,omitempty"`  // nothing can be answered any more
}

type button struct {
	Label string `json:"label"`
	Code  string `json:"code"`
}

// incoming is a line that looprun-notify prints.
type incoming struct {
	Code string `json:"code"` // of the button that was pressed, or the message that was replied to
	// From is who did, and Words is the reply. More follows it: more words, or a signature.
	From  string `json:"from"`
	Words string `json:"words"`
	More  string `json:"more"`
	// Reaction means that Words is a sign below the message, and Lacks why there are no words.
	Reaction bool   `json:"reaction"`
	Lacks    string `json:"lacks"`
	// Problem is a sentence for the log.
	Problem string `json:"problem"`
	// Sent is the id of a message that the service took.
	Sent string `json:"sent"`
}

// link is the connection to one service: a looprun-notify that sends and listens until its
// standard input ends.
type link struct {
	url     string
	send    chan outgoing
	problem string // why the service did not take the last message; guarded by [Courier.mu], as refused is
	refused bool   // people were told that an answer was not followed
}

// via returns the name of the service.
func (l *link) via() string {
	scheme, _, _ := strings.Cut(l.url, "://")
	return scheme
}

// tell queues a message.
func (l *link) tell(m outgoing) {
	select {
	case l.send <- m:
	default: // a thousand wait already: the service has been away for very long
	}
}

// How long keep waits after a looprun-notify that has died, at first and at most.
const retryFirst, retryMost = time.Second, time.Minute

// Check returns why a service does not take the address as one for answers. It connects to
// nothing. The error names the service, and nothing else of the address.
func Check(url string) error {
	path, err := proc.Beside("looprun-notify")
	if err != nil {
		return err
	}
	first, err := helper.Document(map[string]any{"url": url, "check": true})
	if err != nil {
		return err
	}
	var said helper.Head
	end := helper.Command{Argv: []string{path, "--carry"}, Input: first, Stderr: said.Take, Timeout: time.Minute, KillAfter: time.Second}.Run(context.Background())
	if end.Well() {
		return nil
	}
	return fmt.Errorf("%s: %s", (&link{url: url}).via(), cmp.Or(termsafe.Line(strings.TrimSpace(string(said))), "looprun-notify failed"))
}

// keep runs the link until the courier ends. A looprun-notify that dies is started again, and
// gets what stands in the messages now. Of a series of failures it logs the first.
func (c *Courier) keep(l *link) {
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		began := time.Now()
		err := c.connect(l)
		if time.Since(began) > retryMost {
			pause = retryFirst
		}
		if err != nil && pause == retryFirst {
			c.log("%s: looprun-notify ended: %v", l.via(), err)
		}
		select {
		case <-c.done:
			return
		case <-time.After(pause):
		}
		c.mu.Lock()
		for _, q := range c.questions {
			if q.on(l) {
				l.tell(c.message(q, l))
			}
		}
		c.mu.Unlock()
	}
}

// connect runs one looprun-notify.
func (c *Courier) connect(l *link) error {
	path, err := proc.Beside("looprun-notify")
	if err != nil {
		return err
	}
	cmd := exec.Command(path, "--carry")
	cmd.Stderr = nil
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	gone := make(chan struct{})
	go func() {
		defer in.Close() // it ends then
		to := json.NewEncoder(in)
		err := to.Encode(map[string]string{"url": l.url})
		for err == nil {
			select {
			case m := <-l.send:
				err = to.Encode(m)
			case <-c.done:
				return
			case <-gone:
				return
			}
		}
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m incoming
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		m.Problem = termsafe.Line(m.Problem)
		if m.Problem != "" {
			c.log("%s: %s", l.via(), m.Problem)
		}
		if m.Problem != "" || m.Sent != "" {
			c.mu.Lock()
			l.problem = m.Problem
			c.mu.Unlock()
		}
		if m.Code != "" {
			c.hear(l, m)
		}
	}
	close(gone)
	if err := lines.Err(); err != nil { // nobody reads on
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return err
	}
	return cmd.Wait()
}
