package signature

import (
	"fmt"
	"regexp"
)

// Source is where a user's pattern was written, for error messages.
type Source struct {
	File string // "" for a flag
	Line int    // from 1; 0 unknown
}

// String returns "file:line", "file", or "" if nothing is known.
func (s Source) String() string {
	if s.File != "" && s.Line > 0 {
		return fmt.Sprintf("%s:%d", s.File, s.Line)
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

// Pattern is a user's own regular expression (RE2), for Options.Mask and Options.Ignore. The
// zero value matches nothing.
type Pattern struct {
	re   *regexp.Regexp
	with string // what a mask puts in the place of a match
}

// NewPattern compiles a pattern. The error includes src and what is wrong.
func NewPattern(expr string, src Source) (Pattern, error) {
	re, err := compileRegexp(expr, src)
	return Pattern{re: re, with: "<mask>"}, err
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

func compileRegexp(expr string, src Source) (*regexp.Regexp, error) {
	if expr == "" {
		return nil, src.errorf("empty pattern: it would match every line")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, src.errorf("pattern %q: %w", expr, err)
	}
	if re.MatchString("") {
		return nil, src.errorf("pattern %q matches the empty text, so it would match every line", expr)
	}
	return re, nil
}

// Rule is a user's own extraction rule, for Options.Extract. The zero value finds nothing.
type Rule struct {
	id   string
	fact factKind
	m    *matcher // one of m and re
	re   *regexp.Regexp
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
	re, err := compileRegexp(t.Regexp, t.Source)
	r.re = re
	if err == nil {
		r.name = max(0, re.SubexpIndex("name"))
	}
	return r, err
}

func (o *Options) ignored(b []byte) bool {
	for i := range o.Ignore {
		if p := &o.Ignore[i]; p.re != nil && p.re.Match(b) {
			return true
		}
	}
	return false
}

// masked returns the line with every match replaced.
func (o *Options) masked(b []byte) []byte {
	for i := range o.Mask {
		if p := &o.Mask[i]; p.re != nil && p.re.Match(b) {
			b = p.re.ReplaceAllLiteral(b, []byte(p.with))
		}
	}
	return b
}

// extracts applies the user's rules to a line. It reports whether one of them matched.
func (o *Options) extracts(x *extractor, f front) bool {
	for i := range o.Extract {
		r := &o.Extract[i]
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
		if r.re == nil {
			continue
		}
		loc := r.re.FindSubmatchIndex(f.body)
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
