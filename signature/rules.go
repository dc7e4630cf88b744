package signature

import "sync"

//go:generate go run ./internal/rulegen rules.yaml rules_gen.go rules_gen_test.go

// factKind says what a fact is; the order is that of the canonical form.
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

// ruleBook is the compiled rules, by the first byte of the lines they can match.
type ruleBook struct {
	byFirst [256][]*matcher // in the order of rules.yaml, those for any byte too
}

// book compiles the built-in rules when they are first needed.
var book = sync.OnceValue(func() *ruleBook {
	var all []*matcher
	for i := range builtRules {
		r := &builtRules[i]
		for _, p := range r.patterns {
			m, err := compile(p)
			if err != nil {
				panic("signature: built-in rule " + r.id + ": " + err.Error()) // a test compiles them all
			}
			m.rule = r
			all = append(all, &m)
		}
	}
	bk := &ruleBook{}
	for c := range bk.byFirst {
		for _, m := range all {
			if m.first == 0 || m.first == fold(byte(c)) {
				bk.byFirst[c] = append(bk.byFirst[c], m)
			}
		}
	}
	return bk
})

// find returns the first rule that takes the line.
func (bk *ruleBook) find(b []byte, bar bool, p *pairs, f *fields) *builtRule {
	if len(b) == 0 {
		return nil
	}
	for _, m := range bk.byFirst[b[0]] {
		if !p.has(m.need) || m.rule.margin && !bar {
			continue
		}
		*f = fields{}
		if m.match(b, f) {
			return m.rule
		}
	}
	return nil
}
