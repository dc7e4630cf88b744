package config

import (
	"errors"
	"path/filepath"
	"slices"

	"github.com/looprun/looprun/internal/problem"
)

// Check checks one file, or all that apply here. It returns the correct ones, and the errors
// in the others.
func Check(file, flag string, load func(*Options) error) ([]*File, error) {
	sources := []Source{{Name: file, path: file}}
	if file == "" {
		var err error
		if sources, err = sourcesOf(flag); err != nil {
			return nil, err
		}
	} else if path, err := filepath.Abs(file); err == nil {
		sources[0].path = path
		sources[0].system = path == SystemFile
	}
	var errs []error
	var correct []*File
	for _, s := range sources {
		f, err := checkOne(s, load)
		errs = append(errs, err)
		if f != nil && err == nil {
			correct = append(correct, f)
		}
	}
	return correct, errors.Join(errs...)
}

// checkOne checks a file by itself: its keys as a run with no other configuration would have
// them, and the files that they name. Errors in single keys do not prevent it from checking
// how the others combine. load reads what the options name. The file is nil if it does not
// exist.
func checkOne(s Source, load func(*Options) error) (*File, error) {
	f, err := s.read()
	var problems problem.List
	if err != nil && !errors.As(err, &problems) || f == nil {
		return f, err
	}
	config := &Settings{whole: true}
	config.add([]*File{f})
	var o Options
	config.Fill(&o)
	config.Apply(&o)
	return f, config.problems(problems, errors.Join(o.Wrong(), load(&o))).Err()
}

// unread reports whether a file has the key with an unusable value.
func (c *Settings) unread(key string) bool {
	return slices.ContainsFunc(c.layers, func(l layer) bool {
		_, usable := l.values[key]
		return !usable && l.file.doc.Has(l.path(key)...)
	})
}
