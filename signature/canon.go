package signature

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// conclude builds the signature from the facts found.
func (s *Signer) conclude(exitCode int) Signature {
	all := s.counts()
	sig := Signature{Failing: all.failing(), Passed: all.passed(), Total: all.total()}
	chosen := s.choose()
	strict, loose := make([]string, 0, len(chosen)+2), make([]string, 0, len(chosen)+2)
	checks, findings := 0, 0
	for _, f := range chosen {
		switch f.kind {
		case factCheck:
			checks++
		case factDiag:
			findings += max(1, len(f.places))
		}
		line := f.canonical(f.text)
		if len(f.places) > 1 {
			line += fmt.Sprintf(" ×%d", len(f.places))
		}
		strict = append(strict, line)
		loose = append(loose, f.canonical(f.loose))
	}
	if sig.Failing > max(checks, findings) { // more than are known by name
		strict = append(strict, fmt.Sprintf("count failing %d", sig.Failing))
	}
	done, measured := s.done.lines()
	if len(chosen) > 0 {
		strict, loose = append(strict, done...), append(loose, measured...)
	}
	left := s.left.beside(chosen)
	strict, loose = append(strict, left...), append(loose, left...)
	exit := fmt.Sprintf("exit %d", exitCode)
	strict, loose = append(strict, exit), append(loose, exit)
	listed := slices.Clone(strict)
	if !slices.ContainsFunc(chosen, func(f *fact) bool { return f.telling() && (f.kind != factWarn || s.warned) }) {
		listed = append(listed, s.tailFacts()...)
		warnings := slices.ContainsFunc(chosen, (*fact).telling)
		s.lines.deciding(func(h lineHash) {
			if warnings { // numbers beside them are no other failure
				h.strict = h.loose
			}
			strict, loose = append(strict, fmt.Sprintf("line %016x", h.strict)), append(loose, fmt.Sprintf("line %016x", h.loose))
		})
	}
	sig.Hash, sig.Loose, sig.Core = digest(strict), digest(loose), core(chosen, done, sig.Failing, exitCode)
	s.describe(&sig, chosen, all)
	sig.Label = s.label(&sig, chosen, exitCode)
	sig.Facts = bounded(listed, MaxFacts)
	return sig
}

// core returns the hash of which checks fail and how, or 0 if no failing check has a name.
func core(chosen []*fact, done []string, failing, exitCode int) Hash {
	lines := append(slices.Clone(done), fmt.Sprintf("failing %d exit %d", failing, exitCode))
	checks := false
	for _, f := range chosen {
		switch f.kind {
		case factDetail:
			if f.rule != "detail" || tellsKind(f.text) {
				lines = append(lines, f.canonical(f.loose))
			}
		case factCheck, factSuite:
			checks = checks || f.kind == factCheck
			lines = append(lines, f.canonical(f.text))
		default:
			lines = append(lines, fmt.Sprintf("%s ×%d", f.canonical(withoutValues(f.text)), len(f.places)))
		}
	}
	if !checks {
		return 0
	}
	return digest(lines)
}

// tellsKind reports whether a detail describes the kind of a failure rather than a value.
func tellsKind(detail string) bool {
	key, _, _ := strings.Cut(strings.ToLower(detail), ":")
	return key == "code" || key == "name" || key == "failuretype" || key == "operator"
}

// choose returns the facts that decide the signature: the most telling available.
func (s *Signer) choose() []*fact {
	kinds := []factKind{factCheck, factSuite, factDiag, factError, factDetail}
	if s.warned {
		kinds = append(kinds, factWarn)
	}
	strong := s.facts.ofKind(kinds...)
	switch {
	case slices.ContainsFunc(strong, (*fact).listed):
		strong = slices.DeleteFunc(strong, func(f *fact) bool { return f.rule == "explained" })
		return withoutEchoes(strong)
	case slices.ContainsFunc(strong, func(f *fact) bool { return f.kind == factError }):
		return append(strong, s.facts.ofKind(factStep)...)
	}
	if warn := s.facts.ofKind(factWarn); len(warn) > 0 {
		return warn
	}
	return s.facts.ofKind(factWeak, factLog, factStep)
}

// withoutEchoes drops check names that repeat the end of a longer one.
func withoutEchoes(fs []*fact) []*fact {
	out := fs[:0:0]
	for _, f := range fs {
		if f.kind == factCheck && slices.ContainsFunc(fs, func(g *fact) bool {
			return g.kind == factCheck && g.suite == f.suite && len(g.text) > len(f.text)+1 && strings.HasSuffix(g.text, f.text) && !word(g.text[len(g.text)-len(f.text)-1])
		}) {
			continue
		}
		out = append(out, f)
	}
	return out
}

func digest(lines []string) Hash {
	d := xxhash.New()
	for _, l := range bounded(lines, len(lines)) {
		d.WriteString(l)
		d.WriteString("\n")
	}
	return max(Hash(d.Sum64()), 1)
}

func bounded(lines []string, n int) []string {
	slices.Sort(lines)
	lines = slices.Compact(lines)
	return lines[:min(n, len(lines))]
}

// describe fills in kind, checks, errors and counts.
func (s *Signer) describe(sig *Signature, fs []*fact, all counts) {
	var checks, suites []string
	findings, diags, lint := 0, 0, 0
	hasError := false
	for _, f := range fs {
		switch f.kind {
		case factCheck:
			checks = append(checks, f.text)
		case factSuite:
			suites = append(suites, f.text)
		case factDiag, factWarn:
			findings += max(1, len(f.places))
			diags++
			if ofLinter(f) {
				lint++
			}
		case factError, factWeak, factLog, factStep:
			hasError = true
		}
	}
	if len(checks) == 0 && findings == 0 {
		checks = suites
	}
	leaves := withoutParents(checks)
	switch {
	case len(checks) > 0 || findings == 0 && all.of(countFailed) > 0:
		sig.Kind = KindTestFail
		if sig.Failing <= 0 {
			sig.Failing = len(leaves)
		}
	case findings > 0 && lint*2 >= diags:
		sig.Kind, sig.Failing = KindLintFail, max(findings, sig.Failing)
	case findings > 0:
		sig.Kind, sig.Failing = KindBuildFail, max(findings, sig.Failing)
	case hasError:
		sig.Kind = KindError
	case s.lines.empty():
		sig.Kind = KindSilent
	default:
		sig.Kind = KindOutput
	}
	if s.facts.dropped() && all.failing() <= 0 && sig.Failing > 0 {
		sig.Failing = -1 // there are more of them than are kept
	}
	if sig.Failing > sig.Total {
		sig.Total = -1 // what was counted there is something else
	}
	sig.Checks = bounded(leaves, MaxChecks)
	sig.Errors = s.errorLines(fs)
}

// ofLinter reports whether a finding looks like a linter's, not a compiler's: it is in a
// table, or has a rule's code.
func ofLinter(f *fact) bool {
	switch f.rule {
	case "diag-table", "diag-table-warning", "diag-graphic", "diag-note", "json-finding", "xml-finding":
		return true
	case "diag-plain":
		return strings.ContainsAny(f.name, "0123456789-/") || bracketCode(f.text)
	}
	if f.rule == "error-code" {
		return ruleEnd([]byte(f.raw), 0) > 0
	}
	return bracketCode(f.text)
}

// bracketCode reports whether a text ends in the name of a lint rule in brackets:
// "[attr-defined]", "(errcheck)".
func bracketCode(s string) bool {
	if s == "" || s[len(s)-1] != ']' && s[len(s)-1] != ')' {
		return false
	}
	i := strings.LastIndexAny(s, "[(")
	if i < 1 || s[i-1] != ' ' || s[i+1] == '-' {
		return false
	}
	code := s[i+1 : len(s)-1]
	return len(code) > 2 && strings.Trim(code, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/_") == "" && !strings.HasPrefix(code, "-W")
}

// withoutParents drops names that are only the group of another: TestLogin if TestLogin/alice
// fails too.
func withoutParents(names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		if !slices.ContainsFunc(names, func(m string) bool { return len(m) > len(n) && strings.HasPrefix(m, n) && m[len(n)] == '/' }) {
			out = append(out, n)
		}
	}
	return out
}

// errorLines returns up to three lines for people, in the order of the output.
func (s *Signer) errorLines(fs []*fact) []string {
	var from []*fact
	named := slices.ContainsFunc(fs, (*fact).listed)
	for _, f := range fs {
		if f.kind == factDetail && !named || f.kind == factError || f.kind == factDiag || f.kind == factLog || f.kind == factWarn || f.kind == factWeak {
			from = append(from, f)
		}
	}
	from = withoutHeadings(from)
	slices.SortFunc(from, func(a, b *fact) int { return a.seq - b.seq })
	var out []string
	for _, f := range from {
		if line := printable(f.raw, 200); line != "" && !slices.Contains(out, line) {
			if out = append(out, line); len(out) == MaxErrors {
				break
			}
		}
	}
	return out
}

// withoutHeadings drops lines that only announce a message, if there is a message.
func withoutHeadings(fs []*fact) []*fact {
	heading := func(f *fact) bool { return f.rule == "panic" && f.name == "" && strings.HasSuffix(f.text, ":") }
	if slices.ContainsFunc(fs, func(f *fact) bool { return f.kind == factError && !heading(f) }) {
		return slices.DeleteFunc(slices.Clone(fs), heading)
	}
	return fs
}

// tailFacts returns the last masked lines, for an output with no facts.
func (s *Signer) tailFacts() []string {
	var out []string
	for _, c := range []*channel{&s.out, &s.err} {
		lines := strings.Split(string(c.tail.Bytes()), "\n")
		for _, l := range lines[max(0, len(lines)-12):] {
			t := c.texts[0]
			full := t.clean.clean([]byte(strings.TrimSuffix(l, "\r")))
			full, counts := t.masked(full)
			if b := trim(full[t.split.Cut(full).Len:]); counts && len(b) > 0 {
				out = append(out, "line "+printable(string(s.sc.text(nil, b, false)), maxText))
			}
		}
	}
	return out
}
