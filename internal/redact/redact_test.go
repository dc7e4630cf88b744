package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const key = "s3cr3t/v+lue=0123456789" // has characters that every encoding changes

func newRedactor(t testing.TB, environ []string, patterns ...string) *Redactor {
	t.Helper()
	o := Options{Environ: environ}
	for _, p := range patterns {
		o.Patterns = append(o.Patterns, Pattern{Text: p})
	}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhichVariables(t *testing.T) {
	masked := []string{
		"GITHUB_TOKEN", "X_SECRET", "DB_PASSWORD", "API_KEY", "_KEY", "TOKEN", "SECRET", "PASSWORD",
		"npm_token", "Api_Key", "token",
	}
	left := []string{
		"TOKENS", "KEY", "MONKEY", "TOKEN_NAME", "APIKEY", "MY_TOKEN_", "PASSWD", "X_PASS", "SECRETS", "MYTOKEN",
	}
	for _, name := range append(slices.Clone(masked), left...) {
		r := newRedactor(t, []string{"A=b", name + "=value-of-it"})
		want := "is value-of-it."
		if slices.Contains(masked, name) {
			want = "is ***."
			if got := r.Names(); !slices.Equal(got, []string{name}) {
				t.Errorf("names %v, want %s", got, name)
			}
		} else if r.Names() != nil {
			t.Errorf("names %v, want none", r.Names())
		}
		if got := r.Text("is value-of-it."); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestWhichValues(t *testing.T) {
	for _, c := range []struct {
		value  string
		masked bool
	}{
		{"12345678", true},
		{"1234567", false},
		{"", false},
		{"  1234567 \n", false},
		{"  12345678 \n", true},
		{"disabled", false},
		{"DISABLED", false},
		{"disabled1", true},
		{"/home/alice", false}, // HOME
		{"/home/alice/key", true},
		{"alice.the.second", false}, // USER
		{"a b c d e", true},
		{"ééééé", true},
		{"**********", false},
		{"*********x", true},
		{"xxxxxxxxxx", true},
		{"ééé", false}, // 6 bytes
	} {
		r := newRedactor(t, []string{"HOME=/home/alice", "USER=alice.the.second", "X_KEY=" + c.value})
		text := "<" + strings.TrimSpace(c.value) + ">"
		if got := r.Text(text); (got == "<***>") != c.masked || (!c.masked && got != text) {
			t.Errorf("%q: %q, want masked %v", c.value, got, c.masked)
		}
	}
}

func TestForms(t *testing.T) {
	quoted := `it's "q" $x \ / <&> ä` + "`!"
	for _, value := range []string{key, quoted, "two\nlines of it", "with\ttab\x01 control"} {
		r := newRedactor(t, []string{"X_KEY=" + value})
		inJSON, _ := json.Marshal(map[string]string{"v": value})
		forms := map[string]string{
			"as it is":    value,
			"terminal":    strings.ReplaceAll(value, "\n", "\r\n"),
			"query":       url.QueryEscape(value),
			"path":        url.PathEscape(value),
			"lower case":  lowerEscapes(url.QueryEscape(value)),
			"base64":      base64.StdEncoding.EncodeToString([]byte(value)),
			"base64 raw":  base64.RawStdEncoding.EncodeToString([]byte(value)),
			"base64 url":  base64.URLEncoding.EncodeToString([]byte(value)),
			"base64 raw2": base64.RawURLEncoding.EncodeToString([]byte(value)),
			"JSON":        string(inJSON[6 : len(inJSON)-2]),
		}
		if !strings.ContainsAny(value, "\x01") {
			q := strconv.Quote(value)
			forms["Go"] = q[1 : len(q)-1]
		}
		for name, form := range forms {
			if got := r.Text("<" + form + ">"); got != "<***>" {
				t.Errorf("%s of %q: %q gives %q", name, value, form, got)
			}
		}
	}
}

// TestShells asks real shells how they quote.
func TestShells(t *testing.T) {
	value := `it's "q" $x \ (a|b) #;!` + "`"
	r := newRedactor(t, []string{"X_KEY=" + value})
	for _, c := range [][]string{
		{"bash", "-c", `printf '%q' "$1"`, "bash", value},
		{"bash", "-c", `echo "${1@Q}"`, "bash", value},
		{"bash", "-c", `set -x; : "$1"`, "bash", value},
		{"dash", "-c", `set -x; : "$1"`, "dash", value},
	} {
		if _, err := exec.LookPath(c[0]); err != nil {
			continue // the others show it
		}
		out, err := exec.Command(c[0], c[1:]...).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Text(string(out)); !strings.Contains(got, Mask) || strings.Contains(got, "a|b") {
			t.Errorf("%v: %q gives %q", c[:3], out, got)
		}
	}
}

func TestBase64WithinALongerText(t *testing.T) {
	r := newRedactor(t, []string{"X_KEY=" + key})
	for before := range 7 {
		for after := range 7 {
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				text := e.EncodeToString([]byte("user:xx"[:before] + key + "@host.x"[:after]))
				got := r.Text(text)
				if !strings.Contains(got, Mask) {
					t.Fatalf("%d before, %d after: %q stays", before, after, text)
				}
				if stays := len(got) - len(Mask); stays > (before*8+5)/6+1+(after*8+5)/6+3 {
					t.Errorf("%d before, %d after: %q gives %q", before, after, text, got)
				}
			}
		}
	}
}

const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\nshort\n==========\n-----END PRIVATE KEY-----\n"

func TestSeveralLines(t *testing.T) {
	r := newRedactor(t, []string{"TLS_KEY=" + pem})
	for text, want := range map[string]string{
		"x\n" + pem + "y":                                     "x\n***\ny",
		strings.ReplaceAll(pem, "\n", "\r\n"):                 "***\r\n",
		"  AQEFAASCBKcwggSjAgEAAoIB | short\n":                "  *** | short\n",
		"==========\n":                                        "==========\n",
		"-----BEGIN PRIVATE KEY-----\nother\n":                "-----BEGIN PRIVATE KEY-----\nother\n",
		"other\n-----END PRIVATE KEY-----\n":                  "other\n-----END PRIVATE KEY-----\n",
		`{"k":"` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`: `{"k":"***\n"}`,
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

// An empty line of a value is no secret, and what is too short to be masked is not
// named as masked either, in no form.
func TestLinesAndValuesThatAreTooShort(t *testing.T) {
	r := newRedactor(t, []string{"TLS_KEY=Proc-Type: 4,ENCRYPTED\n\nAQEFAASCBKcwggSj"})
	if got, want := r.Text("a\n\nb AQEFAASCBKcwggSj"), "a\n\nb ***"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r = newRedactor(t, []string{"X_KEY=123456", "Y_TOKEN=a b c d"})
	if got := r.Names(); got != nil {
		t.Errorf("masked are %v", got)
	}
	for _, text := range []string{base64.StdEncoding.EncodeToString([]byte("123456")), "a%20b%20c%20d"} {
		if got := r.Text(text); got != text {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func TestOverlaps(t *testing.T) {
	for _, c := range []struct{ name, a, b, text, want string }{
		{"one is the beginning of the other", "abcdefgh", "abcdefghijkl", "<abcdefghijkl> <abcdefgh> <abcdefghijk>", "<***> <***> <***ijk>"},
		{"one is within the other", "cdefghij", "abcdefghijkl", "<abcdefghijkl> <bcdefghijk>", "<***> <b***k>"},
		{"one begins in the other", "abcdefgh", "efghijkl", "<abcdefghijkl>", "<***>"},
		{"one after the other", "abcdefgh", "ijklmnop", "<abcdefghijklmnop>", "<******>"},
		{"within itself", "abababab", "xxxxxxxx", "<ababababab> <abababababababab> <xxxxxxxxx>", "<***> <***> <***>"},
	} {
		r := newRedactor(t, []string{"A_KEY=" + c.a, "B_KEY=" + c.b})
		allCuts(t, r, c.text, c.want)
	}
}

// allCuts masks a text at once, in two pieces cut anywhere, and byte by byte.
func allCuts(t *testing.T, r *Redactor, text, want string) {
	t.Helper()
	if got := r.Text(text); got != want {
		t.Errorf("%q gives %q, want %q", text, got, want)
	}
	for i := range len(text) + 1 {
		if got := inPieces(r, text[:i], text[i:]); got != want {
			t.Errorf("%q, cut at %d, gives %q, want %q", text, i, got, want)
		}
	}
	if got := inPieces(r, strings.Split(text, "")...); got != want {
		t.Errorf("%q, byte by byte, gives %q, want %q", text, got, want)
	}
}

func inPieces(r *Redactor, pieces ...string) string {
	var out []byte
	s := r.Stream(func(b []byte) { out = append(out, b...) })
	for _, p := range pieces {
		b := []byte(p)
		s.Write(b)
		clear(b) // nothing of it may be kept
	}
	s.Flush()
	if s.Pending() != 0 {
		return "something is still held back"
	}
	return string(out)
}

func TestEveryCutOfEverySecret(t *testing.T) {
	environ := []string{"A_KEY=" + key, "B_TOKEN=abcdefgh", "C_SECRET=abcdefghijklmnopqrstuvwxyz", "D_PASSWORD=two words, 'quoted'", "TLS_KEY=" + pem}
	for _, patterns := range [][]string{nil, {`sk-[a-z0-9]{10,}`, `(?i)pin:(?P<secret>\d+)`}} {
		r := newRedactor(t, environ, patterns...)
		for _, v := range r.values.values {
			for _, text := range []string{v, "x " + v + " y\n", v + v, "line\n" + v[:len(v)-1] + "\n" + v} {
				allCuts(t, r, text, reference(r, text))
			}
		}
	}
}

func TestColoursWithinASecretHideIt(t *testing.T) {
	r := newRedactor(t, []string{"X_KEY=abcdefgh"})
	allCuts(t, r, "\x1b[31mabcdefgh\x1b[0m", "\x1b[31m***\x1b[0m")
	allCuts(t, r, "abcd\x1b[31mefgh", "abcd\x1b[31mefgh") // as the documentation says
}

func TestNothingToMask(t *testing.T) {
	off, err := New(Options{Environ: []string{"X_KEY=abcdefgh"}, Patterns: []Pattern{{Text: "abc"}}, Off: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Redactor{"nil": nil, "off": off, "no variables": newRedactor(t, nil)} {
		allCuts(t, r, "the abcdefgh", "the abcdefgh")
		if r.Names() != nil {
			t.Errorf("%s: names %v", name, r.Names())
		}
		s := r.Stream(func([]byte) {})
		s.Write([]byte("abcdefg"))
		s.Idle()
		if s.Pending() != 0 {
			t.Errorf("%s: something is held back", name)
		}
	}
}
