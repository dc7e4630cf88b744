package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// secretSuffixes and secretNames are upper case.
var (
	secretSuffixes = []string{"_TOKEN", "_SECRET", "_PASSWORD", "_KEY"}
	secretNames    = []string{"TOKEN", "SECRET", "PASSWORD"}
)

// harmless lists values that say something about a secret but are none.
var harmless = []string{"disabled", "required", "optional", "undefined"}

func secretName(name string) bool {
	name = strings.ToUpper(name)
	return slices.Contains(secretNames, name) ||
		slices.ContainsFunc(secretSuffixes, func(s string) bool { return strings.HasSuffix(name, s) })
}

// secrets returns the names of the secret variables, sorted, and every form that their values,
// and further ones, may take.
func secrets(environ, further []string) (names []string, values []string) {
	for _, value := range further {
		if len(value) >= MinBytes {
			values = append(append(values, forms(value)...), encoded(value)...)
		}
	}
	var left []string
	for _, v := range environ {
		switch name, value, _ := strings.Cut(v, "="); name {
		case "HOME", "PWD", "USER", "LOGNAME":
			left = append(left, strings.TrimSpace(value))
		}
	}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		value = strings.TrimSpace(value)
		if !secretName(name) || len(value) < MinBytes || slices.Contains(left, value) ||
			slices.Contains(harmless, strings.ToLower(value)) || strings.Trim(value, "*") == "" {
			continue
		}
		names = append(names, name)
		values = append(values, forms(value)...)
		values = append(values, encoded(value)...)
		for line := range strings.Lines(value) {
			line = strings.TrimSpace(line)
			if !ornament(line) {
				values = append(values, forms(line)...)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	values = slices.DeleteFunc(values, func(v string) bool { return len(v) < MinBytes })
	slices.Sort(values)
	return names, slices.Compact(values)
}

// ornament reports whether a line of a value is the same in many files.
func ornament(line string) bool {
	return line == "" || strings.Trim(line, line[:1]) == "" ||
		strings.HasPrefix(line, "-----BEGIN ") || strings.HasPrefix(line, "-----END ")
}

// forms returns the value as it is and in its quoted forms, without the quotes.
func forms(value string) []string {
	all := []string{
		value,
		strings.ReplaceAll(value, "\n", "\r\n"), // as a terminal shows it
		url.QueryEscape(value), lowerEscapes(url.QueryEscape(value)),
		url.PathEscape(value), lowerEscapes(url.PathEscape(value)),
		strings.ReplaceAll(value, "'", `'\''`), strings.ReplaceAll(value, "'", `'"'"'`),
		backslashed(value, "\\\"$`"), backslashed(value, "\\\"$`!"), // within "…"
		backslashed(value, "'\\"),                                            // within $'…', and Python
		backslashed(value, bashSpecial), backslashed(value, bashSpecial+","), // printf %q
		strings.ReplaceAll(backslashed(value, "\"\\"), "\n", `\n`), // Go, C and JSON by hand
	}
	for _, escapeHTML := range []bool{true, false} {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(escapeHTML)
		if e.Encode(value) == nil {
			quoted := strings.TrimSuffix(b.String(), "\n")
			all = append(all, quoted[1:len(quoted)-1])
			all = append(all, strings.ReplaceAll(quoted[1:len(quoted)-1], "/", `\/`)) // PHP
		}
	}
	return all
}

// bashSpecial lists the characters that bash escapes with a backslash; it also escapes # and ~
// at the beginning.
const bashSpecial = " \t'\"\\|&;()<>!{}*[]?^$`"

// backslashed returns the value with a backslash before each special character.
func backslashed(value, special string) string {
	var b strings.Builder
	for i, c := range []byte(value) {
		if strings.IndexByte(special, c) >= 0 || (i == 0 && strings.HasPrefix(special, bashSpecial) && (c == '#' || c == '~')) {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// lowerEscapes changes %2F to %2f.
func lowerEscapes(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// encoded returns the forms of the value in base64: alone, and within a longer text, where it
// begins at one of three positions of a group. Those contain only the characters that encode
// nothing but the value.
func encoded(value string) []string {
	var all []string
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		all = append(all, e.EncodeToString([]byte(value)))
		all = append(all, e.WithPadding(base64.NoPadding).EncodeToString([]byte(value)))
		for before := range 3 {
			text := e.EncodeToString([]byte("\x00\x00"[:before] + value + "\x00\x00"))
			from, to := (8*before+5)/6, 8*(before+len(value))/6
			all = append(all, text[from:to])
		}
	}
	return all
}
