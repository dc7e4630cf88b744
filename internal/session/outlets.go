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

// outlets are the standard streams of a run, which goes on and ends although nobody
// may read them. Nil: that stream cannot hold it up.
type outlets struct {
	out, err *outlet.Outlet
}

// openOutlets lets looprun's messages, and all that is shown from here on, go
// through them. Whether anybody reads is nothing to the run's exit code either.
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

// unread is what a reader of the command's output that went away leads to: nil where
// somebody is at the terminal all the same, or where only standard error was left.
// Without a terminal nobody could learn that the run goes on, and a pipeline would
// wait for it: it ends as a program that writes into a pipe ends.
func (s *Session) unread(file *os.File) func() {
	out, err := s.app.Stdout, s.app.Stderr
	if console.IsTerminal(err) || file != out && !sameFile(file, out) {
		return nil
	}
	return func() {
		s.leave(&engine.Interrupt{Signal: "SIGPIPE", Code: 128 + int(syscall.SIGPIPE)})
	}
}

// output is where the command's output goes for w, one of the two streams.
func (o *outlets) output(a *Program, w io.Writer) io.Writer {
	if o := o.of(a, w); o != nil {
		return o.Output()
	}
	return w
}

// messages is where looprun's own lines go for w, one of the two streams.
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

// each calls f for both.
func (o *outlets) each(f func(*outlet.Outlet)) {
	for _, one := range []*outlet.Outlet{o.out, o.err} {
		if one != nil {
			f(one)
		}
	}
}

// hurry stops waiting for readers that stand still.
func (o *outlets) hurry() { o.each((*outlet.Outlet).Hurry) }

// calm waits for them again.
func (o *outlets) calm() { o.each((*outlet.Outlet).Calm) }
