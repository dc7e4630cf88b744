package looprun

import (
	"fmt"
	"strconv"
	"strings"
)

// Codes is a set of exit codes, 0 to 255. The zero value is empty.
type Codes struct{ bits [4]uint64 }

// ParseCodes reads a list of codes and ranges such as "0,3" or "2,70-78", or
// "none" for the empty set.
func ParseCodes(text string) (Codes, error) {
	var c Codes
	if strings.TrimSpace(text) == "none" {
		return c, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		lo, err1 := strconv.Atoi(from)
		hi, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || lo < 0 || hi > 255 || lo > hi {
			return Codes{}, fmt.Errorf("%q is no list of exit codes: write codes from 0 to 255 and ranges such as 2,70-78, or none", text)
		}
		c.add(lo, hi)
	}
	return c, nil
}

func (c *Codes) add(lo, hi int) {
	for n := lo; n <= hi; n++ {
		c.bits[n/64] |= 1 << (n % 64)
	}
}

// CodeRange is the set of all codes from lo to hi.
func CodeRange(lo, hi int) Codes {
	var c Codes
	c.add(max(lo, 0), min(hi, 255))
	return c
}

// Has reports whether the code is in the set.
func (c Codes) Has(code int) bool {
	return code >= 0 && code <= 255 && c.bits[code/64]&(1<<(code%64)) != 0
}

// Both are the codes that are in both sets.
func (c Codes) Both(d Codes) Codes {
	for i := range c.bits {
		c.bits[i] &= d.bits[i]
	}
	return c
}

// Empty reports whether no code is in the set.
func (c Codes) Empty() bool { return c == Codes{} }

// String writes the set as ParseCodes reads it.
func (c Codes) String() string {
	var parts []string
	for n := 0; n <= 255; n++ {
		if !c.Has(n) {
			continue
		}
		lo := n
		for c.Has(n + 1) {
			n++
		}
		if lo == n {
			parts = append(parts, strconv.Itoa(lo))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", lo, n))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ",")
}
