package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// module is the code linked into a program from one path and version.
type module struct {
	path, version, sum string
	folders            []string // its own, and those of its packages that are linked
	lender             string   // the module whose licence it has, if not its own
}

// program is what a program's build information contains.
type program struct {
	*debug.BuildInfo
	file     string
	settings map[string]string
	modules  []module // Go's library, and all others by path
}

// inspect reads the build information of a program of the module in a folder, and finds where
// the Go tool keeps the source of everything linked into it, down to each package: a package
// can have a licence of its own.
func inspect(dir, file string) program {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		fail("%s has no build information: %w; build it with the Go tool, in module mode", file, err)
	}
	std := module{path: "std", version: "of Go", folders: []string{must(tell("", nil, "go", "env", "GOROOT"))}}
	p := program{info, file, map[string]string{}, []module{std}}
	for _, s := range info.Settings {
		p.settings[s.Key] = s.Value
	}
	env := []string{"GOFLAGS=-mod=mod"}
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED"} {
		env = append(env, key+"="+p.settings[key])
	}
	packages := strings.Split(must(tell(dir, env, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}\t{{$.Dir}}{{end}}", "-tags", p.settings["-tags"], strings.TrimSuffix(info.Path, ".test"))), "\n")
	for _, d := range info.Deps {
		switch {
		case d.Replace == nil:
		case strings.HasPrefix(d.Replace.Path, "."): // a folder beside it: this repository
			d.Version = ""
		default:
			d = d.Replace
		}
		m := module{path: d.Path, version: d.Version, sum: d.Sum}
		for _, line := range packages {
			if of := strings.Split(line, "\t"); of[0] == m.path {
				m.add(of[1], of[2])
			}
		}
		p.modules = append(p.modules, m)
	}
	borrow(p.modules)
	return p
}

// add adds the folder of a package, and those between it and the module's root.
func (m *module) add(root, dir string) {
	for ; strings.HasPrefix(dir, root); dir = filepath.Dir(dir) {
		m.folders = append(m.folders, dir)
	}
	slices.Sort(m.folders)
	m.folders = slices.Compact(m.folders)
}

// object is an object of a CycloneDX bill; the keys are those of its schema.
type object map[string]any

// bill returns the software bill of materials: CycloneDX 1.6 in JSON, the same for the same
// program. The arguments supply what the build information lacks.
func (p program) bill(version string, settings map[string]string) []byte {
	maps.Copy(p.settings, settings)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	check(e.Encode(p.materials(version, sha256.Sum256(load(p.file)))))
	return b.Bytes()
}

// materials lists the modules. The build information does not record which module needs which, so
// the bill makes the program depend on all of them.
func (p program) materials(version string, sum [sha256.Size]byte) object {
	if version == "" && p.Main.Version != "(devel)" {
		version = p.Main.Version
	}
	root := component("application", p.Main.Path, version)
	root["hashes"] = []object{{"alg": "SHA-256", "content": fmt.Sprintf("%x", sum)}}
	var built, components []object
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "-tags", "-trimpath", "vcs.revision"} {
		if v := p.settings[key]; v != "" {
			built = append(built, object{"name": "go:build:" + key, "value": v})
		}
	}
	root["properties"] = built
	var refs []any
	dependencies := []object{nil}
	for _, m := range p.modules {
		if m.path == "std" { // the compiler links its own library: a hole in that is one in the program
			m.version = strings.TrimPrefix(p.GoVersion, "go")
		}
		c := component("library", m.path, m.version)
		c["licenses"] = []object{{"expression": m.licence()}}
		if m.sum != "" { // not a hash of one file, so none for hashes
			c["properties"] = []object{{"name": "go:sum", "value": m.sum}}
		}
		components = append(components, c)
		refs = append(refs, c["bom-ref"])
		dependencies = append(dependencies, object{"ref": c["bom-ref"]})
	}
	dependencies[0] = object{"ref": root["bom-ref"], "dependsOn": refs}
	metadata := object{"component": root}
	if at := p.settings["vcs.time"]; at != "" { // today's time would make each bill another one
		metadata["timestamp"] = at
	}
	// The bill's serial number has the form of a UUID of version 8 (RFC 9562, section 5.8): it
	// is derived from the program's hash, so that a regenerated bill has the same one.
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return object{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
		"serialNumber": fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16]), "version": 1,
		"metadata": metadata, "components": components, "dependencies": dependencies,
	}
}

func component(kind, path, version string) object {
	c := object{"type": kind, "bom-ref": purl(path, version), "name": path, "purl": purl(path, version)}
	if version != "" {
		c["version"] = version
	}
	return c
}

// purl returns the package URL of a Go module: github.com/package-url/purl-spec requires lower
// case in names, and an escaped “+”.
func purl(path, version string) string {
	name := "pkg:golang/" + strings.ToLower(path)
	if version == "" {
		return name
	}
	return name + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// notices returns the texts to distribute with the programs, each once.
func notices(programs []program) []byte {
	var modules []module
	for _, p := range programs {
		modules = append(modules, p.modules...)
	}
	slices.SortStableFunc(modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	var b bytes.Buffer
	fmt.Fprintln(&b, "looprun is built from these modules, each under its own licence.")
	seen := map[string]bool{}
	for _, m := range modules {
		for _, file := range m.notices() {
			if seen[m.path+" "+file] {
				continue
			}
			seen[m.path+" "+file] = true
			name := must(filepath.Rel(m.folders[0], file))
			fmt.Fprintf(&b, "\n==== %s %s ====\n\n", path.Join(m.path, filepath.ToSlash(name)), m.version)
			if m.lender != "" {
				fmt.Fprintf(&b, "It has none of its own; %s contains the same code under this one.\n\n", m.lender)
			}
			fmt.Fprintf(&b, "%s\n", bytes.TrimSpace(load(file)))
		}
	}
	return b.Bytes()
}
