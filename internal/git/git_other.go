//go:build !linux

package git

import "syscall"

func withParent() *syscall.SysProcAttr { return nil }
