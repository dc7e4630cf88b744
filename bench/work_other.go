//go:build !unix

package main

import (
	"errors"
	"io"
	"os"
)

func spawn(string) error { return errors.ErrUnsupported }

func peak(*os.ProcessState) int64 { return 0 }

func writeLog(io.Writer, string) error { return errors.ErrUnsupported }
