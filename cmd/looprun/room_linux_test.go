package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// A pipe that looprun's output goes to gets more room when a command prints much,
// and only then; one that has more keeps it.
func TestRoomInAPipe(t *testing.T) {
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	const small, big, bigger = 64 << 10, 256 << 10, 1 << 20
	much := []string{"head", "-c", fmt.Sprint(64 << 20), "/dev/zero"}
	for _, c := range []struct {
		name         string
		command      []string
		before, want int
	}{
		{"much", much, small, big},
		{"little", []string{"echo", "little"}, small, small},
		{"more room", much, bigger, bigger},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			if _, err := unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, c.before); err != nil {
				t.Skipf("pipes may not have %d bytes here: %v", c.before, err)
			}
			cmd := exec.Command(file, append([]string{"-q", "--state-dir", t.TempDir(), "--"}, c.command...)...)
			cmd.Stdout, cmd.Stderr = w, os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			n, err := io.Copy(io.Discard, r)
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if err != nil || c.want > small && n != 64<<20 {
				t.Fatalf("%d bytes came, %v", n, err)
			}
			if size, err := unix.FcntlInt(r.Fd(), unix.F_GETPIPE_SZ, 0); err != nil || size != c.want {
				t.Errorf("the pipe has %d bytes (%v), want %d", size, err, c.want)
			}
		})
	}
}
