package signature

// The byte classes for token recognition; each byte takes one table look-up.
const (
	isDigit byte = 1 << iota
	isHex        // a-f, A-F (digits have isDigit)
	isAlpha      // every ASCII letter, the hex ones too
	isUnder      // _
	isPathByte
	isBreak // ends a path
	isUnit  // a unit of time or size may start with it
	isSpace // a blank
)

const (
	wordMask  = isDigit | isAlpha | isUnder
	alnumMask = isDigit | isAlpha
)

// classOf holds the classes of each byte. It is built from constants at compile time, so
// nothing runs at program start.
var classOf = [256]byte{
	'0': isDigit | isPathByte, '1': isDigit | isPathByte, '2': isDigit | isPathByte, '3': isDigit | isPathByte,
	'4': isDigit | isPathByte, '5': isDigit | isPathByte, '6': isDigit | isPathByte, '7': isDigit | isPathByte,
	'8': isDigit | isPathByte, '9': isDigit | isPathByte,
	'a': hexAlpha, 'b': hexAlpha | isUnit, 'c': hexAlpha, 'd': hexAlpha | isUnit, 'e': hexAlpha, 'f': hexAlpha,
	'A': hexAlpha, 'B': hexAlpha | isUnit, 'C': hexAlpha, 'D': hexAlpha, 'E': hexAlpha, 'F': hexAlpha,
	'g': alpha, 'h': alpha | isUnit, 'i': alpha, 'j': alpha, 'k': alpha | isUnit, 'l': alpha, 'm': alpha | isUnit, 'n': alpha | isUnit, 'o': alpha,
	'p': alpha, 'q': alpha, 'r': alpha, 's': alpha | isUnit, 't': alpha, 'u': alpha | isUnit, 'v': alpha, 'w': alpha, 'x': alpha,
	'y': alpha, 'z': alpha,
	'G': alpha | isUnit, 'H': alpha, 'I': alpha, 'J': alpha, 'K': alpha | isUnit, 'L': alpha, 'M': alpha | isUnit, 'N': alpha, 'O': alpha,
	'P': alpha, 'Q': alpha, 'R': alpha, 'S': alpha, 'T': alpha | isUnit, 'U': alpha, 'V': alpha, 'W': alpha, 'X': alpha,
	'Y': alpha, 'Z': alpha,
	'_': isUnder | isPathByte,
	'-': isPathByte, '.': isPathByte, '~': isPathByte, '/': isPathByte, '+': isPathByte, '@': isPathByte, '%': isPathByte,
	'*': isPathByte, '\\': isPathByte, ':': isPathByte, ']': isPathByte, '}': isPathByte, '<': isBreak, '>': isBreak,
	' ': isBreak | isSpace, '\t': isBreak, '"': isBreak, '\'': isBreak, '`': isBreak, ',': isBreak, ';': isBreak, '(': isBreak,
	')': isBreak | isPathByte, '|': isBreak, 0xc2: isUnit, 0xce: isUnit,
}

const (
	alpha    = isAlpha | isPathByte
	hexAlpha = isAlpha | isHex | isPathByte
)

func word(c byte) bool { return classOf[c]&wordMask != 0 }
func letter(c byte) bool {
	return classOf[c]&isAlpha != 0
}

func lower(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}

// runOf returns the end of the run that starts at i of bytes in the classes.
func runOf(b []byte, i int, classes byte) int {
	for i < len(b) && classOf[b[i]]&classes != 0 {
		i++
	}
	return i
}
