package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// Ready says why no command can be guarded here; nil: it can. A program that starts
// commands without guardians has no use for it.
//
// What a command starts is found in /proc. One of another PID namespace has other
// numbers for the same processes: signals would go to strangers.
var Ready = sync.OnceValue(func() error {
	const remedy = "mount it in the PID namespace that looprun runs in: mount -t proc proc /proc, or unshare --mount-proc"
	shown, err := os.Readlink("/proc/self")
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("/proc is not mounted, or does not show this process, and what a command leaves is found there; %s", remedy)
	case err != nil:
		return fmt.Errorf("what a command leaves is found in /proc: %w", err)
	}
	if own := strconv.Itoa(os.Getpid()); shown != own || nested() {
		return fmt.Errorf("/proc is that of another PID namespace: this process is %s, and it says %s; %s", own, shown, remedy)
	}
	return nil
})

// nested reports whether /proc was mounted in a namespace above: it then has several
// numbers for this process, of which the first is that of /proc.
func nested() bool {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return false
	}
	for line := range bytes.Lines(status) {
		if numbers, ok := bytes.CutPrefix(line, []byte("NSpid:")); ok {
			return len(bytes.Fields(numbers)) > 1
		}
	}
	return false
}

// What the Go runtime needs to begin, and this program to go on. The runtime takes
// addresses for more than it will use. Below some 750 MB of them it does not begin.
const (
	addressesNeeded = 1 << 30
	dataNeeded      = 128 << 20
)

// roomInMemory says which limit leaves too little of it; nil: none does.
func roomInMemory() error {
	for _, l := range []struct {
		what     string
		resource int
		needed   uint64
		flag     string
	}{{"address space", unix.RLIMIT_AS, addressesNeeded, "-v"}, {"data", unix.RLIMIT_DATA, dataNeeded, "-d"}} {
		var limit unix.Rlimit
		if unix.Getrlimit(l.resource, &limit) == nil && limit.Cur < l.needed {
			return fmt.Errorf("%d MiB of %s are allowed here, and %d MiB are needed: raise the limit, with ulimit %s %d for instance",
				limit.Cur>>20, l.what, l.needed>>20, l.flag, l.needed>>10)
		}
	}
	return nil
}
