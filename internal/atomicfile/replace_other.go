//go:build !linux && !windows

package atomicfile

import "os"

func replace(temp, name string) error { return os.Rename(temp, name) }
