package main

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/strictyaml"
)

// checkFiles checks one file, or all that count here. It returns those that are
// correct, and what is wrong with the others.
func checkFiles(file, flag string, load func(*options) error) ([]*configFile, error) {
	sources := []configSource{{name: file, path: file}}
	if file == "" {
		var err error
		if sources, err = configSources(flag); err != nil {
			return nil, err
		}
	} else if path, err := filepath.Abs(file); err == nil {
		sources[0].path = path
		sources[0].system = path == systemConfig
	}
	var errs []error
	var correct []*configFile
	for _, s := range sources {
		f, err := checkConfig(s, load)
		errs = append(errs, err)
		if f != nil && err == nil {
			correct = append(correct, f)
		}
	}
	return correct, errors.Join(errs...)
}

// checkConfig checks a file by itself: its keys as a run would have them where
// nothing else is given, and the files that they name. What is wrong with single
// keys does not keep it from checking how the others go together. The file is nil
// where there is none. What the options name is read by load.
func checkConfig(s configSource, load func(*options) error) (*configFile, error) {
	var of struct {
		options
		console.Flags
	}
	parser, err := kong.New(&of)
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
	return f, config.problems(problems, errors.Join(of.check(), load(&of.options))).Err()
}

// unread reports whether a file has the key with a value that cannot be used.
func (c *configuration) unread(key string) bool {
	return slices.ContainsFunc(c.layers, func(l layer) bool {
		_, usable := l.values[key]
		return !usable && l.file.doc.Has(l.path(key)...)
	})
}
