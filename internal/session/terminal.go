package session

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/looprun/looprun/ci"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/outlet"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/statusline"
	"github.com/looprun/looprun/internal/tty"
)

// joinable returns an error if -i is given but there is no terminal for the command; that the
// command then cannot start would not be its own fault.
func (s *Session) joinable() error {
	switch {
	case !s.opts.Interactive:
		return nil
	case !proc.Terminals:
		return config.Usage("-i gives the command a terminal, which looprun cannot do on this system", "leave -i out, or see docs/platforms.md")
	case console.IsTerminal(s.app.Stdin):
		return nil
	}
	f, err := os.OpenFile(tty.Path, os.O_RDWR, 0)
	if err != nil {
		return config.Usage(fmt.Sprintf("-i connects the command to the terminal, and there is none (%v)", err), "start it at a terminal, or leave -i out")
	}
	return f.Close()
}

// shareTerminal prepares the terminal to which looprun's messages go. It returns the writers
// for the command's output and for the output of other commands: assistants, experts, and
// debug and verify commands. In a CI job the log itself keeps lines apart, and while a command
// talks to the person (-i) the command has the terminal to itself.
func (s *Session) shareTerminal() (stdout, stderr, helpers io.Writer) {
	stdout, stderr = s.outlets.output(s.app, s.app.Stdout), s.outlets.output(s.app, s.app.Stderr)
	helpers = s.outlets.messages(s.app, s.app.Stderr)
	screen := s.app.Stderr
	switch {
	case s.opts.Interactive || s.ci.Provider() != ci.Off:
		return stdout, stderr, helpers
	case !console.IsTerminal(screen):
		e := &lineEnd{}
		s.app.Say.W = &beside{e, s.app.Say.W, true}
		if sameFile(s.app.Stdout, screen) {
			stdout = &beside{e, stdout, false}
		}
		return stdout, &beside{e, stderr, false}, helpers
	}
	show := s.showsProgress()
	s.display = statusline.New(statusline.Options{
		Screen: screen, Draw: helpers, Line: show, Colour: s.app.Say.Colour,
		Elapsed: func() time.Duration { return s.loop.Elapsed() }, Next: func() time.Time { return s.loop.Next() },
	})
	s.app.Say.W = s.display.Messages(s.app.Say.W)
	if sameFile(s.app.Stdout, screen) {
		stdout = s.display.Output(stdout)
	}
	return stdout, s.display.Output(stderr), s.display.Output(helpers)
}

// showsProgress reports whether to show a progress line. In a nested run the outer one shows
// it, and anything drawn by this one would be kept as the command's output. A program that
// reads the output from a pipe may print it on the same terminal (tee, less), where the line
// would be in its way.
func (s *Session) showsProgress() bool {
	f := s.app.Say.Flags
	return f.Progress != "off" && f.LogFormat != "json" && !f.Quiet &&
		os.Getenv("LOOPRUN") == "" && os.Getenv("TERM") != "" && os.Getenv("TERM") != "dumb" && !console.InCI() && !isPipe(s.app.Stdout)
}

// lineEnd tracks whether the last output to a file ended its line.
type lineEnd struct {
	mu   sync.Mutex
	open bool
}

// beside writes to that file; looprun's own messages begin on a new line.
type beside struct {
	e   *lineEnd
	w   io.Writer
	own bool
}

func (b *beside) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return b.w.Write(p)
	}
	b.e.mu.Lock()
	begin := b.own && b.e.open
	b.e.open = p[len(p)-1] != '\n'
	b.e.mu.Unlock()
	if begin {
		n, err := b.w.Write(append([]byte{'\n'}, p...))
		return max(0, n-1), err
	}
	return b.w.Write(p)
}

func isPipe(f *os.File) bool {
	info, err := f.Stat() // of none it is an error
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// sameFile reports whether both are the same terminal.
func sameFile(a, b *os.File) bool {
	if a == nil || b == nil {
		return false
	}
	first, err := a.Stat()
	if err != nil {
		return false
	}
	second, err := b.Stat()
	return err == nil && os.SameFile(first, second)
}

// shown passes the command's output on to w until nobody reads it any more, and then calls
// unread unless it is nil. file is the file under w; nil means there is none.
func (s *Session) shown(w io.Writer, file *os.File, unread func()) io.Writer {
	return &shown{w: w, file: file, unread: unread, say: s.app.Say}
}

type shown struct {
	w      io.Writer
	file   *os.File // where it ends, until room was made there; nil: nowhere that has to be made
	unread func()
	say    *console.Observer
	gone   bool
}

func (o *shown) Write(b []byte) (int, error) {
	if o.gone {
		return len(b), nil
	}
	if o.file != nil && len(b) >= proc.Busy {
		proc.GrowPipe(o.file)
		o.file = nil
	}
	if _, err := o.w.Write(b); err != nil {
		o.gone = true
		if o.unread != nil && outlet.ReaderGone(err) {
			o.say.Warn("the output is closed and there is no terminal, so the run ends")
			o.unread()
			return len(b), nil
		}
		o.say.Warn("the command's output can no longer be shown (%v); the output files still get it", err)
	}
	return len(b), nil
}
