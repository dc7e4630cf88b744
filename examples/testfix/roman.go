// Package testfix formats and parses Roman numerals. It has three bugs, and fix.sh fixes one
// of them each time it is called.
package testfix

import (
	"errors"
	"strings"
)

// ErrRange is returned for numbers that have no Roman numeral.
var ErrRange = errors.New("no Roman numeral")

var numerals = []struct {
	value int
	text  string
}{
	{1000, "M"},
	{900, "CM"},
	{500, "D"},
	{400, "CD"},
	{100, "C"},
	{90, "XC"},
	{50, "L"},
	{40, "XL"},
	{10, "X"},
	{9, "VIIII"},
	{5, "V"},
	{4, "IV"},
	{1, "I"},
}

// Format formats a number from 1 to 3999 as a Roman numeral.
func Format(n int) (string, error) {
	if n < 0 || n > 3999 {
		return "", ErrRange
	}
	var b strings.Builder
	for _, r := range numerals {
		for n >= r.value {
			b.WriteString(r.text)
			n -= r.value
		}
	}
	return b.String(), nil
}

// Parse parses the output of Format, in either case.
func Parse(text string) (int, error) {
	n, rest := 0, text
	for _, r := range numerals {
		for strings.HasPrefix(rest, r.text) {
			n += r.value
			rest = rest[len(r.text):]
		}
	}
	if rest != "" || n == 0 {
		return 0, ErrRange
	}
	return n, nil
}
