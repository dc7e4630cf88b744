package workspace

import (
	"strings"
	"testing"
)

func TestParseChange(t *testing.T) {
	const zero, one, two = "0000", "1111", "2222"
	for record, want := range map[string]change{
		"# branch.oid 12": {},
		"# stash 1":       {},
		"! ignored":       {},
		"? a b":           {path: "a b", mode: modeFound, oldMode: modeAbsent},
		"? nested/":       {path: "nested/", mode: modeRepository, oldMode: modeAbsent},
		"1 .M N... 100644 100644 100755 1111 1111 a b":                    {path: "a b", mode: "100755", oldMode: "100644", oldObject: one},
		"1 A. N... 000000 100644 100644 0000 1111 a":                      {path: "a", mode: "100644", oldMode: modeAbsent, oldObject: zero},
		"u UU N... 100644 100755 100644 100644 1111 2222 1111 both of us": {path: "both of us", mode: "100644", oldMode: "100755", oldObject: two},
	} {
		if got, err := parseChange(record); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", record, got, err, want)
		}
	}
	for _, record := range []string{"", "?", "? ", "x y", "1 .M N... 100644 100644 100755 1111 1111", "1 .M N... 1 1 1 1 1 a", "2 R. N... 100644 100644 100644 1111 1111 R100 new name", "u UU a"} {
		if got, err := parseChange(record); err == nil {
			t.Errorf("%q was read as %+v", record, got)
		}
	}
}

// FuzzParseChange: a record gives an error, a file with a mode, or nothing for a
// header or an ignored file; the path is the end of the record.
func FuzzParseChange(f *testing.F) {
	f.Add("? a")
	f.Add("1 .M N... 100644 100644 100755 1111 1111 a b")
	f.Add("u UU N... 100644 100755 100644 100644 1111 2222 1111 both of us")
	f.Fuzz(func(t *testing.T, record string) {
		c, err := parseChange(record)
		switch {
		case err != nil:
			if c != (change{}) {
				t.Errorf("%q: an error and %+v", record, c)
			}
		case c.path == "":
			if record[0] != '#' && record[0] != '!' {
				t.Errorf("%q is about nothing", record)
			}
		case c.mode == "" || !strings.HasSuffix(record, " "+c.path):
			t.Errorf("%q: %+v", record, c)
		}
	})
}
