package looprun

import (
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/signature"
)

// How much of the end of an output is kept for questions.
const (
	excerptBytes = 2048
	excerptLines = 10
	excerptWidth = 160
)

// The streams of a step.
const (
	stdoutStream = iota
	stderrStream
)

// waitEnd is how much of the end of each stream is looked at for a limit to wait
// for, in bytes.
const waitEnd = 64 << 10

// tap learns from one step's output as it streams past.
type tap struct {
	signer  *signature.Signer
	signing signing
	streams [2]stream
	bytes   int64
	recent  tail // of both streams, as it came
}

// stream learns from one stream of a step. What reads in it reads nothing else:
// what one stream says in pieces is whole, whatever the other says in between.
type stream struct {
	promise  *promiseScanner // nil: no promise is looked for
	listener Listener        // nil: nobody listens
	end      tail
}

func newTap(o signature.Options, waits bool) *tap {
	t := &tap{signer: signature.New(o), recent: tail{limit: excerptBytes}}
	t.signing = newSigning(t.signer)
	if waits {
		for i := range t.streams {
			t.streams[i].end.limit = waitEnd
		}
	}
	return t
}

// listen looks for the promise in each stream, unless it is empty, and gives each
// its listener.
func (t *tap) listen(promise string, anywhere bool, to Streams) {
	for i := range t.streams {
		s := &t.streams[i]
		if promise != "" {
			s.promise = newPromiseScanner(promise, anywhere)
		}
		if to != nil {
			s.listener = to.listeners()[i]
		}
	}
}

func (t *tap) reset() {
	t.signer.Reset()
	t.bytes = 0
	t.recent.reset()
	for i := range t.streams {
		t.streams[i].reset()
	}
}

func (s *stream) reset() {
	s.end.reset()
	if s.promise != nil {
		s.promise.reset()
	}
	if s.listener != nil {
		s.listener.Reset()
	}
}

// take takes the next piece of a stream.
func (t *tap) take(stream int, b []byte) {
	t.signing.write(stream, b)
	t.streams[stream].take(b)
	t.bytes += int64(len(b))
	t.recent.write(b)
}

func (s *stream) take(b []byte) {
	if s.promise != nil {
		s.promise.write(b)
	}
	if s.listener != nil {
		_, _ = s.listener.Write(b)
	}
	s.end.write(b)
}

// settle ends the output of a step: all of it has been learned from when it returns.
func (t *tap) settle() { t.signing.settle() }

func (t *tap) promised() bool {
	made := false
	for i := range t.streams {
		if p := t.streams[i].promise; p != nil {
			made = p.end() || made
		}
	}
	return made
}

// sign ends the output. A judge that passed has the constant signature, however
// it says so.
func (t *tap) sign(code int, passed bool) signature.Signature {
	if passed {
		return signature.Pass
	}
	return t.signer.SumContent(code)
}

// excerpt is the end of the output, safe to show anywhere.
func (t *tap) excerpt() string {
	lines := strings.Split(strings.TrimSpace(termsafe.Text(string(t.recent.last()))), "\n")
	if t.recent.cut() && len(lines) > 1 {
		lines = lines[1:] // cut somewhere in its middle
	}
	lines = lines[max(0, len(lines)-excerptLines):]
	for i, l := range lines {
		lines[i] = termsafe.Cut(l, excerptWidth)
	}
	return strings.Join(lines, "\n")
}

// tail keeps the last limit bytes of what is written to it, and up to as much again.
type tail struct {
	limit int // 0: nothing is kept
	kept  []byte
	more  bool // there was more than is kept
}

func (t *tail) reset() { t.kept, t.more = t.kept[:0], false }

func (t *tail) write(b []byte) {
	if len(b) >= t.limit {
		t.more = t.more || len(t.kept) > 0 || len(b) > t.limit
		t.kept = append(t.kept[:0], ending(b, t.limit)...)
		return
	}
	t.kept = append(t.kept, b...)
	if len(t.kept) > 2*t.limit {
		t.kept, t.more = append(t.kept[:0], ending(t.kept, t.limit)...), true
	}
}

// last is what is kept, and cut whether there was more before it.
func (t *tail) last() []byte { return ending(t.kept, t.limit) }
func (t *tail) cut() bool    { return t.more || len(t.kept) > t.limit }

// ending is the last n bytes of b.
func ending(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
