package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/tail"
)

// CheckPromise returns an error if a text cannot be a promise.
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

// Promised reports whether a recorded output makes the promise: alone on its last line that is
// not empty, or in <promise> tags followed by nothing but tags, and not in a block of code. In
// an agent's transcript, only the last message of the last turn can make it. With anywhere,
// any part of the text can make it.
func Promised(output io.Reader, promise string, anywhere bool) (bool, error) {
	said := speech{promise: newPromises(promise, anywhere, stdoutStream)}
	said.init()
	s := carrier.Stream{Fact: said.fact, Part: said.take}
	_, err := io.Copy(&s, output)
	s.Flush()
	said.end()
	made, _ := said.promise.end()
	return made && err == nil, err
}

// promises searches one stream for the promise: in the command's own output, and in the
// messages of agents, of which only the last counts.
type promises struct {
	plain, said *promiseScanner
	silent      bool // plain text is not looked at, as on standard error
	agents      bool // agents have said something in it, or had a turn
	over        bool // the last turn has ended
	earlier     bool // a message made the promise that was not the last
	failed      bool // a call failed after the last message
}

func newPromises(promise string, anywhere bool, stream int) *promises {
	return &promises{
		plain: newPromiseScanner(promise, anywhere), said: newPromiseScanner(promise, anywhere),
		silent: stream != stdoutStream && !anywhere,
	}
}

func (p *promises) reset() {
	p.plain.reset()
	p.said.reset()
	p.agents, p.over, p.earlier, p.failed = false, false, false, false
}

// say notes text from an agent, and whether it begins a message.
func (p *promises) say(begins bool) {
	if p.agents = true; begins {
		p.message()
		p.over = false
	}
}

// message begins the next message.
func (p *promises) message() {
	made, _ := p.said.end()
	p.earlier, p.failed = p.earlier || made, false
	p.said.reset()
}

// fact takes a fact that an agent reports about itself.
func (p *promises) fact(f carrier.Fact) {
	switch f := f.(type) {
	case carrier.Began:
		p.agents = true
		p.message()
	case carrier.Ended:
		if p.agents = true; p.over { // a turn without a word
			p.message()
		}
		p.over = true
	case carrier.Call:
		p.failed = p.failed || f.Failed
	}
}

// end reports whether the promise was made, and if not, why, in case somebody might think so.
func (p *promises) end() (made bool, why string) {
	switch {
	case !p.agents && p.silent:
		if made, _ = p.plain.end(); made {
			why = "promise on standard error: not counted; print it on standard output"
		}
		return false, why
	case !p.agents:
		return p.plain.end()
	}
	made, why = p.said.end()
	switch {
	case made && p.failed:
		return false, "promise before a failed call: not counted; make the promise last"
	case !made && why == "" && p.earlier:
		why = "promised before the last message: not counted; say it last"
	}
	return made, why
}

// promised reports whether the output made the promise, and if not, why, in case somebody
// might think so. If agents have printed to both streams, both must make it.
func (a *analyzer) promised() (made bool, why string) {
	agents := false
	for i := range a.streams {
		p := a.streams[i].speech.promise
		if p == nil || agents && !p.agents {
			continue
		}
		m, w := p.end()
		if p.agents {
			made, agents = m && (made || !agents), true
		} else {
			made = made || m
		}
		why = cmp.Or(why, w)
	}
	return made, why
}

// promiseScanner searches the lines of one text for the promise. Its memory use does not grow
// with the text.
type promiseScanner struct {
	promise  []byte
	anywhere bool
	last     []byte // anywhere: the end of what was written
	made     bool   // as far as the text has come
	tagged   bool   // in tags, after which other tags may come
	line     int
	at       int  // the line of the last promise; 0: there was none
	fenced   bool // that is in a block of code
	fence    lines.Fence
}

func newPromiseScanner(promise string, anywhere bool) *promiseScanner {
	return &promiseScanner{promise: []byte(strings.TrimSpace(promise)), anywhere: anywhere}
}

func (p *promiseScanner) reset() {
	*p = promiseScanner{promise: p.promise, anywhere: p.anywhere, last: p.last[:0]}
}

// find searches for the plain text, including across two writes.
func (p *promiseScanner) find(b []byte) {
	if !p.anywhere || p.made {
		return
	}
	p.last = append(p.last, b[:min(len(b), len(p.promise)-1)]...)
	p.made = bytes.Contains(p.last, p.promise) || bytes.Contains(b, p.promise)
	p.last = append(p.last[:0], tail.Of(append(p.last, b[min(len(b), len(p.promise)-1):]...), len(p.promise)-1)...)
}

// ownPrefix begins every line that looprun itself prints.
const ownPrefix = "looprun: "

// look examines a line; cut means that the line continues, so it cannot be the promise.
func (p *promiseScanner) look(line []byte, cut bool) {
	if p.anywhere {
		return
	}
	if p.line++; cut {
		p.made = false
		return
	}
	place := p.fence.Take(line)
	line = bytes.TrimSpace(line)
	if len(line) == 0 || bytes.HasPrefix(line, []byte(ownPrefix)) {
		return
	}
	switch place {
	case lines.Opening, lines.Closing:
		p.made = false
		return
	case lines.Inside:
		if p.match(line); p.made {
			p.made, p.fenced = false, true
		}
		return
	case lines.Outside:
	}
	if p.made && p.tagged && isTags(line) {
		return
	}
	p.match(line)
}

// match records whether a line is the promise.
func (p *promiseScanner) match(line []byte) {
	p.made = false
	if len(line) < len(p.promise) || !bytes.Contains(line, p.promise[:1]) {
		return
	}
	if p.made, p.tagged = isPromise(string(line), string(p.promise)); p.made {
		p.at, p.fenced = p.line, false
	}
}

// isTags reports whether a line consists only of tags.
func isTags(line []byte) bool {
	for len(line) > 0 {
		end := bytes.IndexByte(line, '>')
		if line[0] != '<' || end < 2 || bytes.IndexByte(line[1:end], '<') >= 0 {
			return false
		}
		line = bytes.TrimSpace(line[end+1:])
	}
	return true
}

// end reports whether the promise was made, and if not, why, in case somebody might think so.
func (p *promiseScanner) end() (made bool, why string) {
	switch {
	case p.made || p.at == 0:
		return p.made, ""
	case p.fenced:
		return false, fmt.Sprintf("promised in line %d, in a block of code: not counted; print it by itself", p.at)
	}
	return false, fmt.Sprintf("promised in line %d, and more was printed after it: not counted; print it last", p.at)
}

// isPromise reports whether the line is the promise and nothing else, bare or in <promise>
// tags, after white space and Markdown emphasis or backticks are stripped. Hidden characters
// are not stripped: a line that only looks like the promise, or does not even look like it, is
// not the promise.
func isPromise(line, promise string) (made, tagged bool) {
	text := strip(line, promise)
	if text == promise {
		return true, false
	}
	inner, ok := strings.CutPrefix(text, "<promise>")
	if !ok {
		return false, false
	}
	inner, ok = strings.CutSuffix(inner, "</promise>")
	made = ok && strip(inner, promise) == promise
	return made, made
}

// strip removes decoration until only the promise, or no more decoration, is left, so that a
// promise may itself begin with a decorating character.
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
