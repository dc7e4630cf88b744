//go:build !unix

package scratchpad

import "io/fs"

// modesHold reports whether file modes mean something here.
const modesHold = false

const (
	noWaiting = 0
	readFlags = 0
)

// foreign returns false: the access lists of the user's folders keep others out.
func foreign(fs.FileInfo) bool { return false }
