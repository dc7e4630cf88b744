package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Keep defines which older runs are kept when a run ends. A limit of 0 means no limit. The
// zero value means [DefaultKeep].
type Keep struct {
	Runs, Days, Megabytes int
	All                   bool // nothing is removed
}

// DefaultKeep applies if nothing is set.
var DefaultKeep = Keep{Runs: 50}

const keepAll = "off"

// parts returns the names of the limits and pointers to them.
func (k *Keep) parts() ([]string, []*int) {
	return []string{"runs", "days", "megabytes"}, []*int{&k.Runs, &k.Days, &k.Megabytes}
}

// UnmarshalText parses off, or one or more of runs=N,days=N,megabytes=N.
func (k *Keep) UnmarshalText(b []byte) error {
	if *k = (Keep{All: string(b) == keepAll}); k.All {
		return nil
	}
	names, values := k.parts()
	for word := range strings.SplitSeq(string(b), ",") {
		name, text, _ := strings.Cut(strings.TrimSpace(word), "=")
		at := slices.Index(names, name)
		n, err := strconv.Atoi(text)
		switch {
		case at < 0:
			return fmt.Errorf("%q is not runs=N, days=N, megabytes=N or off", word)
		case err != nil || n < 1 || n > 1_000_000:
			return fmt.Errorf("%s is a number from 1 to 1000000, not %q", name, text)
		case *values[at] != 0:
			return fmt.Errorf("%s is given twice", name)
		}
		*values[at] = n
	}
	return nil
}

// MarshalText writes the form that UnmarshalText parses.
func (k Keep) MarshalText() ([]byte, error) {
	names, values := k.parts()
	if k.All {
		return []byte(keepAll), nil
	}
	var words []string
	for i, v := range values {
		if *v > 0 {
			words = append(words, names[i]+"="+strconv.Itoa(*v))
		}
	}
	return []byte(strings.Join(words, ",")), nil
}

// keepSchema returns the schema of the value in looprun.yaml.
func keepSchema() object {
	number := object{"type": "integer", "minimum": 1, "maximum": 1_000_000}
	part := `(runs|days|megabytes)=[1-9][0-9]{0,6}`
	return object{"anyOf": []any{
		object{"const": keepAll},
		object{"type": "string", "pattern": "^" + part + "(," + part + "){0,2}$"},
		object{"type": "object", "minProperties": 1, "additionalProperties": false, "properties": object{"runs": number, "days": number, "megabytes": number}},
	}}
}
