// Package lazy makes what a program may need when it first needs it, so that it starts fast.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles the expression when it is first called. It panics
// if the expression is invalid.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
