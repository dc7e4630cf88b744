package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
)

// valid reads the text as one value, with white space around it.
func valid(text string) bool {
	var s Scanner
	complete := false
	for i := 0; i < len(text); {
		switch s.Take(text[i]) {
		case Malformed:
			return false
		case WordEnd:
			complete = s.Depth() == 0
			continue
		case Close, TextEnd:
			complete = s.Depth() == 0
		case Inside, Open, Text, Word:
		}
		i++
	}
	return complete || s.Take(' ') == WordEnd && s.Depth() == 0
}

func depth(text string) (most int) {
	d := json.NewDecoder(strings.NewReader(text))
	for n := 0; ; most = max(most, n) {
		switch token, err := d.Token(); {
		case err != nil:
			return most
		case token == json.Delim('{'), token == json.Delim('['):
			n++
		case token == json.Delim('}'), token == json.Delim(']'):
			n--
		}
	}
}

// FuzzScanner: what the scanner takes for a value is what encoding/json does.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `{"a":[1,-2.5e+3,true,false,null,"\u00e9\n"]}`, `[1,]`, `{"a"}`, `{"a":}`, `{,}`, `[1 2]`, `01`, `-`, `1.`, `"\x"`, `"\u12g4"`, "\"\t\"",
		`tru`, `[}`, `{"a":1]`, ` 12 `, `"a" 1`, `1 1`, `{} {}`, ``, `"`, `[[`, "nul", "1e5", `{"a":{"b":[]}}`, `{"a":1,}`, `nulll`, `]`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if depth(text) > MaxDepth || len(text) > maxWord {
			return
		}
		if got, want := valid(text), json.Valid([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	})
}

// A lenient scanner finds the end of texts that are not quite JSON.
func TestLenient(t *testing.T) {
	s := Scanner{Lenient: true}
	text := "{\"a\tb\":\"C:\\Users\\\" {\"}"
	for i := range len(text) {
		step := s.Take(text[i])
		if step == Malformed || (s.Depth() == 0) != (i == len(text)-1) {
			t.Fatalf("byte %d of %q: %d at depth %d", i, text, step, s.Depth())
		}
	}
}
