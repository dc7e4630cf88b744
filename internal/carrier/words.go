package carrier

import (
	"bytes"

	"github.com/cespare/xxhash/v2"
)

// longestPiece is how much of a line that arrives in pieces is kept until it is whole, in
// bytes.
const longestPiece = 64 << 10

// words records what an agent has said, as far as needed to emit nothing twice.
type words struct {
	open    bool   // pieces have begun that go on
	begins  bool   // the next words begin a message
	line    []byte // of them, the unfinished line
	pieces  xxhash.Digest
	done    [16]uint64 // texts that came in pieces, and may come again whole
	next    int
	last    uint64 // the last text
	all     xxhash.Digest
	started bool   // all has begun
	recent  []byte // the beginning of the last text
}

// out emits a part that consists of whole lines.
func (s *Stream) out(r Role, text []byte) {
	if len(text) == 0 {
		return
	}
	begins := r == Said && s.words.begins
	s.words.begins = s.words.begins && !begins
	s.Part(Part{Role: r, Text: text, Agent: s.agent, Source: s.source, Begins: begins})
}

// ended emits text, adding the last line end if it is missing.
func (s *Stream) ended(r Role, text []byte) {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	s.out(r, text)
}

// plain emits text that is not a carrier.
func (s *Stream) plain(text []byte) {
	if len(text) > 0 {
		s.Part(Part{Role: Plain, Text: text, Source: s.source})
	}
}

// goOn emits the whole lines of a piece now, and the rest once it is whole too.
func (s *Stream) goOn(text []byte) {
	w := &s.words
	if !w.open {
		w.open, w.begins, w.recent = true, true, w.recent[:0]
		w.pieces.Reset()
	}
	w.recent = append(w.recent, text[:min(len(text), maxWords-len(w.recent))]...)
	_, _ = w.pieces.Write(text)
	w.line = append(w.line, text...)
	n := bytes.LastIndexByte(w.line, '\n') + 1
	if len(w.line)-n > longestPiece {
		n = len(w.line)
	}
	s.out(Said, w.line[:n])
	w.line = append(w.line[:0], w.line[n:]...)
}

// finish emits the remaining pieces. It may be called only when the agent reports that they
// end; otherwise the line of which this is the beginning could still mean the opposite.
func (s *Stream) finish() {
	w := &s.words
	if !w.open {
		return
	}
	s.ended(Said, w.line)
	w.line, w.open, w.last = w.line[:0], false, w.pieces.Sum64()
	w.done[w.next%len(w.done)] = w.last
	w.next++
}

// leave drops an unfinished line, and reports that the message has a rest that is unknown; with
// cut it has one in any case.
func (s *Stream) leave(cut bool) {
	w := &s.words
	if cut || len(w.line) > 0 {
		w.begins = false
		s.Part(Part{Role: Said, Agent: s.agent, Source: s.source, Begins: true})
		s.ended(Noise, w.line)
	}
	w.line, w.open = w.line[:0], false
}

// say emits a whole text, unless it already came in pieces. With last it is the last of a turn,
// which mostly repeats the text before it, or all texts of the turn.
func (s *Stream) say(r Role, text []byte, last bool) {
	w := &s.words
	sum := xxhash.Sum64(text)
	if w.open && w.pieces.Sum64() == sum {
		s.finish()
	}
	s.leave(false)
	again := last && (sum == w.last || w.started && sum == w.all.Sum64())
	for i := range w.done {
		if w.done[i] == sum && !last {
			again, w.done[i] = true, 0
			break
		}
	}
	if !w.started {
		w.started = true
		w.all.Reset()
	}
	_, _ = w.all.Write(text)
	w.recent = append(w.recent[:0], text[:min(len(text), maxWords)]...)
	if w.last = sum; !again {
		w.begins = true
		s.ended(r, text)
	}
	if last {
		w.last, w.started = 0, false
	}
}
