package signature

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// The recordings have the same signatures with a memory of lines and without one, and
// when they come again.
func TestRecentLines(t *testing.T) {
	with, without := New(Options{}), New(Options{})
	without.recent.count = math.MinInt
	for round := range 2 {
		for _, r := range loadBench(t, benchDir).recordings {
			var sigs [2]Signature
			for i, s := range []*Signer{with, without} {
				s.Reset()
				s.Stdout().Write(r.data)
				sigs[i] = s.SumContent(r.Exit)
			}
			if !reflect.DeepEqual(sigs[0], sigs[1]) {
				t.Errorf("%s, round %d: with a memory %+v, without one %+v", r.File, round, sigs[0], sigs[1])
			}
		}
	}
	if with.recent.readings == nil || without.recent.readings != nil {
		t.Error("the memory is not what differs")
	}
}

// A line is where it is: what is remembered of it holds for another place in the output.
func TestRecentLinesElsewhere(t *testing.T) {
	s := New(Options{})
	s.Stdout().Write([]byte(strings.Repeat("  12 |   return nil\n     |   ^^^^^^\nsrc/a.ts(3,7): error TS2322: no Date.\n", 3*recentAfter)))
	if got := s.Sum(1); got.Label != "build-fail:1-a.ts" {
		t.Errorf("got %s", got.Label)
	}
}
