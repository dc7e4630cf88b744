package signature

import (
	"fmt"
	"slices"
	"strings"
)

// Limits of an explanation.
const (
	maxExplainLines = 400
	maxExplainFacts = 400
	maxMargins      = 16
)

// Explanation describes how a signature came about.
type Explanation struct {
	// Signature is the signature being explained.
	Signature Signature `json:"signature"`
	// Carriers lists the transcripts and logs that were opened, by the name of their agent
	// ("claude") or as "log".
	Carriers []string `json:"carriers,omitempty"`
	// Margins lists the margins that were cut off, each as it was on its first line, at most
	// 16.
	Margins []string `json:"margins,omitempty"`
	// Facts lists every fact found, in the order of the output, at most 400, with the rule
	// that found it and whether it decides.
	Facts []FoundFact `json:"facts,omitempty"`
	// Lines are the last lines of the output with masks applied, at most 400.
	Lines []MaskedLine `json:"lines,omitempty"`
}

// FoundFact is one fact and its origin.
type FoundFact struct {
	Rule string `json:"rule"`           // id of the rule, as in rules.yaml
	Fact string `json:"fact"`           // canonical
	Line string `json:"line,omitempty"` // what the output said
	Used bool   `json:"used"`           // it is part of the signature
}

// MaskedLine is one line of the output as the signature sees it.
type MaskedLine struct {
	Stream string `json:"stream"` // stdout or stderr
	Text   string `json:"text"`
}

// explainer collects what Explanation needs. A nil explainer collects nothing.
type explainer struct {
	carriers []string
	margins  []string
	sources  []string // that the margins name

	found []fact
	lines []MaskedLine // the last ones
}

func (e *explainer) fact(f fact) {
	if len(e.found) < maxExplainFacts {
		e.found = append(e.found, f)
	}
}

// margin records the first margin of each source.
func (e *explainer) margin(source string, b []byte) {
	if e == nil || len(b) == 0 || len(e.sources) == maxMargins || slices.Contains(e.sources, source) {
		return
	}
	e.sources, e.margins = append(e.sources, source), append(e.margins, printable(string(b), maxText))
}

// carrier records the format that carried a part of the output.
func (e *explainer) carrier(name string) {
	if e != nil && !slices.Contains(e.carriers, name) {
		e.carriers = append(e.carriers, name)
	}
}

func (e *explainer) line(sc *scanner, id int, b []byte) {
	l := MaskedLine{Stream: [...]string{"stdout", "stderr"}[id], Text: printable(string(sc.text(nil, b[:min(len(b), 1000)], false)), 1000)}
	e.lines = append(e.lines[max(0, len(e.lines)+1-maxExplainLines):], l)
}

// Explain returns how sig came about; sig must be the result of Sum or SumContent. It has only
// the signature unless Options.Explain was set.
func (s *Signer) Explain(sig Signature) Explanation {
	out := Explanation{Signature: sig}
	if s.why == nil {
		return out
	}
	out.Carriers, out.Margins = s.why.carriers, s.why.margins
	chosen := map[string]bool{}
	for _, f := range s.choose() {
		chosen[f.canonical(f.text)] = true
	}
	for _, f := range s.why.found {
		text := f.canonical(f.text)
		used := chosen[text]
		for c := range chosen { // a place that became known later
			used = used || strings.HasPrefix(c, text+" @") || strings.HasSuffix(c, " "+f.text)
		}
		out.Facts = append(out.Facts, FoundFact{Rule: f.rule, Fact: text, Line: printable(f.raw, maxText), Used: used && sig.Kind != KindPass})
	}
	out.Lines = s.why.lines
	return out
}

// Difference describes why two outputs are, or are not, the same failure.
type Difference struct {
	// Same means that the strict hashes are equal.
	Same bool `json:"same"`
	// OnlyNumbers means that the strict hashes differ but the loose ones do not.
	OnlyNumbers bool `json:"only_numbers"`
	// Common holds the facts of both outputs; OnlyA and OnlyB hold those of one.
	Common []string `json:"common,omitempty"`
	OnlyA  []string `json:"only_a,omitempty"`
	OnlyB  []string `json:"only_b,omitempty"`
	// Alike is the share of common facts, from 0 to 1; it is 1 for two outputs without facts.
	Alike float64 `json:"alike"`
	// Why is one sentence.
	Why string `json:"why"`
}

// Diff compares two signatures by the facts that they list.
func Diff(a, b Signature) Difference {
	d := Difference{Same: a.Hash == b.Hash && a.Hash != 0, OnlyNumbers: a.Hash != b.Hash && a.Loose == b.Loose && a.Loose != 0}
	for _, f := range a.Facts {
		if slices.Contains(b.Facts, f) {
			d.Common = append(d.Common, f)
		} else {
			d.OnlyA = append(d.OnlyA, f)
		}
	}
	for _, f := range b.Facts {
		if !slices.Contains(a.Facts, f) {
			d.OnlyB = append(d.OnlyB, f)
		}
	}
	d.Alike = 1
	if n := len(d.Common) + len(d.OnlyA) + len(d.OnlyB); n > 0 {
		d.Alike = float64(len(d.Common)) / float64(n)
	}
	d.Why = d.sentence(a, b)
	return d
}

func (d *Difference) sentence(a, b Signature) string {
	switch {
	case d.Same && a.Kind == KindPass:
		return "both pass"
	case d.Same:
		return fmt.Sprintf("the same failure: all %d facts are equal", len(a.Facts))
	case d.OnlyNumbers:
		return "only counts or values changed: the facts are equal but for their numbers"
	case a.Kind != b.Kind:
		return fmt.Sprintf("different kinds: %s and %s", a.Kind, b.Kind)
	case a.Failing >= 0 && b.Failing >= 0 && a.Failing != b.Failing:
		return fmt.Sprintf("%d failing and %d failing", a.Failing, b.Failing)
	case len(d.OnlyA) > 0 && len(d.OnlyB) > 0:
		return fmt.Sprintf("facts differ: only the first has %q, only the second has %q", d.OnlyA[0], d.OnlyB[0])
	case len(d.OnlyA) > 0:
		return fmt.Sprintf("the second lacks %q", d.OnlyA[0])
	case len(d.OnlyB) > 0:
		return fmt.Sprintf("the first lacks %q", d.OnlyB[0])
	}
	return "they differ in lines that are not listed"
}
