package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

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
	if p.main.version != "" && p.main.version != "(devel)" && version == "" {
		version = p.main.version
	}
	root := newComponent("application", p.main.path, version)
	root["hashes"] = []object{{"alg": "SHA-256", "content": fmt.Sprintf("%x", sum)}}
	var built []object
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "-tags", "-trimpath", "vcs.revision"} {
		if v, set := p.settings[key]; set {
			built = append(built, object{"name": "go:build:" + key, "value": v})
		}
	}
	root["properties"] = built
	// The compiler links its own library: a hole in that is one in the program.
	std := newComponent("library", "std", strings.TrimPrefix(p.goVersion, "go"))
	std["licenses"] = []object{{"expression": "BSD-3-Clause"}}
	components := []object{std}
	for _, m := range p.modules {
		expression, err := m.licence()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.path, err)
		}
		c := newComponent("library", m.path, m.version)
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
	return object{
		"$schema":   "http://cyclonedx.org/schema/bom-1.6.schema.json",
		"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": serial(sum), "version": 1,
		"metadata": metadata, "components": components, "dependencies": dependencies,
	}, nil
}

func newComponent(kind, path, version string) object {
	c := object{"type": kind, "bom-ref": purl(path, version), "name": path, "purl": purl(path, version)}
	if version != "" {
		c["version"] = version
	}
	return c
}

// serial is the number of the bill, formed like a UUID of version 8 (RFC 9562,
// section 5.8): the program's hash, so that a bill made again has the same.
func serial(sum [sha256.Size]byte) string {
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16])
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
