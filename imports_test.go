package looprun_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/looprun/looprun"

// links are the packages outside the standard library that a program links on Linux which
// imports the package, beside those of the package before it. Each one more is a decision,
// not an accident. The core runs nothing, and so links nothing that does.
var links = []struct {
	of    string
	links []string
}{
	{"core", []string{
		"github.com/cespare/xxhash/v2",
		module + "/core",
		module + "/internal/carrier",
		module + "/internal/convert",
		module + "/internal/ascii",
		module + "/internal/datetime",
		module + "/internal/escape",
		module + "/internal/jsontext",
		module + "/internal/lazy",
		module + "/internal/lines",
		module + "/internal/margin",
		module + "/internal/nearest",
		module + "/internal/plural",
		module + "/internal/problem",
		module + "/internal/strictjson",
		module + "/internal/tail",
		module + "/internal/termsafe",
		module + "/protocol/ladder",
		module + "/protocol/rejection",
		module + "/protocol/signal",
		module + "/signature",
	}},
	{"engine", []string{
		"github.com/creack/pty",
		module + "/engine",
		module + "/internal/proc",
		module + "/internal/turnloop",
		"golang.org/x/sys/unix",
		"golang.org/x/term",
	}},
	{"", []string{module}},
}

func TestImports(t *testing.T) {
	var linked []string
	for _, p := range links {
		linked = append(linked, p.links...)
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./"+p.of)
		list.Env = append(list.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Fields(string(out))
		for _, dep := range got {
			if !slices.Contains(linked, dep) {
				t.Errorf("./%s links %s, which is not listed here", p.of, dep)
			}
		}
		for _, dep := range linked {
			if !slices.Contains(got, dep) {
				t.Errorf("./%s does not link %s any more; take it off the list", p.of, dep)
			}
		}
	}
}

// The core runs nothing, asks no clock and no system: a workflow engine can replay it.
func TestTheCoreIsPure(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{join .Imports "\n"}}`, "./core").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"os", "os/exec", "net", "syscall", "runtime", "math/rand", "math/rand/v2"} {
		if slices.Contains(strings.Fields(string(out)), p) {
			t.Errorf("./core imports %s", p)
		}
	}
}

// The root package is for other people's programs: ours take what they need where it is.
func TestNothingOfOursNeedsTheRoot(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	if deps := strings.Fields(string(out)); slices.Contains(deps, module) || !slices.Contains(deps, module+"/engine") {
		t.Errorf("the commands link %s; they have core and engine", module)
	}
}
