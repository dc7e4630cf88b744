package strictyaml

import (
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/looprun/looprun/internal/problem"
)

// ProblemIn returns a problem at the byte at that offset of the text at the path, as precisely
// as PosIn can determine it.
func (d *Document) ProblemIn(offset int, text, remedy string, path ...any) problem.Problem {
	line, col := d.PosIn(offset, path...)
	return d.at(line, col, text, remedy)
}

// Problem returns a problem at the value at the path.
func (d *Document) Problem(text, remedy string, path ...any) problem.Problem {
	line, col := d.Pos(path...)
	return d.at(line, col, text, remedy)
}

func (d *Document) at(line, col int, text, remedy string) problem.Problem {
	return problem.Problem{File: d.file, Line: line, Column: col, Text: text, Remedy: remedy}
}

// Pos returns the position of the value at the path: names of keys and indexes of list items,
// from 0, as in "rules", 2, "answer". For a missing value it is the position of its nearest
// existing parent; it is 0, 0 if nothing was read.
func (d *Document) Pos(path ...any) (line, col int) {
	if d.root == nil {
		return 0, 0
	}
	n, _ := d.find(path)
	return n.Line, n.Column
}

// KeyPos returns the position of the last key in the path. If the path does not end in an
// existing key, it returns the result of Pos.
func (d *Document) KeyPos(path ...any) (line, col int) {
	if len(path) > 0 && d.root != nil {
		if parent, ok := d.find(path[:len(path)-1]); ok {
			if key, _ := lookup(parent, path[len(path)-1]); key != nil {
				return key.Line, key.Column
			}
		}
	}
	return d.Pos(path...)
}

// PosIn returns the position of the byte at that offset of a text on one line, or of a block
// that begins with |. For folded texts, or if there are escapes before the offset, it returns
// where the text begins.
func (d *Document) PosIn(offset int, path ...any) (line, col int) {
	line, col = d.Pos(path...)
	n, ok := (*yaml.Node)(nil), false
	if d.root != nil {
		n, ok = d.find(path)
	}
	if !ok || n.Kind != yaml.ScalarNode || offset < 0 || offset > len(n.Value) {
		return line, col
	}
	before := n.Value[:offset]
	newlines := strings.Count(before, "\n")
	before = before[strings.LastIndexByte(before, '\n')+1:]
	switch {
	case n.Style&yaml.LiteralStyle != 0:
		rest, _, _ := strings.Cut(n.Value[offset:], "\n")
		source := strings.TrimSuffix(d.line(line+1+newlines), "\r")
		if indent, ok := strings.CutSuffix(source, before+rest); ok && strings.Trim(indent, " ") == "" {
			return line + 1 + newlines, len(indent) + utf8.RuneCountInString(before) + 1
		}
		return line, col
	case newlines > 0 || n.Style&yaml.FoldedStyle != 0:
		return line, col
	}
	start := col
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		start++
	}
	source := []rune(d.line(line))
	if start-1 <= len(source) && strings.HasPrefix(string(source[start-1:]), before) {
		return line, start + utf8.RuneCountInString(before)
	}
	return line, col
}

func (d *Document) line(n int) string {
	if n < 1 || n > len(d.lines) {
		return ""
	}
	return d.lines[n-1]
}

// Has reports whether the file has a value at the path.
func (d *Document) Has(path ...any) bool {
	if d.root == nil {
		return false
	}
	_, ok := d.find(path)
	return ok
}

// find returns the node at the path, or the last one on the way and false.
func (d *Document) find(path []any) (*yaml.Node, bool) {
	n := d.root
	for _, step := range path {
		_, value := lookup(n, step)
		if value == nil {
			return n, false
		}
		n = value
	}
	return n, true
}

func lookup(n *yaml.Node, step any) (key, value *yaml.Node) {
	switch step := step.(type) {
	case string:
		if n.Kind != yaml.MappingNode {
			return nil, nil
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i], n.Content[i+1]
			}
		}
	case int:
		if n.Kind == yaml.SequenceNode && step >= 0 && step < len(n.Content) {
			return nil, n.Content[step]
		}
	}
	return nil, nil
}
