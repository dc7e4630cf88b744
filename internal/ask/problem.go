package ask

import (
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/termsafe"
)

// Problems are what is wrong with a document.
type Problems = problem.List

// excerpt is the beginning of a text that somebody sent, in quotes, safe to show.
func excerpt(text string) string { return termsafe.Quote(text, 60) }
