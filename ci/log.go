package ci

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
)

// Options configure a [Log].
type Options struct {
	Provider Provider // zero: the one that the environment names
	// Log is the stream that the CI system reads and looprun writes its own lines to, see
	// [LogOf]; nil means os.Stdout. With GitHub the command's output goes there too.
	Log io.Writer
	// Getenv reads the environment; nil means os.Getenv.
	Getenv func(string) string
	// AllowCommands lets the command's output issue commands to the CI system, for trusted
	// commands that are meant to.
	AllowCommands bool
	// Random returns an unguessable word of at least 128 bits; nil means the system's source
	// of random numbers.
	Random func() string
}

// Log writes to the log of a CI job. It is safe for concurrent use.
type Log struct {
	provider Provider
	getenv   func(string) string
	allow    bool
	random   func() string
	// patience is how long to wait for another program.
	patience time.Duration

	mu sync.Mutex
	w  io.Writer
	// fresh reports whether the log is at the beginning of a line.
	fresh bool
	// token ends the fence around the command's output; empty means there is no fence.
	token string
	// section is the name of the open section; empty means there is none.
	section  string
	finished bool

	all *words // nil: no word needs to be looked for
}

// New returns a Log. It writes nothing yet.
func New(o Options) *Log {
	l := &Log{provider: o.Provider, getenv: o.Getenv, allow: o.AllowCommands, random: o.Random, w: o.Log, patience: annotateTimeout}
	if l.getenv == nil {
		l.getenv = os.Getenv
	}
	if l.provider == Auto || l.provider == "" {
		l.provider = Detect(l.getenv)
	}
	if l.random == nil {
		l.random = rand.Text // 130 bits
	}
	if l.w == nil {
		l.w = os.Stdout
	}
	// What the log held before is unknown. GitHub ignores a command that does not begin its
	// line, and a fence that it ignores fences nothing.
	l.fresh = l.provider != GitHub
	if !l.allow {
		l.all = newWords(l.provider)
	}
	return l
}

// Provider returns the CI system that the log is written for.
func (l *Log) Provider() Provider { return l.provider }

// Observe opens a section when an iteration starts and closes it when the iteration ends. It
// is an engine.Observer. Sections are never nested: CI systems display nested ones badly, if
// they support them at all.
func (l *Log) Observe(e core.Event, s *core.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch d := e.Data.(type) {
	case core.IterationStarted:
		l.close(e.Time.Unix())
		l.open(e.Time.Unix(), s.RunID, d.Iteration, title(d.Iteration, s.Limits.Iterations))
	case core.IterationFinished, core.RunPaused, core.RunFinished:
		l.close(e.Time.Unix())
	}
}

func title(iteration, limit int) string {
	switch {
	case iteration == 0:
		return "looprun: check before the first iteration"
	case limit > 0:
		return fmt.Sprintf("looprun: iteration %d of %d", iteration, limit)
	}
	return fmt.Sprintf("looprun: iteration %d", iteration)
}

// open starts a section.
func (l *Log) open(unix int64, run string, iteration int, title string) {
	l.section = fmt.Sprintf("looprun_%s_%d", identifier(run), iteration)
	switch l.provider {
	case GitHub:
		l.say("::group::" + title)
	case GitLab:
		l.say(fmt.Sprintf("\x1b[0Ksection_start:%d:%s[collapsed=true]\r\x1b[0K%s", unix, l.section, title))
	case Azure:
		l.say("##[group]" + title)
	case Buildkite:
		l.say("--- " + title) // it ends where the next begins
	}
}

// close ends the open section, if any, and the fence in it.
func (l *Log) close(unix int64) {
	l.settle()
	if l.section == "" {
		return
	}
	switch l.provider {
	case GitHub:
		l.say("::endgroup::")
	case GitLab:
		l.say(fmt.Sprintf("\x1b[0Ksection_end:%d:%s\r\x1b[0K", unix, l.section))
	case Azure:
		l.say("##[endgroup]")
	}
	l.section = ""
}

// say writes one of looprun's own lines to the log.
func (l *Log) say(line string) {
	l.settle()
	l.put(l.lineEnd() + line + "\n")
}

// settle ends the fence around the output.
func (l *Log) settle() {
	if l.token != "" {
		l.put(l.lineEnd() + "::" + l.token + "::\n")
		l.token = ""
	}
}

// lineEnd returns what must be written to put the log at the beginning of a line.
func (l *Log) lineEnd() string {
	if l.fresh {
		return ""
	}
	return "\n"
}

// put writes to the log. It ignores errors: if nobody reads the log, there is nobody to report
// them to.
func (l *Log) put(text string) { _, _ = l.write(l.w, []byte(text)) }

func (l *Log) write(w io.Writer, b []byte) (int, error) {
	if len(b) > 0 {
		l.fresh = b[len(b)-1] == '\n'
	}
	return w.Write(b)
}

// identifier replaces every character that a section name may not contain.
func identifier(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '.', r == '_':
			return r
		}
		return '_'
	}, text)
}
