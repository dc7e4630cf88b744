package completion

import (
	"fmt"
	"io"
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// maxHelp is how many characters of a help text are shown next to a candidate.
const maxHelp = 100

// Write prints the reply in the form that the shell's script reads: the mode; a line with the
// prefix, or for a command the index of its first word; and a line for each candidate, with
// its help after a tab. It leaves out candidates that do not fit on one line or that no
// terminal should show. quoted is the result of [Shell.Typed].
func (r Reply) Write(w io.Writer, s Shell, quoted bool) error {
	var b strings.Builder
	b.WriteString(string(r.Mode) + "\n")
	if r.Mode == Command {
		fmt.Fprintf(&b, "%d\n", r.CommandAt)
	} else {
		b.WriteString(termsafe.Line(r.Prefix) + "\n")
	}
	for _, c := range r.Candidates {
		if value, ok := r.candidate(c.Value, s, quoted); ok {
			b.WriteString(value)
			if help := firstLine(c.Help); help != "" && s != Bash {
				b.WriteString("\t" + help)
			}
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// candidate returns a value in the form that the shell needs. Zsh and fish quote what they
// insert themselves, bash does not. Fish and bash need the whole word.
func (r Reply) candidate(value string, s Shell, quoted bool) (string, bool) {
	if value == "" || termsafe.Line(value) != value || termsafe.Line(r.Prefix) != r.Prefix {
		return "", false
	}
	switch {
	case s == Zsh:
		return value, true
	case s != Bash:
		// Fish leaves a tilde as it is, as part of a path.
		return r.Prefix + value, !strings.HasPrefix(r.Prefix+value, "~")
	case quoted || r.Mode == Files || r.Mode == Dirs:
		// Nothing can be quoted inside quotes, and bash quotes file names together with these
		// candidates.
		return r.Prefix + value, plain(value)
	}
	return r.Prefix + backslashed(value), true
}

const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@+"

// plain reports whether every shell sees the word as plain text.
func plain(word string) bool {
	return strings.Trim(word, plainBytes) == ""
}

// backslashed escapes a word so that bash reads it as exactly that text.
func backslashed(word string) string {
	var b strings.Builder
	for _, c := range []byte(word) {
		if c < 0x80 && strings.IndexByte(plainBytes, c) < 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

func firstLine(help string) string {
	text, _, _ := strings.Cut(strings.TrimSpace(help), "\n")
	return termsafe.Short(text, maxHelp)
}
