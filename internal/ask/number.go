package ask

import "github.com/looprun/looprun/internal/ascii"

// number is the state after one more byte of a number; false when the byte does
// not belong to it.
func number(s state, c byte) (state, bool) {
	digit := ascii.Digit(c)
	switch s {
	case numMinus:
		if c == '0' {
			return numZero, true
		}
		return numInt, digit
	case numInt:
		if digit {
			return numInt, true
		}
	case numDot, numFraction:
		if digit {
			return numFraction, true
		}
	case numE:
		if c == '+' || c == '-' {
			return numSign, true
		}
		return numExponent, digit
	case numSign, numExponent:
		return numExponent, digit
	}
	switch {
	case c == '.' && (s == numZero || s == numInt):
		return numDot, true
	case c|0x20 == 'e' && (s == numZero || s == numInt || s == numFraction):
		return numE, true
	}
	return s, false
}
