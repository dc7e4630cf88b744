package tty

import (
	"errors"
	"strings"
	"time"
)

// Confirm asks the person at the terminal, after showing what it is about. Everything
// but y is no, and so is what was typed before the question could be read.
func Confirm(question string, show func()) (bool, error) {
	t, err := Open(Path)
	if err != nil {
		return false, err
	}
	defer t.Close()
	if !t.Foreground() {
		return false, errors.New("looprun runs in the background of the terminal")
	}
	show()
	// There and back throws away what was typed ahead; keys are read in the
	// ordinary mode, in which Ctrl-C ends looprun.
	if err := errors.Join(t.Raw(), t.Restore()); err != nil {
		return false, err
	}
	if _, err := t.Write([]byte("looprun: " + question + " [y/N] ")); err != nil {
		return false, err
	}
	b := make([]byte, 256)
	n, err := t.Read(b, time.Time{})
	if err != nil || n == 0 {
		return false, nil
	}
	word := strings.ToLower(strings.TrimSpace(string(b[:n])))
	return word == "y" || word == "yes", nil
}
