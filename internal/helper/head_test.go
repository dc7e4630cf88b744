package helper

import "testing"

// TestHeadIsBounded however the output comes.
func TestHeadIsBounded(t *testing.T) {
	for _, size := range []int{1, 7, headKept - 1, headKept, headKept + 1, 10 << 20} {
		var h Head
		for range 2 + 2*headKept/size {
			h.Take(make([]byte, size))
		}
		if len(h) != headKept {
			t.Errorf("in parts of %d: %d bytes are kept", size, len(h))
		}
	}
}
