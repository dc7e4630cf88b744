package signature

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ablation is what tools/ablate builds into the test, both by function; nil if it did not
// build it.
var ablation *struct {
	Off  []bool // it is switched off
	Used []bool // it was called
}

// TestAblate prints what is different without each function in ABLATE_IDS, where + joins
// functions that are switched off together: the first recording that differs, or with
// ABLATE_SCORES the scores of the sets. tools/ablate runs it and reads the lines.
func TestAblate(t *testing.T) {
	if ablation == nil || os.Getenv("ABLATE_IDS") == "" {
		t.Skip("make ablate runs this")
	}
	limit, err := time.ParseDuration(os.Getenv("ABLATE_LIMIT"))
	if err != nil {
		t.Fatal(err)
	}
	book()
	var sets []*ablatedSet
	for _, set := range benchDirs {
		sets = append(sets, newAblatedSet(loadBench(t, "../testdata/"+set.dir)))
	}
	fmt.Println("ablate ready")
	for _, field := range strings.Fields(os.Getenv("ABLATE_IDS")) {
		var ids []int
		for one := range strings.SplitSeq(field, "+") {
			id, err := strconv.Atoi(one)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
			ablation.Off[id] = true
		}
		overdue := time.AfterFunc(limit, func() { os.Exit(3) })
		fmt.Printf("ablate %s\t%s\n", field, without(sets, ids))
		clear(ablation.Off)
		overdue.Stop()
	}
}

// without returns what is different while functions are off; empty means nothing.
func without(sets []*ablatedSet, ids []int) string {
	scores := os.Getenv("ABLATE_SCORES") != ""
	var out []string
	listed := ""
	for _, set := range sets {
		hash, other := set.different(ids, !scores)
		switch {
		case hash == "" && listed == "":
			listed = other
		case hash == "":
		case !scores:
			return hash
		default:
			out = append(out, set.String())
		}
	}
	if len(out) == 0 && listed != "" {
		return "listed: " + listed
	}
	return strings.Join(out, "; ")
}

// ablatedSet is a set with what it has while all functions are on.
type ablatedSet struct {
	*bench
	base, now map[string]Signature
	text      map[string]string
	users     map[int][]int // by function, the recordings that call it
}

func newAblatedSet(b *bench) *ablatedSet {
	set := &ablatedSet{bench: b, base: map[string]Signature{}, now: map[string]Signature{}, text: map[string]string{}, users: map[int][]int{}}
	for i, r := range b.recordings {
		clear(ablation.Used)
		set.base[r.File], set.text[r.File] = signed(r)
		for id, used := range ablation.Used {
			if used {
				set.users[id] = append(set.users[id], i)
			}
		}
	}
	return set
}

// signed is a recording's signature, and what else is told of it.
func signed(r benchRecording) (Signature, string) {
	s := New(Options{}) // what another one remembers may hide that a function is called
	s.Stdout().Write(r.data)
	sig := s.Sum(r.Exit)
	return sig, fmt.Sprint(sig.Kind, sig.Label, sig.Failing, sig.Passed, sig.Total, sig.Checks, sig.Errors, sig.Core, s.Tally())
}

// different names the first recording that has another signature, and the first of which
// something else is told. With first it stops there.
func (set *ablatedSet) different(ids []int, first bool) (hash, other string) {
	clear(set.now)
	var users []int
	for _, id := range ids {
		users = append(users, set.users[id]...)
	}
	slices.Sort(users)
	for _, i := range slices.Compact(users) {
		r := set.recordings[i]
		sig, text := signed(r)
		set.now[r.File] = sig
		name := strings.TrimPrefix(set.dir, "../testdata/") + "/" + r.File
		if sig.Hash != set.base[r.File].Hash && hash == "" {
			if hash = name; first {
				break
			}
		}
		if text != set.text[r.File] && other == "" {
			other = name
		}
	}
	return hash, other
}

// String is what the set comes to now.
func (set *ablatedSet) String() string {
	sigs := map[string]Signature{}
	for file, sig := range set.base {
		sigs[file] = sig
		if now, ok := set.now[file]; ok {
			sigs[file] = now
		}
	}
	before, v := set.judge(set.base), set.judge(sigs)
	all := v.all()
	name := strings.TrimPrefix(strings.TrimPrefix(set.dir, "../testdata/"), "stuckbench")
	if all == before.all() && v.moved.String() == before.moved.String() {
		return name + " other hashes, no other score"
	}
	return fmt.Sprintf("%s F1 %+.4f, fp %+d, fn %+d, sequences %+d, %v", name, all.f1()-before.all().f1(), all.fp-before.all().fp, all.fn-before.all().fn, all.seqRight-before.all().seqRight, v.moved)
}
