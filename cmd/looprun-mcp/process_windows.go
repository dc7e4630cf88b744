package main

import "syscall"

// detached lets a process outlive this one: Ctrl-C here does not reach it.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// notWaiting is for systems whose files can be pipes.
const notWaiting = 0
