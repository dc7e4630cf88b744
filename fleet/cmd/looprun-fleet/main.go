// Command looprun-fleet runs loops on many machines.
package main

import (
	"os"

	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/fleet/internal/cli"
)

// stamp is the version that a release gives to the linker.
var stamp string

func main() {
	if code, ok := engine.Guardian(); ok {
		os.Exit(code)
	}
	os.Exit(cli.Main(os.Args[1:], stamp, nil))
}
