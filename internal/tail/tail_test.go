package tail

import (
	"bytes"
	"math/rand"
	"testing"
)

// What is kept of the end is the end, however it came.
func TestBuffer(t *testing.T) {
	for seed := range int64(300) {
		rnd := rand.New(rand.NewSource(seed))
		k := Buffer{Limit: rnd.Intn(20)}
		for range 2 {
			var all []byte
			for range rnd.Intn(12) {
				b := make([]byte, rnd.Intn(30))
				rnd.Read(b)
				k.Take(b)
				all = append(all, b...)
				clear(b) // the slice is the caller's again
			}
			want := all[max(0, len(all)-k.Limit):]
			if !bytes.Equal(k.Bytes(), want) || k.Cut() != (len(all) > k.Limit) || len(k.kept) > 2*k.Limit {
				t.Fatalf("seed %d: %q, cut %t, %d bytes kept; want %q of %q", seed, k.Bytes(), k.Cut(), len(k.kept), want, all)
			}
			k.Reset()
		}
	}
}
