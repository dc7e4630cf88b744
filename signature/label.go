package signature

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/termsafe"
)

// maxLabel is the maximum length of a label, in bytes.
const maxLabel = 96

// label returns the short name of a signature.
func (s *Signer) label(sig *Signature, fs []*fact, exitCode int) string {
	var what string
	switch sig.Kind {
	case KindTestFail:
		var names []string
		for _, c := range sig.Checks {
			if n := shortName(c); n != "" && !slices.Contains(names, n) {
				if names = append(names, n); len(names) == 2 {
					break
				}
			}
		}
		what = counted(sig.Failing, names)
	case KindBuildFail, KindLintFail:
		var files []string
		for _, f := range fs {
			if (f.kind == factDiag || f.kind == factWarn) && f.file != "" {
				files = append(files, lastElement(f.file))
			}
		}
		slices.Sort(files)
		what = counted(sig.Failing, files[:min(1, len(files))])
	case KindError:
		what = errorName(fs)
	case KindSilent:
		what = fmt.Sprintf("exit-%d", exitCode)
	default:
		what = sig.Hash.String()[:8]
	}
	return printable(sig.Kind+":"+what, maxLabel)
}

func counted(n int, names []string) string {
	switch {
	case len(names) == 0:
		return fmt.Sprint(n)
	case n < 0:
		return strings.Join(names, ",")
	}
	return fmt.Sprintf("%d-%s", n, strings.Join(names, ","))
}

// errorName names the first error, by its kind and file or by its words.
func errorName(fs []*fact) string {
	var best *fact
	for _, f := range withoutHeadings(fs) {
		if f.kind == factStep {
			continue
		}
		if best == nil || (f.name != "") != (best.name != "") && f.name != "" || (f.name != "") == (best.name != "") && f.seq < best.seq {
			best = f
		}
	}
	if best == nil { // nothing but steps: it is the last that did not get on
		return slug(slices.MaxFunc(fs, func(a, b *fact) int { return a.seq - b.seq }).text, 32)
	}
	name := slug(best.text, 32)
	if best.name != "" {
		name = best.name
		if i := strings.LastIndexAny(name, `.:\`); i >= 0 && i+1 < len(name) {
			name = name[i+1:]
		}
	}
	file := best.file
	if i := strings.LastIndex(best.text, " at "); file == "" && i >= 0 { // null is not an object at auth.ts:31
		if at, _, _ := strings.Cut(best.text[i+len(" at "):], ":"); sourceFile([]byte(at)) {
			file = at
		}
	}
	if file != "" {
		name += "-" + lastElement(file)
	}
	return name
}

func lastElement(p string) string { return p[strings.LastIndexAny(p, `/\`)+1:] }

// shortName returns the last part of a check's name, without the word test.
func shortName(n string) string {
	for _, sep := range [...]string{" › ", " > ", "::", " » ", "#"} {
		if i := strings.LastIndex(n, sep); i >= 0 && i+len(sep) < len(n) {
			n = n[i+len(sep):]
		}
	}
	if !strings.Contains(n, " ") {
		if i := strings.LastIndexAny(n, "/.\\"); i >= 0 && i+1 < len(n) && (n[i] != '.' || i > 0 && !sourceFile([]byte(n))) {
			n = n[i+1:]
		}
	}
	for _, p := range [...]string{"test_", "Test", "test-", "test "} {
		if len(n) > len(p) && strings.HasPrefix(n, p) && (p != "Test" || unicode.IsUpper(rune(n[len(p)]))) {
			n = n[len(p):]
			break
		}
	}
	return slug(n, 24)
}

// slug returns a text in lower case, with dashes for everything that is not a letter or digit.
func slug(s string, n int) string {
	var sb strings.Builder
	dash := false
	for _, r := range strings.ToLower(s) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.' || r == '[' || r == ']' {
			if dash && sb.Len() > 0 {
				sb.WriteByte('-')
			}
			dash = false
			sb.WriteRune(r)
		} else {
			dash = true
		}
		if sb.Len() >= n {
			break
		}
	}
	return sb.String()
}

// printable returns one line of printable UTF-8, at most n bytes long.
func printable(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
	return strings.TrimSpace(termsafe.CutBytes(s, n))
}
