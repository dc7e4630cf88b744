//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk is a disk of that size. It needs root.
func smallDisk(t *testing.T, kib int) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=0700", kib)); err != nil {
		t.Skipf("a small disk needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// onDisk is a looprun whose state is on another disk than its command's files.
func onDisk(t *testing.T, state string, args ...string) *started {
	t.Helper()
	s := ready(t, t.TempDir(), args...)
	s.Env = append(s.Env, "LOOPRUN_STATE_DIR="+state)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// A disk that has no room for a run takes none, and its command is not run.
func TestNoRoomForARun(t *testing.T) {
	disk := smallDisk(t, 64)
	s := onDisk(t, filepath.Join(disk, "state"), "--", "touch", "ran")
	if got := s.ended(t); got != 125 || s.has("ran")() {
		t.Errorf("ended with %d, want 125", got)
	}
	if !strings.Contains(s.stderr.String(), "no space left on device") {
		t.Error("it does not say why")
	}
}

// The disk gets full in the middle of a run: it fails, and says so on record,
// since there is a reserve for that. With room again it goes on.
func TestTheDiskGetsFull(t *testing.T) {
	disk := smallDisk(t, 1024)
	state := filepath.Join(disk, "state")
	const work = `echo $LOOPRUN_ITERATION >> ran; echo $$ > pid; if [ $LOOPRUN_ITERATION = 3 ] && [ ! -e full ]; then touch full; sleep 60; fi; head -c 3000 /dev/zero | tr '\0' x; echo; test $LOOPRUN_ITERATION -ge 5`
	s := onDisk(t, state, "--loop-threshold", "off", "--kill-after", "1s", "--", "sh", "-c", work)
	until(t, "iteration 3 runs", s.has("full"))
	ballast := filepath.Join(disk, "ballast")
	fillDisk(t, ballast)
	// Ending the iteration needs a record, for which there is no room.
	if err := unix.Kill(s.pid(t, "pid"), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := s.ended(t); got != 125 {
		t.Errorf("ended with %d, want 125", got)
	}
	if !strings.Contains(s.stderr.String(), "no space left on device") {
		t.Error("it does not say why")
	}
	if s.alive(t, "pid") {
		t.Error("the command is still there")
	}
	if explain := onDisk(t, state, "explain"); explain.ended(t) != 0 || !strings.Contains(explain.stdout.String(), "no space left") {
		t.Error("what is on the disk cannot be read, or does not say why it ended")
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	again := onDisk(t, state, "resume")
	if got := again.ended(t); got != 0 {
		t.Errorf("resume ended with %d", got)
	}
	ran := lines(t, s.file("ran"))
	if got := strings.Join(ran, " "); got != "1 2 3 3 4 5" && got != "1 2 3 4 4 5" {
		t.Errorf("ran %s", got)
	}
}

// fillDisk leaves not one byte.
func fillDisk(t *testing.T, ballast string) {
	t.Helper()
	f, err := os.OpenFile(ballast, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 4096; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}

// What cannot be written to is said to be so, with what to do, and nothing runs.
func TestNoPlaceForARun(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 1024)
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, state := range map[string]string{"a read-only disk": disk + "/state", "below a file": file + "/state", "a name that is too long": dir + "/" + strings.Repeat("x", 300), "/proc": "/proc/state"} {
		t.Run(name, func(t *testing.T) {
			s := onDisk(t, state, "--", "touch", "ran")
			if got := s.ended(t); got != 125 || s.has("ran")() {
				t.Errorf("ended with %d, want 125", got)
			}
			if said := s.stderr.String(); !strings.Contains(said, filepath.Dir(state)) || !strings.Contains(said, "--state-dir") {
				t.Error("it does not say where, and what to do")
			}
		})
	}
}

// asOrdinaryUser lets s be started by a user whom file modes stop, in the directory
// that place is; own is to be that user's.
func (s *started) asOrdinaryUser(t *testing.T, place, own string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	place = filepath.Join(place, "looprun")
	// cp writes it: a file that this program writes while another test forks is busy.
	if out, err := exec.Command("cp", s.Path, place).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.Path = place
	if err := errors.Join(os.Chmod(place, 0o755), os.Chown(own, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	s.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// publicDir is a directory where every user can get at it.
func publicDir(t *testing.T) string {
	t.Helper()
	place, err := os.MkdirTemp("", "looprun-place-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(place) })
	if err := os.Chmod(place, 0o755); err != nil {
		t.Fatal(err)
	}
	return place
}

// An ordinary user who may not write there is told so.
func TestAReadOnlyDirectory(t *testing.T) {
	place := publicDir(t)
	state := filepath.Join(place, "state")
	if err := os.Mkdir(state, 0o555); err != nil {
		t.Fatal(err)
	}
	s := ready(t, place, "--", "true")
	s.Env = append(s.Env, "HOME="+place)
	s.asOrdinaryUser(t, place, state)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if got := s.ended(t); got != 125 {
		t.Errorf("ended with %d, want 125", got)
	}
	if said := s.stderr.String(); !strings.Contains(said, "permission denied") || !strings.Contains(said, state) || !strings.Contains(said, "--state-dir") {
		t.Error("it does not say what is wrong with which directory, and what to do")
	}
}

// Who has become another user often has the HOME of the first one, and may not
// look into it.
func TestAnotherUsersHome(t *testing.T) {
	for flag, want := range map[string]int{"": 125, "--config=none": 0} {
		t.Run(flag, func(t *testing.T) {
			place := publicDir(t)
			state, home := filepath.Join(place, "state"), filepath.Join(place, "home")
			if err := errors.Join(os.Mkdir(state, 0o755), os.Mkdir(home, 0)); err != nil {
				t.Fatal(err)
			}
			args := []string{"--", "true"}
			if flag != "" {
				args = append([]string{flag}, args...)
			}
			s := ready(t, place, args...)
			s.Env = append(s.Env, "HOME="+home, "XDG_CONFIG_HOME=")
			s.asOrdinaryUser(t, place, state)
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			if got := s.ended(t); got != want {
				t.Errorf("ended with %d, want %d", got, want)
			}
			if said := s.stderr.String(); want != 0 && (!strings.Contains(said, home) || !strings.Contains(said, "--config none")) {
				t.Error("it does not say which file, and what to do")
			}
		})
	}
}

// A directory that goes away while the run is open ends it, and what it started.
func TestTheDirectoryVanishes(t *testing.T) {
	for name, vanish := range map[string]func(dir string) error{
		"the state directory": os.RemoveAll,
		"the journal": func(dir string) error {
			files, err := filepath.Glob(filepath.Join(dir, "*", "journal.jsonl"))
			if err != nil || len(files) != 1 {
				return fmt.Errorf("%v, %w", files, err)
			}
			return os.Remove(files[0])
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, t.TempDir(), "--loop-threshold", "off", "--kill-after", "1s", "--", "sh", "-c",
				`echo $LOOPRUN_ITERATION >> ran; setsid sleep 60 & echo $! > pid; while [ ! -e go ]; do sleep 0.01; done; exit 1`)
			until(t, "the command runs", s.has("pid"))
			if err := vanish(s.file("state")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.file("go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := s.ended(t); got != 125 {
				t.Errorf("ended with %d, want 125", got)
			}
			if !strings.Contains(s.stderr.String(), "journal.jsonl was removed while the run was open") {
				t.Error("it does not say why")
			}
			if s.alive(t, "pid") {
				t.Error("what the command left is still there")
			}
			if ran := lines(t, s.file("ran")); len(ran) != 1 {
				t.Errorf("ran %v after the journal had gone", ran)
			}
		})
	}
}
