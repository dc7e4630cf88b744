//go:build unix

package many

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of a file that is to be copied is refused, and nobody waits for it.
func TestCopyOfAPipe(t *testing.T) {
	t.Parallel()
	from, tree := t.TempDir(), t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(from, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	refused := make(chan error, 1)
	go func() { refused <- copyFiles(from, tree, []string{"pipe"}) }()
	select {
	case err := <-refused:
		if err == nil {
			t.Error("it was copied")
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for the pipe")
	}
}
