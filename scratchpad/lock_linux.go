package scratchpad

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// lock takes the lock of the open file; false: somebody else has it.
func lock(fd uintptr) (bool, error) {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(fd, unix.F_OFD_SETLK, &l)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	return err == nil, err
}

// locked asks without taking it, so that asking disturbs nobody.
func locked(fd uintptr) bool {
	l := unix.Flock_t{Type: unix.F_WRLCK}
	err := unix.FcntlFlock(fd, unix.F_OFD_GETLK, &l)
	return err == nil && l.Type != unix.F_UNLCK
}

// lockTable is the system's list of all locks.
var lockTable = func() string {
	text, _ := os.ReadFile("/proc/locks")
	return string(text)
}

// locks are those that the system knew of at one moment.
type locks struct {
	table string
	disk  uint64 // that of the state directory
	none  bool   // is on a file there
}

// allLocks are those that runs of a state directory can have; nil: the system does not
// tell. It does where a lock of our own beside the runs is among them, on a file
// system that no other machine has a part in.
func allLocks(stateDir string) *locks {
	g, err := lookAt(stateDir).openGlimpse(".gitignore") // nobody else locks it
	if err != nil {
		return nil
	}
	defer g.close()
	var on unix.Statfs_t
	if unix.Fstatfs(g.fd, &on) != nil || on.Type != unix.TMPFS_MAGIC && on.Type != unix.EXT4_SUPER_MAGIC && on.Type != unix.XFS_SUPER_MAGIC {
		return nil
	}
	if unix.FcntlFlock(uintptr(g.fd), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK}) != nil {
		return nil
	}
	l := &locks{table: lockTable(), disk: g.disk}
	if lockTable() != l.table || !l.have(g.file) { // it is read in parts
		return nil
	}
	l.none = strings.Count(l.table, onDisk(l.disk)) == 1
	return l
}

func onDisk(disk uint64) string {
	return fmt.Sprintf(" %02x:%02x:", unix.Major(disk), unix.Minor(disk))
}

func (l *locks) have(f file) bool {
	return strings.Contains(l.table, fmt.Sprintf("%s%d ", onDisk(f.disk), f.inode))
}

// rests reports whether it is known that nobody had the run open when [Each] began. Its
// journal has been looked at.
func (l *Look) rests() bool {
	if l.locks == nil || l.was(journalName).disk != l.locks.disk {
		return false
	}
	if l.locks.none {
		return true
	}
	var st unix.Stat_t
	if unix.Fstatat(l.at, l.in+"/"+lockName, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return false
	}
	f := l.saw(fileOf(lockName, &st))
	return !l.locks.have(f)
}
