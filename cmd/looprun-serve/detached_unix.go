//go:build unix

package main

import "syscall"

// detached lets a process outlive this one: Ctrl-C here does not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
