//go:build !unix

package workspace

import "os"

const noWaiting = 0

func statOf(name string) (stat, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return stat{}, err
	}
	return stat{mode: info.Mode(), size: info.Size(), mtime: info.ModTime().UnixNano()}, nil
}
