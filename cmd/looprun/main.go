// Command looprun runs a command in a loop until it is done, and stops it when
// it is stuck.
package main

import (
	"fmt"
	"os"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/proc"
)

func main() {
	if proc.IsGuardian() {
		os.Exit(proc.GuardianMain())
	}
	if err := proc.Room(); err != nil {
		fmt.Fprintf(os.Stderr, "looprun: %v\n", err)
		os.Exit(core.ExitFailed)
	}
	code, raise := execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	raise.Self()
	os.Exit(code)
}
