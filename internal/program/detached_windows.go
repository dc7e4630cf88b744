package program

import "syscall"

// Detached lets a process outlive this one: Ctrl-C here does not reach it, and it gets a console
// of its own, without a window, since closing this one would end it.
func Detached() *syscall.SysProcAttr {
	const createNoWindow = 0x08000000
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | createNoWindow}
}
