package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/tools/linked"
)

func TestPackageOf(t *testing.T) {
	for symbol, want := range map[string]string{
		"fmt.Println": "fmt",
		"github.com/looprun/looprun/templates.(*Set).Load": "github.com/looprun/looprun/templates",
		"gopkg.in/yaml%2ev3.(*Decoder).Decode":             "gopkg.in/yaml.v3",
		"slices.SortFunc[go.shape.[]a/b.T,go.shape.int]":   "slices",
		"vendor/golang.org/x/net/idna.init":                "vendor/golang.org/x/net/idna",
		"main.main":                                        "main", "type:*fmt.pp": "(tables)", "go:func.*": "(tables)", "_rt0_amd64": "(tables)",
	} {
		if got := packageOf(symbol); got != want {
			t.Errorf("%s is of %s, want %s", symbol, got, want)
		}
	}
}

func TestModuleOf(t *testing.T) {
	p := linked.Program{Main: linked.Module{Path: "example.test/a"}, Modules: []linked.Module{{Path: "example.test/a/b"}, {Path: "example.test/ab"}}}
	for pkg, want := range map[string]string{
		"main": "example.test/a", "example.test/a/c": "example.test/a", "example.test/a/b/c": "example.test/a/b",
		"example.test/ab": "example.test/ab", "example.test/abc": "Go's library", "net/http": "Go's library", "(tables)": "(tables)",
	} {
		if got := moduleOf(pkg, p); got != want {
			t.Errorf("%s is of %s, want %s", pkg, got, want)
		}
	}
}

// TestSize weighs a program that is built here, and has a limit on both sides.
func TestSize(t *testing.T) {
	dir := t.TempDir()
	build := func(name, flags string) string {
		file := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-ldflags", flags, "-o", file, "github.com/looprun/looprun/tools/size")
		cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return file
	}
	stripped, full := build("stripped", "-s -w"), build("full", "")
	info, err := os.Stat(stripped)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := run(stripped, full, info.Size(), 1000, &text); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"  .text\n", "  .gopclntab\n", "  Go's library\n", "  github.com/looprun/looprun\n", "  runtime\n", "  main\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it does not name %q:\n%s", want, text.String())
		}
	}
	packages, _, err := weigh(full)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, size := range packages {
		sum += size
	}
	if sum < info.Size()/3 || sum > info.Size() {
		t.Errorf("the packages have %d bytes together, the program %d", sum, info.Size())
	}
	if err := run(stripped, full, info.Size()-1, 1, &text); err == nil {
		t.Error("a program that is too large is taken")
	}
	if _, _, err := weigh(stripped); err == nil {
		t.Error("a program without symbols is weighed")
	}
}
