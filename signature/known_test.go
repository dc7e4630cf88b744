package signature

import (
	"bytes"
	"maps"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/looprun/looprun/internal/ascii"
	"github.com/looprun/looprun/internal/rounds"
)

// like returns a line that may have the same outline: other digits, and other
// hexadecimal digits in words that consist of them.
func like(rnd *rand.Rand, line []byte) []byte {
	b := bytes.Clone(line)
	change := rnd.Intn(4) // a part of the digits, or all of them
	for i := 0; i < len(b); {
		e := i
		for e < len(b) && word(b[e]) {
			e++
		}
		hex := hexFrom(b, i) == e && e-i >= 4 && rnd.Intn(3) > 0
		digits := "0123456789abcdefABCDEFfdfddBB0000000"
		if rnd.Intn(8) == 0 {
			digits = "00123456789"
		}
		for ; i < e; i++ {
			switch {
			case change > 0 && rnd.Intn(change) == 0:
			case hex:
				b[i] = digits[rnd.Intn(len(digits))]
			case ascii.Digit(b[i]):
				b[i] = "0012345678900"[rnd.Intn(13)]
			}
		}
		i = max(i, e) + 1
	}
	return b
}

// knows is a scanner's memory that gives nothing up.
type knows struct {
	k      known
	sc     scanner
	hits   int
	misses int
}

// agree checks that what is remembered is what the scanner finds.
func (k *knows) agree(t *testing.T, line []byte) {
	t.Helper()
	k.k.count, k.k.rest, k.k.luck = knownAfter, 0, mostLuck/2
	if k.k.lines == nil {
		k.k.hash(&k.sc, line) // takes the memory
		k.k.luck = mostLuck / 2
	}
	got := k.k.hash(&k.sc, line)
	if k.k.luck > mostLuck/2 {
		k.hits++
	} else {
		k.misses++
	}
	if want := k.sc.hash(line, nil); got != want {
		t.Fatalf("%q: from memory %x, scanned %x (%q)", line, got, want, k.sc.text(nil, line, false))
	}
}

// pieces of lines beside which the scanner decides by what stands next to them.
var piecesOfLines = []string{
	" ", " ", " ", " ", "=", ":", ":", "/", "-", "-", ".", ".", ",", "_", "(", ")", "[", "]", "#", "\"", "|", "@", "+", "%", "\\", "\x00", "é", "µs", "  ",
	"1", "12", "123", "1234", "12345", "1234567", "12345678", "123456789", "0", "00", "0x", "0x1f", "1x1f", "0X7f23ab", "3x",
	"deadbeef12", "1a2b3c4d", "12345678d", "12d3456", "1234567B", "a1b2c3d", "a1b2c3", "abcdef1", "9e3779b1fd", "1fd", "cafe0123cafe0123cafe0123cafe0123cafe0123",
	"9e3779b1-1c2b-4d3e-8f90-00000001daa5", "1234567d-1c2b-4d3e-8f90-0123456789ab", "12345678-1c2b-4d3e-8f90-0123456789fd", "2026abcd-1234-5678-9abc-def012345678", "abcdefab-1c2b-4d3e-8f90-00000001daa5",
	"Nov 21 2026", "21 Nov", "21-Nov-", "2026abcd", "2026abcdef12", "Dec", "Feb", "Sat, ", "2026-11-21", "09:12:05", "09:12", ".719", "Z", "T", " UTC", "+0100", "I1121 ", "20261121T091205Z",
	"ms", "s", "m", "h", "d", "B", "K", "MB", " of ", " rows", " tests", "5s", ".5s", "pid ", "fd ", "port=", "exit ", "id=", "line ", "code:",
	"/tmp/", "/srv/app1/", "/srv/app2/", "/srv/app1", "/usr/lib/", "C:\\", "a.go:", "x", "z", "case_", "worker-", "E", "api-", "7d9f8b6k5", "x2x4z", "b2c4d", "xkcdz", "V1StGXR8_Z5jd", "B6myT", "rMgJxohoZyc", "toolu_01zE9Vz62PXF", "call_", "id: ", "ref='", "RequestID: ", "sha256:", " does not match", "node", "v", "@@ -", "> ", "://",
}

func randomLine(rnd *rand.Rand) []byte {
	var b []byte
	for range 1 + rnd.Intn(9) {
		b = append(b, piecesOfLines[rnd.Intn(len(piecesOfLines))]...)
	}
	return trim(b)
}

// What is remembered of one line must be what the scanner finds in every line of the
// same outline.
func TestKnownLines(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for _, dir := range []string{"", "/srv/app", "/srv/app1", "/srv/a-1f2e3d4c/x"} {
		k := &knows{sc: newScanner(dir)}
		for range rounds.Of(30_000) {
			line := randomLine(rnd)
			k.agree(t, line)
			for range 4 {
				k.agree(t, like(rnd, line))
			}
		}
		if k.hits < k.misses/4 {
			t.Errorf("dir %q: %d lines from memory and %d not: this tests too little", dir, k.hits, k.misses)
		}
	}
}

// FuzzKnownLines is TestKnownLines with lines of any kind.
func FuzzKnownLines(f *testing.F) {
	for _, s := range piecesOfLines {
		f.Add([]byte("took "+s+" in 12 ms"), int64(1))
	}
	k := &knows{sc: newScanner("/srv/app1")}
	f.Fuzz(func(t *testing.T, data []byte, seed int64) {
		line := trim(data)
		rnd := rand.New(rand.NewSource(seed))
		k.agree(t, line)
		for range 20 {
			k.agree(t, like(rnd, line))
		}
	})
}

// The recordings have the same hashes with a memory and without one.
func TestKnownRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(benchDir, "*", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	k := &knows{sc: newScanner("/tmp/work1")}
	rnd := rand.New(rand.NewSource(1))
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			line = trim(bytes.TrimSpace(line))
			k.agree(t, line)
			k.agree(t, like(rnd, line))
		}
	}
	if k.hits < k.misses/4 {
		t.Errorf("%d lines from memory and %d not: this tests too little", k.hits, k.misses)
	}
}

// A signature is the same with a memory and without one.
func TestKnownLinesSign(t *testing.T) {
	for _, text := range [][]byte{testLog(1 << 20), logOf(1<<20, 2), logText(1 << 20)} {
		with, without := New(Options{}), New(Options{})
		without.known.rest = math.MaxInt
		for range 2 {
			for _, s := range []*Signer{with, without} {
				s.Reset()
				s.Stdout().Write(text)
				s.Stdout().Write([]byte("--- FAIL: TestA (0.00s)\n"))
				s.Stderr().Write(text[len(text)/2:])
			}
			if a, b := with.Sum(1), without.Sum(1); !reflect.DeepEqual(a, b) {
				t.Errorf("with a memory %+v, without one %+v", a, b)
			}
			var lines [2]map[lineHash]int
			for i, s := range []*Signer{with, without} {
				lines[i] = map[lineHash]int{}
				s.lines.deciding(func(h lineHash) { lines[i][h]++ })
			}
			if !maps.Equal(lines[0], lines[1]) {
				t.Error("other lines are remembered with a memory than without one")
			}
		}
		if without.known.lines != nil || with.known.lines == nil {
			t.Error("the memory is not what differs")
		}
	}
}
