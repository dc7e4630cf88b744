package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/termsafe"
)

// Flags control looprun's own messages.
type Flags struct {
	Quiet   bool   `short:"q" help:"Print only questions, warnings and the last line." trust:"safe" group:"everywhere"`
	Verbose bool   `short:"v" help:"Print more about what looprun does." trust:"safe" group:"everywhere"`
	Color   string `kong:"-" enum:"auto,always,never" default:"auto" help:"Colour looprun's own messages." trust:"safe" group:"everywhere"`

	Prompt string `kong:"-" enum:"auto,plain" default:"auto" help:"Ask at the terminal with a menu, or line by line, as for a screen reader." trust:"safe" group:"everywhere"`

	LogFormat string `kong:"-" enum:"text,json" default:"text" help:"Print looprun's own messages as text, or as one JSON object on each line." trust:"safe" group:"everywhere"`
	Progress  string `kong:"-" enum:"auto,off" default:"auto" help:"Show the state of a run in a line under the output." trust:"safe" group:"everywhere"`
}

// Messages prints looprun's own lines, each beginning with “looprun: ” to distinguish them
// from the command's, or as JSON objects, one a line. Standard output belongs to the command
// alone.
type Messages struct {
	W      io.Writer
	Flags  Flags
	Colour bool
	Lead   string // what lines begin with; empty: “looprun:”
	// Person means that the messages are for a person at a terminal and are not read by a
	// program.
	Person bool
	// Columns returns the width of the terminal that W writes to. Nil means that W is not a
	// terminal, and no line is broken.
	Columns func() int

	mu    sync.Mutex
	about string // the type of the event that is being reported; empty: none
	run   string // the run's id, as soon as there is one
}

// Configure applies the flags. Colours are only for a terminal.
func (m *Messages) Configure(f Flags, terminal bool, getenv func(string) string) {
	m.Flags, m.Colour = f, Colours(f.Color, terminal, getenv)
	m.Person = terminal && f.LogFormat != "json" && getenv("LOOPRUN") == "" && !InCI()
}

// Tone is the kind of a message: its level in JSON, its prefix, and its colour.
type Tone struct {
	Level, Prefix, Colour string
}

// The tones of looprun's messages.
var (
	Detail  = Tone{Level: "debug", Colour: Dim}
	News    = Tone{Level: "info"}
	Header  = Tone{Level: "info", Colour: Bold}
	Warning = Tone{Level: "warning", Prefix: "warning: ", Colour: Yellow}
	Alert   = Tone{Level: "warning", Colour: Yellow} // its text says what it is
	Problem = Tone{Level: "error", Colour: Red}
)

// Say prints a message regardless of the flags.
func (m *Messages) Say(t Tone, format string, args ...any) {
	m.Tell(t, nil, format, args...)
}

// Tell is Say with more fields for the JSON.
func (m *Messages) Tell(t Tone, fields map[string]any, format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := strings.TrimRight(termsafe.Text(fmt.Sprintf(format, args...)), "\n")
	if m.Flags.LogFormat == "json" {
		m.object(t, fields, text)
		return
	}
	text = t.Prefix + text
	lead := cmp.Or(m.Lead, "looprun:")
	for _, line := range m.fit(lead, strings.Split(text, "\n")) {
		if m.Colour {
			line = Dim + lead + Plain + " " + Paint(t.Colour, line)
		} else {
			line = lead + " " + line
		}
		_, _ = io.WriteString(m.W, line+"\n") // stderr gone: there is nobody to tell
	}
}

// fit wraps the lines that are wider than the terminal.
func (m *Messages) fit(lead string, lines []string) []string {
	if m.Columns == nil {
		return lines
	}
	room := m.Columns() - cells.Width(lead) - 1
	if room < 10 { // nothing would be readable
		return lines
	}
	var fitted []string
	for _, line := range lines {
		fitted = append(fitted, cells.Wrap(line, room, "  ")...)
	}
	return fitted
}

// object prints a message as a JSON object.
func (m *Messages) object(t Tone, fields map[string]any, text string) {
	head := struct {
		Time    string         `json:"time"`
		Level   string         `json:"level"`
		Message string         `json:"message"`
		Run     string         `json:"run_id,omitempty"`
		Event   string         `json:"event,omitempty"`
		Fields  map[string]any `json:"fields,omitempty"`
	}{time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00"), t.Level, text, m.run, m.about, fields}
	line, err := json.Marshal(head)
	if err == nil {
		_, _ = m.W.Write(append(line, '\n')) // as above
	}
}

// Report sets which event, in which run, messages are about from now on.
func (m *Messages) Report(about, run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.about, m.run = about, run
}

// Printf prints news regardless of the flags.
func (m *Messages) Printf(format string, args ...any) { m.Say(News, format, args...) }

// News prints a message that -q suppresses.
func (m *Messages) News(format string, args ...any) {
	if !m.Flags.Quiet {
		m.Say(News, format, args...)
	}
}

// Header starts a new section. It is news.
func (m *Messages) Header(format string, args ...any) {
	if !m.Flags.Quiet {
		m.Say(Header, format, args...)
	}
}

// Detail prints a message that only -v shows.
func (m *Messages) Detail(format string, args ...any) {
	if m.Flags.Verbose {
		m.Say(Detail, format, args...)
	}
}

// Warn prints a warning.
func (m *Messages) Warn(format string, args ...any) { m.Say(Warning, format, args...) }

// Problem prints an error, one line for each of its joined errors.
func (m *Messages) Problem(err error) { m.Say(Problem, "%v", err) }

// PromptColours reports whether prompts have colours; they are always on a terminal.
func (m *Messages) PromptColours() bool { return Colours(m.Flags.Color, true, os.Getenv) }
