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
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	commands := map[string]func(*flag.FlagSet) func(string) error{
		"dist": func(f *flag.FlagSet) func(string) error {
			o := options{log: stderr}
			f.StringVar(&o.version, "version", "", "the `version`; the tag of the commit without")
			f.StringVar(&o.nfpm, "nfpm", "", "the Go `package` of nfpm with its version")
			targets := f.String("targets", "", "comma-separated `list` of what is built, such as linux/amd64; all without")
			return func(dir string) error {
				o.out = dir
				if err := o.choose(*targets); err != nil {
					return err
				}
				return dist(o)
			}
		},
		"licences": func(f *flag.FlagSet) func(string) error {
			check := f.String("check", "", "fail when this `file` is not what would be printed, and print nothing")
			return func(file string) error { return licences(file, *check, stdout) }
		},
		"sbom": func(f *flag.FlagSet) func(string) error {
			version := f.String("version", "", "the program's `version`, where its build information has none")
			return func(file string) error {
				bill, err := newBill(file, *version, "", "")
				if err != nil {
					return err
				}
				_, err = stdout.Write(bill)
				return err
			}
		},
	}
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("say what to make: dist, licences or sbom")
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.SetOutput(stderr)
	command := commands[args[0]](f)
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return fmt.Errorf("%s: name one program, or the folder for what is made", args[0])
	}
	return command(f.Arg(0))
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

// options are what is asked for.
type options struct {
	version string // empty: that of the tag
	nfpm    string // empty: no packages
	targets []target
	out     string // folder, of which only looprun's own files are replaced
	log     io.Writer
}

// target is a system that is built for, by the names of the Go tool.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// all are what looprun is released for.
var all = []target{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

func (o *options) choose(list string) error {
	if list == "" {
		o.targets = all
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(all, func(t target) bool { return t.String() == name })
		if i < 0 {
			return fmt.Errorf("there are no releases for %q; they are for %v", name, all)
		}
		o.targets = append(o.targets, all[i])
	}
	return nil
}

// dist makes everything, in the module that the present folder belongs to.
func dist(o options) error {
	root, err := tell("", nil, "go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	r := &release{root: root, log: o.log}
	if r.source, err = sourceOf(root, o.version, os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(o.out); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "looprun-dist-"); err != nil {
		return err
	}
	err = r.make(o)
	return errors.Join(err, os.RemoveAll(r.work))
}

// release is one version on its way.
type release struct {
	source
	root  string // of the module
	out   string // what is made
	work  string // what is needed to make it
	tools struct{ looprun, nfpm string }
	made  []string // names of files in out
	log   io.Writer
}

func (r *release) make(o options) error {
	if err := r.clean(); err != nil {
		return err
	}
	fmt.Fprintf(r.log, "looprun %s, commit %s of %s\n", r.version, r.commit, r.date)
	if err := r.prepare(o.nfpm); err != nil {
		return err
	}
	for _, t := range o.targets {
		fmt.Fprintln(r.log, t)
		if err := r.build(t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		if err := r.archive(t); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		if t.os == "linux" && o.nfpm != "" {
			if err := r.packages(t); err != nil {
				return fmt.Errorf("%s: %w", t, err)
			}
		}
	}
	sums, err := r.checksums()
	if err != nil {
		return err
	}
	return r.fill(o.targets, sums)
}

// clean removes what an earlier version left, which would stand beside check
// sums that do not have it.
func (r *release) clean() error {
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	var errs []error
	for _, pattern := range []string{"looprun_*", "checksums.txt", "looprun.rb", "Dockerfile"} {
		old, err := filepath.Glob(filepath.Join(r.out, pattern))
		errs = append(errs, err)
		for _, f := range old {
			errs = append(errs, os.Remove(f))
		}
	}
	return errors.Join(errs...)
}

// base is what the names of a target's files begin with. The GitHub action
// relies on it.
func (r *release) base(t target) string {
	return "looprun_" + r.version + "_" + t.os + "_" + t.arch
}

// stage is the folder with what a target's archive holds.
func (r *release) stage(t target) string { return filepath.Join(r.work, t.os+"_"+t.arch) }
