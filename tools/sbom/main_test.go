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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/tools/linked"
)

// TestBillOfLooprun makes the bill of the program itself and checks what the
// schema of CycloneDX 1.6 requires of the fields that are used.
func TestBillOfLooprun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "looprun")
	if out, err := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", file, "../../cmd/looprun").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	given := source{"v1.2.3", "0123abc", "2026-01-02T03:04:05Z"}
	var first, second bytes.Buffer
	if err := run(file, given, &first); err != nil {
		t.Fatal(err)
	}
	if err := run(file, given, &second); err != nil || first.String() != second.String() {
		t.Errorf("it is another the second time: %v", err)
	}
	var b bill
	d := json.NewDecoder(&first)
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		t.Fatal(err)
	}
	checkBill(t, b)
	if c := b.Metadata.Component; c.Name != "github.com/looprun/looprun" || c.Version != "v1.2.3" || c.PURL != "pkg:golang/github.com/looprun/looprun@v1.2.3" {
		t.Errorf("%+v", c)
	}
	if c := b.Metadata.Component; !slices.Contains(c.Properties, property{"go:build:vcs.revision", given.commit}) || b.Metadata.Timestamp != given.time {
		t.Errorf("%+v, %s", c.Properties, b.Metadata.Timestamp)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.Metadata.Component.Hashes[0], (digest{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(text))}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	p, err := linked.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Components) != len(p.Modules)+1 || len(p.Modules) == 0 {
		t.Errorf("%d components of %d modules and the library", len(b.Components), len(p.Modules))
	}
	for _, name := range []string{"std", "github.com/alecthomas/kong", "gopkg.in/yaml.v3"} {
		if !slices.ContainsFunc(b.Components, func(c component) bool { return c.Name == name }) {
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
		if c.Type != "library" || c.Version == "" || len(c.Licences) != 1 || !linked.Allowed(c.Licences[0].Expression) {
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
	p := linked.Program{Main: linked.Module{Path: "example.test/main"}, Modules: []linked.Module{{Path: "example.test/a", Version: "v1.0.0"}}}
	if _, err := newBill(p, map[string]string{"example.test/a": t.TempDir()}, "", [sha256.Size]byte{}); err == nil || !strings.Contains(err.Error(), "example.test/a") {
		t.Errorf("%v", err)
	}
}
