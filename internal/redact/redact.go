package redact

import (
	"slices"
)

// Mask replaces masked text.
const Mask = "***"

// MinBytes is the minimum length of a value to be masked.
const MinBytes = 8

// Options define what is secret.
type Options struct {
	// Environ holds variables as "NAME=value"; if two have the same name, both count.
	Environ []string
	// Values holds further secrets, wherever they come from.
	Values []string
	// Patterns are the user's own.
	Patterns []Pattern
	// Off disables all masking; the patterns are checked nevertheless.
	Off bool
}

// Pattern is a regular expression that matches secrets.
type Pattern struct {
	Text string
	// Position is where it was written, "looprun.yaml:7", for error messages; empty means
	// unknown.
	Position string
}

// Redactor masks secrets. A nil Redactor masks nothing. It is safe for concurrent use.
type Redactor struct {
	names    []string
	values   *matcher // nil: there are none
	patterns []pattern
}

// New returns a Redactor. The error gives the position of an invalid pattern.
func New(o Options) (*Redactor, error) {
	patterns, err := compile(o.Patterns)
	if err != nil || o.Off {
		return nil, err
	}
	names, values := secrets(o.Environ, o.Values)
	if len(values) == 0 && len(patterns) == 0 {
		return nil, nil
	}
	return &Redactor{names: names, values: newMatcher(values), patterns: patterns}, nil
}

// Names returns the variables whose values are masked, sorted.
func (r *Redactor) Names() []string {
	if r == nil {
		return nil
	}
	return slices.Clone(r.names)
}

// Text masks a whole text.
func (r *Redactor) Text(text string) string {
	if r == nil || text == "" {
		return text
	}
	var out []byte
	s := r.Stream(func(b []byte) { out = append(out, b...) })
	s.Write([]byte(text))
	s.Flush()
	return string(out)
}
