package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/strictyaml"
)

// checkConfig checks a file by itself: its keys as a run would have them where
// nothing else is given, and the files that they name. What is wrong with single
// keys does not keep it from checking how the others go together. The file is nil
// where there is none.
func checkConfig(a *app, s configSource) (*configFile, error) {
	var of struct {
		options
		console.Flags
	}
	parser, err := kong.New(&of, kong.Vars{"version": version()}, kong.ExplicitGroups(groups))
	if err != nil {
		return nil, err
	}
	f, err := s.read(configKeys(parser.Model))
	var problems strictyaml.Problems
	if err != nil && !errors.As(err, &problems) || f == nil {
		return f, err
	}
	config := &configuration{whole: true}
	config.add([]*configFile{f})
	ctx, err := kong.Trace(parser, nil)
	if err != nil {
		return f, err
	}
	ctx.AddResolver(config)
	config.ctx = ctx
	if err := errors.Join(ctx.Reset(), ctx.Resolve()); err != nil {
		return f, errors.Join(problems.Err(), err)
	}
	if _, err := ctx.Apply(); err != nil {
		return f, errors.Join(problems.Err(), err)
	}
	config.apply(&of.options)
	_, unread := newSession(a, &of.options)
	return f, config.problems(problems, errors.Join(of.check(), unread)).Err()
}

// problems adds what is wrong with the options together to what is wrong with
// single keys, each at the first key that it names.
func (c *configuration) problems(all strictyaml.Problems, err error) strictyaml.Problems {
	if err == nil {
		return all
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		p := strictyaml.Problem{Text: line}
		follows := false
		for _, name := range flagsIn(line) {
			key := keyOf(name)
			l := c.find(key)
			switch {
			case l != nil && p.Line == 0:
				p.File = l.file.name
				p.Line, p.Column = l.file.doc.Pos(l.path(key)...)
			case l == nil && c.unread(key):
				follows = true // from what is wrong with that key
			}
			p.Text = strings.Replace(p.Text, "--"+name, key, 1)
		}
		if !follows && !slices.ContainsFunc(all, func(other strictyaml.Problem) bool { return other.Error() == p.Error() }) {
			all = append(all, p)
		}
	}
	return all
}

// flagsIn are the names of the flags that a text has.
func flagsIn(text string) []string {
	var names []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }) {
		if name, ok := strings.CutPrefix(word, "--"); ok {
			names = append(names, name)
		}
	}
	return names
}

// unread reports whether a file has the key with a value that cannot be used.
func (c *configuration) unread(key string) bool {
	return slices.ContainsFunc(c.layers, func(l layer) bool {
		_, usable := l.values[key]
		return !usable && l.file.doc.Has(l.path(key)...)
	})
}
