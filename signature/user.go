package signature

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// Source is where a user's pattern was written, for error messages.
type Source struct {
	File string // "" for a flag
	Line int    // from 1; 0 unknown
}

// String returns "file:line", "file", or "" if nothing is known.
func (s Source) String() string {
	switch {
	case s.File != "" && s.Line > 0:
		return fmt.Sprintf("%s:%d", s.File, s.Line)
	case s.Line > 0:
		return fmt.Sprintf("line %d", s.Line)
	}
	return s.File
}

func (s Source) errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if at := s.String(); at != "" {
		return fmt.Errorf("%s: %w", at, err)
	}
	return err
}

// Pattern is a user's own regular expression (RE2), for Options.Mask and Options.Ignore. It
// runs only on lines that contain the literal text required by every match. The zero value
// matches nothing.
type Pattern struct {
	re      *regexp.Regexp
	literal []byte // every match contains it; empty: not known
	with    string // what a mask puts in the place of a match
}

// NewPattern compiles a pattern. The error includes src and what is wrong.
func NewPattern(expr string, src Source) (Pattern, error) {
	re, lit, err := compileRegexp(expr, src)
	return Pattern{re: re, literal: lit, with: "<mask>"}, err
}

// NewMask is NewPattern with a name for the masked text: a match becomes <name>. The name may
// contain only letters, dashes and underscores.
func NewMask(expr, name string, src Source) (Pattern, error) {
	for _, c := range []byte(name) {
		if !letter(c) && c != '-' && c != '_' {
			return Pattern{}, src.errorf("mask name %q: use letters, '-' and '_'", name)
		}
	}
	p, err := NewPattern(expr, src)
	if name != "" {
		p.with = "<" + name + ">"
	}
	return p, err
}

func compileRegexp(expr string, src Source) (*regexp.Regexp, []byte, error) {
	if expr == "" {
		return nil, nil, src.errorf("empty pattern: it would match every line")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, nil, src.errorf("pattern %q: %w", expr, err)
	}
	if re.MatchString("") {
		return nil, nil, src.errorf("pattern %q matches the empty text, so it would match every line", expr)
	}
	return re, requiredLiteral(expr), nil
}

// requiredLiteral returns the longest text that every match of expr contains.
func requiredLiteral(expr string) []byte {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	return []byte(longestLiteral(re.Simplify()))
}

func longestLiteral(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return ""
		}
		return string(re.Rune)
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if l := longestLiteral(sub); len(l) > len(best) {
				best = l
			}
		}
		return best
	case syntax.OpCapture, syntax.OpPlus:
		return longestLiteral(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return longestLiteral(re.Sub[0])
		}
	}
	return ""
}

func (p *Pattern) could(b []byte) bool {
	return p.re != nil && (len(p.literal) == 0 || bytes.Contains(b, p.literal))
}

// Rule is a user's own extraction rule, for Options.Extract. The zero value finds nothing.
type Rule struct {
	id   string
	fact factKind
	m    *matcher // one of m and p
	p    Pattern
	name int // group of the regular expression that is the fact's text; 0 the match
}

// RuleText is a Rule as written in a configuration file.
type RuleText struct {
	// ID names the rule in explanations; empty means "user".
	ID string
	// Fact is what a match means: check, suite, diag, error, step, weak, pass or
	// noise, as in rules.yaml.
	Fact string
	// Pattern is a pattern as in rules.yaml, for the whole line; Regexp a regular
	// expression (RE2), for a part of it, with the group (?P<name>…) for the text of
	// the fact. One of the two must be given.
	Pattern, Regexp string
	Source          Source
}

// userFacts lists the facts that a user's rule can find.
var userFacts = [...]factKind{factCheck, factSuite, factDiag, factError, factStep, factWeak, factPass, factNoise}

// FactNames returns the valid values of [RuleText.Fact].
func FactNames() []string {
	names := make([]string, len(userFacts))
	for i, k := range userFacts {
		names[i] = factNames[k]
	}
	return names
}

// NewRule compiles a rule. The error includes t.Source and what is wrong.
func NewRule(t RuleText) (Rule, error) {
	r := Rule{id: t.ID}
	if r.id == "" {
		r.id = "user"
	}
	for _, k := range userFacts {
		if factNames[k] == t.Fact {
			r.fact = k
		}
	}
	switch {
	case r.fact == factNone:
		return Rule{}, t.Source.errorf("rule %s: unknown fact %q: use check, suite, diag, error, step, weak, pass or noise", r.id, t.Fact)
	case (t.Pattern == "") == (t.Regexp == ""):
		return Rule{}, t.Source.errorf("rule %s: give one of pattern and regexp", r.id)
	case t.Pattern != "":
		m, err := compile(t.Pattern)
		if err != nil {
			return Rule{}, t.Source.errorf("rule %s: %w", r.id, err)
		}
		m.rule = &builtRule{id: r.id, fact: r.fact}
		r.m = &m
		return r, nil
	}
	re, lit, err := compileRegexp(t.Regexp, t.Source)
	r.p = Pattern{re: re, literal: lit}
	if err == nil {
		r.name = max(0, re.SubexpIndex("name"))
	}
	return r, err
}

// userPatterns applies the user's patterns.
type userPatterns struct {
	mask, ignore []Pattern
	extract      []Rule
}

func (u *userPatterns) active() bool { return len(u.mask)+len(u.ignore) > 0 }

func (u *userPatterns) ignored(b []byte) bool {
	for i := range u.ignore {
		if p := &u.ignore[i]; p.could(b) && p.re.Match(b) {
			return true
		}
	}
	return false
}

// masked returns the line with every match replaced, and whether there was one. The result may
// use dst.
func (u *userPatterns) masked(dst, b []byte) ([]byte, bool) {
	changed := false
	for i := range u.mask {
		p := &u.mask[i]
		if !p.could(b) {
			continue
		}
		if loc := p.re.FindIndex(b); loc == nil {
			continue
		}
		b, changed = p.re.ReplaceAllLiteral(b, []byte(p.with)), true
	}
	if !changed {
		return nil, false
	}
	return append(dst, b...), true
}

// extracts applies the user's rules to a line. It reports whether one of them matched.
func (u *userPatterns) extracts(x *extractor, f front) bool {
	for i := range u.extract {
		r := &u.extract[i]
		if r.m != nil {
			var fd fields
			if r.m.match(f.body, &fd) {
				x.fields = fd
				x.apply(r.m.rule, f, f.body)
				x.step()
				return true
			}
			continue
		}
		if !r.p.could(f.body) {
			continue
		}
		loc := r.p.re.FindSubmatchIndex(f.body)
		if loc == nil || loc[2*r.name] < 0 {
			continue
		}
		if r.fact != factPass && r.fact != factNoise {
			b := f.body[loc[2*r.name]:loc[2*r.name+1]]
			x.add(fact{kind: r.fact, rule: r.id, name: string(b)}, b)
		}
		x.step()
		return true
	}
	return false
}
