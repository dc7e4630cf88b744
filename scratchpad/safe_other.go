//go:build !unix

package scratchpad

import "io/fs"

// modesHold says that the modes of files mean something here.
const modesHold = false

const (
	noWaiting = 0
	readFlags = 0
)

// foreign is false: the access lists of the user's folders hold others off.
func foreign(fs.FileInfo) bool { return false }
