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

// classOf holds the classes of each byte.
var classOf = classes()

func classes() (t [256]byte) {
	const hex, alpha = "abcdefABCDEF", "ghijklmnopqrstuvwxyzGHIJKLMNOPQRSTUVWXYZ"
	for class, members := range map[byte]string{
		isDigit: "0123456789", isHex: hex, isAlpha: hex + alpha, isUnder: "_", isPathByte: "0123456789_-.~/+@%*\\:]})" + hex + alpha,
		isBreak: "<> \t\"'`,;()|", isUnit: "bdhkmnsuBGKMT\xc2\xce", isSpace: " ",
	} {
		for _, c := range []byte(members) {
			t[c] |= class
		}
	}
	return t
}

func word(c byte) bool { return classOf[c]&wordMask != 0 }

func letter(c byte) bool { return classOf[c]&isAlpha != 0 }

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
