package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/looprun/looprun/core"
)

// These are set when a release is built. Empty ones are looked up in the Go tool's build
// information.
var (
	stamp  string // the version, such as 1.2.3
	commit string // all its digits, with “-dirty” when files were changed
	date   string // of the commit, in RFC 3339 and UTC
)

// version returns the stamped version, or the one from the Go tool's build information.
func version() string {
	if stamp != "" {
		return stamp
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// build describes where a program comes from.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"` // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisBuild() build {
	b := build{version(), commit, date, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok || b.Commit != "" {
		return b
	}
	known := map[string]string{}
	for _, s := range info.Settings {
		known[s.Key] = s.Value
	}
	b.Commit, b.Date = known["vcs.revision"], known["vcs.time"]
	if b.Commit != "" && known["vcs.modified"] == "true" {
		b.Commit += "-dirty"
	}
	return b
}

type versionCmd struct {
	Format string `enum:"text,json" default:"text" help:"${enum}."`
}

func (c versionCmd) Run(a *app) error {
	b := thisBuild()
	if c.Format == "json" {
		return a.printJSON("version", b)
	}
	_, err := fmt.Fprintf(a.stdout, "looprun   %s\ncommit    %s\ndate      %s\ngo        %s\nplatform  %s\n",
		b.Version, cmp.Or(b.Commit, "unknown"), cmp.Or(b.Date, "unknown"), b.Go, b.Platform)
	return err
}

// printVersion handles looprun --version, which installers and editors call often: it does not
// even build the model of the command line.
func (a *app) printVersion() int {
	if _, err := fmt.Fprintln(a.stdout, version()); err != nil {
		return core.ExitFailed
	}
	return 0
}
