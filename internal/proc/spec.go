package proc

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// DefaultKillAfter is the time between the first signal and SIGKILL where
// Spec.KillAfter is not set.
const DefaultKillAfter = 10 * time.Second

// Busy is what Stdout or Stderr is called with at a time, at least, when a command
// writes faster than it is read: the capacity that a pipe has by default, in bytes.
const Busy = 64 << 10

// Spec says what to start and how it may end. Only Argv is needed.
type Spec struct {
	// Argv is the command and its arguments. A name without a slash is looked
	// up on the PATH of Env; no shell is put in between.
	Argv []string
	// Dir is the working directory; empty is the caller's.
	Dir string
	// Env is the whole environment; nil is the caller's, an empty slice none.
	Env []string
	// Stdin is the command's standard input; nil is the null device.
	Stdin *os.File

	// PTY puts stdout and stderr, merged, on a new pseudo terminal that is not
	// the controlling terminal. Its bytes arrive unchanged. Its size is that of
	// the caller's terminal and follows it.
	PTY bool
	// Interactive puts stdin, too, on the pseudo terminal, makes it the
	// command's controlling terminal and joins it to the caller's: keys pass
	// through, job control works. Stdin is then not used. PTY is implied.
	Interactive bool

	// Stdout and Stderr are called with output as it comes, from one goroutine
	// at a time. The slice is valid only during the call. A call that does not
	// return holds the command's output back. nil discards. On a pseudo
	// terminal only Stdout is called.
	Stdout, Stderr func([]byte)

	// KillAfter is the time between the first signal and SIGKILL; zero or less
	// is DefaultKillAfter.
	KillAfter time.Duration
	// Timeout ends the tree when the command has run for that long; zero is
	// never. Time in which it was suspended does not count.
	Timeout time.Duration
	// IdleTimeout ends the tree when there was no output for that long; zero
	// is never. Time in which it was suspended does not count, nor does time
	// in which Stdout or Stderr held the output back.
	IdleTimeout time.Duration

	// Ending is called when the tree is asked to end, so that what takes its output
	// does not wait for ever for whoever should read it; nil: nobody is told. It
	// must not call methods of the Process.
	Ending func()

	// KeepBackground leaves alone what is still there when the command ends by
	// itself, until EndBackground or the end of this program. Its output is
	// discarded from then on.
	KeepBackground bool
}

// Cause says why a command ended.
type Cause int

// The causes. Where the command ended by itself before it could be reached,
// the cause is Exited.
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

// Exit says how a command ended.
type Exit struct {
	// Code is the exit status; 128+n for signal n, and 137 where nobody has seen
	// how it ended; 127 when the command was not found, 125 when this program
	// lacked what it needs to start it, and 126 when it could not be started for
	// another reason.
	Code int
	// Signal is the signal that ended the command, zero for none.
	Signal syscall.Signal
	// Cause says why it ended.
	Cause Cause
	// StartErr says in words why the command could not be started.
	StartErr error
	// Leftover is the number of processes that were there when the command
	// had ended, and were ended then (or kept: Spec.KeepBackground).
	Leftover int
	// Survivors are the processes that SIGKILL did not end in time: other users'
	// processes, or ones the kernel does not let go of.
	Survivors []Survivor
	// Lost is why nobody has seen how the command ended, its guardian was killed
	// for instance; else nil. What there was of the tree was ended then.
	Lost error
}

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
