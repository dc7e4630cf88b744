//go:build unix

package main

import (
	"os"
	"syscall"
)

// execute runs a program in place of this one.
func (a *app) execute(program string, argv []string) error {
	return &os.PathError{Op: "exec", Path: program, Err: syscall.Exec(program, argv, os.Environ())}
}
