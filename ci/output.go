package ci

import (
	"io"
	"os"
	"slices"
)

// Output wraps a writer through which the command's output passes to the log: unless commands
// are allowed, the wrapped output cannot issue commands to the CI system. Output returns a
// regular file unchanged, and every writer if the CI system takes no commands, since neither
// needs protection.
//
// With GitHub the output goes to the log that the fence is written to, whichever writer is
// wrapped: the runner reads standard output and standard error from two pipes in no guaranteed
// order, so a fence on one does not protect the other.
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

// Messages wraps a writer for looprun's own lines, each of which begins with “looprun: ”. They
// quote the command's output and its arguments, so the same words must be kept out of them;
// fencing the command's output does not help there.
func (l *Log) Messages(w io.Writer) io.Writer {
	if regular(w) {
		return w
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
	// own finds words in this stream, and log.all finds words in all streams in the order
	// written: it is unknown which of the two the CI system reads.
	own *words
	at  []int
}

// Write passes the bytes on. It reports all of them as written unless the underlying writer
// fails.
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
	if s.own != nil {
		s.at = l.all.ends(s.own.ends(s.at[:0], b), b)
		if len(s.at) > 0 {
			slices.Sort(s.at)
			b = split(b, s.at)
		}
	}
	_, err := l.write(w, b)
	return err
}

// fence tells the runner to ignore commands until it reads a word known only to looprun and
// the log's reader. Each fence has a new word.
func (l *Log) fence() {
	if l.token != "" {
		return
	}
	token := "looprun-" + l.random() // no command of the runner's has such a name
	l.say("::stop-commands::" + token)
	l.token = token
}

// lines writes looprun's own lines.
type lines struct {
	w   io.Writer
	own *words
}

// Write is called with whole lines, by one goroutine at a time.
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

// LogOf returns the standard stream that goes to the job's log: standard output, or standard
// error if standard output is redirected to a file.
func LogOf(stdout, stderr io.Writer) io.Writer {
	if regular(stdout) {
		return stderr
	}
	return stdout
}

// regular reports whether w writes to a regular file.
func regular(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}
