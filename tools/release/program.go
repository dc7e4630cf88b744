package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
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
	p.std = module{path: "std", version: "of Go", folders: []string{root}}
	if err != nil || len(p.modules) == 0 {
		return err
	}
	env := []string{"GOFLAGS=-mod=mod"}
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED"} {
		env = append(env, key+"="+p.settings[key])
	}
	out, err := tell("", env, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}", "-tags", p.settings["-tags"], strings.TrimSuffix(pkg, ".test"))
	for line := range strings.Lines(out) {
		of := strings.Split(strings.TrimSpace(line), "\t")
		at, found := slices.BinarySearchFunc(p.modules, of[0], func(m module, path string) int { return cmp.Compare(m.path, path) })
		if found {
			p.modules[at].add(of[1], of[2])
		}
	}
	return err
}

// add adds the folder of a package, and those between it and the module's own.
func (m *module) add(root, dir string) {
	for ; strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		m.folders = append(m.folders, dir)
	}
	slices.Sort(m.folders)
	m.folders = slices.Compact(m.folders)
}

// object is an object of a CycloneDX bill; the names are those of its schema.
type object map[string]any

// newBill makes the software bill of materials of a program: CycloneDX 1.6 in JSON,
// the same for the same program. What its build information may lack is given: the
// version, the commit, and when that was, in RFC 3339.
func newBill(file, version, commit, date string) ([]byte, error) {
	p, err := inspect(file)
	if err != nil {
		return nil, err
	}
	for key, value := range map[string]string{"vcs.revision": commit, "vcs.time": date} {
		if p.settings[key] == "" && value != "" {
			p.settings[key] = value
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	made, err := p.bill(version, sha256.Sum256(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err = e.Encode(made)
	return b.Bytes(), err
}

// bill lists the modules. The build information does not say which needs which, so
// all of them are needed by the program.
func (p program) bill(version string, sum [sha256.Size]byte) (object, error) {
	if version == "" && p.main.version != "(devel)" {
		version = p.main.version
	}
	root := component("application", p.main.path, version)
	root["hashes"] = []object{{"alg": "SHA-256", "content": fmt.Sprintf("%x", sum)}}
	var built []object
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "-tags", "-trimpath", "vcs.revision"} {
		if v, set := p.settings[key]; set {
			built = append(built, object{"name": "go:build:" + key, "value": v})
		}
	}
	root["properties"] = built
	// The compiler links its own library: a hole in that is one in the program.
	std := component("library", "std", strings.TrimPrefix(p.goVersion, "go"))
	std["licenses"] = []object{{"expression": "BSD-3-Clause"}}
	components := []object{std}
	for _, m := range p.modules {
		expression, err := m.licence()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.path, err)
		}
		c := component("library", m.path, m.version)
		c["licenses"] = []object{{"expression": expression}}
		if m.sum != "" { // not a hash of one file, so none for hashes
			c["properties"] = []object{{"name": "go:sum", "value": m.sum}}
		}
		components = append(components, c)
	}
	var refs []any
	dependencies := []object{nil}
	for _, c := range components {
		refs = append(refs, c["bom-ref"])
		dependencies = append(dependencies, object{"ref": c["bom-ref"]})
	}
	dependencies[0] = object{"ref": root["bom-ref"], "dependsOn": refs}
	metadata := object{"component": root}
	if at := p.settings["vcs.time"]; at != "" { // today's time would make each bill another one
		metadata["timestamp"] = at
	}
	// The bill's number is formed like a UUID of version 8 (RFC 9562, section 5.8): the
	// program's hash, so that a bill made again has the same.
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return object{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
		"serialNumber": fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16]), "version": 1,
		"metadata": metadata, "components": components, "dependencies": dependencies,
	}, nil
}

func component(kind, path, version string) object {
	c := object{"type": kind, "bom-ref": purl(path, version), "name": path, "purl": purl(path, version)}
	if version != "" {
		c["version"] = version
	}
	return c
}

// purl is the package URL of a Go module: github.com/package-url/purl-spec asks
// for lower case in names, and for “+” to be escaped.
func purl(path, version string) string {
	name := "pkg:golang/" + strings.ToLower(path)
	if version == "" {
		return name
	}
	return name + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// notices are the texts that have to go along with the program.
func (p program) notices() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintln(&b, "looprun is built from these modules, each under its own licence.")
	for _, m := range append([]module{p.std}, p.modules...) {
		found, err := m.notices()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.path, err)
		}
		for _, n := range found {
			name, err := filepath.Rel(m.folders[0], n.file)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, "\n==== %s %s ====\n\n%s\n", path.Join(m.path, filepath.ToSlash(name)), m.version, bytes.TrimSpace(n.text))
		}
	}
	return b.Bytes(), nil
}
