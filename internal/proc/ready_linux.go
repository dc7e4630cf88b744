package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Ready returns why no command can be guarded here; nil if it can. A program that starts
// commands without guardians does not need it.
//
// Processes that a command starts are found in /proc. A /proc of another PID namespace has
// different numbers for the same processes, so signals would go to strangers.
var Ready = sync.OnceValue(func() error {
	const remedy = "mount it in the PID namespace that looprun runs in: mount -t proc proc /proc, or unshare --mount-proc"
	shown, err := os.Readlink("/proc/self")
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("/proc is not mounted, or does not show this process, and what a command leaves is found there; %s", remedy)
	case err != nil:
		return fmt.Errorf("what a command leaves is found in /proc: %w", err)
	}
	if nested() {
		return fmt.Errorf("/proc is that of another PID namespace: this process is %d, and it says %s; %s", os.Getpid(), shown, remedy)
	}
	return nil
})

// nested reports whether /proc was mounted in a parent namespace: it then has several numbers
// for this process, and the first one is /proc's.
func nested() bool {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := bytes.Cut(status, []byte("\nNSpid:"))
	numbers, _, _ := bytes.Cut(rest, []byte{'\n'})
	return len(bytes.Fields(numbers)) > 1
}

// The memory that the Go runtime needs to start, and this program to continue. The runtime
// reserves more addresses than it will use. Below about 750 MB of them it does not start.
const (
	addressesNeeded = 1 << 30
	dataNeeded      = 128 << 20
)

// roomInMemory returns an error naming the limit that is too low; nil if none is.
func roomInMemory() error {
	for _, l := range []struct {
		what     string
		resource int
		needed   uint64
		flag     string
	}{{"address space", unix.RLIMIT_AS, addressesNeeded, "-v"}, {"data", unix.RLIMIT_DATA, dataNeeded, "-d"}} {
		var limit unix.Rlimit
		if _ = unix.Getrlimit(l.resource, &limit); limit.Cur < l.needed {
			return fmt.Errorf("%d MiB of %s are allowed here, and %d MiB are needed: raise the limit, with ulimit %s %d for instance",
				limit.Cur>>20, l.what, l.needed>>20, l.flag, l.needed>>10)
		}
	}
	return nil
}
