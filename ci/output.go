package ci

import (
	"io"
	"os"
	"slices"
)

// Output wraps a writer through which the command's output passes to the log:
// what comes out says nothing to the CI system, unless commands are allowed. A
// regular file is returned as it is, and so is every writer where there is no CI
// system that takes commands: neither is a log that is listened to.
//
// With GitHub the output goes to the log that the fence is written to, whichever
// writer is wrapped: the runner reads standard output and standard error from
// two pipes in no certain order, so that a fence on one holds nothing on the
// other.
func (l *Log) Output(w io.Writer) io.Writer {
	if l.provider == Generic || l.provider == Off || regular(w) {
		return w
	}
	s := &stream{log: l, w: w}
	if !l.allow {
		s.own = newWords(l.provider)
	}
	return s
}

// Messages wraps a writer for looprun's own lines, each of which begins with
// “looprun: ”. They quote what the command said and name what it was called
// with, so that the same words have to be kept out of them; the command's
// output being fenced does not help there.
func (l *Log) Messages(w io.Writer) io.Writer {
	if l.provider == Buildkite || regular(w) {
		return w // no line of theirs begins with a marker
	}
	if own := newWords(l.provider); own != nil {
		return &lines{w: w, own: own}
	}
	return w
}

// stream is one stream of the command's output.
type stream struct {
	log *Log
	w   io.Writer
	// own finds words in this stream and log.all in all of them as they are
	// written: which of the two the CI system reads is not known.
	own *words
	at  []int
}

// Write passes the bytes on. It reports that all of them were written unless
// the writer below fails.
func (s *stream) Write(b []byte) (int, error) {
	l := s.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(b) == 0 {
		return 0, nil
	}
	if err := s.pass(b); err != nil {
		return 0, err
	}
	if l.finished { // nothing comes that would end the fence
		l.settle()
	}
	return len(b), nil
}

func (s *stream) pass(b []byte) error {
	l, w := s.log, s.w
	if l.provider == GitHub && !l.allow {
		w = l.w
		l.fence()
	}
	if l.markers != nil {
		if l.last != nil && l.last != w && len(l.markers.held) > 0 {
			l.put(l.last, l.markers.rest())
		}
		b = l.markers.apply(b)
		l.last = w // what it holds back belongs there
	}
	if s.own != nil {
		s.at = l.all.ends(s.own.ends(s.at[:0], b), b)
		if len(s.at) > 0 {
			slices.Sort(s.at)
			b = split(b, s.at)
		}
	}
	if len(b) == 0 {
		return nil
	}
	_, err := l.write(w, b)
	return err
}

// fence tells the runner to take no commands until a word that only looprun and
// the reader of the log know. There is a new one whenever it begins anew.
func (l *Log) fence() {
	if l.token != "" {
		return
	}
	token := "looprun-" + l.random() // no command of the runner's has such a name
	l.say("::stop-commands::" + token)
	l.token = token
}

// lines are looprun's own.
type lines struct {
	w   io.Writer
	own *words
}

// Write is called for whole lines, by one goroutine at a time.
func (s *lines) Write(b []byte) (int, error) {
	safe := b
	if at := s.own.ends(nil, b); len(at) > 0 {
		safe = split(b, at)
	}
	if _, err := s.w.Write(safe); err != nil {
		return 0, err
	}
	return len(b), nil
}

// LogOf is the one of the two standard streams that goes to the log of the job:
// standard output, unless it was sent to a file.
func LogOf(stdout, stderr io.Writer) io.Writer {
	if regular(stdout) {
		return stderr
	}
	return stdout
}

// regular reports whether what is written goes to a file that a person named.
func regular(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}
