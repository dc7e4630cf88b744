//go:build !linux

package proc

import "os"

// GrowPipe does nothing: only Linux can enlarge a pipe.
func GrowPipe(*os.File) {}
