//go:build !unix

package scratchpad

import (
	"io/fs"
	"time"
)

// modesHold says that the modes of files mean something here.
const modesHold = false

const (
	noWaiting = 0
	readFlags = 0
)

// foreign is false: the access lists of the user's folders hold others off.
func foreign(fs.FileInfo) bool { return false }

// privateSince is not known here.
func privateSince(string) (changed time.Time, ok bool) { return changed, false }
