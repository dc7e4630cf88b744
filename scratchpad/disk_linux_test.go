package scratchpad

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/looprun/looprun/core"
)

// smallDisk mounts a disk of that size.
func smallDisk(t *testing.T, kib int) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a small disk needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=0700", kib)); err != nil {
		t.Skipf("a small disk cannot be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill uses up the disk, but for so many bytes.
func fill(t *testing.T, dir string, left int) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "ballast"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !diskFull(err) {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(info.Size() - int64(left)); err != nil {
		t.Fatal(err)
	}
}

// TestDiskFull fills the disk under a run: the record that does not fit is an
// error, and the one that says so gets through, whatever its size.
func TestDiskFull(t *testing.T) {
	for _, size := range []int{10, 3000, 20_000} {
		t.Run(fmt.Sprint("an ending of ", size), func(t *testing.T) {
			disk := smallDisk(t, 512)
			r, err := Create(filepath.Join(disk, StateDirName), day, SyncAsync)
			if err != nil {
				t.Fatal(err)
			}
			events := iterations(5)
			s := appendAll(t, r, events)
			fill(t, disk, 0)
			full := fillJournal(t, r, s)
			if !errors.Is(full, unix.ENOSPC) || !strings.Contains(full.Error(), journalOf(r.Dir)) {
				t.Errorf("on a full disk: %v", full)
			}
			reason := full.Error() + strings.Repeat(" x", size/2)
			if err := r.Journal.Append(ending(s.Seq+1, reason)); err != nil {
				t.Fatalf("the last record: %v", err)
			}
			if err := errors.Join(r.Journal.Sync(), r.WriteResult(s.Result(), "")); err != nil {
				t.Error(err)
			}
			if err := r.Journal.Append(ending(s.Seq+2, reason)); !errors.Is(err, unix.ENOSPC) {
				t.Errorf("a record after the last: %v", err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			loaded, tail, err := Load(r.Dir)
			if err != nil || tail.Cut != 0 || !loaded.Ended || loaded.Seq != s.Seq+1 || loaded.Ending.Reason != reason {
				t.Errorf("%+v, %v", tail, err)
			}
		})
	}
}

// fillJournal appends until it fails.
func fillJournal(t *testing.T, r *Run, s *core.State) error {
	t.Helper()
	for range 1000 {
		e := core.Event{Seq: s.Seq + 1, Time: day, Data: core.RunAlive{}}
		if err := r.Journal.Append(e); err != nil {
			return err
		}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the disk never got full")
	return nil
}

// TestDiskFullOfOutput lets an iteration print more than there is room for.
func TestDiskFullOfOutput(t *testing.T) {
	disk := smallDisk(t, 400)
	r, err := Create(filepath.Join(disk, StateDirName), day, SyncAsync)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	appendAll(t, r, iterations(1))
	out, err := r.Output(1)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < 4<<20 && err == nil; n += 4096 {
		_, err = out.Write(make([]byte, 4096))
	}
	if err = errors.Join(err, out.Close()); !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), OutputFile(r.Dir, 1)) {
		t.Errorf("4 MiB on a disk of 400 KiB: %v", err)
	}
	if err := r.Refresh(new(core.State), true); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("the page: %v", err)
	}
}

// TestNoRoomForARun says so and leaves nothing behind.
func TestNoRoomForARun(t *testing.T) {
	disk := smallDisk(t, 512)
	state := filepath.Join(disk, StateDirName)
	if err := prepare(state); err != nil {
		t.Fatal(err)
	}
	fill(t, disk, 16<<10)
	if _, err := Create(state, made, SyncAsync); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("%v", err)
	}
	if ids, err := IDs(state); err != nil || len(ids) != 0 {
		t.Errorf("left behind: %v, %v", ids, err)
	}
}

// TestReadOnlyDisk gives errors that name the place and the remedy.
func TestReadOnlyDisk(t *testing.T) {
	disk := smallDisk(t, 1024)
	state := filepath.Join(disk, StateDirName)
	r, err := Create(state, made, SyncAsync)
	if err != nil {
		t.Fatal(err)
	}
	s := appendAll(t, r, iterations(1))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	_, err = Create(state, made, SyncAsync)
	if !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), "--state-dir") || !strings.Contains(err.Error(), state) {
		t.Errorf("Create: %v", err)
	}
	if _, _, _, err := Open(r.Dir, SyncAsync); !errors.Is(err, unix.EROFS) || !strings.Contains(err.Error(), r.Dir) {
		t.Errorf("Open: %v", err)
	}
	if loaded, _, err := Load(r.Dir); err != nil || asJSON(loaded) != asJSON(s) {
		t.Errorf("what was on it cannot be read: %v", err)
	}
	if got := Summarize(r.Dir); got.Status != core.StatusCrashed || got.Problem != "" {
		t.Errorf("%+v", got)
	}
}

// TestDiskFullAtTheEnd: a run whose last event is the first that does not fit
// has ended as it did, not failed.
func TestDiskFullAtTheEnd(t *testing.T) {
	disk := smallDisk(t, 512)
	r := must(Create(filepath.Join(disk, StateDirName), day, SyncAsync))
	s := appendAll(t, r, iterations(1))
	fill(t, disk, 0)
	if err := r.Journal.Append(ending(s.Seq+1, strings.Repeat("why ", 900))); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if s, _, err := Load(r.Dir); err != nil || !s.Ended {
		t.Errorf("ended: %v, %v", s.Ended, err)
	}
}
