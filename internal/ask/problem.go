package ask

import (
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/termsafe"
)

// Problems lists what is wrong with a document.
type Problems = problem.List

// excerpt returns the beginning of a text from outside, quoted and safe to show.
func excerpt(text string) string { return termsafe.Quote(text, 60) }
