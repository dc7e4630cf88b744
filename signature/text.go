package signature

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/margin"
)

// text is one of the texts in a stream: its lines, and what they mean.
type text struct {
	s     *Signer
	id    int  // of the stream
	used  bool // something was written
	lines lines.Reader
	named bool // the line that is written has the source in front already
	clean cleaner
	split margin.Splitter
	inner carrier.Stream // opens what stands behind a margin
	whose *extractor     // whose line that is
	held  []byte
	src   sources
	seen  []seenLine
}

// seenLine is a line that no rule wants.
type seenLine struct {
	loose  uint64
	counts bool // it may state how many checks ran
}

// seenSize is the number of slots for lines known to contain no facts.
const seenSize = 2048

func newText(s *Signer, id int) *text {
	t := &text{s: s, id: id, seen: make([]seenLine, seenSize)}
	t.split.Line = t.message
	t.inner.Part, t.inner.Table = t.opened, s.opt.carriers
	t.src.init(s, id)
	return t
}

// write adds a piece. It puts the source that a log names in front of its lines, as a margin
// would.
func (t *text) write(p carrier.Part) {
	if p.Source == "" {
		t.lines.Write(p.Text, t)
		return
	}
	for line := range bytes.Lines(p.Text) {
		if !t.named {
			t.lines.Write([]byte(p.Source+" | "), t)
		}
		t.lines.Write(line, t)
		t.named = line[len(line)-1] != '\n'
	}
}

func (t *text) end() {
	t.lines.End(t)
	t.split.Flush()
	t.inner.Flush()
}

func (t *text) reset() {
	t.lines.Reset()
	t.used, t.named = false, false
	t.split.Reset()
	t.inner.Reset()
	t.src.init(t.s, t.id)
	clear(t.seen)
}

// Lines implements [lines.Sink].
func (t *text) Lines(b []byte) {
	plain := !dirty(b) // to ask once is cheaper than for each line
	for len(b) > 0 {
		line := b
		if n := bytes.IndexByte(b, '\n'); n >= 0 {
			line, b = b[:n], b[n+1:]
		} else {
			b = nil
		}
		t.rawLine(line, plain)
	}
	t.split.Keep()
}

// Long implements [lines.Sink].
func (t *text) Long(p []byte, first bool) bool {
	t.split.Flush()
	return t.src.main.longLine(p, first)
}

// LongEnd implements [lines.Sink].
func (t *text) LongEnd(head []byte) {
	if head != nil {
		t.rawLine(head, false)
		t.split.Keep()
	}
}

// rawLine handles one unprocessed line; a plain one is known not to be dirty.
func (t *text) rawLine(b []byte, plain bool) {
	passing := false // it stands where the next will
	if !plain {
		if n := len(b); n > 0 && b[n-1] == '\r' {
			b = b[:n-1]
		}
		if dirty(b) {
			b, passing = t.clean.clean(b), true
		}
	}
	full, counts := t.masked(b)
	if !counts {
		return
	}
	t.split.Add(full)
	if passing {
		t.split.Keep()
	}
}

// message handles one line with its margin.
func (t *text) message(full []byte, cut *margin.Cut) {
	x := t.src.of(cut.Name)
	t.s.why.margin(x.suite, full[:cut.Len])
	if cut.Record {
		t.s.why.carrier("log")
		if full = bytes.TrimSuffix(full, []byte("\r")); dirty(full) {
			full = t.clean.clean(full) // escape sequences were escaped themselves
		}
	}
	x.timed, x.boxed = false, false
	if cut.Len > 0 {
		side := trimRight(full[:cut.Len])
		full = trimRight(full[cut.Len:])
		x.timed = cut.Time && x.logs(full)
		x.boxed = len(cut.Name) == 0 && (bytes.HasSuffix(side, []byte("│")) || bytes.HasSuffix(side, []byte("┃")) || bytes.HasSuffix(side, []byte("#")))
		if b := trim(full); len(b) > 2 && b[0] == '{' && b[1] != ' ' {
			t.whose, t.held = x, append(append(t.held[:0], b...), '\n')
			_, _ = t.inner.Write(t.held)
			return
		}
	}
	t.said(x, trimRight(full))
}

// opened handles a piece of the content of a line after its margin.
func (t *text) opened(p carrier.Part) {
	c := &t.s.out
	if t.id != 0 {
		c = &t.s.err
	}
	if p.Role != carrier.Plain {
		if t == c.texts[0] {
			c.part(p)
		}
		return
	}
	if len(p.Text) != len(t.held) {
		t.s.why.carrier("log")
	}
	for b := range bytes.Lines(p.Text) {
		if b = bytes.TrimRight(b, "\r\n"); dirty(b) {
			b = t.clean.clean(b)
		}
		t.said(t.whose, b)
	}
}

// said handles a line from a source.
func (t *text) said(x *extractor, full []byte) {
	s, b := t.s, trim(full)
	if len(b) == 0 {
		x.blank()
		return
	}
	if s.why != nil {
		s.why.line(&s.sc, t.id, b)
	}
	h := s.known.hash(&s.sc, b)
	h.loose, h.strict = h.loose^x.suiteHash, h.strict^x.suiteHash
	s.lines.add(t.id, h)
	place := &t.seen[h.loose%seenSize]
	known := place.loose == h.loose && !x.busy() && len(s.opt.Extract) == 0
	if known && !place.counts {
		return
	}
	counts := s.checks.line(b)
	if known {
		return
	}
	facts := s.facts.seq
	if !x.line(full, b) {
		*place = seenLine{h.loose, counts}
	}
	if s.facts.seq == facts && !x.busy() {
		for _, l := range carried(b) {
			if dirty(l) {
				l = t.clean.clean(l)
			}
			t.said(x, trimRight(l))
		}
	}
}

// carried returns the lines of multi-line texts in an object of unknown form that has no
// meaning by itself: a tool's output in an agent's transcript. Texts in lists are parts of a
// report and are skipped.
func carried(b []byte) (lines [][]byte) {
	if b[0] != '{' || b[len(b)-1] != '}' || bytes.Count(b, []byte(`\n`)) < 2 {
		return nil
	}
	var object map[string]any
	if json.Unmarshal(b, &object) != nil {
		return nil
	}
	take := func(v any) {
		if text, ok := v.(string); ok && strings.Count(text, "\n") > 1 {
			lines = append(lines, bytes.Split([]byte(text), []byte("\n"))...)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		take(object[key])
		inner, _ := object[key].(map[string]any)
		for _, k := range slices.Sorted(maps.Keys(inner)) {
			take(inner[k])
		}
	}
	return lines
}

// masked returns a line with the user's masks applied. It returns false for a line to ignore:
// looprun's own and those that the user ignores.
func (t *text) masked(full []byte) ([]byte, bool) {
	user, b := &t.s.opt, full
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	if bytes.HasPrefix(b, []byte("looprun: ")) || len(user.Ignore) > 0 && user.ignored(trimRight(b)) {
		return nil, false
	}
	if len(user.Mask) > 0 {
		full = user.masked(full)
	}
	return full, true
}
