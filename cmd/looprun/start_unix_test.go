//go:build unix

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestStartTrace has the program itself say what its packages did before main:
// what a list of calls cannot see. A package may allocate the closures of what
// it puts off, and small tables.
func TestStartTrace(t *testing.T) {
	const bytes, allocs = 4096, 64
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var log strings.Builder
	cmd.Stderr = &log
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)
	found := 0
	for _, m := range line.FindAllStringSubmatch(log.String(), -1) {
		if m[1] != "main" && !strings.HasPrefix(m[1], "github.com/looprun/looprun") {
			continue
		}
		found++
		b, _ := strconv.Atoi(m[2]) // digits
		n, _ := strconv.Atoi(m[3])
		if b > bytes || n > allocs {
			t.Errorf("%s allocates %d bytes in %d pieces when the program starts", m[1], b, n)
		}
	}
	if found < 5 {
		t.Errorf("only %d packages are in the trace:\n%s", found, log.String())
	}
}
