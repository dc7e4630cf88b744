package looprun

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"

	"github.com/looprun/looprun/internal/termsafe"
)

// CheckPromise says why a text cannot be a promise.
func CheckPromise(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("the promise is empty: every output would make it; give the text that the command prints when it is done")
	case strings.ContainsAny(text, "\n\r"):
		return errors.New("the promise has more than one line; give one line that the command prints when it is done")
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\t' }):
		return errors.New("the promise has a control character, which no line that a person sees can have; give plain text")
	}
	return nil
}

// Promised reports whether a recorded output makes the promise, alone on a line,
// or with anywhere as any part of the text.
func Promised(output io.Reader, promise string, anywhere bool) (bool, error) {
	p := newPromiseScanner(promise, anywhere)
	b := make([]byte, 32<<10)
	for {
		n, err := output.Read(b)
		p.write(b[:n])
		if err == io.EOF {
			return p.end(), nil
		}
		if err != nil {
			return false, err
		}
	}
}

// lineSlack is how much decoration around a promise is looked through.
const lineSlack = 4096

// promiseScanner looks for the promise in one stream of output. Its memory
// does not grow with the output.
type promiseScanner struct {
	promise  []byte
	anywhere bool
	unseen   termsafe.Strings
	begun    bool   // a line has ended
	line     []byte // the unfinished line, cut at its limit
	long     bool   // the line is too long to be a promise
	made     bool
}

func newPromiseScanner(promise string, anywhere bool) *promiseScanner {
	return &promiseScanner{promise: []byte(strings.TrimSpace(promise)), anywhere: anywhere}
}

func (p *promiseScanner) reset() {
	p.unseen.Reset()
	p.line, p.begun, p.long, p.made = p.line[:0], false, false, false
}

// write looks at the next piece of the stream, cut anywhere.
func (p *promiseScanner) write(b []byte) {
	if p.made {
		return
	}
	b = p.unseen.Drop(b)
	if p.anywhere {
		p.find(b)
		return
	}
	for len(b) > 0 && !p.made {
		i := bytes.IndexAny(b, "\n\r")
		if i < 0 {
			p.keep(b)
			return
		}
		p.keep(b[:i])
		p.endLine()
		b = b[i+1:]
	}
}

// find looks for the plain text, also across two writes.
func (p *promiseScanner) find(b []byte) {
	p.line = append(p.line, b[:min(len(b), len(p.promise)-1)]...)
	p.made = bytes.Contains(p.line, p.promise) || bytes.Contains(b, p.promise)
	p.line = append(p.line[:0], ending(append(p.line, b[min(len(b), len(p.promise)-1):]...), len(p.promise)-1)...)
}

func (p *promiseScanner) keep(b []byte) {
	if room := len(p.promise) + lineSlack - len(p.line); len(b) > room {
		p.long = true
		b = b[:max(0, room)]
	}
	p.line = append(p.line, b...)
}

func (p *promiseScanner) endLine() {
	if !p.begun { // a byte order mark is no part of the text
		p.line = bytes.TrimPrefix(p.line, []byte("\ufeff"))
		p.begun = true
	}
	if !p.long && len(p.line) >= len(p.promise) && bytes.Contains(p.line, p.promise[:1]) {
		p.made = p.made || isPromise(string(p.line), string(p.promise))
	}
	p.line, p.long = p.line[:0], false
}

// end says whether the promise was made; a last line needs no line break.
func (p *promiseScanner) end() bool {
	if !p.anywhere {
		p.endLine()
	}
	return p.made
}

// isPromise reports whether the line is the promise and nothing else, bare or
// in <promise> tags, after escape sequences, white space and Markdown emphasis
// or backticks are stripped. Hidden characters are not: a line that only looks
// like the promise, or does not even look like it, is none.
func isPromise(line, promise string) bool {
	text := strip(termsafe.Unescaped(line), promise)
	if text == promise {
		return true
	}
	inner, ok := strings.CutPrefix(text, "<promise>")
	if !ok {
		return false
	}
	inner, ok = strings.CutSuffix(inner, "</promise>")
	return ok && strip(inner, promise) == promise
}

// strip takes decoration away until the promise or nothing more is left, so
// that a promise may itself begin with a decorating character.
func strip(text, promise string) string {
	for {
		text = strings.TrimSpace(text)
		n := len(text)
		if text == promise || n < 2 || text[0] != text[n-1] || !strings.ContainsRune("*_`", rune(text[0])) {
			return text
		}
		text = text[1 : n-1]
	}
}
