//go:build unix

package program

import "syscall"

// Detached lets a process outlive this one: Ctrl-C here does not reach it.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
