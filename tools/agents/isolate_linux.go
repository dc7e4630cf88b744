package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inside marks the process that runs in a separate network.
const inside = "LOOPRUN_AGENTS_INSIDE"

// isolated restarts this program in a network that has only loopback, and returns how it
// ended; done is false in that process, and if the system does not allow such a network.
func isolated() (code int, done bool, err error) {
	if os.Getenv(inside) != "" {
		return 0, false, loopback()
	}
	self, err := os.Executable()
	if err != nil {
		return 0, false, err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN}
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "agents: the network cannot be taken away here:", err)
		return 0, false, nil
	}
	err = cmd.Wait()
	if of, ok := errors.AsType[*exec.ExitError](err); ok {
		return of.ExitCode(), true, nil
	}
	return 0, true, err
}

// loopback brings up the only interface.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request := struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}{flags: unix.IFF_UP | unix.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return fmt.Errorf("loopback: %w", errno)
	}
	return nil
}
