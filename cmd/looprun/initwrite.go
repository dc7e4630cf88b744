package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// initFile is a file to be written. What is there already with the same content
// stays; what is there with other content stays too, unless it is the content
// that the file may replace, or everything may be.
type initFile struct {
	name     string // from the folder, with slashes
	data     []byte
	replaces []byte
}

// initMode keeps others from writing: looprun refuses a looprun.yaml that they
// can write to.
const initMode = 0o644

// writing is a set of files on their way to their names.
type writing struct {
	dir    string
	staged []stagedFile
	undo   []func() error
	done   []string
}

type stagedFile struct {
	temp, name string
	backup     string // where what is there goes; empty: nothing is
	drop       bool   // the backup is for nobody
}

// writeFiles writes all the files or none, and says what it did. A process that
// is killed between two of them leaves whole files, and looprun.yaml, which comes
// last, only with all the others.
func writeFiles(dir string, files []initFile, force bool) (done []string, err error) {
	w := &writing{dir: dir}
	defer func() {
		if err == nil {
			return
		}
		for _, undo := range slices.Backward(w.undo) {
			err = errors.Join(err, undo())
		}
	}()
	if err := w.stage(files, force); err != nil {
		return nil, err
	}
	for _, f := range w.staged {
		if err := w.place(f); err != nil {
			return nil, err
		}
	}
	for _, f := range w.staged {
		if f.drop {
			_ = os.Remove(f.backup) // it says what every such file says
		}
	}
	return w.done, nil
}

// stage finds out what is in the way before anything changes, and writes each
// file beside its name.
func (w *writing) stage(files []initFile, force bool) error {
	var taken []string
	var needed []initFile
	replaced := map[string]bool{}
	for _, f := range files {
		there, err := w.there(f)
		switch {
		case err != nil:
			return err
		case there == nil:
		case bytes.Equal(there, f.data):
			continue
		case f.replaces != nil: // a list of what git ignores: the user's own stays
			if !bytes.Equal(there, f.replaces) {
				continue
			}
			replaced[f.name] = true
		default:
			taken = append(taken, f.name)
			replaced[f.name] = true
		}
		needed = append(needed, f)
	}
	if len(taken) > 0 && !force {
		return &usageError{strings.Join(taken, ", ") + " is there already, and nothing was written", "move it away, or use --force, which keeps it with .bak at its end"}
	}
	for _, f := range needed {
		s := stagedFile{name: filepath.Join(w.dir, filepath.FromSlash(f.name))}
		if replaced[f.name] {
			s.backup, s.drop = freeBackup(s.name), f.replaces != nil
		}
		if err := w.makeDir(filepath.Dir(s.name)); err != nil {
			return err
		}
		var err error
		if s.temp, err = w.temp(s.name, f.data); err != nil {
			return err
		}
		w.staged = append(w.staged, s)
	}
	return nil
}

// there is the content that a file has now, nil where there is none. A link, a
// folder or a pipe is in the way whatever is wanted.
func (w *writing) there(f initFile) ([]byte, error) {
	name := w.dir
	for part := range strings.SplitSeq(f.name, "/") {
		name = filepath.Join(name, part)
		info, err := os.Lstat(name)
		switch last := name == filepath.Join(w.dir, filepath.FromSlash(f.name)); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("nothing was written: %w", err)
		case last && !info.Mode().IsRegular(), !last && !info.IsDir():
			return nil, &usageError{name + " is in the way, and nothing was written", "move it away"}
		}
	}
	f2, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("nothing was written: %w", err)
	}
	if f2 == nil {
		f2 = []byte{}
	}
	return f2, nil
}

// makeDir makes the folders that are missing. Those of runs are for their owner.
func (w *writing) makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := w.makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	w.undo = append(w.undo, func() error { return os.Remove(dir) })
	return nil
}

// temp writes a new file beside the name, through to the disk.
func (w *writing) temp(name string, data []byte) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".looprun-init-*")
	if err != nil {
		return "", fmt.Errorf("nothing was written: %w; make the folder writable", err)
	}
	w.undo = append(w.undo, func() error { return gone(os.Remove(f.Name())) })
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(initMode), f.Sync(), f.Close())
	if err != nil {
		return "", fmt.Errorf("nothing was written: %w", err)
	}
	return f.Name(), nil
}

// place gives a staged file its name. A file that appeared there meanwhile is
// not overwritten.
func (w *writing) place(f stagedFile) error {
	what := "wrote "
	if f.backup != "" {
		if err := os.Rename(f.name, f.backup); err != nil {
			return fmt.Errorf("nothing was written: %w", err)
		}
		w.undo = append(w.undo, func() error { return os.Rename(f.backup, f.name) })
		what = "replaced "
	}
	if err := link(f.temp, f.name); err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	w.undo = append(w.undo, func() error { return os.Remove(f.name) })
	what += seenFrom(w.dir, f.name)
	if f.backup != "" && !f.drop {
		what += ", which is kept as " + seenFrom(w.dir, f.backup)
	}
	w.done = append(w.done, what)
	return nil
}

// link moves a file to a name that nobody has. Where the file system knows no
// links, whether the name is free is asked just before.
func link(temp, name string) error {
	err := os.Link(temp, name)
	switch {
	case err == nil:
		return os.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", name, fs.ErrExist)
	}
	return os.Rename(temp, name)
}

// gone takes it for no error that there is nothing to remove.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// freeBackup is a name beside the file that nothing has.
func freeBackup(name string) string {
	for n := 1; ; n++ {
		backup := name + ".bak"
		if n > 1 {
			backup = fmt.Sprintf("%s.bak%d", name, n)
		}
		if _, err := os.Lstat(backup); errors.Is(err, fs.ErrNotExist) {
			return backup
		}
	}
}
