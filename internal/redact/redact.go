package redact

import (
	"slices"
)

// Mask stands in the place of what is masked.
const Mask = "***"

// MinBytes is how long a value has to be to be masked.
const MinBytes = 8

// Options say what is secret.
type Options struct {
	// Environ are variables as "NAME=value"; of two with the same name both count.
	Environ []string
	// Values are secret too, wherever they come from.
	Values []string
	// Patterns are the user's own.
	Patterns []Pattern
	// Off switches everything off; the patterns are checked nevertheless.
	Off bool
}

// Pattern is a regular expression for what is secret.
type Pattern struct {
	Text string
	// Position is where it was written, "looprun.yaml:7"; empty: not known. It is for
	// error messages.
	Position string
}

// Redactor masks secrets. The nil Redactor masks nothing. It may be used by several
// goroutines.
type Redactor struct {
	names    []string
	values   *matcher // nil: there are none
	patterns []pattern
}

// New prepares to mask. The error says where a pattern stands that is none.
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

// Names are the variables whose values are masked, sorted.
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
