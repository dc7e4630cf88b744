package proc

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// DefaultKillAfter is the time between the first signal and SIGKILL if Spec.KillAfter is not
// set.
const DefaultKillAfter = 10 * time.Second

// Busy is the minimum size of the slices passed to Stdout or Stderr when a command writes
// faster than it is read: the default capacity of a pipe, in bytes.
const Busy = 64 << 10

// Spec describes what to start and how it may end. Only Argv is required.
type Spec struct {
	// Argv is the command and its arguments. A name without a slash is looked up on the PATH
	// of Env; no shell is involved.
	Argv []string
	// Dir is the working directory; empty means the caller's.
	Dir string
	// Env is the whole environment; nil means the caller's, an empty slice none.
	Env []string
	// Stdin is the command's standard input; nil means the null device.
	Stdin *os.File

	// PTY puts stdout and stderr, merged, on a new pseudo terminal that is not
	// the controlling terminal. Its bytes arrive unchanged. Its size is that of
	// the caller's terminal and follows it.
	PTY bool
	// Interactive also puts stdin on the pseudo terminal, makes it the command's controlling
	// terminal and joins it to the caller's: keys pass through, job control works. Stdin is
	// then not used. Interactive implies PTY.
	Interactive bool

	// Stdout and Stderr are called with output as it arrives, from one goroutine at a time.
	// The slice is valid only during the call. A call that does not return blocks the
	// command's output. Nil discards it. On a pseudo terminal only Stdout is called.
	Stdout, Stderr func([]byte)

	// KillAfter is the time between the first signal and SIGKILL; zero or less means
	// DefaultKillAfter.
	KillAfter time.Duration
	// Timeout is how long the command may run before its tree is ended; zero means no limit.
	// Time during which it was suspended does not count.
	Timeout time.Duration
	// IdleTimeout is how long there may be no output before the tree is ended; zero means no
	// limit. Time during which it was suspended does not count, nor does time during which
	// Stdout or Stderr blocked the output.
	IdleTimeout time.Duration

	// Ending is called when the tree is asked to end, so that the consumer of its output does
	// not wait forever for a reader; nil means no call. It must not call methods of the
	// Process.
	Ending func()

	// KeepBackground keeps processes that remain when the command ends by itself, until
	// EndBackground or the end of this program. Their output is discarded from then on.
	KeepBackground bool
}

// Cause is why a command ended.
type Cause int

// The causes. If the command ended by itself before it could be reached, the cause is Exited.
const (
	Exited      Cause = iota // by itself, or by a signal that this package did not send
	Timeout                  // Spec.Timeout passed
	IdleTimeout              // Spec.IdleTimeout passed
	Stopped                  // Stop was called
	Interrupted              // three interrupt keys within two seconds (Spec.Interactive)
	StartFailed              // it never ran: see Exit.StartErr
	Lost                     // nobody has seen how it ended: see Exit.Lost
)

func (c Cause) String() string {
	names := [...]string{"exited", "timeout", "idle timeout", "stopped", "interrupted", "start failed", "lost"}
	if c < 0 || int(c) >= len(names) {
		return fmt.Sprintf("Cause(%d)", int(c))
	}
	return names[c]
}

// Exit describes how a command ended.
type Exit struct {
	// Code is the exit status: 128+n for signal n, and 137 if nobody observed how it ended;
	// 127 if the command was not found, 125 if this program lacked what it needs to start it,
	// and 126 if it could not be started for another reason.
	Code int
	// Signal is the signal that ended the command; zero means none.
	Signal syscall.Signal
	// Cause is why it ended.
	Cause Cause
	// StartErr describes why the command could not be started.
	StartErr error
	// Leftover is the number of processes that remained when the command had ended, and were
	// then ended (or kept: Spec.KeepBackground).
	Leftover int
	// Survivors lists the processes that SIGKILL did not end in time: other users' processes,
	// or ones that the kernel does not release.
	Survivors []Survivor
	// Lost is why nobody observed how the command ended, for example because its guardian was
	// killed; otherwise nil. The rest of the tree was ended then.
	Lost error
}

// Well reports whether the command ended by itself, with 0.
func (e Exit) Well() bool { return e.Code == 0 && e.Cause == Exited }

// Survivor is a process that could not be ended.
type Survivor struct {
	Pid  int // zero: not known
	User int // whose it is; -1: not known
	Name string
}

func (s *Spec) killAfter() time.Duration {
	if s.KillAfter <= 0 {
		return DefaultKillAfter
	}
	return s.KillAfter
}

func (s *Spec) terminal() bool { return s.PTY || s.Interactive }
