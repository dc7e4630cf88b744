package signature

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// benchRecording is the output of one command in a known state.
type benchRecording struct {
	Tool string `json:"tool"`
	File string `json:"file"`
	Exit int    `json:"exit_code"`

	Failing []string `json:"failing"`      // names of the checks that fail
	Total   int      `json:"total_checks"` // 0: not known

	data []byte
}

type benchPair struct {
	Tool  string `json:"tool"`
	A     string `json:"a"`
	B     string `json:"b"`
	Same  bool   `json:"same"`
	Class string `json:"class"` // in moved.jsonl: noise, progress or value
	Why   string `json:"why"`
}

type benchSequence struct {
	Tool   string   `json:"tool"`
	Name   string   `json:"name"`
	Files  []string `json:"files"`
	TripAt *int     `json:"trip_at"`
	Cycle  int      `json:"cycle"`
}

// bench is a set of recordings of real tools in labelled states; see its README.
type bench struct {
	dir        string
	recordings []benchRecording
	pairs      []benchPair
	sequences  []benchSequence
	moved      []benchPair
}

// want is what is reached on a set and held there, as shares.
type want struct{ precision, f1, sequences, one float64 }

// benchDirs are the sets, and what each has to reach: over all pairs, over the
// sequences, and over the pairs of the tool that is told apart worst. Progress that is
// called a loop costs a run that gets on, so precision weighs most.
var benchDirs = []struct {
	dir string
	want
}{
	{"stuckbench", want{1, 1, 1, 1}},
	{"stuckbench-dev2", want{1, 0.993, 0.995, 0.90}},
	{"stuckbench-around", want{1, 0.985, 0.98, 0.9}},
	{"stuckbench-dev3", want{0.998, 0.992, 0.99, 0.9}},
	{"stuckbench-dev4", want{0.998, 0.988, 0.985, 0}},
}

// aspired begins the names of groups that are not held one by one: prose about an
// output, and no output.
const aspired = "agent-prose+"

const benchDir = "../testdata/stuckbench"

// loadBench reads a set once.
func loadBench(t testing.TB, dir string) *bench {
	t.Helper()
	benches.Lock()
	defer benches.Unlock()
	if b := benches.by[dir]; b != nil {
		return b
	}
	b := &bench{dir: dir}
	raw, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(raw, &b.recordings)
	}
	for i := range b.recordings {
		if err == nil {
			b.recordings[i].data, err = os.ReadFile(filepath.Join(dir, b.recordings[i].File))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	b.pairs = readLines[benchPair](t, filepath.Join(dir, "pairs.jsonl"))
	b.sequences = readLines[benchSequence](t, filepath.Join(dir, "sequences.jsonl"))
	if name := filepath.Join(dir, "moved.jsonl"); exists(name) {
		b.moved = readLines[benchPair](t, name)
	}
	benches.by[dir] = b
	return b
}

var benches = struct {
	sync.Mutex
	by map[string]*bench
}{by: map[string]*bench{}}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
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

// sign signs every recording of the set.
func (b *bench) sign() map[string]Signature {
	out := make(map[string]Signature, len(b.recordings))
	s := New(Options{})
	for _, r := range b.recordings {
		s.Reset()
		s.Stdout().Write(r.data)
		out[r.File] = s.Sum(r.Exit)
	}
	return out
}

// score counts verdicts on pairs and sequences.
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

func (s *score) add(t score) {
	s.tp, s.fp, s.fn, s.seqRight, s.seqs = s.tp+t.tp, s.fp+t.fp, s.fn+t.fn, s.seqRight+t.seqRight, s.seqs+t.seqs
}

func ratio(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

func (s score) precision() float64 { return ratio(s.tp, s.tp+s.fp) }
func (s score) recall() float64    { return ratio(s.tp, s.tp+s.fn) }
func (s score) f1() float64        { return ratio(2*s.tp, 2*s.tp+s.fp+s.fn) }
func (s score) sequencesRight() float64 {
	return ratio(s.seqRight, s.seqs)
}

func (s score) String() string {
	return fmt.Sprintf("%6.3f %6.3f %7.4f %5d/%d", s.precision(), s.recall(), s.f1(), s.seqRight, s.seqs)
}

// moved counts, for each class, the pairs that are called the same, and all.
type moved map[string][2]int

func (m moved) String() string {
	var out []string
	for _, class := range []string{"noise", "progress", "value"} {
		if n := m[class]; n[1] > 0 {
			out = append(out, fmt.Sprintf("%s %d/%d", class, n[0], n[1]))
		}
	}
	return strings.Join(out, ", ")
}

// verdicts are what is made of a set by its signatures.
type verdicts struct {
	per   map[string]score // by tool
	moved moved
	wrong []string
}

func (b *bench) judge(sigs map[string]Signature) verdicts {
	v := verdicts{per: map[string]score{}, moved: moved{}}
	for _, p := range b.pairs {
		said := sigs[p.A].Hash == sigs[p.B].Hash
		s := v.per[p.Tool]
		s.pair(p.Same, said)
		v.per[p.Tool] = s
		switch {
		case said && !p.Same:
			v.wrong = append(v.wrong, fmt.Sprintf("falsely the same: %s %s (%s)", p.A, p.B, p.Why))
		case p.Same && !said:
			v.wrong = append(v.wrong, fmt.Sprintf("not seen as the same: %s %s (%s)", p.A, p.B, p.Why))
		}
	}
	for _, q := range b.sequences {
		var hs []Hash
		for _, f := range q.Files {
			hs = append(hs, sigs[f].Hash)
		}
		at, period := firstTrip(hs, 3)
		s := v.per[q.Tool]
		if !s.sequence(q, at, period) {
			v.wrong = append(v.wrong, fmt.Sprintf("sequence %s/%s: tripped at %d with period %d", q.Tool, q.Name, at, period))
		}
		v.per[q.Tool] = s
	}
	for _, p := range b.moved {
		n := v.moved[p.Class]
		n[1]++
		if sigs[p.A].Hash == sigs[p.B].Hash {
			n[0]++
		}
		v.moved[p.Class] = n
	}
	return v
}

// all is the score over all tools.
func (v verdicts) all() (all score) {
	for _, s := range v.per {
		all.add(s)
	}
	return all
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

// TestStuckbench judges pairs and sequences of recordings, prints the tables with -v,
// and holds what is reached. STUCKBENCH_DIR names another set to judge.
func TestStuckbench(t *testing.T) {
	if dir := os.Getenv("STUCKBENCH_DIR"); dir != "" {
		stuckbench(t, dir, want{})
		return
	}
	for i, set := range benchDirs {
		t.Run(set.dir, func(t *testing.T) {
			if testing.Short() && i > 0 {
				t.Skip("the set is large")
			}
			stuckbench(t, "../testdata/"+set.dir, set.want)
		})
	}
}

func stuckbench(t *testing.T, dir string, least want) {
	b := loadBench(t, dir)
	v := b.judge(b.sign())
	all := v.all()
	if testing.Verbose() {
		t.Logf("%s", table(b, v))
	}
	if all.f1() < least.f1 || all.sequencesRight() < least.sequences || all.precision() < least.precision {
		t.Errorf("precision, recall, F1 and sequences %v; want at least %.3f, F1 %.3f and %.3f of the sequences", all, least.precision, least.f1, least.sequences)
	}
	for tool, s := range v.per {
		if !strings.HasPrefix(tool, aspired) && s.f1() < least.one {
			t.Errorf("%s: F1 %.3f, want at least %.3f", tool, s.f1(), least.one)
		}
	}
	if n := v.moved["progress"]; n[0] > 0 {
		t.Errorf("%d of %d steps of progress are called the same", n[0], n[1])
	}
	if n := v.moved["noise"]; n[0] < n[1] {
		t.Errorf("%d of %d pairs that only noise tells apart are called the same", n[0], n[1])
	}
}

// table shows the tools with an error, the set, what others do, and what is wrong.
func table(b *bench, v verdicts) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, "\n%-32s %6s %6s %7s %s\n", b.dir, "prec", "recall", "F1", "sequences")
	var tools []string
	for tool, s := range v.per {
		if s.fp+s.fn > 0 || s.seqRight < s.seqs {
			tools = append(tools, tool)
		}
	}
	slices.Sort(tools)
	for _, tool := range tools {
		fmt.Fprintf(&sb, "%-32s %v\n", tool, v.per[tool])
	}
	fmt.Fprintf(&sb, "%-32s %v  %v\n", fmt.Sprintf("all %d tools", len(v.per)), v.all(), v.moved)
	for i, w := range v.wrong {
		if i == 60 {
			fmt.Fprintf(&sb, "and %d more\n", len(v.wrong)-i)
			break
		}
		fmt.Fprintln(&sb, w)
	}
	return sb.String()
}
