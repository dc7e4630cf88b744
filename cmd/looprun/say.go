package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/signal"
)

// messages prints looprun's own lines, each beginning with “looprun: ”, so that
// they can be told from the command's, or as JSON objects, one a line. Stdout is
// the command's alone.
type messages struct {
	mu     sync.Mutex
	w      io.Writer
	flags  outputFlags
	colour bool
	lead   string            // what lines begin with; empty: “looprun:”
	about  looprun.EventType // the event that is being reported; empty: none
	run    string            // the run's id, as soon as there is one
	said   signal.Name       // the signal of this iteration that does something
	told   time.Time         // when it was last said how long is still to be waited
	warned map[string]int    // what iterations have warned of, and which was the first
}

// configure sets what the flags say. Colours are for a terminal.
func (m *messages) configure(f outputFlags, terminal bool, getenv func(string) string) {
	m.flags, m.colour = f, colours(f.Color, terminal, getenv)
}

// tone is what kind of message it is: its level in JSON, what stands before it, and
// its colour.
type tone struct {
	level, prefix, colour string
}

var (
	toneDetail  = tone{level: "debug", colour: dim}
	toneNews    = tone{level: "info"}
	toneHeader  = tone{level: "info", colour: bold}
	toneWarning = tone{level: "warning", prefix: "warning: ", colour: yellow}
	toneTrip    = tone{level: "warning", colour: yellow}
	toneProblem = tone{level: "error", colour: red}
)

// say prints a message whatever is set.
func (m *messages) say(t tone, format string, args ...any) {
	m.tell(t, nil, format, args...)
}

// tell is say with more fields for the JSON.
func (m *messages) tell(t tone, fields map[string]any, format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := strings.TrimRight(termsafe.Text(fmt.Sprintf(format, args...)), "\n")
	if m.flags.LogFormat == "json" {
		m.object(t, fields, text)
		return
	}
	text = t.prefix + text
	lead := cmp.Or(m.lead, "looprun:")
	for line := range strings.SplitSeq(text, "\n") {
		if m.colour {
			line = dim + lead + plain + " " + paint(t.colour, line)
		} else {
			line = lead + " " + line
		}
		_, _ = io.WriteString(m.w, line+"\n") // stderr gone: there is nobody to tell
	}
}

// object prints a message as JSON.
func (m *messages) object(t tone, fields map[string]any, text string) {
	head := struct {
		Time    string            `json:"time"`
		Level   string            `json:"level"`
		Message string            `json:"message"`
		Run     string            `json:"run_id,omitempty"`
		Event   looprun.EventType `json:"event,omitempty"`
		Fields  map[string]any    `json:"fields,omitempty"`
	}{time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00"), t.level, text, m.run, m.about, fields}
	line, err := json.Marshal(head)
	if err == nil {
		_, _ = m.w.Write(append(line, '\n')) // as above
	}
}

// report sets which event messages are about from now on.
func (m *messages) report(about looprun.EventType, run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.about, m.run = about, run
}

func (m *messages) printf(format string, args ...any) { m.say(toneNews, format, args...) }

// news is what -q leaves out.
func (m *messages) news(format string, args ...any) {
	if !m.flags.Quiet {
		m.say(toneNews, format, args...)
	}
}

// header begins something new. It is news.
func (m *messages) header(format string, args ...any) {
	if !m.flags.Quiet {
		m.say(toneHeader, format, args...)
	}
}

// detail is what -v adds.
func (m *messages) detail(format string, args ...any) {
	if m.flags.Verbose {
		m.say(toneDetail, format, args...)
	}
}

func (m *messages) warn(format string, args ...any) { m.say(toneWarning, format, args...) }

// problem prints an error, one line for each that was joined to it.
func (m *messages) problem(err error) { m.say(toneProblem, "%v", err) }
