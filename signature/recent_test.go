package signature

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// The recordings have the same signatures with a memory of lines and without one, and
// when they come again.
func TestRecentLines(t *testing.T) {
	with, without := New(Options{}), New(Options{})
	without.recent.count = math.MinInt
	recs := readRecordings(t, benchDir)
	for round := range 2 {
		for _, r := range recs {
			b, err := os.ReadFile(filepath.Join(benchDir, r.File))
			if err != nil {
				t.Fatal(err)
			}
			var sigs [2]Signature
			for i, s := range []*Signer{with, without} {
				s.Reset()
				s.Stdout().Write(b)
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
