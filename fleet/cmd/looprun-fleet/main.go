// Command looprun-fleet runs loops on many machines.
package main

import (
	"os"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/fleet/internal/cli"
)

func main() {
	if code, ok := looprun.Guardian(); ok {
		os.Exit(code)
	}
	os.Exit(cli.Main(os.Args[1:], nil))
}
