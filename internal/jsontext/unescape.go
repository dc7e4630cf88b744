package jsontext

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape appends a text of JSON, as it is between its quotes, with its escapes decoded. An
// unknown escape stands for its character, and an escape that is cut off ends the text.
func Unescape(to, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(to, raw...)
		}
		to, raw = append(to, raw[:i]...), raw[i:]
		switch {
		case len(raw) < 2 || raw[1] == 'u' && len(raw) < 6:
			return to
		case raw[1] != 'u':
			c := raw[1]
			if j := bytes.IndexByte([]byte("bfnrt"), c); j >= 0 {
				c = "\b\f\n\r\t"[j]
			}
			to, raw = append(to, c), raw[2:]
			continue
		}
		r, n := unit(raw), 6
		if len(raw) >= 12 && raw[6] == '\\' && raw[7] == 'u' {
			if both := utf16.DecodeRune(r, unit(raw[6:])); both != utf8.RuneError {
				r, n = both, 12
			}
		}
		to, raw = utf8.AppendRune(to, r), raw[n:]
	}
}

// unit returns the UTF-16 code unit of \uXXXX, or [utf8.RuneError] if it is none.
func unit(raw []byte) rune {
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(n)
}
