package completion

import (
	"slices"
	"strings"
)

// Shell is a shell with a completion script.
type Shell string

// The supported shells.
const (
	Bash Shell = "bash"
	Zsh  Shell = "zsh"
	Fish Shell = "fish"
)

// Typed returns the meaning of the words that a script passes. Bash passes all words as typed,
// with quotes and backslashes; fish does so for the last one. Nothing in them is expanded.
// quoted reports whether the last word has an open quote.
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
