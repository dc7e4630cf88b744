package fleet

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/provenance"
	"github.com/looprun/looprun/internal/strictyaml"
)

// Allow lists what a worker may run. Anything else is refused.
type Allow struct {
	// Repositories lists the URLs that loops may work in; one that ends in * matches all with
	// that prefix. A loop without a repository is always allowed one.
	Repositories []string `yaml:"repositories"`
	// Commands lists the commands that loops may run: the work, the check, the setup and all
	// others, as they are written; one that ends in * matches all with that prefix.
	Commands []string `yaml:"commands"`
	// Env lists the variables that a loop may set.
	Env []string `yaml:"env"`
}

// ReadAllow reads a worker's file. A file that others could change allows nothing.
func ReadAllow(name string) (*Allow, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("the list of what is allowed cannot be read: %w", err)
	}
	why := provenance.Doubt(name)
	if info, err := os.Stat(name); why == "" && (err != nil || info.Mode().Perm()&0o002 != 0) {
		why = "everybody can write to it; chmod o-w " + name
	}
	if why != "" {
		return nil, fmt.Errorf("%s cannot be relied on: %s", name, why)
	}
	a := new(Allow)
	_, err = strictyaml.Decode(name, data, a)
	return a, err
}

// check returns an error if a loop that runs those commands is not allowed.
func (a *Allow) check(w Work, lines []string) error {
	if a == nil {
		return nil
	}
	if w.Repo != "" && !listed(a.Repositories, w.Repo) {
		return fmt.Errorf("its list does not allow the repository %s", w.Repo)
	}
	if w.Setup != "" {
		lines = append(slices.Clone(lines), w.Setup)
	}
	for _, line := range lines {
		if !listed(a.Commands, line) {
			return fmt.Errorf("its list does not allow the command %q", line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Env)) {
		if !slices.Contains(a.Env, name) {
			return fmt.Errorf("its list does not allow the variable %s", name)
		}
	}
	return nil
}

// shellWords lists the characters with which a line that begins like an allowed one could
// continue as another.
const shellWords = ";&|<>`$(){}\n\r\\"

// listed reports whether the list contains the text, or a prefix of it followed by *.
func listed(list []string, text string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		begins, any := strings.CutSuffix(entry, "*")
		rest, ok := strings.CutPrefix(text, begins)
		return entry == text || any && ok && !strings.ContainsAny(rest, shellWords) && !strings.Contains(rest, "..")
	})
}
