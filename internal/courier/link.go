package courier

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/termsafe"
)

// outgoing is a message to people. One with the id of an earlier one replaces it.
type outgoing struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Body    string   `json:"body"`
	Buttons []button `json:"buttons,omitempty"`
	Over    bool     `json:"over,omitempty"` // nothing can be answered any more
}

type button struct {
	Label string `json:"label"`
	Code  string `json:"code"`
}

// incoming is a line that looprun-notify prints.
type incoming struct {
	Code string `json:"code"` // of the button that was pressed
	// Problem is a sentence for the log.
	Problem string `json:"problem"`
}

// link is the connection to one service: a looprun-notify that sends and listens until its
// standard input ends.
type link struct {
	url  string
	send chan outgoing
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

// keep runs the link until the courier ends. A looprun-notify that dies is started again, and
// gets what stands in the messages now.
func (c *Courier) keep(l *link) {
	for {
		if err := c.connect(l); err != nil {
			c.log("%s: looprun-notify ended: %v", l.via(), err)
		}
		select {
		case <-c.done:
			return
		case <-time.After(time.Second):
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
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var m incoming
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		if m.Problem != "" {
			c.log("%s: %s", l.via(), termsafe.Line(m.Problem))
		}
		if m.Code != "" {
			c.hear(l, m)
		}
	}
	close(gone)
	return cmd.Wait()
}
