package main

import (
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// module is what a program is linked from, under one path and version.
type module struct {
	path, version, sum string
	folders            []string // its own, and those of its packages that are linked
}

// program is what a program says about itself.
type program struct {
	main      module
	goVersion string
	settings  map[string]string
	std       module
	modules   []module // all others, by path
}

// inspect reads the build information of a program of this repository, and finds the
// source of what is linked into it.
func inspect(file string) (program, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return program{}, fmt.Errorf("%s has no build information: %w; build it with the Go tool, in module mode", file, err)
	}
	p := program{main: module{path: info.Main.Path, version: info.Main.Version}, goVersion: info.GoVersion, settings: map[string]string{}}
	for _, s := range info.Settings {
		p.settings[s.Key] = s.Value
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		p.modules = append(p.modules, module{path: d.Path, version: d.Version, sum: d.Sum})
	}
	slices.SortFunc(p.modules, func(a, b module) int { return cmp.Compare(a.path, b.path) })
	return p, p.locate(info.Path)
}

// locate finds where the Go tool keeps the folders of the modules, down to each
// package that is linked: a package can have a licence of its own.
func (p *program) locate(pkg string) error {
	root, err := tell("", nil, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	p.std = module{path: "std", version: "of Go", folders: []string{root}}
	if len(p.modules) == 0 {
		return nil
	}
	env := []string{"GOFLAGS=-mod=mod"}
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED"} {
		env = append(env, key+"="+p.settings[key])
	}
	out, err := tell("", env, "go", "list", "-deps", "-json=Dir,Module", "-tags", p.settings["-tags"], strings.TrimSuffix(pkg, ".test"))
	if err != nil {
		return err
	}
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var linked struct {
			Dir    string
			Module *struct{ Path, Dir string }
		}
		if err := d.Decode(&linked); err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		if linked.Module == nil {
			continue
		}
		at, found := slices.BinarySearchFunc(p.modules, linked.Module.Path, func(m module, path string) int { return cmp.Compare(m.path, path) })
		if found {
			p.modules[at].add(linked.Module.Dir, linked.Dir)
		}
	}
	return nil
}

// add adds the folder of a package, and those between it and the module's own.
func (m *module) add(root, dir string) {
	for ; strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		if !slices.Contains(m.folders, dir) {
			m.folders = append(m.folders, dir)
		}
	}
	slices.Sort(m.folders)
}

// name is how a file of the module is called in lists.
func (m module) name(file string) string {
	rel, err := filepath.Rel(m.folders[0], file)
	if err != nil {
		return file
	}
	return path.Join(m.path, filepath.ToSlash(rel))
}
