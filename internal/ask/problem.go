package ask

import (
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/internal/termsafe"
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
func (p Problem) Error() string { return strictjson.Problem(p).Error() }

// Problems are all that is wrong with a document, in the order of the document
// as far as that is known.
type Problems []Problem

// Error has one line a problem; of very many it has the first and their number.
func (ps Problems) Error() string {
	all := make(strictjson.Problems, len(ps))
	for i, p := range ps {
		all[i] = strictjson.Problem(p)
	}
	return all.Error()
}

// read reads a document of the shape into the value that into points to.
func read(s shape, data []byte, into any) Problems { return asProblems(s.Read(data, into)) }

func asProblems(all strictjson.Problems) (ps Problems) {
	for _, p := range all {
		ps = append(ps, Problem(p))
	}
	return ps
}

// err is the list as an error, nil when it is empty.
func (ps Problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

func (ps *Problems) add(path, text, remedy string) {
	*ps = append(*ps, Problem{path, text, remedy})
}

// has reports whether something is wrong at the path itself.
func (ps Problems) has(path string) bool {
	for _, p := range ps {
		if p.Path == path {
			return true
		}
	}
	return false
}

// excerpt is the beginning of a text that somebody sent, in quotes, safe to show.
func excerpt(text string) string { return termsafe.Quote(text, 60) }
