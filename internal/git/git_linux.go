package git

import "syscall"

// withParent ends git when looprun is killed: git then removes its locks, and does not write
// into a repository in which the next looprun is already working.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
