// Command looprun-fleet-dev is looprun-fleet with a Temporal server in it, for trying a fleet
// on one machine: looprun-fleet dev runs it. It is a separate module, since the server is
// large.
package main

import (
	"os"

	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/fleet/internal/cli"
)

func main() {
	if code, ok := engine.Guardian(); ok {
		os.Exit(code)
	}
	os.Exit(cli.Main(os.Args[1:], "", serve))
}
