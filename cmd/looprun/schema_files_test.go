//go:build unix

package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/project"
)

// sample is a file that is known to be right.
type sample struct{ name, kind, text string }

// kindOf says of which kind a YAML text is, by what stands in it; empty: of
// none of looprun's, such as the configuration of a CI system.
func kindOf(t *testing.T, name string, text []byte, keys []config.Key) string {
	t.Helper()
	v, err := yamlValue(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	m, _ := v.(map[string]any)
	has := func(key string) bool { _, ok := m[key]; return ok }
	known := []string{"signature", "ladder", "agents", "hooks", "enforce"}
	for _, k := range keys {
		known = append(known, k.Name)
	}
	all := func(known []string) bool {
		return len(m) > 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(m)), func(k string) bool { return !slices.Contains(known, k) })
	}
	switch {
	case has("version") && has("rules"):
		return "policy"
	case has("guard") && has("options"):
		return "template"
	case filepath.Base(name) == "messages.yaml":
		return "messages"
	case all([]string{"mask", "ignore", "extract", "reports"}):
		return "config#/properties/signature" // what --signature-rules reads
	case all(known):
		return "config"
	}
	return ""
}

// goodFiles are all YAML files of looprun's kinds in examples, in docs, in the
// built-in templates and packs, and what init writes for each kind of project.
func goodFiles(t *testing.T) []sample {
	t.Helper()
	keys := testKeys(t)
	var all []sample
	add := func(name string, text []byte) {
		if kind := kindOf(t, name, text, keys); kind != "" {
			all = append(all, sample{name, kind, string(text)})
		}
	}
	root := filepath.Join("..", "..")
	read := func(name string) []byte {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, dir := range []string{"examples", "templates/builtin", "templates/starter", "docs", "README.md"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case filepath.Ext(name) == ".yaml":
				add(name, read(name))
			case filepath.Ext(name) == ".md":
				for _, b := range blocksOf(string(read(name))) {
					if b.info == "yaml" {
						add(name+": "+b.name(), []byte(b.text))
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for kind, text := range initialised(t) {
		all = append(all, sample{"init for " + kind, "config", text[0]}, sample{"init for " + kind, "policy", text[1]})
	}
	return all
}

// initialised are the configuration and the policy that init writes for each
// kind of project.
func initialised(t *testing.T) map[string][2]string {
	t.Helper()
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][2]string{}
	for kind, made := range map[string][2]string{
		"go":      {"go.mod", "module example\n"},
		"npm":     {"package.json", `{"scripts": {"test": "jest", "build": "tsc"}}`},
		"cargo":   {"Cargo.toml", ""},
		"pytest":  {"pytest.ini", ""},
		"make":    {"Makefile", "build:\ntest:\n"},
		"--check": {"notes.txt", ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, made[0]), []byte(made[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(file, "init", "--yes")
		if kind == "--check" {
			cmd.Args = append(cmd.Args, "--check", "make 'it: work'")
		}
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("init for %s: %v\n%s", kind, err, said)
		}
		config, cerr := os.ReadFile(filepath.Join(dir, config.Name))
		policy, perr := os.ReadFile(filepath.Join(dir, project.PolicyName))
		if err := errors.Join(cerr, perr); err != nil {
			t.Fatal(err)
		}
		out[kind] = [2]string{string(config), string(policy)}
	}
	return out
}

// Every file of looprun's that stands anywhere is right by the schema that an
// editor checks it with.
func TestSchemasTakeEveryFile(t *testing.T) {
	found := map[string]int{}
	for _, s := range goodFiles(t) {
		found[s.kind]++
		v, err := yamlValue([]byte(s.text))
		if err == nil {
			err = validator(t, s.kind).Validate(v)
		}
		if err != nil {
			t.Errorf("%s is no %s: %v", s.name, s.kind, err)
		}
	}
	for kind, least := range map[string]int{"config": 8, "policy": 8, "template": 18, "messages": 2, "config#/properties/signature": 1} {
		if found[kind] < least {
			t.Errorf("%d files of the kind %s were found, want at least %d", found[kind], kind, least)
		}
	}
	t.Logf("checked: %v", found)
}
