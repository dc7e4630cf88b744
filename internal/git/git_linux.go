package git

import "syscall"

// withParent ends git when looprun is killed: git removes its locks then, and does not write
// into a repository where the next looprun is already at work.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
