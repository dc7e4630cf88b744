// Command release builds the parts of a release, and lists the contents of a program.
//
//	go run ./tools/release dist -nfpm PACKAGE@VERSION [-version 1.2.3] [-targets linux/amd64,…] DIR
//	go run ./tools/release licences PROGRAM
//	go run ./tools/release sbom [-version 1.2.3] PROGRAM
//
// dist builds a static program for each system, archives, packages for Debian and for rpm,
// checksums, and a formula and a Dockerfile that name them. The same commit gives the same
// bytes, whenever and wherever it is built with the same Go. The packages are built by nfpm,
// which the Go tool fetches and which is not a dependency of looprun; without -nfpm there are
// none.
//
// licences prints the page of licences, and fails if one is not allowed or not recognised.
// sbom prints the software bill of materials.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := attempt(func() { run(os.Args[1:]) }); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) {
	const commands = "say what to make: dist, licences or sbom"
	if len(args) == 0 {
		fail(commands)
	}
	f := flag.NewFlagSet(args[0], flag.ExitOnError)
	version := f.String("version", "", "the `version`; for dist the tag of the commit without, for sbom what the program says")
	nfpm := f.String("nfpm", "", "of dist: the Go `package` of nfpm with its version")
	targets := f.String("targets", "", "of dist: comma-separated `list` of what is built, such as linux/amd64; all without")
	_ = f.Parse(args[1:]) // it exits
	if f.NArg() != 1 {
		fail("%s: name one program, or the folder for what is made", args[0])
	}
	switch args[0] {
	case "dist":
		dist(f.Arg(0), *version, *nfpm, *targets, os.Stderr)
	case "licences":
		must(os.Stdout.WriteString(inspect("", f.Arg(0)).licencesPage()))
	case "sbom":
		must(os.Stdout.Write(inspect("", f.Arg(0)).bill(*version, nil)))
	default:
		fail(commands)
	}
}

// failure is an error that aborts the build with a panic.
type failure struct{ error }

func fail(format string, args ...any) { check(fmt.Errorf(format, args...)) }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// attempt runs do and returns the failure that ended it, if any.
func attempt(do func()) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = problem.(failure) // any other panic goes on
		}
	}()
	do()
	return nil
}
