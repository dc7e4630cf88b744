// Package ascii says what stands at a place of a text, in bytes: what tools print
// between words is ASCII, whatever the words are.
package ascii

// Digit reports whether c is one of 0 to 9.
func Digit(c byte) bool { return c-'0' < 10 }

// Letter reports whether c is one of A to Z, small or not.
func Letter(c byte) bool { return c|0x20-'a' < 26 }

// Digits returns the end of the digits that begin at i; i where there are none.
func Digits(b []byte, i int) int {
	for i < len(b) && Digit(b[i]) {
		i++
	}
	return i
}

// At returns b[i], or 0 outside of b.
func At(b []byte, i int) byte {
	if uint(i) < uint(len(b)) {
		return b[i]
	}
	return 0
}
