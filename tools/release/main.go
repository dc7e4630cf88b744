// Command release makes what a release consists of, and says what is in a program.
//
//	go run ./tools/release dist -nfpm PACKAGE@VERSION [-version 1.2.3] [-targets linux/amd64,…] DIR
//	go run ./tools/release licences [-check docs/licences.md] PROGRAM
//	go run ./tools/release sbom [-version 1.2.3] PROGRAM
//
// dist makes a static program for each system, archives, packages for Debian and
// for rpm, check sums, and a formula and a Dockerfile that name them. The same
// commit gives the same bytes, whenever and wherever it is built with the same Go.
// The packages are made by nfpm, which is fetched by the Go tool and is no
// dependency of looprun; without -nfpm there are none.
//
// licences prints the page of licences, and fails when one is not allowed, not
// known, or, with -check, the page is another. sbom prints the software bill of
// materials.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	const commands = "say what to make: dist, licences or sbom"
	if len(args) == 0 {
		return errors.New(commands)
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.SetOutput(stderr)
	version := f.String("version", "", "the `version`; for dist the tag of the commit without, for sbom what the program says")
	nfpm := f.String("nfpm", "", "of dist: the Go `package` of nfpm with its version")
	targets := f.String("targets", "", "of dist: comma-separated `list` of what is built, such as linux/amd64; all without")
	check := f.String("check", "", "of licences: fail when this `file` is not what would be printed, and print nothing")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return fmt.Errorf("%s: name one program, or the folder for what is made", args[0])
	}
	switch args[0] {
	case "dist":
		return dist(f.Arg(0), *version, *nfpm, *targets, stderr)
	case "licences":
		return licences(f.Arg(0), *check, stdout)
	case "sbom":
		bill, err := newBill(f.Arg(0), *version, "", "")
		if err == nil {
			_, err = stdout.Write(bill)
		}
		return err
	}
	return errors.New(commands)
}

func licences(file, check string, out io.Writer) error {
	p, err := inspect(file)
	if err != nil {
		return err
	}
	page, err := p.licencesPage()
	if err != nil {
		return err
	}
	if check == "" {
		_, err := io.WriteString(out, page)
		return err
	}
	old, err := os.ReadFile(check)
	if err == nil && string(old) != page {
		err = fmt.Errorf("%s is not up to date; make licences writes it", filepath.ToSlash(check))
	}
	return err
}
