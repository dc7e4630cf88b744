package session

import (
	"context"
	"io"
	"os"
	"syscall"

	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/outlet"
)

// outlets are the standard streams of a run, which continues even if nobody reads them. A nil
// outlet is a stream that cannot block the run.
type outlets struct {
	out, err *outlet.Outlet
}

// openOutlets routes looprun's messages and all later output through the outlets. Whether
// anybody reads them does not affect the run's exit code.
func (s *Session) openOutlets() {
	keepPipes()
	s.reading, s.leave = context.WithCancelCause(context.Background())
	open := func(f *os.File) *outlet.Outlet {
		if f == nil || !outlet.Holds(f) {
			return nil
		}
		return outlet.New(f)
	}
	out, err := s.app.Stdout, s.app.Stderr
	s.outlets.out = open(out)
	if s.outlets.err = s.outlets.out; !sameFile(out, err) {
		s.outlets.err = open(err)
	}
	s.app.Say.W = s.outlets.messages(s.app, s.app.Say.W)
}

// unread returns what to do when the reader of the command's output has gone away. It returns
// nil if somebody is at the terminal all the same, or if only standard error was lost. Without
// a terminal nobody could learn that the run continues, and a pipeline would wait for it, so
// the run ends as a program that writes to a closed pipe does.
func (s *Session) unread(file *os.File) func() {
	out, err := s.app.Stdout, s.app.Stderr
	if console.IsTerminal(err) || file != out && !sameFile(file, out) {
		return nil
	}
	return func() {
		s.leave(&engine.Interrupt{Signal: "SIGPIPE", Code: 128 + int(syscall.SIGPIPE)})
	}
}

// output returns the writer for the command's output that replaces w, one of the two streams.
func (o *outlets) output(a *Program, w io.Writer) io.Writer {
	if o := o.of(a, w); o != nil {
		return o.Output()
	}
	return w
}

// messages returns the writer for looprun's own lines that replaces w, one of the two streams.
func (o *outlets) messages(a *Program, w io.Writer) io.Writer {
	if o := o.of(a, w); o != nil {
		return o.Messages()
	}
	return w
}

func (o *outlets) of(a *Program, w io.Writer) *outlet.Outlet {
	switch w {
	case a.Stdout:
		return o.out
	case a.Stderr:
		return o.err
	}
	return nil
}

// each calls f for both outlets.
func (o *outlets) each(f func(*outlet.Outlet)) {
	for _, one := range []*outlet.Outlet{o.out, o.err} {
		if one != nil {
			f(one)
		}
	}
}

// hurry stops waiting for blocked readers.
func (o *outlets) hurry() { o.each((*outlet.Outlet).Hurry) }

// calm resumes waiting for them.
func (o *outlets) calm() { o.each((*outlet.Outlet).Calm) }
