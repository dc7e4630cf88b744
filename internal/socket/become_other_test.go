//go:build !unix

package socket

import "errors"

func become(string) error { return errors.ErrUnsupported }

func withoutFiles() error { return errors.ErrUnsupported }
