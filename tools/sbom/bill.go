package main

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/tools/linked"
)

// The fields of a CycloneDX bill that are used here, by the names of its schema.
type bill struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	// Timestamp is when the source was committed, where that is known: the time
	// of today would make each bill another one.
	Timestamp string    `json:"timestamp,omitempty"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	Hashes     []digest   `json:"hashes,omitempty"`
	Licences   []licence  `json:"licenses,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type digest struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// newBill makes the bill of a program. The build information does not say which
// module needs which, so all of them are needed by the program.
func newBill(p linked.Program, dirs map[string]string, version string, sum [sha256.Size]byte) (bill, error) {
	if p.Main.Version != "" && p.Main.Version != "(devel)" && version == "" {
		version = p.Main.Version
	}
	root := component{
		Type: "application", Ref: purl(p.Main.Path, version), Name: p.Main.Path, Version: version, PURL: purl(p.Main.Path, version),
		Hashes: []digest{{"SHA-256", fmt.Sprintf("%x", sum)}},
	}
	for _, key := range []string{"GOOS", "GOARCH", "CGO_ENABLED", "-tags", "-trimpath", "vcs.revision"} {
		if v, set := p.Settings[key]; set {
			root.Properties = append(root.Properties, property{"go:build:" + key, v})
		}
	}
	// The compiler links its own library: a hole in that is one in the program.
	std := purl("std", strings.TrimPrefix(p.GoVersion, "go"))
	b := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
		Format: "CycloneDX", SpecVersion: "1.6", SerialNumber: serial(sum), Version: 1,
		Metadata: metadata{Timestamp: p.Settings["vcs.time"], Component: root},
		Components: []component{{
			Type: "library", Ref: std, Name: "std", Version: strings.TrimPrefix(p.GoVersion, "go"), PURL: std, Licences: []licence{{"BSD-3-Clause"}},
		}},
	}
	for _, m := range p.Modules {
		expression, err := linked.Licence(dirs[m.Path])
		if err != nil {
			return b, fmt.Errorf("%s: %w", m.Path, err)
		}
		c := component{Type: "library", Ref: purl(m.Path, m.Version), Name: m.Path, Version: m.Version, PURL: purl(m.Path, m.Version), Licences: []licence{{expression}}}
		if m.Sum != "" { // not a hash of one file, so none for Hashes
			c.Properties = []property{{"go:sum", m.Sum}}
		}
		b.Components = append(b.Components, c)
	}
	all := dependency{Ref: root.Ref}
	for _, c := range b.Components {
		all.DependsOn = append(all.DependsOn, c.Ref)
		b.Dependencies = append(b.Dependencies, dependency{Ref: c.Ref})
	}
	b.Dependencies = slices.Insert(b.Dependencies, 0, all)
	return b, nil
}
