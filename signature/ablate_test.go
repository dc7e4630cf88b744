package signature

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// switchOff switches one function of the packages off, by its number; nil where
// tools/ablate did not build the test.
var switchOff func(id int)

// TestAblate prints what the sets come to without each function that ABLATE_IDS names.
// tools/ablate runs it, and reads the lines.
func TestAblate(t *testing.T) {
	if switchOff == nil || os.Getenv("ABLATE_IDS") == "" {
		t.Skip("make ablate runs this")
	}
	limit, err := time.ParseDuration(os.Getenv("ABLATE_LIMIT"))
	if err != nil {
		t.Fatal(err)
	}
	book()
	for _, field := range strings.Fields(os.Getenv("ABLATE_IDS")) {
		id, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		overdue := time.AfterFunc(limit, func() { os.Exit(3) })
		switchOff(id)
		var results []string
		for _, set := range benchDirs {
			results = append(results, strings.TrimPrefix(set.dir, "stuckbench-")+ablated(t, loadBench(t, "../testdata/"+set.dir)))
		}
		switchOff(-1)
		overdue.Stop()
		fmt.Printf("ablate %d\t%s\n", id, strings.Join(results, "\t"))
	}
}

// ablated is a set's result in one line: what it scores, and a hash of what else is
// known of each recording.
func ablated(t *testing.T, b *bench) string {
	listed := fnv.New64a()
	sigs := map[string]Signature{}
	s := New(Options{})
	for _, r := range b.recordings {
		s.Reset()
		s.Stdout().Write(r.data)
		sig := s.Sum(r.Exit)
		sigs[r.File] = sig
		fmt.Fprintln(listed, sig.Kind, sig.Label, sig.Failing, sig.Passed, sig.Total, sig.Checks, sig.Errors, s.Tally())
	}
	v := b.judge(sigs)
	all := v.all()
	return fmt.Sprintf("\tF1 %.4f fp%d fn%d %d/%d %v\tlisted %04x", all.f1(), all.fp, all.fn, all.seqRight, all.seqs, v.moved, listed.Sum64()&0xffff)
}
