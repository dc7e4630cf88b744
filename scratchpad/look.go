package scratchpad

import (
	"os"
	"path/filepath"

	"github.com/looprun/looprun/internal/parallel"
)

// Look is a look at one run. It is over when the function that [Each] called with it returns.
type Look struct {
	Dir string // the run's
	// in is that folder from the open one at, or Dir itself: of a short path the system
	// finds the end in three quarters of the time.
	at    int
	in    string
	locks *locks  // nil: each is asked for
	seen  [3]file // in the folder
}

func lookAt(dir string) *Look { return &Look{Dir: dir, at: nowhere, in: dir} }

// Each looks at runs, some at a time.
func Each(dirs []string, look func(i int, run *Look)) {
	begun := map[string]Look{} // by state directory
	for _, dir := range dirs {
		state, _ := filepath.Split(dir)
		if _, ok := begun[state]; ok {
			continue
		}
		l := Look{at: nowhere}
		if f, err := os.Open(state); err == nil {
			defer f.Close()
			l.at, l.locks = int(f.Fd()), allLocks(state)
		}
		begun[state] = l
	}
	parallel.Each(len(dirs), func(i int) {
		state, id := filepath.Split(dirs[i])
		l := begun[state]
		l.Dir, l.in = dirs[i], id
		if l.at == nowhere || id == "" {
			l.at, l.in = nowhere, l.Dir
		}
		look(i, &l)
	})
}

func (l *Look) path(name string) string { return filepath.Join(l.Dir, name) }

// saw keeps what a file of the folder is.
func (l *Look) saw(f file) file {
	for i := range l.seen {
		if l.seen[i].name == "" {
			l.seen[i] = f
			break
		}
	}
	return f
}

// was is the file as it was seen; one without a name was not.
func (l *Look) was(name string) file {
	for _, f := range l.seen {
		if f.name == name {
			return f
		}
	}
	return file{}
}
