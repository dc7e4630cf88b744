package lines

import (
	"bytes"
	"math/rand"
	"strings"
	"testing"
)

// recorder takes lines apart, and pieces together.
type recorder struct {
	got   []string
	wants int // pieces of a long line that it takes; negative: all
	piece int
	long  []byte
}

func (r *recorder) Lines(b []byte) {
	for line := range bytes.Lines(b) {
		r.got = append(r.got, string(line))
	}
}

func (r *recorder) Long(b []byte, first bool) bool {
	if first {
		r.long, r.piece = nil, 0
	}
	if r.wants >= 0 && r.piece >= r.wants {
		return false
	}
	r.piece++
	r.long = append(r.long, b...)
	return true
}

func (r *recorder) LongEnd(head []byte) {
	if head == nil {
		r.got = append(r.got, "whole "+string(r.long))
	} else {
		r.got = append(r.got, "head "+string(head))
	}
}

// read writes a text in pieces of the sizes that next gives.
func read(text []byte, wants int, next func() int) []string {
	var r Reader
	to := &recorder{wants: wants}
	for len(text) > 0 {
		n := min(max(1, next()), len(text))
		p := bytes.Clone(text[:n])
		r.Write(p, to)
		clear(p) // the slice is the caller's again
		text = text[n:]
	}
	r.End(to)
	return to.got
}

func TestReader(t *testing.T) {
	full, more := strings.Repeat("a", Max), strings.Repeat("b", 100)
	for _, c := range []struct {
		name, text string
		wants      int
		want       []string
	}{
		{"nothing", "", 0, nil},
		{"lines", "a\n\nb\r\n", 0, []string{"a\n", "\n", "b\r\n"}},
		{"the last without its line break", "a\nb", 0, []string{"a\n", "b"}},
		{"as long as may be", full + "\nx", 0, []string{full + "\n", "x"}},
		{"too long", full + more + "\nx", 0, []string{"head " + full, "x"}},
		{"too long, without a line break", full + more, 0, []string{"head " + full}},
		{"too long, and taken", full + more + "\nx", -1, []string{"whole " + full + more, "x"}},
		{"too long, and taken at first", full + more + "\nx", 1, []string{"head " + full, "x"}},
		{"redrawn", full + "\r" + full + "\r" + more + "\n", 0, []string{more + "\n"}},
		{"redrawn when it was too long", full + more + "\r" + more + "\n", 0, []string{more + "\n"}},
		{"too long, with a carriage return at its end", full + more + "\r\nx", 0, []string{"head " + full, "x"}},
	} {
		for _, n := range []int{1 << 20, 1, 7, Max - 1, Max, Max + 1} {
			got := read([]byte(c.text), c.wants, func() int { return n })
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("%s, in pieces of %d: %.60q, want %.60q", c.name, n, got, c.want)
			}
		}
	}
}

// A line without an end keeps no more than its head.
func TestBounded(t *testing.T) {
	var r Reader
	to := &recorder{}
	for range 200 {
		r.Write(bytes.Repeat([]byte("x"), Max), to)
		r.Write(bytes.Repeat([]byte("y\r"), Max), to)
	}
	if cap(r.buf) > 2*Max {
		t.Errorf("it keeps %d bytes", cap(r.buf))
	}
}

// FuzzReader: how a stream is cut into writes does not matter, and no byte of a short
// line is lost or made up.
func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\r\nc"), int64(1), uint16(0))
	f.Add([]byte("x\ry\n"), int64(2), uint16(1))
	f.Add([]byte("{}\n"), int64(3), uint16(3))
	f.Fuzz(func(t *testing.T, text []byte, seed int64, grow uint16) {
		rnd := rand.New(rand.NewSource(seed))
		short := true
		if at := int(grow); at < len(text) { // make one place of it long
			text = bytes.Replace(text, text[at:at+1], bytes.Repeat(text[at:at+1], Max-2+rnd.Intn(5)), 1)
			short = false
		}
		whole := read(text, 0, func() int { return len(text) })
		cut := read(text, 0, func() int { return rnd.Intn(2 * Max / (1 + rnd.Intn(1000))) })
		if strings.Join(whole, "|") != strings.Join(cut, "|") {
			t.Fatalf("whole: %.200q\ncut:   %.200q", whole, cut)
		}
		if all := strings.Join(whole, ""); short && len(text) <= Max && all != string(text) {
			t.Fatalf("%.200q became %.200q", text, all)
		}
	})
}
