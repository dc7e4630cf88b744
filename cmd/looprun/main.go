// Command looprun runs a command in a loop until it is done, and stops it when
// it is stuck.
package main

import (
	"os"

	"github.com/looprun/looprun/internal/proc"
)

func main() {
	if proc.IsGuardian() {
		os.Exit(proc.GuardianMain())
	}
	code, raise := execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	raise.self()
	os.Exit(code)
}
