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

// tap learns from one step's output as it streams past.
type tap struct {
	signer   *signature.Signer
	signing  signing
	out, err *promiseScanner // nil: no promise is looked for
	bytes    int64
	recent   []byte // the last excerptBytes, and up to as much again
}

func newTap(o signature.Options, promise string, anywhere bool) *tap {
	t := &tap{signer: signature.New(o)}
	t.signing = newSigning(t.signer)
	if promise != "" {
		t.out, t.err = newPromiseScanner(promise, anywhere), newPromiseScanner(promise, anywhere)
	}
	return t
}

func (t *tap) reset() {
	t.signer.Reset()
	t.bytes, t.recent = 0, t.recent[:0]
	if t.out != nil {
		t.out.reset()
		t.err.reset()
	}
}

func (t *tap) stdout(b []byte) { t.take(0, t.out, b) }
func (t *tap) stderr(b []byte) { t.take(1, t.err, b) }

func (t *tap) take(stream int, promise *promiseScanner, b []byte) {
	t.signing.write(stream, b)
	if promise != nil {
		promise.write(b)
	}
	t.keep(b)
}

// settle ends the output of a step: all of it has been learned from when it returns.
func (t *tap) settle() { t.signing.settle() }

func (t *tap) keep(b []byte) {
	t.bytes += int64(len(b))
	if len(b) >= excerptBytes {
		t.recent = append(t.recent[:0], tail(b, excerptBytes)...)
		return
	}
	t.recent = append(t.recent, b...)
	if len(t.recent) > 2*excerptBytes {
		t.recent = append(t.recent[:0], tail(t.recent, excerptBytes)...)
	}
}

func (t *tap) promised() bool {
	return t.out != nil && (t.out.end() || t.err.end())
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
	lines := strings.Split(strings.TrimSpace(termsafe.Text(string(tail(t.recent, excerptBytes)))), "\n")
	if t.bytes > excerptBytes && len(lines) > 1 {
		lines = lines[1:] // cut somewhere in its middle
	}
	lines = lines[max(0, len(lines)-excerptLines):]
	for i, l := range lines {
		lines[i] = termsafe.Cut(l, excerptWidth)
	}
	return strings.Join(lines, "\n")
}
