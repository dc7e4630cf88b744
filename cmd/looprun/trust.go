package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/atomicfile"
)

// sensitive are keys by which a file that came with a repository could run
// something, write somewhere, or answer a question.
var sensitive = []string{"shell", "check", "debug", "state-dir", "policy", "assistant", "templates", "exit-code", "detached", "stdin", "result"}

// trusted asks for one consent per content before such a file is used. A file
// that was named by flag or variable needs none.
func (f *fileConfig) trusted(text []byte) error {
	var sets []string
	for _, name := range sensitive {
		if v, ok := f.values[name]; ok {
			sets = append(sets, fmt.Sprintf("%s: %v", keyOf(name), f.value(name, v)))
		}
	}
	if f.signature != nil && len(f.signature.Reports) > 0 {
		sets = append(sets, "signature.reports: "+strings.Join(f.signature.Reports, ", "))
	}
	if len(sets) == 0 {
		return nil
	}
	if why := changeable(f.file); why != "" {
		return &usageError{fmt.Sprintf("%s was found and sets %s, but %s", f.file, strings.Join(sets, "; "), why), "make it yours alone, or name it with --config"}
	}
	sum := sha256.Sum256(text)
	id := hex.EncodeToString(sum[:])
	given := strings.Split(os.Getenv("LOOPRUN_TRUST"), ",")
	if slices.Contains(given, "sha256:"+id) {
		return nil
	}
	consent, err := consentFile(id)
	if err != nil {
		return err
	}
	if isFile(consent) {
		return nil
	}
	if f.trusts {
		if err := os.MkdirAll(filepath.Dir(consent), 0o700); err != nil {
			return err
		}
		return atomicfile.Write(consent, []byte(f.file+"\n"), true)
	}
	return &usageError{
		fmt.Sprintf("%s was found, nobody has agreed to it, and it sets %s", f.file, strings.Join(sets, "; ")),
		fmt.Sprintf("read it, then agree once with --trust, or in CI with LOOPRUN_TRUST=sha256:%s; --config none leaves it out", id),
	}
}

// changeable says who else could change the file; empty for nobody.
func changeable(file string) string {
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return err.Error()
	case info.Mode()&os.ModeSymlink != 0:
		return "it is a link"
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Sprintf("others can write it (mode %o)", info.Mode().Perm())
	}
	return ""
}

// consentFile is where the consent to a content is kept.
func consentFile(id string) (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("there is no place to keep a consent: %w", err)
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "looprun", "trust", id), nil
}
