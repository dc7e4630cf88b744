package completion

import (
	"slices"
	"strings"
)

// Shell is a shell that there is a script for.
type Shell string

// The shells.
const (
	Bash Shell = "bash"
	Zsh  Shell = "zsh"
	Fish Shell = "fish"
)

// Shells are all of them.
func Shells() []Shell { return []Shell{Bash, Zsh, Fish} }

// Typed makes of the words that a script hands over what they mean. Bash hands
// over all of them as they were typed, with quotes and backslashes, and fish the
// last one. Nothing in them is expanded. Quoted is whether the last one has a
// quote that is still open.
func (s Shell) Typed(words []string) (meant []string, quoted bool) {
	meant = slices.Clone(words)
	for i, w := range meant {
		if s == Bash || s == Fish && i == len(meant)-1 {
			meant[i], quoted = unquote(w)
		}
	}
	return meant, quoted
}

// unquote removes one level of quotes.
func unquote(word string) (text string, open bool) {
	var b strings.Builder
	var quote byte
	for i := 0; i < len(word); i++ {
		c := word[i]
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			b.WriteByte(c)
		case c == '\\' && i+1 < len(word):
			i++
			if quote == '"' && !strings.ContainsRune("\"\\$`", rune(word[i])) {
				b.WriteByte('\\')
			}
			b.WriteByte(word[i])
		case c == '\\': // what it stands before is not typed yet
		case quote != 0:
			quote = 0
		case c == '\'' || c == '"':
			quote = c
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), quote != 0
}
