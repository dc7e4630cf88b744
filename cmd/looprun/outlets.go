package main

import (
	"io"
	"os"

	"github.com/looprun/looprun/internal/outlet"
)

// outlets are the standard streams of a run, which goes on and ends although nobody
// may read them. Nil: that stream cannot hold it up.
type outlets struct {
	out, err *outlet.Outlet
}

// openOutlets lets looprun's messages, and all that is shown from here on, go
// through them. Whether anybody reads is nothing to the run's exit code either.
func (s *session) openOutlets() {
	keepPipes()
	open := func(f *os.File) *outlet.Outlet {
		if f == nil || !outlet.Holds(f) {
			return nil
		}
		return outlet.New(f)
	}
	out, err := s.app.files.stdout, s.app.files.stderr
	s.outlets.out = open(out)
	if s.outlets.err = s.outlets.out; !sameFile(out, err) {
		s.outlets.err = open(err)
	}
	s.app.say.w = s.outlets.messages(s.app, s.app.say.w)
}

// output is where the command's output goes for w, one of the two streams.
func (o *outlets) output(a *app, w io.Writer) io.Writer {
	if o := o.of(a, w); o != nil {
		return o.Output()
	}
	return w
}

// messages is where looprun's own lines go for w, one of the two streams.
func (o *outlets) messages(a *app, w io.Writer) io.Writer {
	if o := o.of(a, w); o != nil {
		return o.Messages()
	}
	return w
}

func (o *outlets) of(a *app, w io.Writer) *outlet.Outlet {
	switch w {
	case a.stdout:
		return o.out
	case a.stderr:
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
