// Package proc runs one command with everything it starts: its pipes or its terminal, its
// timeouts, and its end.
//
// Start starts a command. Wait returns when it has ended, nothing of its tree is left, and all
// its output has been delivered. The end of a command is the end of its first process. The
// processes that it leaves are given a moment to finish (a `tee` has to write what it holds),
// then sent SIGTERM, and SIGKILL after Spec.KillAfter. A process that keeps the pipe open
// delays nothing.
//
// # Who holds the tree together
//
// On Linux it is a guardian: this program, started a second time, as the parent of the command
// and, being a child subreaper, of every descendant whose own parent is gone. It ends all its
// descendants, whatever session, group, signal mask or environment they have given themselves,
// when the command ends, when it is asked to, and when its connection to the program closes,
// even because the program was killed with SIGKILL. If the guardian itself is killed, its
// command dies with it, and its other descendants become children of the program, which is
// also a subreaper and kills them. Guardians are started on demand, one for each command that
// runs at the same time, and reused. If none can be started, Start fails rather than running a
// command unguarded.
//
// A guardian that is stopped is continued, and one that does not follow its orders is killed.
// Without a report from the guardian there is no exit code: a command whose end was not
// reported, or whose output could not be read, has the cause Lost and the code 137.
//
// A program enables all this by checking, before anything else in main (and in TestMain),
// whether it is a guardian:
//
//	if proc.IsGuardian() {
//		os.Exit(proc.GuardianMain())
//	}
//
// A program that does not check, such as one that uses this package through a library, is left
// alone: no second process, no subreaper. There, and on systems other than Linux, a tree is
// the session and process group in which the command was started.
//
// # What is not covered
//
//   - With only a process group: processes that have started a group or session of their
//     own (setsid, a shell with job control) stay when the command ends and are
//     not suspended, and all processes stay when the program is killed.
//   - If program and guardian are killed at the same moment, the processes that the command
//     had started stay.
//   - Processes of other users (a command that has used sudo) cannot be
//     signalled by an ordinary user; those in an uninterruptible system call do
//     not end. Wait gives both five seconds after SIGKILL and then lists them in
//     Exit.Survivors. From the second time on, it gives those that cannot be
//     signalled only half a second.
//   - A command that keeps stopping its guardian while this program is killed
//     may stay.
//   - When a guardian is killed, daemons that the program itself has started in
//     another session are mistaken for what the guardian left.
//   - A command that is stopped from its terminal at the moment of a vfork
//     in a thread other than its first is not seen to be stopped: the
//     kernel does not stop it.
//   - What another program starts on request (a container engine, systemd, at)
//     never belonged to the tree.
//   - Windows: a job object that misses the first moments of the command, no
//     terminal, no suspending, and processes end without a warning.
//
// # Terminals
//
// With Spec.PTY a command's output goes to a pseudo terminal that is not its controlling
// terminal, so that it keeps its colours and can neither be stopped by job control nor wait
// for keys. With Spec.Interactive the pseudo terminal controls the command's session and is
// joined to the caller's, which is raw meanwhile: keys pass through, the size follows, Ctrl-Z
// stops the caller's job and fg continues it (the latter only with a guardian). The caller's
// terminal settings are restored while the tree is suspended, at the end, by RestoreTerminal,
// and, should the program be killed, by the guardian.
package proc
