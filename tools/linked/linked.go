// Package linked says which modules are in a program, by the build information
// that the Go tool puts into it, and under which licences they are.
package linked

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Module is one module that is linked into a program.
type Module struct {
	Path    string
	Version string
	Sum     string // as in go.sum; empty for the program's own module
}

// Program is what a program says about itself.
type Program struct {
	Main      Module
	Package   string // of its main function
	GoVersion string // such as go1.26.0
	Settings  map[string]string
	Modules   []Module // all but its own, by path
}

// Read reads the build information of a program.
func Read(file string) (Program, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return Program{}, fmt.Errorf("%s has no build information: %w; build it with the Go tool, in module mode", file, err)
	}
	p := Program{
		Main:    Module{info.Main.Path, info.Main.Version, ""},
		Package: info.Path, GoVersion: info.GoVersion, Settings: map[string]string{},
	}
	for _, s := range info.Settings {
		p.Settings[s.Key] = s.Value
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		p.Modules = append(p.Modules, Module{d.Path, d.Version, d.Sum})
	}
	slices.SortFunc(p.Modules, func(a, b Module) int { return cmp.Compare(a.Path, b.Path) })
	return p, nil
}

// Dirs finds where the Go tool keeps the source of each module, by path. They
// must have been downloaded, as they have been when the program was built here.
func Dirs(modules []Module) (map[string]string, error) {
	args := []string{"mod", "download", "-json"}
	for _, m := range modules {
		args = append(args, m.Path+"@"+m.Version)
	}
	dirs := map[string]string{}
	if len(modules) == 0 {
		return dirs, nil
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download: %w", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); err != nil {
			return nil, fmt.Errorf("go mod download: %w", err)
		}
		dirs[m.Path] = m.Dir
	}
	return dirs, nil
}
