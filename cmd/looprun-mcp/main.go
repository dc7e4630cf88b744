// Command looprun-mcp offers looprun to agents that speak the Model Context Protocol, over
// standard input and output: it starts loops as separate processes, reports what became of
// them, and asks the person in the agent's own window.
//
// It uses only looprun's command line to act on a run, as everybody else does. No tool lets an
// agent answer a guard's question: that is up to a policy or a person.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage is the maximum size of a client's message, in bytes.
const maxMessage = 4 << 20

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "looprun-mcp:", clean(err.Error()))
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("looprun-mcp", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "looprun-mcp speaks the Model Context Protocol on standard input and output;\nan agent starts it: claude mcp add looprun -- looprun-mcp\n\nFlags:")
		flags.PrintDefaults()
	}
	program := flags.String("looprun", "", "the looprun that it runs (beside looprun-mcp, else on the PATH)")
	dir := flags.String("dir", "", "the `folder` in which loops run (where it was started)")
	version := flags.Bool("version", false, "print the version")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is not a flag", flags.Arg(0))
	}
	if *version {
		_, err := fmt.Println(own())
		return err
	}
	if *dir != "" {
		if err := os.Chdir(*dir); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := newServer(find(*program))
	err := server.Run(ctx, &mcp.IOTransport{Reader: os.Stdin, Writer: os.Stdout, MaxLineLength: maxMessage})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// stamp is the version that a release gives to the linker.
var stamp string

// own returns the version of this program.
func own() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return cmp.Or(stamp, info.Main.Version, "dev")
}

// find returns the looprun to run: the named one, else the one next to this program, else the
// one on the PATH.
func find(named string) looprun {
	if named != "" {
		return looprun{program: named}
	}
	if self, err := os.Executable(); err == nil {
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(self), "looprun")); err == nil {
			return looprun{program: beside}
		}
	}
	return looprun{program: "looprun"}
}
