package signature

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestCounts compares how many checks fail with what the recordings are labelled with.
func TestCounts(t *testing.T) {
	var right, unknown, wrong int
	kinds := map[string]int{}
	example := map[string]string{}
	for i, set := range benchDirs {
		if testing.Short() && i > 0 {
			break
		}
		b := loadBench(t, "../testdata/"+set.dir)
		sigs := b.sign()
		for _, r := range b.recordings {
			if len(r.Failing) == 0 || r.Exit == 0 {
				continue
			}
			sig := sigs[r.File]
			switch sig.Failing {
			case len(r.Failing):
				right++
			case -1:
				unknown++
				kinds[r.Tool+" unknown"]++
				example[r.Tool+" unknown"] = fmt.Sprintf("%s: want %d %q", r.File, len(r.Failing), r.Failing)
			default:
				wrong++
				kinds[r.Tool+" wrong"]++
				example[r.Tool+" wrong"] = fmt.Sprintf("%s: %d %q, want %d %q", r.File, sig.Failing, sig.Checks, len(r.Failing), r.Failing)
			}
		}
	}
	var sb strings.Builder
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(&sb, "%3d %s: %s\n", kinds[k], k, example[k])
	}
	all := right + unknown + wrong
	t.Logf("\ncounts of %d recordings: right %.3f, unknown %.3f, wrong %.3f\n%s", all, ratio(right, all), ratio(unknown, all), ratio(wrong, all), sb.String())
}
