// Command licences lists the licence of each module that is linked into a
// program, as a page for docs, and fails when one is not on the list of allowed
// ones, or not known.
//
//	go run ./tools/licences bin/looprun > docs/licences.md
//	go run ./tools/licences -check docs/licences.md bin/looprun
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/tools/linked"
)

func main() {
	check := flag.String("check", "", "fail when this `file` is not what would be printed, and print nothing")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "licences: name one program; make build makes bin/looprun")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *check, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(program, check string, out io.Writer) error {
	p, err := linked.Read(program)
	if err != nil {
		return err
	}
	dirs, err := linked.Dirs(p.Modules)
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	dirs["std"] = strings.TrimSpace(string(root))
	page, err := render(p, dirs)
	if err != nil {
		return err
	}
	if check == "" {
		_, err := io.WriteString(out, page)
		return err
	}
	old, err := os.ReadFile(check)
	if err != nil {
		return err
	}
	if string(old) != page {
		return fmt.Errorf("%s is not up to date; make licences writes it", filepath.ToSlash(check))
	}
	return nil
}

// render makes the page. The Go version is left out: it is another on each
// machine, and its licence is not.
func render(p linked.Program, dirs map[string]string) (string, error) {
	var b strings.Builder
	b.WriteString("# Licences\n\nWhat is linked into the looprun that is released. Made by `make licences`.\n\n| module | version | licence |\n|---|---|---|\n")
	var errs []error
	for _, m := range append([]linked.Module{{Path: "std"}}, p.Modules...) {
		licence, err := linked.Licence(dirs[m.Path])
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", m.Path, err))
		case !linked.Allowed(licence):
			errs = append(errs, fmt.Errorf("%s is under %s, which is not on the list of allowed licences; do without it", m.Path, licence))
		}
		name, version := m.Path, m.Version
		if name == "std" {
			name, version = "Go's standard library", "of the build"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, version, licence)
	}
	return b.String(), errors.Join(errs...)
}
