//go:build unix

package main

import "syscall"

// detached lets a process outlive this one: signals that end this one's group do not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// notWaiting opens a pipe without blocking if it has no writer.
const notWaiting = syscall.O_NONBLOCK
