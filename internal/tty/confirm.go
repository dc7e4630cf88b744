package tty

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Confirm asks the person at the terminal, after showing what it is about. Everything but y
// means no, and so does anything typed before the question could be read.
func Confirm(question string, show func()) (bool, error) {
	word, err := choice(question+" [y/N]", show)
	return word == "y" || word == "yes", err
}

// Agree is [Confirm] with Enter alone meaning yes. The end of input means no.
func Agree(question string) (bool, error) {
	word, err := choice(question+" [Y/n]", func() {})
	return word == "y" || word == "yes" || word == enter, err
}

// Choose asks for a number from 1 to n, after showing what the numbers mean. Anything else
// returns 0, which chooses nothing.
func Choose(question string, n int, show func()) (int, error) {
	word, err := choice(fmt.Sprintf("%s [1-%d]", question, n), show)
	number, failed := strconv.Atoi(word)
	if err != nil || failed != nil || number < 1 || number > n {
		return 0, err
	}
	return number, nil
}

// Words asks for a line of text. The end of ctx ends it, and the end of input means none.
func Words(ctx context.Context, question string) (string, error) {
	text, err := line(ctx, question, func() {})
	return strings.TrimSpace(text), err
}

// choice reads a line that chooses something, in lower case.
func choice(question string, show func()) (string, error) {
	text, err := line(context.Background(), question, show)
	return strings.ToLower(text), err
}

// enter is what [line] returns for an empty line; at the end of input it returns "".
const enter = "\n"

// line reads a line from the terminal.
func line(ctx context.Context, question string, show func()) (string, error) {
	t, err := Open(Path)
	if err != nil {
		return "", err
	}
	defer t.Close()
	if !t.Foreground() {
		return "", errors.New("looprun runs in the background of the terminal")
	}
	defer context.AfterFunc(ctx, t.Cancel)()
	show()
	// Switching to raw mode and back discards what was typed ahead; keys are read in normal
	// mode, in which Ctrl-C ends looprun.
	if err := errors.Join(t.Raw(), t.Restore()); err != nil {
		return "", err
	}
	if _, err := t.Write([]byte("looprun: " + question + " ")); err != nil {
		return "", err
	}
	b := make([]byte, 4096)
	n, err := t.Read(b, time.Time{})
	if err != nil || n == 0 {
		return "", nil
	}
	if word := strings.TrimSpace(string(b[:n])); word != "" {
		return word, nil
	}
	return enter, nil
}
