package strictjson

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	// Path is the place, such as questions[1].options[0].label; empty for the
	// document itself.
	Path string `json:"path"`
	Text string `json:"text"`
	// Remedy says what to do about it; empty when the text says it all.
	Remedy string `json:"remedy,omitempty"`
}

// Error is "path: text; remedy", without the parts that are empty.
func (p Problem) Error() string {
	text := p.Text
	if p.Path != "" {
		text = p.Path + ": " + text
	}
	if p.Remedy != "" {
		text += "; " + p.Remedy
	}
	return text
}

// Problems are all that is wrong with a document, in the order of the document
// as far as that is known.
type Problems []Problem

// mostShown is how many problems a message lists.
const mostShown = 20

// Error has one line a problem; of very many it has the first and their number.
func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == mostShown {
			fmt.Fprintf(&b, "and %d more", len(ps)-mostShown)
			break
		}
		b.WriteString(p.Error())
	}
	return b.String()
}

// Err is the list as an error, nil when it is empty.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Add adds one.
func (ps *Problems) Add(path, text, remedy string) {
	*ps = append(*ps, Problem{path, text, remedy})
}

// Has reports whether something is wrong at the path itself.
func (ps Problems) Has(path string) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Path == path })
}
