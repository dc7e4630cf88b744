//go:build unix

package report

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe in the place of an output is not opened: that would wait for ever.
func TestShowAPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skipf("no pipes here: %v", err)
	}
	o, err := openOutputs(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if s := o.show("pipe", 1000); !strings.Contains(s.Problem, "it is not a regular file") {
		t.Errorf("%+v", s)
	}
}
