package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// The fields of a CycloneDX bill that are used here, by the names of its schema.
type bill struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []listed     `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string `json:"timestamp"`
	Component listed `json:"component"`
}

type listed struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []digest   `json:"hashes"`
	Licences   []licence  `json:"licenses"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties"`
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
	DependsOn []string `json:"dependsOn"`
}

// TestBillOfLooprun makes the bill of the program itself and checks what the
// schema of CycloneDX 1.6 requires of the fields that are used.
func TestBillOfLooprun(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds looprun")
	}
	file := filepath.Join(t.TempDir(), "looprun")
	if out, err := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", file, "../../cmd/looprun").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const commit, date = "0123abc", "2026-01-02T03:04:05Z"
	known := map[string]string{"vcs.revision": commit, "vcs.time": date}
	first := inspect("", file).bill("v1.2.3", known)
	if !bytes.Equal(first, inspect("", file).bill("v1.2.3", known)) {
		t.Error("it is another the second time")
	}
	var b bill
	d := json.NewDecoder(bytes.NewReader(first))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		t.Fatal(err)
	}
	checkBill(t, b)
	if c := b.Metadata.Component; c.Name != "github.com/looprun/looprun" || c.Version != "v1.2.3" || c.PURL != "pkg:golang/github.com/looprun/looprun@v1.2.3" {
		t.Errorf("%+v", c)
	}
	if c := b.Metadata.Component; !slices.Contains(c.Properties, property{"go:build:vcs.revision", commit}) || b.Metadata.Timestamp != date {
		t.Errorf("%+v, %s", c.Properties, b.Metadata.Timestamp)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.Metadata.Component.Hashes[0], (digest{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(text))}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if p := inspect("", file); len(b.Components) != len(p.modules) || len(p.modules) < 2 {
		t.Errorf("%d components of %d modules", len(b.Components), len(p.modules))
	}
	for _, name := range []string{"std", "github.com/alecthomas/kong", "gopkg.in/yaml.v3"} {
		if !slices.ContainsFunc(b.Components, func(c listed) bool { return c.Name == name }) {
			t.Errorf("%s is missing", name)
		}
	}
}

// checkBill has the rules of the schema, and that references lead somewhere.
func checkBill(t *testing.T, b bill) {
	t.Helper()
	uuid := regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if b.Format != "CycloneDX" || b.SpecVersion != "1.6" || b.Version < 1 || !uuid.MatchString(b.SerialNumber) {
		t.Errorf("%s %s %d %s", b.Format, b.SpecVersion, b.Version, b.SerialNumber)
	}
	if b.Metadata.Timestamp != "" {
		if _, err := time.Parse(time.RFC3339, b.Metadata.Timestamp); err != nil {
			t.Error(err)
		}
	}
	if b.Metadata.Component.Type != "application" {
		t.Errorf("it is a %s", b.Metadata.Component.Type)
	}
	refs := map[string]bool{}
	for _, c := range append(b.Components, b.Metadata.Component) {
		if c.Name == "" || c.Ref == "" || !strings.HasPrefix(c.PURL, "pkg:golang/") || refs[c.Ref] {
			t.Errorf("%+v", c)
		}
		refs[c.Ref] = true
	}
	for _, c := range b.Components {
		if c.Type != "library" || c.Version == "" || len(c.Licences) != 1 || !isAllowed(c.Licences[0].Expression) {
			t.Errorf("%+v", c)
		}
	}
	if len(b.Dependencies) != len(refs) || b.Dependencies[0].Ref != b.Metadata.Component.Ref {
		t.Errorf("%d dependencies of %d components", len(b.Dependencies), len(refs))
	}
	for _, d := range b.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			if !refs[ref] {
				t.Errorf("%s is no component", ref)
			}
		}
	}
}

func TestPURL(t *testing.T) {
	for want, m := range map[string][2]string{
		"pkg:golang/github.com/alecaivazis/survey/v2@v2.3.7": {"github.com/AlecAivazis/survey/v2", "v2.3.7"},
		"pkg:golang/example.test/a@v2.0.0%2Bincompatible":    {"example.test/a", "v2.0.0+incompatible"},
		"pkg:golang/example.test/a":                          {"example.test/a", ""},
	} {
		if got := purl(m[0], m[1]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestNoLicence is an error: a bill without it would be taken for complete.
func TestNoLicence(t *testing.T) {
	p := program{BuildInfo: &debug.BuildInfo{Main: debug.Module{Path: "example.test/main"}}, modules: []module{{path: "example.test/a", version: "v1.0.0", folders: []string{t.TempDir()}}}}
	if err := attempt(func() { p.materials("", [sha256.Size]byte{}) }); err == nil || !strings.Contains(err.Error(), "example.test/a") {
		t.Errorf("%v", err)
	}
}
