package looprun

import "github.com/looprun/looprun/internal/proc"

// Guardian reports whether this process was started to guard a command, has
// guarded it then, and returns the code to exit with. A program whose steps are
// commands ([Argv], [Shell]) calls it before anything else:
//
//	if code, ok := looprun.Guardian(); ok {
//		os.Exit(code)
//	}
//
// From then on the loop starts the program a second time, between itself and the
// command, and nothing that an iteration starts outlives it, not even when the
// program is killed. Without the call process groups are used, and a process that
// leaves its group survives. A guardian without a command waits for the next one,
// and ends with the program. Only Linux has guardians; elsewhere it returns false.
// A program whose steps are functions has no use for it.
func Guardian() (code int, ok bool) {
	if !proc.IsGuardian() {
		return 0, false
	}
	return proc.GuardianMain(), true
}
