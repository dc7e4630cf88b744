package signature

import (
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// ruleExample is a fixture of rules.yaml: the rule, a line, and the fact it gives:
// its kind, and its text where one is given.
type ruleExample struct{ rule, line, want string }

// ruleExamples reads rules.yaml as YAML: what the program reads of it must be the same.
func ruleExamples(t *testing.T) (examples []ruleExample) {
	var file struct {
		Rules []struct {
			ID       string
			Fact     string
			Only     string
			Patterns []string
			Examples []string
		}
	}
	dec := yaml.NewDecoder(strings.NewReader(rulesYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	read := readRules(rulesYAML)
	if len(read) != len(file.Rules) {
		t.Fatalf("%d rules are read, there are %d", len(read), len(file.Rules))
	}
	seen := map[string]bool{}
	for i, r := range file.Rules {
		if got := read[i]; got.id != r.ID || got.fact == factNone || factNames[got.fact] != r.Fact || got.margin != (r.Only != "") || !slices.Equal(got.patterns, r.Patterns) {
			t.Errorf("read %+v, want %+v", got, r)
		}
		if seen[r.ID] || len(r.Patterns) == 0 || len(r.Examples) == 0 || r.Only != "" && r.Only != "margin" {
			t.Errorf("rule %q: an id of its own, patterns and examples are needed, and only says margin", r.ID)
		}
		seen[r.ID] = true
		for _, e := range r.Examples {
			n := strings.LastIndex(e, " => ")
			if n < 0 {
				t.Fatalf("rule %s: example %q has no \" => \"", r.ID, e)
			}
			examples = append(examples, ruleExample{r.ID, e[:n], e[n+4:]})
		}
	}
	return examples
}

func TestRuleExamples(t *testing.T) {
	for _, e := range ruleExamples(t) {
		f := split([]byte(e.line), false)
		var p pairs
		var fd fields
		p.fill(f.body)
		var r *builtRule
		if m := book().find(f.body, f.bar, &p, &fd); m != nil {
			r = m.rule
		}
		if e.want == "-" {
			if r != nil && r.id == e.rule {
				t.Errorf("%s takes %q, it must not", e.rule, e.line)
			}
			continue
		}
		if r == nil || r.id != e.rule {
			got := "no rule"
			if r != nil {
				got = r.id
			}
			t.Errorf("%q is taken by %s, want %s", e.line, got, e.rule)
			continue
		}
		kind, text, _ := strings.Cut(e.want, " ")
		if factNames[r.fact] != kind {
			t.Errorf("%q gives %s, want %s", e.line, factNames[r.fact], e.want)
		}
		if text == "" || r.fact == factWhere || r.fact == factFrame || r.fact == factFileHead || r.fact == factNext || r.fact == factDetail {
			continue // no fact without the lines around it
		}
		s := New(Options{Explain: true})
		s.Stdout().Write([]byte(e.line + "\n"))
		found := s.Explain(s.Sum(1)).Facts
		if !slices.ContainsFunc(found, func(g FoundFact) bool { return g.Fact == e.want }) {
			t.Errorf("%q gives %+v, want %q", e.line, found, e.want)
		}
	}
}

// Every capture is documented by its name, and the book has room for its rules.
func TestRuleBook(t *testing.T) {
	bk := book()
	if len(bk.all) > maxPatterns {
		t.Fatalf("%d patterns, room for %d", len(bk.all), maxPatterns)
	}
	for c := capAny; c < capEnd; c++ {
		if captureNames[c] == "" && c != capCol {
			t.Errorf("capture %d has no name", c)
		}
	}
}

// What the prefilter lets through must not depend on it: a pattern that matches a
// line is also found by way of the index.
func TestPrefilterLosesNothing(t *testing.T) {
	bk := book()
	outs := readFamilies(t)
	for _, o := range outs {
		for line := range strings.SplitSeq(o.text, "\n") {
			f := split([]byte(line), false)
			if len(f.body) == 0 {
				continue
			}
			var p pairs
			var fd fields
			p.fill(f.body)
			var want *matcher
			for _, m := range bk.all {
				if (!m.rule.margin || f.bar) && m.match(f.body, &fd) {
					want = m
					break
				}
			}
			if got := bk.find(f.body, f.bar, &p, &fd); got != want {
				t.Errorf("%q: found %+v, want %+v", f.body, got, want)
			}
		}
	}
}

// samples are texts that a capture matches, the first ones of which no narrower capture takes.
var samples = [capEnd][]string{
	capAny: {"zork: (7 x)", "", "Zork"}, capName: {"Zork, blim: 4", "zork"}, capMsg: {"Zork, blim: 4", "zork"},
	capFile: {"src/zork.c", "zork"}, capPos: {"4"}, capCol: {"7"}, capN: {"4"}, capSev: severityWords,
	capWarn: warningWords, capInfo: infoWords, capCode: {"no-undef", "E501"}, capRule: {"E501"},
	capKind: {"ZorkError", "java.io.IOException"}, capWord: {"zork", "Zork-1_b"}, capTool: {"zork", "./a+b"},
	capKey: keyWords, capBad: badWords, capStatus: statusWords, capGood: goodWords, capCount: {"3 failed", "2 tests"},
}

// A pattern that no line reaches, since another one takes them all, is only in the way.
func TestEveryPatternIsReached(t *testing.T) {
	bk := book()
	for _, m := range bk.all {
		reached := false
		for n := 0; n < 400 && !reached; n++ {
			var line strings.Builder
			k := n
			for _, nd := range m.nodes {
				if line.WriteString(nd.lit); nd.cap != capNone {
					texts := samples[nd.cap]
					line.WriteString(texts[k%len(texts)])
					k /= len(texts)
				}
			}
			b := trim([]byte(line.String()))
			var p pairs
			var fd fields
			p.fill(b)
			reached = bk.find(b, m.rule.margin, &p, &fd) == m
		}
		if !reached {
			t.Errorf("rule %s: no line reaches the pattern %+v", m.rule.id, m.nodes)
		}
	}
}
