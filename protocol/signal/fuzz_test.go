package signal

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/lines"
)

// FuzzScanner: however the output is cut into writes, the result is the same. Every signal
// is valid and begins on a line of the last 200 that is a name and in no fence, which a
// second, simpler reading says.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		"LOOPRUN_DONE\n", "```\nLOOPRUN_DONE\n```\nLOOPRUN_PROGRESS: a\r\nhalf\n", "- ```js\n  x\n  ```\nEXPERT_REQUEST\nExpert: a\n",
		"~~~~~~~~~\nLOOPRUN_COST\nUSD: 1\nTokens: 1,000\n", "SEEKING_CLARIFICATION\nOptions Considered:\n1. a: b\n``` `\nx\n**Question:** q\n",
		"LOOPRUN_DONE\x1b[0m\n\x1b[1m```\n", "10%\r```\nLOOPRUN_DONE\n", "`\x1b[0m``\nLOOPRUN_DONE\n", "\xff\u202eLOOPRUN_DONE\n~~~ .x\n~~~\n",
	} {
		f.Add([]byte(s), uint8(3), uint16(0))
		f.Add([]byte(s), uint8(1), uint16(300))
		f.Add([]byte(s), uint8(200), uint16(5000))
	}
	f.Fuzz(func(t *testing.T, data []byte, piece uint8, filler uint16) {
		// The filler is one long line in front, many lines behind the first half.
		half := len(data) / 2
		text := append(bytes.Repeat([]byte("f"), int(filler)%(2*longest)), data[:half]...)
		text = append(text, bytes.Repeat([]byte("f\n"), int(filler)%(2*window))...)
		text = append(text, data[half:]...)

		var shown [][]byte
		all := lines.Shown{To: func(line []byte, _ bool) { shown = append(shown, bytes.Clone(line)) }}
		_, _ = all.Write(text)
		all.End()
		whole, broken := scan(string(text), 0)
		got, bad := scan(string(text), int(piece)+1+len(text)/64)
		if !reflect.DeepEqual(got, whole) || !reflect.DeepEqual(bad, broken) {
			t.Fatalf("in pieces %+v %+v\nat once   %+v %+v", got, bad, whole, broken)
		}
		for _, sig := range got {
			if err := sig.Validate(); err != nil || sig.Via != ViaText {
				t.Errorf("%+v: %v", sig, err)
			}
		}
		if most := headers(shown); len(got)+len(bad) != most {
			t.Errorf("%d signals and malformed ones, but %d lines that are a name and in no fence", len(got)+len(bad), most)
		}
	})
}

var (
	opens  = regexp.MustCompile("^ {0,3}((?:[-*+]|[0-9]{1,9}[.)]) {1,4})?(?:(`{3,})[^`]*|(~{3,8})(?:[ ]*[A-Za-z{.][^\n]*)?[ \t]*)$")
	header = regexp.MustCompile(`^(LOOPRUN_(DONE|PROGRESS|BLOCKED|ATTEMPT|COST)|SEEKING_(DIVINE_)?CLARIFICATION|EXPERT_(REQUEST|UNSUCCESSFUL))[ \t]*$|` +
		`^(LOOPRUN_(DONE|PROGRESS|BLOCKED|ATTEMPT|COST)|SEEKING_(DIVINE_)?CLARIFICATION|EXPERT_(REQUEST|UNSUCCESSFUL)):`)
)

// headers counts the lines that begin a signal, good or malformed. Lines that
// it cannot judge simply, with tabs or other white space in front or behind a
// fence, are left to the tables: it takes them from the code.
func headers(all [][]byte) int {
	n, closing := 0, ""
	listed := false
	var f lines.Fence
	for i, line := range all {
		cut := len(line) > longest
		line = line[:min(len(line), longest)]
		inside := f.Take(line) != lines.Outside
		text := string(line)
		if strings.ContainsAny(text, "\t\v\f\u0085\u00a0\x00\b") || !utf8.Valid(line) || strings.Contains(text, "\u2028") {
			closing = "?"
		} else if closing != "" && closing != "?" {
			left := strings.TrimLeft(text, " ")
			if (len(text)-len(left) <= 3 || listed) && strings.HasPrefix(left, closing) && strings.Trim(strings.TrimRight(left, " "), closing[:1]) == "" {
				closing = ""
			}
			inside = true
		} else if m := opens.FindStringSubmatch(text); m != nil && closing == "" {
			closing, listed = m[2]+m[3], m[1] != ""
			inside = true
		} else if closing == "" {
			inside = false
		}
		if closing == "?" && !f.Open() {
			closing = ""
		}
		if !inside && !cut && i >= len(all)-window && header.MatchString(text) {
			n++
		}
	}
	return n
}
