package signature

import (
	"bytes"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unicode/utf16"
)

// signPieces signs data written in pieces of the sizes that next gives.
func signPieces(data []byte, next func() int) Signature {
	s := New(Options{})
	for len(data) > 0 {
		n := min(max(1, next()), len(data))
		p := bytes.Clone(data[:n])
		s.Stdout().Write(p)
		clear(p) // the slice is the caller's again
		data = data[n:]
	}
	return s.SumContent(1)
}

func sameSignature(a, b Signature) bool {
	return a.Hash == b.Hash && a.Loose == b.Loose && a.Label == b.Label && a.Failing == b.Failing && len(a.Facts) == len(b.Facts) && len(a.Errors) == len(b.Errors)
}

// FuzzCut checks that it does not matter how the stream is cut into writes.
func FuzzCut(f *testing.F) {
	f.Add([]byte("--- FAIL: TestA (0.1s)\r\n\x1b[31mError: x\x1b[0m\n10%\r20%\rdone\n"), int64(1))
	f.Add([]byte("\xff\xfeE\x00r\x00r\x00o\x00r\x00:\x00 \x00x\x00\n\x00"), int64(2))
	f.Add([]byte("not ok 1 - a\n  ---\n  error: 'x'\n  ...\n"), int64(3))
	f.Add([]byte("web-1  | --- FAIL: TestA\nweb-1  |     a_test.go:1: x\ndb-1   | error: y\n[x] 10:00:01 z\n"), int64(5))
	f.Add([]byte("{\"name\":\"x\",\"status\":\"failed\"}\n<testsuite><testcase name=\"a\"><failure/></testcase></testsuite>"), int64(4))
	f.Fuzz(func(t *testing.T, data []byte, seed int64) {
		whole := signPieces(data, func() int { return len(data) })
		rnd := rand.New(rand.NewSource(seed))
		if cut := signPieces(data, func() int { return 1 + rnd.Intn(9) }); !sameSignature(whole, cut) {
			t.Fatalf("whole: %+v\ncut:   %+v", whole, cut)
		}
	})
}

// FuzzMaskTwice checks that masking and cleaning are done after once, and that
// lines with the same masked text have the same hash.
func FuzzMaskTwice(f *testing.F) {
	for _, s := range []string{
		"2026-11-21T09:12:05.719 [30352] login req=689f95ca-7d0b-4c01-a62e-635ac8ae638d", "\x1b[1Ga\x1b[Kb\rc\bd",
		"src/a.c:9:14: error: x 0x7f23 /tmp/x.y/z.c C:\\a\\Temp\\b", "\xc2\x1b0\x98", "\xc2\xc2\u009bA\x9b", "took 1m30s, 12 ms; 1,234 rows 3/8",
	} {
		f.Add([]byte(s))
	}
	sc := &scanner{dir: "/srv/build"}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.IndexByte(data, '\n') >= 0 {
			return
		}
		var c1, c2 cleaner
		once := bytes.Clone(c1.clean(data))
		if twice := c2.clean(once); !bytes.Equal(once, twice) {
			t.Fatalf("cleaning %q: %q, again: %q", data, once, twice)
		}
		m := sc.text(nil, trim(once), false)
		if again := sc.text(nil, m, false); !bytes.Equal(m, again) {
			t.Fatalf("masking %q: %q, again: %q", once, m, again)
		}
	})
}

func TestCutRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(benchDir, "*", "*-1.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	rnd := rand.New(rand.NewSource(1))
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		behind := []byte(newWrapping(1, wrappings["pod, time"]).around(string(data)))
		for _, data := range [][]byte{data, behind} {
			cutAnywhere(t, rnd, name, data)
		}
	}
}

func cutAnywhere(t *testing.T, rnd *rand.Rand, name string, data []byte) {
	t.Helper()
	whole := signPieces(data, func() int { return len(data) })
	for _, most := range []int{1, 7, 500} {
		if cut := signPieces(data, func() int { return 1 + rnd.Intn(most) }); !sameSignature(whole, cut) {
			t.Errorf("%s in pieces of up to %d bytes: %v, want %v", name, most, cut, whole)
		}
	}
}

// An output is the same with the line ends of Windows or a terminal, in UTF-16, and
// when two goroutines write it.
func TestEncodingsAgree(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(benchDir, "*", "*-1.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := signPieces(data, func() int { return len(data) })
		crlf := bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		if got := signPieces(crlf, func() int { return 100 }); got.Hash != want.Hash {
			t.Errorf("%s with CRLF: %q, want %q", name, got.Facts, want.Facts)
		}
		wide := []byte{0xff, 0xfe}
		for _, u := range utf16.Encode([]rune(string(data))) {
			wide = append(wide, byte(u), byte(u>>8))
		}
		if got := signPieces(wide, func() int { return 33 }); got.Hash != want.Hash {
			t.Errorf("%s in UTF-16: %q, want %q", name, got.Facts, want.Facts)
		}
	}
}

// Which stream is read first does not matter, also with two goroutines writing.
func TestTwoStreams(t *testing.T) {
	out, errs := bytes.Repeat([]byte("2026-11-21 09:00:00 INFO fine\n"), 500), []byte("error: no space on device\nexit status 3\n")
	var want Signature
	for i := range 20 {
		s := New(Options{})
		var wg sync.WaitGroup
		for _, w := range []struct {
			to   io.Writer
			data []byte
		}{{s.Stdout(), out}, {s.Stderr(), errs}} {
			wg.Go(func() {
				for _, b := range w.data {
					w.to.Write([]byte{b})
				}
			})
		}
		wg.Wait()
		if got := s.Sum(1); i == 0 {
			want = got
		} else if got.Hash != want.Hash {
			t.Fatalf("run %d: %+v, want %+v", i, got, want)
		}
	}
}
