// Package proc runs one command with everything it starts: its pipes or its
// terminal, its timeouts, and its end.
//
// Start starts a command, Wait returns when it has ended, nothing of its tree
// is left, and all its output has been delivered. The end of a command is the
// end of its first process. What that leaves behind is given a moment to
// finish (a `tee` has to write what it holds), then sent SIGTERM, and SIGKILL
// after Spec.KillAfter. A process that keeps the pipe open delays nothing.
//
// # Who holds the tree together
//
// On Linux it is a guardian: this program, started a second time, as the
// parent of the command and, being a child subreaper, of everything whose own
// parent is gone. It ends all its descendants, whatever session, group, signal
// mask or environment they have given themselves, when the command ends, when
// it is told to, and when its connection to the program closes: also when the
// program was killed with SIGKILL. If the guardian itself is killed, its
// command dies with it, and the rest falls to the program, which is a
// subreaper too and kills it. Guardians are started when they are needed, one
// for each command that runs at the same time, and reused. Where none can be
// started, Start fails rather than running a command unguarded.
//
// A guardian that is stopped is continued, and one that does not do what it is told
// is killed. What it does not say is not an exit code: a command of whose end nothing was
// heard, or whose output could not be read, has the cause Lost and the code 137.
//
// A program allows all this by asking, before anything else in main (and in
// TestMain), whether it is a guardian:
//
//	if proc.IsGuardian() {
//		os.Exit(proc.GuardianMain())
//	}
//
// A program that does not ask, such as one that uses this package through a
// library, is left as it is: no second process, no subreaper. There, and on
// other systems than Linux, a tree is the session and process group that the
// command was started in.
//
// # What is not covered
//
//   - With a process group only: what has started a group or session of its
//     own (setsid, a shell with job control) is left when the command ends, is
//     not suspended, and everything is left when the program is killed.
//   - When program and guardian are killed at the same moment, what the command
//     had started is left.
//   - Processes of other users (a command that has used sudo) cannot be
//     signalled by an ordinary user; ones in an uninterruptible system call do
//     not end. Both are waited for five seconds after SIGKILL and then listed in
//     Exit.Survivors; those that cannot be signalled for half a second only, from
//     the second time on.
//   - A command that stops its guardian over and over while this program is killed
//     may be left.
//   - When a guardian is killed, daemons that the program itself has started in
//     another session are taken for what it has left.
//   - A command that is stopped from its terminal in the moment of a vfork, and
//     does that in another than its first thread, is not seen to be stopped: the
//     kernel does not stop it.
//   - What another program starts on request (a container engine, systemd, at)
//     never belonged to the tree.
//   - Windows: a job object without the first moments of the command, no
//     terminal, no suspending, and ends without a warning to the processes.
//
// # Terminals
//
// With Spec.PTY a command's output goes to a pseudo terminal that is not its
// controlling terminal, so that it keeps its colours and can neither be stopped
// by job control nor wait for keys. With Spec.Interactive the pseudo terminal
// controls the command's session and is joined to the caller's, which is raw
// meanwhile: keys pass through, the size follows, Ctrl-Z stops the caller's job
// and fg continues it (the latter only with a guardian). The caller's terminal
// is given back while the tree is suspended, at the end, by RestoreTerminal,
// and, should the program be killed, by the guardian.
package proc
