package console

import (
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/termsafe"
)

// Short returns text on one line of at most n columns.
func Short(text string, n int) string { return cells.Cut(termsafe.Line(text), n) }
