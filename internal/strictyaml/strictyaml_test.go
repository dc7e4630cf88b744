package strictyaml

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/problem"
)

type limit struct{ text string }

func (l *limit) UnmarshalText(b []byte) error {
	l.text = string(b)
	if l.text == "0" {
		return problem.Problem{Text: "a limit cannot be 0", Remedy: "use off"}
	}
	return nil
}

type oneOrMore []string

func (o *oneOrMore) FromYAML(v any) error {
	switch v := v.(type) {
	case string:
		*o = oneOrMore{v}
	case []any:
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return errors.New("wants ids")
			}
			*o = append(*o, s)
		}
	default:
		return errors.New("wants an id or a list of ids")
	}
	return nil
}

type base struct {
	Name string `yaml:"name"`
}

type item struct {
	ID    oneOrMore `yaml:"id,required"`
	Label string    `yaml:"label"`
}

type config struct {
	base     `yaml:",inline"`
	Max      limit                    `yaml:"max_iterations"`
	Runtime  time.Duration            `yaml:"runtime"`
	Loud     bool                     `yaml:"loud"`
	Count    int                      `yaml:"count"`
	Small    uint8                    `yaml:"small"`
	Ratio    float64                  `yaml:"ratio"`
	Items    []item                   `yaml:"items"`
	Budget   *struct{ Continues int } `yaml:"budget"`
	Codes    map[string]int           `yaml:"codes"`
	Facts    any                      `yaml:"facts"`
	Internal string                   `yaml:"-"`
}

func TestDecode(t *testing.T) {
	const text = `name: a run
max_iterations: off
runtime: 1h30m
loud: true
count: 16
small: 255
ratio: 2
items:
  - {id: x, label: 5}
  - id: [y, z]
budget: {continues: 3}
codes: {accepted: 0}
facts: {n: 1, f: 1.5, b: true, s: yes, l: [a], z: null}
`
	var got config
	doc, err := Decode("f.yaml", []byte(text), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := config{
		base: base{"a run"}, Max: limit{"off"}, Runtime: 90 * time.Minute, Loud: true,
		Count: 16, Small: 255, Ratio: 2,
		Items:  []item{{ID: oneOrMore{"x"}, Label: "5"}, {ID: oneOrMore{"y", "z"}}},
		Budget: &struct{ Continues int }{3}, Codes: map[string]int{"accepted": 0},
		Facts: map[string]any{"n": 1, "f": 1.5, "b": true, "s": "yes", "l": []any{"a"}, "z": nil},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, c := range []struct {
		line, col int
		path      []any
	}{
		{1, 1, nil},
		{3, 10, []any{"runtime"}},
		{10, 9, []any{"items", 1, "id"}},
		{10, 5, []any{"items", 1, "label"}},
		{10, 5, []any{"items", 1, "label", "deeper", 4}},
		{9, 3, []any{"items", 9}},
	} {
		if line, col := doc.Pos(c.path...); line != c.line || col != c.col {
			t.Errorf("Pos(%v) = %d:%d, want %d:%d", c.path, line, col, c.line, c.col)
		}
	}
	if line, col := doc.KeyPos("items", 1, "id"); line != 10 || col != 5 {
		t.Errorf("KeyPos = %d:%d, want 10:5", line, col)
	}
	if !doc.Has("items", 1, "id") || doc.Has("items", 1, "label") {
		t.Error("Has is wrong about items")
	}
	if got := doc.Problem("bad", "mend it", "runtime").Error(); got != "f.yaml:3:10: bad; mend it" {
		t.Errorf("problem.Problem = %q", got)
	}
}

// Each case lists all problems of its file, in the order of their positions.
func TestDecodeProblems(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "f:0:0 the file is empty"},
		{"comments only", "# nothing\n\n", "f:0:0 the file is empty"},
		{"separator only", "---\n", "f:0:0 the file is empty"},
		{"null", "null\n", "f:1:1 the file has no value"},
		{"scalar", "hello\n", `f:1:1 the file wants keys with values, not "hello"`},
		{"list", "- a\n", "f:1:1 the file wants keys with values, not a list"},
		{"second document", "name: a\n---\nname: b\n", "f:2:1 a second document begins here"},
		{"broken second document", "name: a\n---\n{\n", "f:3:0 not valid YAML: did not find expected node content"},
		{"unknown key", "nam: a\ncount: 1\n", `f:1:1 unknown key "nam"; did you mean "name"?`},
		{"far key", "zzz: a\n", `f:1:1 unknown key "zzz"; use one of name`},
		{"internal field", "Internal: a\n", `f:1:1 unknown key "Internal"`},
		{"twice", "name: a\ncount: 1\nname: b\n", `f:3:1 the key "name" is on line 1 already; remove one of them`},
		{"many at once", "nam: a\nruntime: 5\nloud: yes\ncount: five\nitems:\n  - label: x\n    lable: y\n", `f:1:1 unknown key "nam"; did you mean "name"?
f:2:10 "runtime" wants a time, not "5"; write it with a unit, such as 90s, 10m or 1h30m
f:3:7 "loud" wants true or false, not "yes"
f:4:8 "count" wants a whole number, not "five"
f:6:5 the key "id" is missing
f:7:5 unknown key "lable"; did you mean "label"?`},
		{"no value", "name:\nitems:\n", `f:1:6 "name" has no value; give it one, or remove the key
f:2:7 "items" has no value; give it one, or remove the key`},
		{"fraction", "count: 1.5\nsmall: 256\nratio: .inf\n", `f:1:8 "count" wants a whole number, not "1.5"
f:2:8 "small" wants a whole number, not "256"
f:3:8 "ratio" wants a number, not ".inf"`},
		{"huge", "count: 99999999999999999999\n", `f:1:8 "count" wants a whole number`},
		{"list for text", "name: [a]\nitems: x\ncodes: 3\n", `f:1:7 "name" wants a text, not a list
f:2:8 "items" wants a list, not "x"
f:3:8 "codes" wants keys with values, not "3"`},
		{"own types", "max_iterations: 0\nitems: [{id: {a: b}}, {id: [[a]]}]\n", `f:1:17 a limit cannot be 0; use off
f:2:14 "id": wants an id or a list of ids
f:2:28 "id": wants ids`},
		{"map for scalar type", "max_iterations: {a: 1}\nruntime: []\n", `f:1:17 "max_iterations" wants a single value, not keys with values
f:2:10 "runtime" wants a time such as 10m, not a list`},
		{"map value", "codes: {accepted: x}\n", `f:1:19 "accepted" wants a whole number, not "x"`},
		{"anchor and alias", "name: &n a\nfacts: *n\n", `f:1:7 an anchor (&n) is not supported
f:2:8 an alias (*n) is not supported; write the value out`},
		{"merge", "budget: {<<: {continues: 1}}\n", "f:1:10 merging with << is not supported; write the keys out"},
		{"alias key", "name: &n a\nfacts: {*n : 1}\n", `f:1:7 an anchor (&n) is not supported
f:2:9 an alias (*n) is not supported`},
		{"key of lists", "facts: {[a]: 1}\n", "f:1:9 a key has to be a text"},
		{"tag", "name: !secret a\n", `f:1:7 the tag "!secret" is not supported; remove it`},
		{"binary", "facts: !!binary aGk=\n", `f:1:8 the tag "!!binary" is not supported`},
		{"tab", "items:\n\t- id: x\n", "f:2:0 not valid YAML: found character that cannot start any token; indent with blanks"},
		{"tab after a value", "# a\nname: b\n\tloud: true\n", "f:3:0 not valid YAML: found a tab character that violates indentation; indent with blanks"},
		{"bracket", "# a\nname: b\nitems: [c\nloud: true\n", "f:3:0 not valid YAML: did not find expected ',' or ']'; check the indentation"},
		{"words after quotes", "# a\nname: b\nitems:\n  - id: c\n    label: \"d\" e\n    id: f\n", "f:5:0 not valid YAML: did not find expected key; check the indentation"},
		{"lines of CR", "name: a\rloud: true\r\r\ritems: \"a\" b\r", "f:4:0 not valid YAML: did not find expected key; check the indentation"},
		{"braces", "# a\nloud: true\nname: {{.B}} c\ncount: 1\n", "f:3:0 not valid YAML: did not find expected key; put single quotes around a text with {{…}}"},
		{"braces in double quotes", "# a\n\nloud: true\nname: \"{{join \", \" .B}}\"\n", "f:4:0 not valid YAML: did not find expected key; put single quotes around a text with {{…}}"},
		{"colon", "name: a: b\n", "f:1:0 not valid YAML: mapping values are not allowed in this context"},
		{"bad text", "name: a\xff\n", "f:1:8 the file is not UTF-8 text; save it as UTF-8"},
		{"control character", "name: a\n\x1b[31m: b\n", "f:2:1 the control character U+001B is not allowed"},
		{"escape in a key", "\"a\\e[31m\": 1\n", `f:1:1 unknown key "a\x1b[31m"`},
		{"long value", "count: " + strings.Repeat("x", 100) + "\n", `f:1:8 "count" wants a whole number, not "` + strings.Repeat("x", 39) + `…"`},
		{"deep", "facts: " + strings.Repeat("[", 80) + strings.Repeat("]", 80) + "\n", "f:1:72 nested more than 64 levels deep"},
		{"too large", "name: " + strings.Repeat("x", MaxSize) + "\n", "f:0:0 the file has more than the 65536 bytes that are read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var into config
			doc, err := Decode("f", []byte(c.text), &into)
			var problems problem.List
			if !errors.As(err, &problems) {
				t.Fatalf("error %v is no list of problems", err)
			}
			if doc == nil {
				t.Fatal("no document")
			}
			wants := strings.Split(c.want, "\n")
			if len(wants) != len(problems) {
				t.Fatalf("%d problems, want %d:\n%v", len(problems), len(wants), err)
			}
			for i, want := range wants {
				p := problems[i]
				got := strings.TrimSuffix(strings.Replace(problem.Problem{Text: p.Text, Remedy: p.Remedy}.Error(), "", position(p)+" ", 1), "\n")
				if !strings.HasPrefix(got, want) {
					t.Errorf("problem %d is\n%s\nwant\n%s", i+1, got, want)
				}
			}
		})
	}
}

func position(p problem.Problem) string {
	return strings.Join([]string{p.File, itoa(p.Line), itoa(p.Column)}, ":")
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

func TestPosIn(t *testing.T) {
	const text = "a: \"ü {{.X}}\"\nb: ü {{.X}}\nc: |\n\n  one\n  ü {{.X}}\nd: >\n  one\n  {{.X}}\ne: \"\\t{{.X}}\"\nf: [x, 'y {{.X}}']\ng: |\n    two\n      {{.X}}\n"
	var into map[string]any
	doc, err := Decode("f", []byte(text), &into)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line, col int
		value     string
		path      []any
	}{
		{1, 7, into["a"].(string), []any{"a"}},
		{2, 6, into["b"].(string), []any{"b"}},
		{6, 5, into["c"].(string), []any{"c"}},
		{7, 4, into["d"].(string), []any{"d"}},
		{10, 4, into["e"].(string), []any{"e"}},
		{11, 11, into["f"].([]any)[1].(string), []any{"f", 1}},
		{14, 7, into["g"].(string), []any{"g"}},
	} {
		if line, col := doc.PosIn(strings.Index(c.value, "{{"), c.path...); line != c.line || col != c.col {
			t.Errorf("PosIn(%v) = %d:%d, want %d:%d", c.path, line, col, c.line, c.col)
		}
	}
	if line, col := doc.PosIn(99, "missing"); line != 1 || col != 1 {
		t.Errorf("PosIn of nothing = %d:%d", line, col)
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		"", "name: a", "items: [{id: x}]", "a: &a [*a]", "<<: {a: b}", "? [a]\n: b", "- - - a", "name: !!int x",
		"facts: {a: 1, b: .nan, c: 2001-01-01, d: 0o7}", "--- a\n--- b", "%YAML 1.2\n---\nname: x", "\ufeffname: x", "\"\\x\"", "codes: {? : 1}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var into config
		doc, err := Decode("f", data, &into)
		if doc == nil {
			t.Fatal("no document")
		}
		var problems problem.List
		if err != nil && (!errors.As(err, &problems) || len(problems) == 0) {
			t.Fatalf("error %v is no list of problems", err)
		}
		for _, p := range problems {
			if strings.ContainsAny(p.Text, "\n\x1b") || p.Line < 0 || p.Column < 0 {
				t.Errorf("problem %#v", p)
			}
		}
		doc.Pos("items", 0, "id")
		doc.KeyPos("name")
		for i := range 20 {
			doc.PosIn(i, "name")
		}
	})
}

// A number of which not everybody reads the same is refused at its place, whatever
// kind of number is wanted; as a text it is as it is written.
func TestAmbiguousNumbers(t *testing.T) {
	for _, number := range []string{"010", "00", "-01", "+07", "08", "0x10", "0X1f", "0o17", "0b11", "1_000", "0_1", "1_0.5", "010.5", "1e5_0", "0x_1"} {
		for _, key := range []string{"count", "small", "ratio", "facts", "max_iterations"} {
			var got config
			_, err := Decode("f.yaml", []byte("name: x\n"+key+": "+number+"\n"), &got)
			at := fmt.Sprintf("f.yaml:2:%d: ", len(key)+3)
			if err == nil || !strings.HasPrefix(err.Error(), at) || !strings.Contains(err.Error(), WriteDecimal) {
				t.Errorf("%s: %s: %v, want it at %s", key, number, err, at)
			}
		}
		var got config
		if _, err := Decode("f.yaml", []byte("name: "+number+"\nfacts: {s: '"+number+"'}\n"), &got); err != nil || got.Name != number {
			t.Errorf("as a text %s is %q: %v", number, got.Name, err)
		}
	}
	for _, number := range []string{"0", "-0", "+5", "7", "10", "255"} {
		var got config
		if _, err := Decode("f.yaml", []byte("count: "+number+"\nratio: "+number+"\nfacts: ["+number+", 0.5, 1e3, 1.50]\n"), &got); err != nil {
			t.Errorf("%s: %v", number, err)
		}
	}
}

// YAML has no way to write an integer that is read here and is not plain.
func FuzzAmbiguousNumbers(f *testing.F) {
	for _, number := range []string{"010", "0x10", "0o7", "0b1", "1_000", "-0b_1", "+0", "1:30", "0o", "_1", "1_", ".5", "0.5e1"} {
		f.Add(number)
	}
	f.Fuzz(func(t *testing.T, number string) {
		var got struct{ N int64 }
		_, err := Decode("f.yaml", []byte("n: "+number+"\n"), &got)
		want, notPlain := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err == nil && (notPlain != nil || want != got.N) && !strings.ContainsAny(number, "#!\n\r") {
			t.Errorf("%q is read as %d", number, got.N)
		}
	})
}
