package signature

import (
	_ "embed"
	"math/bits"
	"slices"
	"strings"
	"sync"
)

//go:embed rules.yaml
var rulesYAML string

// factKind is the kind of a fact; the order is that of the canonical form.
type factKind byte

const (
	factNone factKind = iota
	factCheck
	factSuite
	factDiag
	factWarn
	factError
	factDetail
	factStep
	factWeak
	factLog // an error in a log line of the code under test
	factPass
	factNext
	factWhere
	factFrame
	factFileHead
	factCount
	factNoise
)

var factNames = [...]string{
	factCheck: "check", factSuite: "suite", factDiag: "diag", factWarn: "warn", factError: "error", factDetail: "detail",
	factStep: "step", factWeak: "weak", factLog: "log", factPass: "pass", factNext: "next", factWhere: "where",
	factFrame: "frame", factFileHead: "filehead", factCount: "count", factNoise: "noise",
}

// builtRule is one rule of rules.yaml.
type builtRule struct {
	id       string
	fact     factKind
	margin   bool // the line must have had a margin
	patterns []string
}

// readRules parses a text in the restricted form of rules.yaml, since a full YAML parser would
// take much longer: keys in a fixed order, texts in quotes, without escapes.
func readRules(text string) (rules []builtRule) {
	for i, block := range strings.Split(text, "\n  - id: ") {
		head, list, ok := strings.Cut(block, "\n    patterns: [")
		if i == 0 || !ok {
			continue
		}
		list, _, _ = strings.Cut(list, "]\n    examples:\n")
		keys := strings.Split(head, "\n")
		_, fact, _ := strings.Cut(keys[1], "fact: ")
		r := builtRule{id: keys[0], fact: factKind(max(0, slices.Index(factNames[:], fact))), margin: len(keys) > 2}
		for {
			open := strings.IndexAny(list, `'"`)
			if open < 0 {
				break
			}
			pattern, rest, _ := strings.Cut(list[open+1:], list[open:open+1])
			r.patterns, list = append(r.patterns, pattern), rest
		}
		rules = append(rules, r)
	}
	return rules
}

// ruleBook holds the compiled rules, indexed by something rare that a line must have.
type ruleBook struct {
	all    []*matcher                // in the order of rules.yaml
	first  [256][]uint16             // indices of the patterns that start with the byte
	byPair [pairKinds + 256][]uint16 // of the others, by the pair they need most
	keys   pairs                     // the pairs that byPair has patterns for
	rest   []uint16                  // patterns that need none
}

// maxPatterns is the maximum number of rules in the book.
const maxPatterns = 1024

// commonText is typical tool output: byte pairs that it contains often are of little use for
// finding a rule.
const commonText = "the request was accepted from upstream while session store being flushed to disk by worker after retry of connection pool: checkout with cached token for user, " +
	"building object src/main.c.o and test/session test.js at internal/module_name.go:120 in 12.5 ms - running (id 7f) [1/9] name=value compiling linking \"data\" done. passed ok 3 4: starting 5, error: failed "

// book compiles the built-in rules on first use.
var book = sync.OnceValue(func() *ruleBook {
	bk := &ruleBook{}
	for _, r := range readRules(rulesYAML) {
		for _, p := range r.patterns {
			m, err := compile(p)
			if err != nil {
				panic("signature: built-in rule " + r.id + ": " + err.Error()) // a test compiles them all
			}
			m.rule = &r
			bk.all = append(bk.all, &m)
		}
	}
	var common [pairKinds + 256]int // how often typical output has each
	for i := range len(commonText) {
		common[single(commonText[i])]++
		common[pair(commonText[max(0, i-1)], commonText[i])]++
	}
	for i, m := range bk.all {
		// What is rare comes first, so that most lines are seen not to match by one look.
		slices.SortStableFunc(m.need, func(a, b uint16) int { return common[a] - common[b] })
		if m.first != 0 {
			bk.first[m.first] = append(bk.first[m.first], uint16(i))
			continue
		}
		if len(m.need) == 0 {
			bk.rest = append(bk.rest, uint16(i))
			continue
		}
		key := m.need[0]
		bk.byPair[key] = append(bk.byPair[key], uint16(i))
		bk.keys[key>>6] |= 1 << (key & 63)
	}
	return bk
})

// find returns the first pattern that matches the line. bar means that the line had a margin.
func (bk *ruleBook) find(b []byte, bar bool, p *pairs, f *fields) *matcher {
	if len(b) == 0 {
		return nil
	}
	var set [maxPatterns / 64]uint64
	first := folded[b[0]]
	for _, list := range [...][]uint16{bk.first[first], bk.rest} {
		for _, i := range list {
			set[i>>6] |= 1 << (i & 63)
		}
	}
	for w, bits64 := range p {
		for m := bits64 & bk.keys[w]; m != 0; m &= m - 1 {
			for _, i := range bk.byPair[w<<6+bits.TrailingZeros64(m)] {
				set[i>>6] |= 1 << (i & 63)
			}
		}
	}
	for w, word := range set {
		for ; word != 0; word &= word - 1 {
			m := bk.all[w<<6+bits.TrailingZeros64(word)]
			if !p.has(m.need) || m.rule.margin && !bar {
				continue
			}
			*f = fields{}
			if m.match(b, f) {
				return m
			}
		}
	}
	*f = fields{}
	return nil
}
