package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/problem"
)

// Flag is a flag in a message: --NAME on the command line, or its key in a file.
type Flag string

func (f Flag) String() string { return "--" + string(f) }

// key returns the flag's key.
func (f Flag) key() Key {
	k, _, _ := Spelled(string(f))
	return k
}

// UsageError is an error in how looprun was called, or in the value that a variable or a file
// gives in place of a flag.
type UsageError struct {
	text   string
	inFile string // with keys in place of flags
	flags  []Flag
	as     func(spell func(Flag) string) string // the text with other spellings; nil: there are none
}

func (e *UsageError) Error() string { return e.text }

// Usage returns an error that is not about particular flags.
func Usage(text, remedy string) error {
	if remedy != "" {
		text += "; " + remedy
	}
	return &UsageError{text: text, inFile: text}
}

// Usagef returns an error about the flags among the arguments, including a remedy.
func Usagef(format string, args ...any) error {
	e := &UsageError{text: fmt.Sprintf(format, args...)}
	for _, arg := range args {
		if f, ok := arg.(Flag); ok {
			e.flags = append(e.flags, f)
		}
	}
	e.as = func(spell func(Flag) string) string {
		spelled := slices.Clone(args)
		for i, arg := range args {
			if f, ok := arg.(Flag); ok {
				spelled[i] = spell(f)
			}
		}
		return fmt.Sprintf(format, spelled...)
	}
	e.inFile = e.as(func(f Flag) string { return f.key().Name })
	return e
}

// each returns the errors joined in err.
func each(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !ok:
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, each(e)...)
	}
	return all
}

// Locate adds to errors about flags where a file, or which variable, sets them.
func (c *Settings) Locate(err error) error {
	var all []error
	for _, err := range each(err) {
		of, ok := errors.AsType[*UsageError](err)
		if !ok {
			all = append(all, err)
			continue
		}
		var places []string
		text := of.text
		if of.as != nil {
			text = of.as(c.spelled)
			err = Usage(text, "")
		}
		for _, name := range of.flags {
			places = append(places, c.Place(string(name))...)
		}
		if slices.Sort(places); len(places) > 0 {
			err = Usage(text+" ("+strings.Join(slices.Compact(places), ", ")+")", "")
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// spelled returns a flag as the user wrote it.
func (c *Settings) spelled(f Flag) string {
	if of := c.given[f.key().Name]; of != nil && !of.variable {
		return of.by
	}
	return f.String()
}

// Place returns where a flag is set, if not on the command line.
func (c *Settings) Place(name string) []string {
	k := Flag(name).key()
	if l := c.source(k); l != nil {
		return []string{l.at(k.Name) + " sets " + k.Name}
	}
	if c.byVariable(k) {
		return []string{c.by(k) + " is set"}
	}
	return nil
}

// problems adds problems with the options as a whole to those with single keys, each at the
// first key that it names.
func (c *Settings) problems(all problem.List, err error) problem.List {
	for _, err := range each(err) {
		p := problem.Problem{Text: err.Error()}
		of, ok := errors.AsType[*UsageError](err)
		if !ok {
			of = &UsageError{inFile: p.Text}
		}
		p.Text = of.inFile
		follows := false
		for _, name := range of.flags {
			key := name.key().Name
			l := c.find(key)
			switch {
			case l != nil && p.Line == 0:
				p.File = l.file.Name
				p.Line, p.Column = l.file.doc.Pos(l.path(key)...)
			case l == nil && c.unread(key):
				follows = true // from what is wrong with that key
			}
		}
		if !follows && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}
