package scratchpad

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLockTable is believed only where it shows a lock of our own and holds still.
func TestLockTable(t *testing.T) {
	r := newRun(t, SyncOff)
	appendAll(t, r, iterations(1))
	state := filepath.Dir(r.Dir)
	g, err := lookAt(state).openGlimpse(".gitignore")
	if err != nil {
		t.Fatal(err)
	}
	g.close()
	if allLocks(state) == nil {
		t.Skip("the system does not tell of locks here")
	}
	system := lockTable
	t.Cleanup(func() { lockTable = system })
	line := func(f file) string {
		return fmt.Sprintf("1: OFDLCK ADVISORY  READ -1%s%d 0 EOF\n", onDisk(f.disk), f.inode)
	}
	own, other := line(g.file), line(file{disk: g.disk, inode: g.inode + 1})
	for name, c := range map[string]struct {
		reads    []string
		believed bool
		none     bool
	}{
		"ours":                 {[]string{own, own}, true, true},
		"ours and another's":   {[]string{own + other, own + other}, true, false},
		"that of another disk": {[]string{own + line(file{disk: g.disk + 1, inode: 1}), own + line(file{disk: g.disk + 1, inode: 1})}, true, true},
		"it changes":           {[]string{own, own + other}, false, false},
		"not ours":             {[]string{other, other}, false, false},
		"ours on another disk": {[]string{line(file{disk: g.disk + 1, inode: g.inode}), line(file{disk: g.disk + 1, inode: g.inode})}, false, false},
		"nothing":              {[]string{"", ""}, false, false},
	} {
		lockTable = func() string {
			text := c.reads[0]
			c.reads = c.reads[1:]
			return text
		}
		if l := allLocks(state); (l != nil) != c.believed || l != nil && l.none != c.none {
			t.Errorf("%s: %+v", name, l)
		}
	}
	lockTable = system
	look := lookAt(r.Dir)
	if _, err := look.readStart(journalName, nil); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		locks *locks
		rests bool
	}{
		"not told":             {nil, false},
		"as it is":             {allLocks(state), false},
		"no lock there":        {&locks{own, g.disk, true}, true},
		"others' locks":        {&locks{own + other, g.disk, false}, true},
		"another disk":         {&locks{own, g.disk + 1, true}, false},
		"others, another disk": {&locks{own + other, g.disk + 1, false}, false},
	} {
		look.locks = c.locks
		if got := look.rests(); got != c.rests {
			t.Errorf("%s: %v", name, got)
		}
	}
	look.locks = &locks{own + other, g.disk, false}
	remove(t, filepath.Join(r.Dir, lockName))
	if look.rests() {
		t.Error("a run without a lock rests for certain")
	}
}

// TestLockTableOfOtherDisks is not believed: another machine may have a lock there.
func TestLockTableOfOtherDisks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("ramfs", dir, "ramfs", 0, "mode=0700"); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	r, err := Create(filepath.Join(dir, StateDirName), made, SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if l := allLocks(filepath.Dir(r.Dir)); l != nil {
		t.Errorf("%+v", l)
	}
}
