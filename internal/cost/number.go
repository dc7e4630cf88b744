package cost

import (
	"errors"
	"strconv"
	"strings"

	"github.com/looprun/looprun/internal/lazy"
)

var numeral = lazy.Regexp(`^([0-9]{1,3}(?:[,_][0-9]{3})+|[0-9]+)?(\.[0-9]+)?([eE][-+]?[0-9]+)?([kKmMbB]?)$`)

// number parses numbers as programs print them for people: 1,234.5 and 2.3k.
func number(text string) (float64, error) {
	text = strings.TrimSpace(text)
	sign, digits := 1.0, text
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, digits = -1, rest
	}
	m := numeral().FindStringSubmatch(strings.TrimPrefix(digits, "$"))
	if m == nil || m[1]+m[2] == "" {
		return 0, errors.New("not a number")
	}
	n, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(m[1])+m[2]+m[3], 64)
	unit := map[string]float64{"": 1, "k": 1e3, "m": 1e6, "b": 1e9}[strings.ToLower(m[4])]
	return sign * n * unit, err
}
