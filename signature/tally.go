package signature

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/ascii"
)

// Tally is how many checks ran, as stated by the tool that ran them. A count that the output
// does not state is -1.
type Tally struct {
	Ran     int `json:"ran"`     // without those that were skipped
	Skipped int `json:"skipped"` // or expected to fail
	// Names lists the checks that ran or were skipped; nil if the output does not name each
	// one.
	Names []string `json:"names,omitempty"`
	// Parts lists the packages whose tests ran, Empty those that have none according to the
	// tool.
	Parts []string `json:"parts,omitempty"`
	Empty []string `json:"empty,omitempty"`
}

// MaxNames is the maximum number of names in a Tally; if there are more, it lists none.
const MaxNames = 200

// Stated reports whether the output states anything about how many checks ran.
func (t *Tally) Stated() bool {
	return t != nil && (t.Ran >= 0 || t.Skipped >= 0 || len(t.Parts)+len(t.Empty) > 0)
}

// tally collects the counts that lines and objects state. If a tool both lists its checks and
// sums them up, only one of the two counts.
type tally struct {
	summaries, gotests, listed, summed group // summed is gotestsum's and the plan of TAP
	reported                           group // in JSON, beside which the tool may print a summary too
	names                              map[string]bool
	parts, empty                       map[string]bool
	none, cut                          bool // “no tests to run”; it stopped after a failure
}

// group holds the counts of one way of stating them.
type group struct {
	stated, skips bool // ran, and skipped, are stated
	ran, skipped  int
}

func (g *group) add(ran, skipped int) {
	g.stated, g.ran = true, g.ran+max(0, ran)
	if skipped >= 0 {
		g.skips, g.skipped = true, g.skipped+skipped
	}
}

// Tally returns the counts that the output states; call it after Sum. It returns nil if there
// are none, or if the output is an agent's.
func (s *Signer) Tally() *Tally {
	if s.out.agents || s.err.agents {
		return nil
	}
	c, t := &s.checks, Tally{Ran: -1, Skipped: -1}
	all := []group{c.gotests}
	switch {
	case c.reported.stated:
		all = append(all, c.reported)
	case c.summaries.stated:
		all = append(all, c.summaries)
	case c.summed.stated && !c.gotests.stated:
		all = append(all, c.summed)
	case c.listed.stated:
		all = append(all, c.listed)
	}
	skips := true
	for _, g := range all {
		if g.stated {
			t.Ran = max(0, t.Ran) + g.ran
			t.Skipped = max(0, t.Skipped) + g.skipped
			skips = skips && g.skips
		}
	}
	if t.Ran < 0 && c.none && len(c.parts) == 0 {
		t.Ran = 0
	}
	if !skips || c.cut {
		t.Skipped = -1
	}
	if len(c.names) <= MaxNames && t.Skipped >= 0 && len(c.names) == t.Ran+t.Skipped {
		t.Names = slices.Sorted(maps.Keys(c.names))
	}
	for p := range c.parts {
		delete(c.empty, p)
	}
	if len(c.parts)+len(c.empty) <= MaxNames {
		t.Parts, t.Empty = slices.Sorted(maps.Keys(c.parts)), slices.Sorted(maps.Keys(c.empty))
	}
	if !t.Stated() {
		return nil
	}
	return &t
}

func (c *tally) name(name []byte) {
	for len(name) > 0 && (name[0] == ' ' || name[0] == '-') {
		name = name[1:]
	}
	if len(c.names) <= MaxNames && !c.names[string(name)] {
		c.names = put(c.names, string(name))
	}
}

func put(set map[string]bool, key string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	if len(set) <= MaxNames {
		set[key] = true
	}
	return set
}

// event handles a line of go test -json.
func (c *tally) event(action, pkg, test string) {
	switch {
	case test == "":
	case action == "run":
		c.gotests.add(1, 0)
		c.name([]byte(pkg + "." + test))
	case action == "skip":
		c.gotests.add(0, 1)
		c.gotests.ran--
	}
}

// line handles a line without its surrounding white space. It reports whether lines like it,
// with other numbers, may state something too.
func (c *tally) line(b []byte) bool {
	if len(b) < 4 || len(b) > 400 {
		return false
	}
	switch b[0] {
	case '=', '-', 'o', 'F', '?', 'n':
		if c.goLine(b) || c.tapLine(b) {
			return true
		}
	}
	if b[0] == '=' || b[0] == '!' {
		if b = bytes.Trim(b, "= !"); bytes.HasPrefix(b, []byte("stopping after ")) {
			c.cut = true
			return true
		}
	}
	return len(b) > 0 && (c.nothing(b) || c.summary(b))
}

// goLine parses a line of go test.
func (c *tally) goLine(b []byte) bool {
	if name, ok := bytes.CutPrefix(b, []byte("=== RUN ")); ok {
		c.gotests.add(1, 0)
		c.name(name)
		return true
	}
	if bytes.HasPrefix(b, []byte("--- SKIP: ")) {
		if c.gotests.stated {
			c.gotests.add(0, 1)
			c.gotests.ran--
		}
		return true
	}
	return c.goPart(b)
}

// goPart parses the line that go test prints for a package.
func (c *tally) goPart(b []byte) bool {
	tab := bytes.IndexByte(b[:min(len(b), len("FAIL\t"))], '\t')
	if tab < 0 {
		return false
	}
	switch string(trim(b[:tab])) {
	case "ok", "FAIL", "?":
	default:
		return false
	}
	pkg, rest, _ := bytes.Cut(b[tab+1:], []byte("\t"))
	switch {
	case bytes.Contains(rest, []byte("[no tests to run]")):
		c.none = true
		c.empty = put(c.empty, string(pkg))
	case bytes.Contains(rest, []byte("[no test files]")):
		c.empty = put(c.empty, string(pkg))
	case !bytes.Contains(pkg, []byte(" ")):
		c.parts = put(c.parts, string(pkg))
	}
	return true
}

// tapLine parses a line of the Test Anything Protocol.
func (c *tally) tapLine(b []byte) bool {
	rest, ok := bytes.CutPrefix(b, []byte("not ok "))
	if !ok {
		rest, ok = bytes.CutPrefix(b, []byte("ok "))
	}
	n := ascii.Digits(rest, 0)
	if !ok || n == 0 {
		return false
	}
	name, directive := rest[n:], []byte(nil)
	if bytes.IndexByte(name, '#') >= 0 {
		name, directive, _ = bytes.Cut(name, []byte(" # "))
	}
	if kind := directive[:min(len(directive), 4)]; bytes.EqualFold(kind, []byte("skip")) || bytes.EqualFold(kind, []byte("todo")) {
		c.listed.add(0, 1)
	} else {
		c.listed.add(1, 0)
	}
	c.name(name)
	return true
}

// nothing recognises the messages with which tools report that they ran no test, or that not
// all ran.
func (c *tally) nothing(b []byte) bool {
	begins := func(head string) bool { return len(b) >= len(head) && string(b[:len(head)]) == head }
	switch {
	case strings.IndexByte("nNRe", b[0]) < 0:
		return false
	case begins("no tests ran"), begins("No tests found"), begins("No test files found"), begins("No tests executed"),
		string(b) == "Result: NOTESTS", string(b) == "NO TESTS RAN":
		c.none = true
	case begins("error: test failed, to rerun"):
		c.cut = true
	default:
		return false
	}
	return true
}

// headed lists the words that begin a line of counts.
var headed = []string{
	"Tests:", "Tests run:", "Tests ", "test result:", "Files=", "Ran ", "OK (", "Passed!", "Failed!", "[==========]", "DONE ", "FAILED (",
	"# tests ", "ℹ tests ", "# skipped ", "ℹ skipped ", "# skip ", "# todo ", "ℹ todo ",
}

// summary parses a line of counts: one that begins as known tools begin it, or with a number
// and a word that counts checks. It returns false for any other.
func (c *tally) summary(b []byte) bool {
	head := ""
	if i := slices.IndexFunc(headed, func(h string) bool { return b[0] == h[0] && bytes.HasPrefix(b, []byte(h)) }); i >= 0 {
		head = headed[i]
	} else if !opensCounts(b) {
		return false
	}
	if skipCounts(b) || head == "Tests run:" && bytes.Contains(b, []byte("Time elapsed")) {
		return true // of one class: the sum of all follows
	}
	n := countsIn(b)
	ran, skipped := n.ran(), n[countSkipped]-1
	switch {
	case head == "" && ran < 0 && skipped < 0:
		return true
	case head == "# tests " || head == "ℹ tests ":
		c.summed.add(n[countTotal]-1, -1)
		return true
	case strings.HasPrefix(head, "# ") || strings.HasPrefix(head, "ℹ "):
		c.summed.skips = true
		c.summed.skipped += max(0, skipped)
		c.summed.ran -= max(0, skipped)
		return true
	case head == "DONE ":
		c.summed.add(ran-max(0, skipped), max(0, skipped))
		return true
	case head == "OK (" && ran >= 0 || head != "OK (" && head != "FAILED (" && ran >= 0:
		if n[countTotal] > 0 { // which has the skipped too
			ran -= max(0, skipped)
		}
		if skipped < 0 && head != "Files=" && head != "[==========]" { // which say nothing of those
			skipped = 0
		}
		c.summaries.add(ran, skipped)
	case skipped >= 0 && c.summaries.stated: // a further line of the same: mocha, unittest
		c.summaries.skipped += skipped
		if head != "" {
			c.summaries.ran -= skipped
		}
	case skipped >= 0:
		c.summaries.add(0, skipped)
	}
	return true
}

// opensCounts reports whether a line without a known head is a line of counts: pytest's ends in
// a time, mocha's has one count, others separate theirs by commas.
func opensCounts(b []byte) bool {
	e := ascii.Digits(b, 0)
	w := runOf(b, e, isSpace)
	end := runOf(b, w, isAlpha)
	if w == e || countWord(b[w:end]) == countOther {
		return false
	}
	switch string(b[w:end]) {
	case "failure", "failures", "pass", "fail": // beside the line that begins with Ran and has the total: clojure.test's and Bun's
		return false
	}
	rest := trim(b[end:])
	return len(rest) == 0 || rest[0] == ',' || rest[0] == '(' || rest[0] == '/' || bytes.HasPrefix(rest, []byte("in "))
}
