package main

import (
	"fmt"
	"runtime/debug"

	"github.com/looprun/looprun"
)

// stamp is set when a release is built.
var stamp string

// version is the stamp, or what the Go tool knows of the build.
func version() string {
	if stamp != "" {
		return stamp
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

type versionCmd struct{}

func (versionCmd) Help() string {
	return `Example:
  looprun version`
}

func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintln(a.stdout, version())
	return err
}

// printVersion is looprun --version, which installers and editors call often:
// for it alone the command line is not even described.
func (a *app) printVersion() int {
	if _, err := fmt.Fprintln(a.stdout, version()); err != nil {
		return looprun.ExitFailed
	}
	return 0
}
