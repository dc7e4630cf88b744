package scratchpad

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// readLimit is how much is read of a file that people may have written to, in bytes.
const readLimit = 16 << 20

// places reports problems with the files and folders themselves.
func (f *Findings) places(dir string, info fs.FileInfo) error {
	if info.Mode()&fs.ModeSymlink != 0 {
		f.add(Finding{Kind: "symlink", Level: LevelProblem, File: ".", Text: "the run's directory is a symbolic link", Remedy: "name the directory that holds the run itself"})
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a directory", dir)
	}
	if parent, err := os.Stat(filepath.Dir(dir)); err == nil && modesHold {
		if mode := parent.Mode().Perm(); mode&0o022 != 0 {
			f.add(Finding{Kind: "open_state_dir", Level: LevelProblem, File: "..", Text: fmt.Sprintf("others can write to the state directory (mode %04o)", mode), Remedy: "chmod go-w " + filepath.Dir(dir)})
		}
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(root, name)
		if relErr != nil {
			return relErr
		}
		if errors.Is(err, fs.ErrNotExist) { // gone since it was listed
			return nil
		}
		if err == nil {
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				f.place(rel, info)
				return nil
			}
		}
		f.add(Finding{Kind: "unreadable", Level: LevelProblem, File: rel, Text: reason(err), Remedy: "make it readable for yourself"})
		if e != nil && e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// place reports problems with one file or folder.
func (f *Findings) place(rel string, info fs.FileInfo) {
	mode := info.Mode()
	perm := mode.Perm()
	at := Finding{Level: LevelProblem, File: rel}
	switch {
	case mode&fs.ModeSymlink != 0:
		at.Kind, at.Text, at.Remedy = "symlink", "it is a symbolic link; looprun makes none", "put the file itself there"
	case !info.IsDir() && !mode.IsRegular() && mode&fs.ModeSocket == 0:
		at.Kind, at.Text, at.Remedy = "irregular", "it is not a regular file ("+mode.String()+")", "remove it; looprun makes none"
	case foreign(info):
		at.Kind, at.Text, at.Remedy = "foreign", "it belongs to another user", "make it your own, or look at the run as that user"
	case modesHold && info.IsDir() && perm&0o077 != 0 && rel == ".":
		at.Kind, at.Text, at.Remedy = "open_directory", fmt.Sprintf("the run's directory is open to others (mode %04o)", perm), "if you trust what is in it, chmod 700"
	case modesHold && perm&0o022 != 0:
		at.Kind, at.Text, at.Remedy = "writable", fmt.Sprintf("others can write to it (mode %04o)", perm), "chmod go-rwx"
	case modesHold && perm&0o044 != 0 && !info.IsDir():
		at.Kind, at.Level, at.Text, at.Remedy = "readable", LevelNote, fmt.Sprintf("its mode would let others read it (%04o)", perm), "chmod 600"
	case leftover(info.Name()) && !f.Alive:
		at.Kind, at.Level, at.Text, at.Remedy = "leftover", LevelNote, "a write was cut off here by a kill", "looprun resume removes it"
	default:
		return
	}
	f.add(at)
}

// leftover reports whether the name is that of an incomplete file.
func leftover(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp")
}
