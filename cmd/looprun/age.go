package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// age is how long ago something was: numbers with the units s, m, h, d and w,
// such as 30d or 1w2d. A day has 24 hours.
type age time.Duration

var ageUnits = map[string]time.Duration{
	"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
}

// UnmarshalText reads an age.
func (a *age) UnmarshalText(text []byte) error {
	d, err := parseAge(string(text))
	*a = age(d)
	return err
}

func parseAge(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is not an age such as 30d, 2w, 12h or 90m", text)
	var sum time.Duration
	for rest := text; ; {
		digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
		if digits < 1 {
			return 0, wrong
		}
		n, err := strconv.ParseInt(rest[:digits], 10, 64)
		unit := ageUnits[rest[digits:digits+1]]
		if err != nil || unit == 0 || n > (math.MaxInt64-int64(sum))/int64(unit) {
			return 0, wrong
		}
		sum += time.Duration(n) * unit
		if rest = rest[digits+1:]; rest == "" {
			return sum, nil
		}
	}
}
