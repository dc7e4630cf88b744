//go:build unix

package main

import "syscall"

// detached lets a process outlive this one: what ends this one's group does not reach it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// notWaiting opens a pipe that nobody writes to without waiting for somebody.
const notWaiting = syscall.O_NONBLOCK
