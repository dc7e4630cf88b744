package rejection

import (
	"bytes"
	"strings"

	"github.com/looprun/looprun/internal/termsafe"
)

// plain reports that a line cannot be a fence, by a look at how it begins: with
// four blanks, or with a character that shows, and nothing takes that back.
func plain(line []byte) bool {
	n := 0
	for n < len(line) && n < 4 && line[n] == ' ' {
		n++
	}
	if n == len(line) {
		return true
	}
	c := line[n]
	shows := c >= ' ' && c < 0x7f && c != '`' && c != '~'
	return shows && bytes.IndexByte(line, '\r') < 0
}

// clean is the line as termsafe shows it.
func clean(line []byte) string {
	for _, c := range line {
		if c < ' ' || c >= 0x7f {
			return termsafe.Text(string(line))
		}
	}
	return string(line)
}

// parseFence reads a clean line as a fence and what stands after its marks; n
// is 0 if it is none.
func parseFence(line string) (f fence, info string) {
	line = strings.TrimRight(line, " \t")
	rest := strings.TrimLeft(line, " ")
	if rest == "" || len(line)-len(rest) > 3 || (rest[0] != '`' && rest[0] != '~') {
		return fence{}, ""
	}
	n := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
	info = strings.TrimSpace(rest[n:])
	if n < 3 || n > maxFence || strings.ContainsAny(info, "^~`") {
		return fence{}, ""
	}
	return fence{mark: rest[0], n: n}, info
}

// closes reports whether the other fence ends the block.
func (f fence) closes(other fence, info string) bool {
	return info == "" && other.mark == f.mark && other.n >= f.n
}

func firstWord(info string) string {
	word, _, _ := strings.Cut(info, " ")
	word, _, _ = strings.Cut(word, "\t")
	return word
}
