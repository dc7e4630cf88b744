package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// benchDir holds recordings of real tools in labelled states; see its README.
const benchDir = "../testdata/stuckbench"

type benchRecording struct {
	Tool string `json:"tool"`
	File string `json:"file"`
	Exit int    `json:"exit_code"`

	Failing []string `json:"failing"` // names of the checks that fail
}

type benchPair struct {
	Tool string `json:"tool"`
	A    string `json:"a"`
	B    string `json:"b"`
	Same bool   `json:"same"`
	Why  string `json:"why"`
}

type benchSequence struct {
	Tool   string   `json:"tool"`
	Name   string   `json:"name"`
	Files  []string `json:"files"`
	TripAt *int     `json:"trip_at"`
	Cycle  int      `json:"cycle"`
}

type score struct{ tp, fp, fn, seqRight, seqs int }

// pair counts one verdict on a pair.
func (s *score) pair(same, said bool) {
	switch {
	case said && same:
		s.tp++
	case said:
		s.fp++
	case same:
		s.fn++
	}
}

// sequence counts one verdict on a sequence: where it tripped, 0 for never.
func (s *score) sequence(q benchSequence, at, period int) bool {
	s.seqs++
	right := q.TripAt == nil && at == 0 || q.TripAt != nil && at == *q.TripAt && period == max(1, q.Cycle)
	if right {
		s.seqRight++
	}
	return right
}

func (s score) f1() float64 {
	if s.tp == 0 {
		return 0
	}
	return 2 * float64(s.tp) / float64(2*s.tp+s.fp+s.fn)
}

func (s score) String() string {
	p, r := 0.0, 0.0
	if s.tp > 0 {
		p, r = float64(s.tp)/float64(s.tp+s.fp), float64(s.tp)/float64(s.tp+s.fn)
	}
	return fmt.Sprintf("%6.3f %6.3f %6.3f %4d/%d", p, r, s.f1(), s.seqRight, s.seqs)
}

// signAll signs every recording of a corpus directory.
func signAll(t testing.TB, dir string) map[string]Signature {
	t.Helper()
	recs := readRecordings(t, dir)
	out := map[string]Signature{}
	s := New(Options{})
	for _, r := range recs {
		b, err := os.ReadFile(filepath.Join(dir, r.File))
		if err != nil {
			t.Fatal(err)
		}
		s.Reset()
		s.Stdout().Write(b)
		out[r.File] = s.Sum(r.Exit)
	}
	return out
}

func readRecordings(t testing.TB, dir string) (out []benchRecording) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func readLines[T any](t testing.TB, name string) (out []T) {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	for dec.More() {
		var v T
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// benchSet is a set of recordings, and what is held there.
type benchSet struct {
	dir                string
	f1, sequences, one float64 // at least: of all pairs, of the sequences, of the pairs of one tool
	apart              string  // a tool that is told apart, and not held
}

var benchSets = map[string]benchSet{
	"tools":      {dir: benchDir, f1: 0.99, sequences: 0.985, one: 0.95},
	"more tools": {dir: benchDir + "-dev2", f1: 0.99, sequences: 0.985, one: 0.90},
	"around":     {dir: benchDir + "-around", f1: 0.98, sequences: 0.97, one: 0.85, apart: "agent-prose+go-test"},
}

// TestStuckbench judges pairs and sequences of recordings, prints the tables with -v,
// and holds what is reached. Two failures that are one cost a run that gets on: there
// are none.
func TestStuckbench(t *testing.T) {
	if dir := os.Getenv("STUCKBENCH_DIR"); dir != "" {
		stuckbench(t, benchSet{dir: dir})
		return
	}
	for _, name := range []string{"tools", "more tools", "around"} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "tools" {
				t.Skip("the set is large")
			}
			stuckbench(t, benchSets[name])
		})
	}
}

func stuckbench(t *testing.T, set benchSet) {
	dir := set.dir
	sigs := signAll(t, dir)
	per := map[string]*score{}
	of := func(tool string) *score {
		if per[tool] == nil {
			per[tool] = &score{}
		}
		return per[tool]
	}
	var wrong []string
	pairs := readLines[benchPair](t, filepath.Join(dir, "pairs.jsonl"))
	for _, p := range pairs {
		said := sigs[p.A].Hash == sigs[p.B].Hash
		of(p.Tool).pair(p.Same, said)
		switch {
		case said && !p.Same:
			wrong = append(wrong, fmt.Sprintf("falsely the same: %s %s (%s)", p.A, p.B, p.Why))
		case p.Same && !said:
			wrong = append(wrong, fmt.Sprintf("not seen as the same: %s %s (%s)", p.A, p.B, p.Why))
		}
	}
	seqs := readLines[benchSequence](t, filepath.Join(dir, "sequences.jsonl"))
	for _, q := range seqs {
		var hs []Hash
		for _, f := range q.Files {
			hs = append(hs, sigs[f].Hash)
		}
		if at, period := firstTrip(hs, 3); !of(q.Tool).sequence(q, at, period) {
			wrong = append(wrong, fmt.Sprintf("sequence %s/%s: tripped at %d with period %d", q.Tool, q.Name, at, period))
		}
	}
	if testing.Verbose() {
		t.Logf("what others do:\n%-24s %6s %6s %6s %s\n%s", "", "prec", "recall", "F1", "sequences", baselineTable(t, dir, pairs, seqs))
	}
	report(t, set, per, wrong)
}

func firstTrip(hs []Hash, threshold int) (at, period int) {
	var c Cycles
	for i, h := range hs {
		c.Add(h)
		if p, ok := c.Tripped(threshold); ok {
			return i + 1, p
		}
	}
	return 0, 0
}

func report(t *testing.T, set benchSet, per map[string]*score, wrong []string) {
	var tools []string
	var all score
	for tool, s := range per {
		tools = append(tools, tool)
		if tool == set.apart {
			continue
		}
		all.tp, all.fp, all.fn = all.tp+s.tp, all.fp+s.fp, all.fn+s.fn
		all.seqRight, all.seqs = all.seqRight+s.seqRight, all.seqs+s.seqs
		if s.f1() < set.one {
			t.Errorf("%s: F1 %.3f, want at least %.3f", tool, s.f1(), set.one)
		}
	}
	sort.Strings(tools)
	var b strings.Builder
	fmt.Fprintf(&b, "\n%-16s %6s %6s %6s %s\n", "tool", "prec", "recall", "F1", "sequences")
	for _, tool := range tools {
		fmt.Fprintf(&b, "%-16s %v\n", tool, per[tool])
	}
	fmt.Fprintf(&b, "%-16s %v\n", "all", all)
	for i, w := range wrong {
		if i == 40 {
			fmt.Fprintf(&b, "and %d more\n", len(wrong)-i)
			break
		}
		fmt.Fprintln(&b, w)
	}
	t.Log(b.String())
	if all.f1() < set.f1 || set.f1 > 0 && all.fp > 0 {
		t.Errorf("F1 %.3f over all pairs and %d falsely the same, want at least %.3f and none", all.f1(), all.fp, set.f1)
	}
	if float64(all.seqRight) < set.sequences*float64(all.seqs) {
		t.Errorf("%d of %d sequences right, want at least %.3f", all.seqRight, all.seqs, set.sequences)
	}
}
