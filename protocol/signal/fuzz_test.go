package signal

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// FuzzScanner: however the output is cut into writes, and whenever lines are
// dropped, the result is that of reading all of it at once. Every signal is
// valid and begins on a line of the last 200 that is a name and in no fence,
// which a second, simpler reading says.
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

		whole := reading{}
		lines := bytes.Split(text, newline)
		if len(lines[len(lines)-1]) == 0 {
			lines = lines[:len(lines)-1]
		}
		for i, line := range lines {
			whole.take(line[:min(len(line), longest)], len(line) > longest, i >= len(lines)-window)
		}
		whole.end()

		var s Scanner
		for rest := text; len(rest) > 0; {
			n := min(len(rest), int(piece)+1+len(text)/64)
			_, _ = s.Write(rest[:n])
			if s.compact(); len(s.buf) > (window+1)*(longest+2) {
				t.Fatalf("%d bytes are kept", len(s.buf))
			}
			rest = rest[n:]
		}
		got, bad := s.Result()
		if !reflect.DeepEqual(got, whole.signals) || !reflect.DeepEqual(bad, whole.malformed) {
			t.Fatalf("in pieces %+v %+v\nat once   %+v %+v", got, bad, whole.signals, whole.malformed)
		}
		for _, sig := range got {
			if err := sig.Validate(); err != nil || sig.Via != ViaText {
				t.Errorf("%+v: %v", sig, err)
			}
		}
		if most := headers(lines); len(got)+len(bad) != most {
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
func headers(lines [][]byte) int {
	n, closing := 0, ""
	listed := false
	var f fence
	for i, raw := range lines {
		cut := len(raw) > longest
		raw = raw[:min(len(raw), longest)]
		line := shown(raw)
		before := f
		inside := f.take(raw, line)
		if strings.ContainsAny(line, "\t\v\f\u0085\u00a0") || strings.Contains(line, "\u2028") || !run(raw, '`') && !run(raw, '~') || before.char != 0 && !run(raw, before.char) {
			closing, listed = f.closing(), f.listed
		} else if closing != "" {
			text := strings.TrimLeft(line, " ")
			if (len(line)-len(text) <= 3 || listed) && strings.HasPrefix(text, closing) && strings.Trim(strings.TrimRight(text, " "), closing[:1]) == "" {
				closing = ""
			}
			inside = true
		} else if m := opens.FindStringSubmatch(line); m != nil {
			closing, listed = m[2]+m[3], m[1] != ""
			inside = true
		} else {
			inside = false
		}
		if !inside && !cut && i >= len(lines)-window && header.MatchString(line) {
			n++
		}
	}
	return n
}

func (f fence) closing() string {
	if f.char == 0 {
		return ""
	}
	return strings.Repeat(string(f.char), f.length)
}
