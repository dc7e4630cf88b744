package main

import (
	"errors"
	"slices"

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

// unread reports whether a file has the key with a value that cannot be used.
func (c *configuration) unread(key string) bool {
	return slices.ContainsFunc(c.layers, func(l layer) bool {
		_, usable := l.values[key]
		return !usable && l.file.doc.Has(l.path(key)...)
	})
}
