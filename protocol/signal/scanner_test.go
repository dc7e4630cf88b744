package signal

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/lines"
)

// scan reads the output cut into pieces of that many bytes; 0 is one piece.
func scan(output string, piece int) ([]Signal, []Malformed) {
	var s Scanner
	text := lines.Shown{To: s.Line}
	for rest := output; len(rest) > 0; {
		n := len(rest)
		if piece > 0 {
			n = min(n, piece)
		}
		_, _ = text.Write([]byte(rest[:n]))
		rest = rest[n:]
	}
	text.End()
	return s.Result()
}

func names(list []Signal) string {
	var out []string
	for _, s := range list {
		out = append(out, strings.TrimSuffix(string(s.Name)+":"+s.Task, ":"))
	}
	return strings.Join(out, " ")
}

func TestScanner(t *testing.T) {
	for _, c := range []struct{ name, output, want string }{
		{"alone", "x\nLOOPRUN_DONE\ny\n", "done"},
		{"no line break", "LOOPRUN_DONE", "done"},
		{"blanks after", "LOOPRUN_DONE \t\n", "done"},
		{"crlf", "x\r\nLOOPRUN_DONE\r\ny\r\n", "done"},
		{"two carriage returns", "LOOPRUN_DONE\r\r\n", "done"},
		{"colour", "\x1b[32mLOOPRUN_DONE\x1b[0m\n", "done"},
		{"redrawn", "50%\rLOOPRUN_DONE\n", "done"},
		{"id", "LOOPRUN_DONE: auth-1\n", "done:auth-1"},
		{"id close by", "LOOPRUN_DONE:auth-1\n", "done:auth-1"},
		{"colon alone", "LOOPRUN_DONE:\n", "done"},
		{"all", "LOOPRUN_DONE\nLOOPRUN_PROGRESS\nLOOPRUN_BLOCKED\nb\nLOOPRUN_ATTEMPT\nApproach: a\nLOOPRUN_COST\nUSD: 1\nSEEKING_CLARIFICATION\nc\nSEEKING_DIVINE_CLARIFICATION: t\nc\nEXPERT_UNSUCCESSFUL\nEXPERT_REQUEST\n", "done progress blocked attempt cost clarify clarify:t unsuccessful expert"},
		{"numbered attempts", "ATTEMPT 1: Self-Solve\nApproach: a\nATTEMPT [2]: Self-Solve\nApproach: b\n", "attempt attempt"},
		{"another tool's attempts", "ATTEMPT 1: connecting\nATTEMPT x: Self-Solve\nATTEMPT 2\nAttempt 3: Self-Solve\n", ""},
		{"indented", " LOOPRUN_DONE\n", ""},
		{"lower case", "looprun_done\n", ""},
		{"in a sentence", "I print LOOPRUN_DONE at the end\n", ""},
		{"begins a sentence", "LOOPRUN_DONE is what I will print\n", ""},
		{"with a full stop", "LOOPRUN_DONE.\n", ""},
		{"in quotes", "`LOOPRUN_DONE`\n", ""},
		{"quoted", "> LOOPRUN_DONE\n", ""},
		{"longer", "LOOPRUN_DONE_\n", ""},
		{"plain words", "DONE\nBLOCKED\nPROGRESS: 3\nCOST\nTASK_DONE\n", ""},
		{"variable", "LOOPRUN_DONE=1\n", ""},
		{"fence", "```\nLOOPRUN_DONE\n```\n", ""},
		{"tilde fence", "~~~text\nLOOPRUN_DONE\n~~~\n", ""},
		{"fence with a language", "```sh\nLOOPRUN_DONE\n```\n", ""},
		{"a fence with a colour in it", "`\x1b[0m``\nLOOPRUN_DONE\n", ""},
		{"and so is its end", "```\n`\x1b[0m``\nLOOPRUN_DONE\n", "done"},
		{"coloured fence", "\x1b[2m```\x1b[0m\nLOOPRUN_DONE\n", ""},
		{"indented fence", "   ```\nLOOPRUN_DONE\n   ```\n", ""},
		{"too far indented", "    ```\nLOOPRUN_DONE\n", "done"},
		{"tab is too far", "\t```\nLOOPRUN_DONE\n", "done"},
		{"unclosed fence", "```\nLOOPRUN_DONE\n", ""},
		{"crlf fence", "```\r\nx\r\n```\r\nLOOPRUN_DONE\r\n", "done"},
		{"after a fence", "```\nx\n```\nLOOPRUN_DONE\n", "done"},
		{"shorter close", "````\n```\nLOOPRUN_DONE\n````\n", ""},
		{"longer close", "```\n`````\nLOOPRUN_DONE\n", "done"},
		{"other close", "```\n~~~\nLOOPRUN_DONE\n", ""},
		{"close with words", "```\n``` x\nLOOPRUN_DONE\n", ""},
		{"close too far indented", "```\n    ```\nLOOPRUN_DONE\n", ""},
		{"code in a line", "```x```\nLOOPRUN_DONE\n", "done"},
		{"two backticks", "``\nLOOPRUN_DONE\n", "done"},
		{"list item", "- ```\n  x\n  ```\nLOOPRUN_DONE\n", "done"},
		{"in a list item", "1. ```\nLOOPRUN_DONE\n", ""},
		{"far in a list item", "10. ```\n    x\n    ```\nLOOPRUN_DONE\n", "done"},
		{"compiler's tildes", "  ~~~^\nLOOPRUN_DONE\n", "done"},
		{"underline", "~~~~~~~~~\nLOOPRUN_DONE\n", "done"},
		{"long tilde fence", "~~~~~~~~\nLOOPRUN_DONE\n", ""},
		{"two tildes", "~~a ~~~\nLOOPRUN_DONE\n", "done"},
		{"attributes", "~~~{.x}\nLOOPRUN_DONE\n", ""},
		{"a class", "~~~.x\nLOOPRUN_DONE\n", ""},
		{"the first letter", "~~~a\nLOOPRUN_DONE\n", ""},
		{"the last letter", "~~~Z\nLOOPRUN_DONE\n", ""},
		{"no letter", "~~~@\nLOOPRUN_DONE\n", "done"},
		{"close indented", "```\n   ```\nLOOPRUN_DONE\n", "done"},
		{"a marker of one space", "+ ```\nLOOPRUN_DONE\n", ""},
		{"a marker of four spaces", "*    ```\nLOOPRUN_DONE\n", ""},
		{"a marker of five spaces", "-     ```\nLOOPRUN_DONE\n", "done"},
		{"a marker of no space", "-```\nLOOPRUN_DONE\n", "done"},
		{"no marker", "x ```\nLOOPRUN_DONE\n", "done"},
		{"a number as a marker", "9) ```\nLOOPRUN_DONE\n", ""},
		{"a number alone", "1 ```\nLOOPRUN_DONE\n", "done"},
		{"a number with another sign", "1: ```\nLOOPRUN_DONE\n", "done"},
		{"a sign above the digits", ":. ```\nLOOPRUN_DONE\n", "done"},
		{"nine digits", "120456789. ```\nLOOPRUN_DONE\n", ""},
		{"ten digits", "1234567890. ```\nLOOPRUN_DONE\n", "done"},
		{"a mark without a number", ". ```\nLOOPRUN_DONE\n", "done"},
		{"a mark behind an item's sign", "1- ```\nLOOPRUN_DONE\n", "done"},
		{"a long line", "LOOPRUN_DONE" + strings.Repeat(" ", longest) + "is what I will print\n", ""},
		{"a line at the limit", "LOOPRUN_DONE" + strings.Repeat(" ", longest-len("LOOPRUN_DONE")) + "\n", "done"},
		{"last of the window", "LOOPRUN_DONE\n" + strings.Repeat("x\n", window-1), "done"},
		{"before the window", "LOOPRUN_DONE\n" + strings.Repeat("x\n", window), ""},
		{"last, unfinished", "LOOPRUN_DONE\n" + strings.Repeat("x\n", window-2) + "x", "done"},
		{"before, unfinished", "LOOPRUN_DONE\n" + strings.Repeat("x\n", window-1) + "x", ""},
		{"fence long ago", "```\n" + strings.Repeat("line\n", 100_000) + "LOOPRUN_DONE\n", ""},
		{"closed long ago", "```\nx\n```\n" + strings.Repeat("line\n", 100_000) + "LOOPRUN_DONE\n", "done"},
		{"closed late", "```\n" + strings.Repeat("line\n", 100_000) + "```\nLOOPRUN_DONE\n", "done"},
		{"after very long lines", strings.Repeat(strings.Repeat("x", 1<<16)+"\n", 50) + "LOOPRUN_DONE\n" + strings.Repeat(strings.Repeat("x", 1<<16)+"\n", 50), "done"},
		{"a long line, long", "LOOPRUN_DONE" + strings.Repeat(" ", 3<<20) + "x\nLOOPRUN_PROGRESS\n", "progress"},
		{"a cut line that stays", "LOOPRUN_DONE" + strings.Repeat(" ", 5000) + "x\n" + strings.Repeat("x", 3<<20), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, piece := range []int{0, 1, 2, 3, 7, 4096, 1 << 20} {
				if piece > 0 && piece < 4096 && len(c.output) > 1<<20 {
					continue // said by the others, and slow
				}
				got, bad := scan(c.output, piece)
				if names(got) != c.want || len(bad) > 0 {
					t.Errorf("pieces of %d: %q %v, want %q", piece, names(got), bad, c.want)
				}
			}
		})
	}
}

func TestBody(t *testing.T) {
	got, bad := scan(strings.ReplaceAll(`talk before
SEEKING_DIVINE_CLARIFICATION: auth-12
The criteria contradict
each other.
Task: other
Agent: coder
Cause: ambiguous_criteria
**Question:** Must old tokens stay valid?
Say yes or no.
Context: seen in
'''
Question: not a field
LOOPRUN_DONE
'''
Options Considered:
1. Revoke: users are
   logged out
2) Keep them
Attempts Made:
- read the RFC
* asked the issue
What Would Help: an owner's word
EXPERT_REQUEST
Expert: crypto
LOOPRUN_COST
usd: $0.25
Tokens: 3,400
LOOPRUN_ATTEMPT: t2
Approach: rotate keys
Outcome: failed
Why Different: no cache
Cause: not of an attempt
`, "'''", "```"), 5)
	want := []Signal{
		{
			Name: Clarify, Task: "auth-12", Agent: "coder", Cause: AmbiguousCriteria, Text: "The criteria contradict\neach other.",
			Question: "Must old tokens stay valid?\nSay yes or no.", Context: "seen in\n```\nQuestion: not a field\nLOOPRUN_DONE\n```",
			Considered: []Considered{{"Revoke", "users are\nlogged out"}, {"Keep them", ""}},
			Attempts:   []string{"read the RFC", "asked the issue"}, WouldHelp: "an owner's word", Via: ViaText,
		},
		{Name: Expert, Expert: "crypto", Via: ViaText},
		{Name: Cost, USD: 0.25, Tokens: 3400, Via: ViaText},
		{Name: Attempt, Task: "t2", Approach: "rotate keys", Outcome: "failed", WhyDifferent: "no cache", Via: ViaText},
	}
	if !reflect.DeepEqual(got, want) || len(bad) > 0 {
		t.Errorf("got  %+v\nwant %+v\n%v", got, want, bad)
	}
}

func TestTaskField(t *testing.T) {
	if got, _ := scan("LOOPRUN_DONE\nTask: auth-12\nmore\nTask: b\n", 0); names(got) != "done:auth-12" {
		t.Error(names(got))
	}
}

func TestMalformed(t *testing.T) {
	for _, c := range []struct{ output, name, want string }{
		{"LOOPRUN_BLOCKED: no key is there\n", "LOOPRUN_BLOCKED", "task's id follows the colon and is one word"},
		{"LOOPRUN_BLOCKED\n", "LOOPRUN_BLOCKED", "neither a question nor a text"},
		{"SEEKING_CLARIFICATION\nContext: c\n", "SEEKING_CLARIFICATION", "neither a question nor a text"},
		{"SEEKING_CLARIFICATION\nq\nCause: security\n", "SEEKING_CLARIFICATION", `did you mean "security_concern"?`},
		{"LOOPRUN_ATTEMPT\nOutcome: x\n", "LOOPRUN_ATTEMPT", "no approach"},
		{"LOOPRUN_COST\n", "LOOPRUN_COST", "neither usd nor tokens"},
		{"LOOPRUN_COST\nUSD: much\n", "LOOPRUN_COST", `USD is not a number: "much"; a cost has neither`},
		{"LOOPRUN_COST\nUSD: NaN\n", "LOOPRUN_COST", "usd is not a number"},
		{"LOOPRUN_COST\nTokens: -5\n", "LOOPRUN_COST", "tokens is negative"},
		{"LOOPRUN_DONE: " + strings.Repeat("x", MaxID+1), "LOOPRUN_DONE", "has 201 bytes"},
	} {
		got, bad := scan(strings.Repeat("line\n", 300)+c.output, 100)
		if len(got) != 0 || len(bad) != 1 || bad[0].Line != 301 || bad[0].Name != c.name || !strings.Contains(bad[0].Problem, c.want) || strings.Contains(bad[0].Problem, "\n") {
			t.Errorf("%q: %+v %+v, want %s", c.output, got, bad, c.want)
		}
	}
	// The line is right after lines were dropped, too.
	got, bad := scan(strings.Repeat("line\n", 100_000)+"LOOPRUN_COST\n", 1000)
	if len(got) != 0 || len(bad) != 1 || bad[0].Line != 100_000+1 {
		t.Errorf("%v %v", got, bad)
	}
}

// A body is what is printed after the name, whatever that is: it is cut.
func TestLongBody(t *testing.T) {
	got, bad := scan("LOOPRUN_BLOCKED\nQuestion: q\nOptions Considered:\n"+strings.Repeat("- o\n", MaxList+5)+"Context: "+strings.Repeat("ü", longest/3)+"\n"+strings.Repeat(strings.Repeat("ü", 1000)+"\n", 20), 0)
	if len(got) != 1 || len(bad) != 0 || len(got[0].Context) > MaxText || len(got[0].Context) < MaxText-8 || len(got[0].Considered) != MaxList || !strings.HasSuffix(got[0].Context, "…") {
		t.Errorf("%+v %v", got, bad)
	}
}

// Memory is bounded by the window, and Reset begins anew.
func TestScannerIsBounded(t *testing.T) {
	var s Scanner
	line := bytes.Repeat([]byte("x"), longest+1)
	for range 1000 {
		s.Line([]byte("LOOPRUN_BLOCKED"), false)
	}
	if len(s.ended) >= window {
		t.Errorf("%d signals are kept", len(s.ended))
	}
	for range window - 1 {
		s.Line(line, false)
	}
	if s.open == nil || len(s.open.texts[""]) != window-1 || len(s.open.texts[""][0]) != longest {
		t.Errorf("the last signal is lost before its time, or what it says is not bounded")
	}
	s.Line(line, false)
	if s.open != nil {
		t.Error("a signal from before the window is kept")
	}
	s.Line([]byte("```"), false)
	s.Reset()
	s.Line([]byte("LOOPRUN_BLOCKED"), false)
	if got, bad := s.Result(); len(got) != 0 || len(bad) != 1 || bad[0].Line != 1 {
		t.Errorf("%v %v", got, bad)
	}
}

// What looprun prints about signals is none, even when it is echoed and wrapped.
func TestHowTo(t *testing.T) {
	for name := range named {
		if !strings.Contains(HowTo(), name) && name != "SEEKING_DIVINE_CLARIFICATION" {
			t.Errorf("%s is not explained", name)
		}
	}
	check := func(how, text string) {
		t.Helper()
		if got, bad := scan(text, 0); len(got) != 0 || len(bad) != 0 {
			t.Errorf("%s: %v %v", how, got, bad)
		}
	}
	check("as it is", HowTo())
	for width := 1; width <= 200; width++ {
		var words, hard strings.Builder
		n := 0
		for _, w := range strings.Fields(HowTo()) {
			if n+len(w) > width {
				words.WriteByte('\n')
				n = 0
			}
			words.WriteString(w + " ")
			n += len(w) + 1
		}
		check(fmt.Sprintf("words wrapped at %d", width), words.String())
		if width < 30 {
			continue // narrower than the names: no terminal is
		}
		for rest := HowTo(); len(rest) > 0; {
			k := min(width, len(rest))
			hard.WriteString(rest[:k] + "\n")
			rest = rest[k:]
		}
		check(fmt.Sprintf("wrapped at %d", width), hard.String())
	}
}

func TestBefore(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"Error: x\nLOOPRUN_BLOCKED: a\nQuestion: y\n", "Error: x\n"},
		{"SEEKING_CLARIFICATION \r\nQuestion: y", ""},
		{"LOOPRUN_PROGRESS\nhalf\nError: x", "LOOPRUN_PROGRESS\nhalf\nError: x"},
		{"LOOPRUN_PROGRESS\nhalf\nLOOPRUN_BLOCKED\n", "LOOPRUN_PROGRESS\nhalf\n"},
		{"```\nLOOPRUN_BLOCKED\n```\nx\nLOOPRUN_BLOCKED\ny\n", "```\nLOOPRUN_BLOCKED\n```\nx\n"},
	} {
		if got := Before(c.text); got != c.want {
			t.Errorf("before the signal of %q: %q", c.text, got)
		}
	}
}
