package redact

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// maxLine is how much of a line a pattern sees at a time, in bytes.
const maxLine = 64 << 10

// pattern is one of the user's regular expressions.
type pattern struct {
	re      *regexp.Regexp
	group   int    // which group is masked; 0: all of the match
	literal []byte // every match has it; empty: none is known
}

func compile(patterns []Pattern) ([]pattern, error) {
	var all []pattern
	for _, p := range patterns {
		c, err := compileOne(p.Text)
		if err != nil && p.Position != "" {
			err = fmt.Errorf("%s: %w", p.Position, err)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func compileOne(text string) (pattern, error) {
	re, err := regexp.Compile(text)
	switch {
	case text == "":
		return pattern{}, fmt.Errorf("the redact pattern is empty; remove it")
	case err != nil:
		return pattern{}, fmt.Errorf("the redact pattern %q is not a regular expression: %w; write one in the syntax of RE2 (a backslash before a character such as ( or + makes it an ordinary one)", text, err)
	case re.MatchString(""):
		return pattern{}, fmt.Errorf("the redact pattern %q matches the empty text, so it would match everywhere; write what the secret has at least (+ in place of *)", text)
	}
	p := pattern{re: re, group: max(0, re.SubexpIndex("secret"))}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
		p.literal = []byte(required(tree.Simplify()))
	}
	return p, nil
}

// required returns the longest text that every match contains, as far as that is easily
// determined from a simplified expression. Without one, each line is searched for the pattern.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if l := required(sub); len(l) > len(best) {
				best = l
			}
		}
		return best
	}
	return ""
}

// find adds the pattern's matches in whole lines to spans; from is where the lines begin in
// the text to which the spans refer.
func (p *pattern) find(lines []byte, from int, spans []span) []span {
	if len(p.literal) > 0 && !bytes.Contains(lines, p.literal) {
		return spans
	}
	for len(lines) > 0 {
		n := lineEnd(lines)
		if line := lines[:n]; bytes.Contains(line, p.literal) {
			spans = p.findInLine(line, from, spans)
		}
		if n < len(lines) && (lines[n] == '\n' || lines[n] == '\r') {
			n++
		}
		lines, from = lines[n:], from+n
	}
	return spans
}

func (p *pattern) findInLine(line []byte, from int, spans []span) []span {
	for _, m := range p.re.FindAllSubmatchIndex(line, -1) {
		if a, b := m[2*p.group], m[2*p.group+1]; a >= 0 && a < b {
			spans = append(spans, span{from + a, from + b})
		}
	}
	return spans
}

// lineEnd returns where the first line ends or is cut.
func lineEnd(b []byte) int {
	b = b[:min(len(b), maxLine)]
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	if i := bytes.IndexByte(b, '\r'); i >= 0 {
		return i
	}
	return len(b)
}
