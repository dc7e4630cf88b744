package looprun_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// linked are the packages outside the standard library that a program which imports
// looprun links on Linux. Each one more is a decision, not an accident.
var linked = []string{
	"github.com/cespare/xxhash/v2",
	"github.com/creack/pty",
	"github.com/looprun/looprun",
	"github.com/looprun/looprun/internal/jsontext",
	"github.com/looprun/looprun/internal/nearest",
	"github.com/looprun/looprun/internal/plural",
	"github.com/looprun/looprun/internal/carrier",
	"github.com/looprun/looprun/internal/lines",
	"github.com/looprun/looprun/internal/margin",
	"github.com/looprun/looprun/internal/proc",
	"github.com/looprun/looprun/internal/strictjson",
	"github.com/looprun/looprun/internal/tail",
	"github.com/looprun/looprun/internal/termsafe",
	"github.com/looprun/looprun/internal/turnloop",
	"github.com/looprun/looprun/protocol/ladder",
	"github.com/looprun/looprun/protocol/rejection",
	"github.com/looprun/looprun/protocol/signal",
	"github.com/looprun/looprun/signature",
	"golang.org/x/sys/unix",
	"golang.org/x/term",
}

func TestImports(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".")
	list.Env = append(list.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(out))
	slices.Sort(got)
	for _, p := range got {
		if !slices.Contains(linked, p) {
			t.Errorf("the package links %s, which is not listed here", p)
		}
	}
	for _, p := range linked {
		if !slices.Contains(got, p) {
			t.Errorf("the package does not link %s any more; take it off the list", p)
		}
	}
}
