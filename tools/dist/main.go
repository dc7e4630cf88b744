// Command dist makes what a release consists of: a static program for each
// system, archives, packages for Debian and for rpm, check sums, and a formula
// and a Dockerfile that name them. The same commit gives the same bytes,
// whenever and wherever it is built with the same Go.
//
//	go run ./tools/dist -nfpm PACKAGE@VERSION [-version 1.2.3] [-targets linux/amd64,…] DIR
//
// The packages are made by nfpm, which is fetched by the Go tool and is no
// dependency of looprun. Without -nfpm there are none.
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
	var o options
	targets := flag.String("targets", "", "comma-separated `list` of what is built, such as linux/amd64; all without")
	flag.StringVar(&o.version, "version", "", "the `version`; the tag of the commit without")
	flag.StringVar(&o.nfpm, "nfpm", "", "the Go `package` of nfpm with its version")
	flag.Parse()
	o.out, o.log = flag.Arg(0), os.Stderr
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "dist: name one folder for what is made")
		os.Exit(2)
	}
	err := o.choose(*targets)
	if err == nil {
		err = dist(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
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
	tools struct{ looprun, sbom, nfpm string }
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
