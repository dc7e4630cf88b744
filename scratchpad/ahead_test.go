package scratchpad

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/rounds"
)

// played is what came of reading a journal in one of the two ways.
func played(dir string, read func(*player) error, end int64) string {
	var text bytes.Buffer
	p := player{dir: dir, line: 1, next: 1, f: func(e core.Event) error {
		fmt.Fprintf(&text, "%d %s\n", e.Seq, asJSON(e))
		if e.Seq == end {
			return fmt.Errorf("enough after %d", end)
		}
		return nil
	}}
	err := read(&p)
	fmt.Fprintf(&text, "%+v %v", p.tail, err)
	return text.String()
}

func sameAhead(t *testing.T, dir string, data []byte, end int64) {
	t.Helper()
	one := played(dir, func(p *player) error {
		return p.ended(lineByLine(reader(bytes.NewReader(data), int64(len(data))), p.decode, p.play))
	}, end)
	ahead := played(dir, func(p *player) error { return p.ended(readAhead(bytes.NewReader(data), p.decode, p.play)) }, end)
	if one != ahead {
		t.Errorf("one by one: …%s\nahead: …%s", one[max(0, len(one)-300):], ahead[max(0, len(ahead)-300):])
	}
}

// What is read ahead, in blocks, is what is read line by line, also where a journal is
// damaged, cut, or has lines that no block can hold.
func TestReadingAheadReadsTheSame(t *testing.T) {
	dir := written(t, iterations(700))
	good := []byte(readFile(t, journalOf(dir)))
	if len(good) < 4*blockSize {
		t.Fatalf("%d bytes are not enough", len(good))
	}
	random := rand.New(rand.NewPCG(1, 2))
	at := func() int { return random.IntN(len(good)) }
	for name, change := range map[string]func([]byte) []byte{
		"whole": func(b []byte) []byte { return b },
		"cut":   func(b []byte) []byte { return b[:at()] },
		"a bit": func(b []byte) []byte { b[at()] ^= 4; return b },
		"no line breaks": func(b []byte) []byte {
			n := at()
			return bytes.Join([][]byte{b[:n], bytes.ReplaceAll(b[n:], []byte("\n"), []byte(" "))}, nil)
		},
		"NULs":         func(b []byte) []byte { clear(b[at():]); return b },
		"a line twice": func(b []byte) []byte { n := at(); return bytes.Join([][]byte{b[:n], b[n/2:]}, nil) },
		"empty lines": func(b []byte) []byte {
			n := at()
			return bytes.Join([][]byte{b[:n], bytes.Repeat([]byte("\n"), 2*blockSize), b[n:]}, nil)
		},
		"a long line":   func(b []byte) []byte { return append(b, bytes.Repeat([]byte("x"), 3*blockSize)...) },
		"a long, ended": func(b []byte) []byte { return append(append(b, bytes.Repeat([]byte("x"), 3*blockSize)...), '\n') },
		"block borders": func(b []byte) []byte { return b[:blockSize*(1+random.IntN(3))] },
	} {
		t.Run(name, func(t *testing.T) {
			for range rounds.Of(2) {
				data := change(bytes.Clone(good))
				sameAhead(t, dir, data, 0)
				sameAhead(t, dir, data, int64(1+random.IntN(1400)))
			}
		})
	}
}

// A file that cannot be read on is an error in both ways.
func TestReadingAheadFailsWhereTheFileDoes(t *testing.T) {
	dir := written(t, iterations(10))
	p := player{dir: dir, line: 1, next: 1, f: func(core.Event) error { return nil }}
	broken := io.MultiReader(bytes.NewReader([]byte(readFile(t, journalOf(dir)))), brokenDisk{})
	if err := readAhead(broken, p.decode, p.play); err == nil || err.Error() != "the disk is gone" {
		t.Errorf("%v", err)
	}
}

type brokenDisk struct{}

func (brokenDisk) Read([]byte) (int, error) { return 0, fmt.Errorf("the disk is gone") }
