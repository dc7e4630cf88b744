//go:build !unix || netbsd || openbsd || solaris || illumos || aix

package many

import "errors"

// free is not supported on this system.
func free(string) (int64, error) {
	return 0, errors.New("this system does not report free disk space")
}
