// Package tail keeps the end of what is written.
package tail

// Buffer keeps the last Limit bytes of what is written to it, using at most twice as much
// memory.
type Buffer struct {
	Limit int // 0: nothing is kept
	kept  []byte
	more  bool // there was more than is kept
}

// Reset clears the buffer and keeps the memory.
func (t *Buffer) Reset() { t.kept, t.more = t.kept[:0], false }

// Take appends what is written next.
func (t *Buffer) Take(b []byte) {
	if len(b) >= t.Limit {
		t.more = t.more || len(t.kept) > 0 || len(b) > t.Limit
		t.kept = append(t.kept[:0], Of(b, t.Limit)...)
		return
	}
	t.kept = append(t.kept, b...)
	if len(t.kept) > 2*t.Limit {
		t.kept, t.more = append(t.kept[:0], Of(t.kept, t.Limit)...), true
	}
}

// Bytes returns the bytes kept, valid until the next Take or Reset.
func (t *Buffer) Bytes() []byte { return Of(t.kept, t.Limit) }

// Cut reports whether there was more before it.
func (t *Buffer) Cut() bool { return t.more || len(t.kept) > t.Limit }

// Of returns the last n bytes of b.
func Of(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
