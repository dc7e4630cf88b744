package turnloop

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// call is a call of a tool, what it came to, and how long after the one before.
type call struct {
	name, result string
	after        time.Duration
	failed       uint64
}

func times(n int, calls ...call) (all []call) {
	for range n {
		all = append(all, calls...)
	}
	return all
}

func distinct(n int) (all []call) {
	for i := range n {
		all = append(all, call{name: fmt.Sprint("tool ", i), result: fmt.Sprint("result ", i)})
	}
	return all
}

// finds reports whether the calls are a repetition, and after how many.
func finds(k int, calls []call) (Found, int) {
	w := Watch{Times: k}
	now := time.Now()
	for i, c := range calls {
		now = now.Add(c.after)
		if f, ok := w.Call(Call{Key: hash(c.name + "\x00" + c.result), Shown: c.name, Failed: c.failed}, now); ok {
			return f, i + 1
		}
	}
	return Found{}, 0
}

func hash(s string) (h uint64) {
	for _, c := range []byte(s) {
		h = h*1099511628211 + uint64(c) + 1
	}
	return h
}

// What the tests of crush, gemini-cli and OpenHands say of repeated calls, each with the
// number that it has, and what 8 makes of it. Where they differ it is said why.
func TestCalls(t *testing.T) {
	a, b, c := call{name: "read a.go", result: "content"}, call{name: "write b.go", result: "ok"}, call{name: "search", result: "none"}
	for name, test := range map[string]struct {
		k     int
		calls []call
		at    int // found after so many; 0: never
		by8   int
	}{
		"crush: nothing":                          {6, nil, 0, 0},
		"crush: five the same":                    {6, times(5, a), 0, 0},
		"crush: ten that differ":                  {6, distinct(10), 0, 0},
		"crush: five the same, five others":       {6, append(times(5, a), distinct(5)...), 0, 0},
		"crush: six the same, four others":        {6, append(times(6, a), distinct(4)...), 6, 0},
		"crush: four the same, two others":        {6, append(times(4, a), times(2, b)...), 0, 0},
		"crush: two in turn, five times":          {6, times(5, a, b), 0, 0},
		"gemini: one fewer than its five":         {5, times(4, a), 0, 0},
		"gemini: five":                            {5, times(5, a), 5, 0},
		"gemini: more":                            {5, times(10, a), 5, 8},
		"gemini: three in turn, three times":      {5, times(3, a, b, c), 0, 0},
		"OpenHands: four the same":                {4, times(4, a), 4, 0},
		"OpenHands: three the same":               {4, times(3, a), 0, 0},
		"OpenHands: the result differs":           {4, []call{a, {name: a.name, result: "other"}, a, {name: a.name, result: "third"}}, 0, 0},
		"OpenHands: the last differs":             {4, append(times(3, a), b), 0, 0},
		"OpenHands: three errors":                 {3, times(3, call{name: "run", result: "syntax error"}), 3, 0},
		"OpenHands: two in turn, three times":     {3, times(3, a, b), 6, 0},
		"OpenHands: two in turn, the last broken": {3, append(times(2, a, b), a, c), 0, 0},
		"two in turn":                             {8, times(8, a, b), 16, 16},
		"three in turn":                           {8, times(8, a, b, c), 24, 24},
		"begins late":                             {8, append(distinct(30), times(8, a)...), 38, 38},
		"polls":                                   {8, times(20, call{"status", "running", Apart, 0}), 0, 0},
		"polls a little too fast":                 {8, times(20, call{"status", "running", Apart - 1, 0}), 8, 8},
		"a poll among them":                       {8, append(append(times(7, a), call{a.name, a.result, Apart, 0}), times(6, a)...), 0, 0},
		"off":                                     {0, times(50, a), 0, 8},
		"1 is off":                                {1, times(50, a), 0, 8},
	} {
		if f, at := finds(test.k, test.calls); at != test.at || at > 0 && f.Times != test.k {
			t.Errorf("%s: found after %d, want %d: %+v", name, at, test.at, f)
		}
		if _, at := finds(8, test.calls); at != test.by8 {
			t.Errorf("%s: with 8 found after %d, want %d", name, at, test.by8)
		}
	}
}

// Calls that fail with the same error are a repetition, whatever their arguments.
func TestSameError(t *testing.T) {
	for name, test := range map[string]struct {
		failed func(i int) uint64
		at     int
	}{
		"all":                {func(int) uint64 { return 7 }, 8},
		"none":               {func(int) uint64 { return 0 }, 0},
		"two errors in turn": {func(i int) uint64 { return uint64(1 + i%2) }, 0},
		"one passed":         {func(i int) uint64 { return uint64(min(1, (i-3)*(i-3))) }, 12},
		"each another":       {func(i int) uint64 { return uint64(1 + i) }, 0},
	} {
		w, at := Watch{Times: 8}, 0
		for i := range 20 {
			c := Call{Key: uint64(100 + i), Shown: fmt.Sprint("fetch ", i), Failed: test.failed(i), Error: "401 Unauthorized"}
			if f, ok := w.Call(c, time.Time{}); ok && at == 0 {
				if at = i + 1; !f.Calls || f.Error != c.Error || len(f.What) != 1 || f.What[0] != c.Shown {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
		if at != test.at {
			t.Errorf("%s: found after %d, want %d", name, at, test.at)
		}
	}
	w := Watch{}
	for range 20 {
		if _, ok := w.Call(Call{Failed: 1}, time.Time{}); ok {
			t.Fatal("found, though it is off")
		}
	}
}

// What is found is what repeats, shortened, and after it all begins anew.
func TestFound(t *testing.T) {
	a, b := call{name: "a " + strings.Repeat("ä", 300), result: "x"}, call{name: "b", result: "y"}
	f, _ := finds(3, times(3, a, b))
	if !f.Calls || len(f.What) != 2 || f.What[1] != "b" || len(f.What[0]) > shownText || strings.ContainsRune(f.What[0], '\uFFFD') {
		t.Errorf("%+v", f)
	}
	w := Watch{Times: 3}
	n := 0
	for range 9 {
		if _, ok := w.Call(Call{Key: 1, Shown: "a"}, time.Time{}.Add(time.Hour)); ok {
			n++
		}
	}
	if n != 3 {
		t.Errorf("nine the same are three threes, found %d", n)
	}
}

// What gemini-cli's tests say of text, and what else is none or one.
func TestText(t *testing.T) {
	const sentence = "This is a unique sentence, id=1. "
	var list, steps strings.Builder
	for i := range 15 {
		fmt.Fprintf(&list, "- projects/one-of-ours-12345/locations/europe-west3/services/%d\n", i)
		fmt.Fprintf(&steps, "Step %d is done. Now I run the tests.\n", i)
	}
	filler := strings.Repeat("x", 2000)
	for name, test := range map[string]struct {
		text string
		want bool
	}{
		"gemini: a sentence, ten times":        {strings.Repeat(sentence+"This is another, cut of", 11), true},
		"gemini: sentence after sentence":      {strings.Repeat(sentence, 30), true},
		"gemini: a list with a long prefix":    {list.String(), false},
		"gemini: far apart":                    {strings.Repeat(sentence+filler+"\n", 10), false},
		"gemini: five lines":                   {strings.Repeat("I will print nothing.\n  I will end the turn.\n  I am done.\n  I will do nothing else.\n  I wait for the next command.\n", 30), true},
		"gemini: two sentences and an escape":  {strings.Repeat("I have added all the logs and looked at the test. I will now mark the task as done.\\n  ", 30), true},
		"gemini: short phrases in turn":        {strings.Repeat("Thinking... Done. ", 100), true},
		"gemini: three thoughts in turn":       {strings.Repeat("I need to look at the file. The file does not exist. I will make the file. ", 30), true},
		"gemini: in a block of code":           {"Here:\n```go\n" + strings.Repeat(sentence+"\n", 30) + "```\n", false},
		"gemini: a few, then a block of code":  {strings.Repeat(sentence+"\n", 6) + "```\n" + strings.Repeat(sentence+"\n", 20) + "```\n", false},
		"gemini: behind a block of code":       {"```\nx\n```\n" + strings.Repeat(sentence, 10), true},
		"gemini: rows of a table":              {strings.Repeat("| a column with words | another column |\n", 30), false},
		"gemini: a line between paragraphs":    {strings.Repeat("--------------------------------------------------\n", 30), false},
		"OpenHands: the same message, 8 times": {strings.Repeat("I am waiting for your next instruction here.\n", 8), true},
		"seven times":                          {strings.Repeat("I am waiting for your next instruction here.\n", 7), false},
		"a word":                               {strings.Repeat("ok\n", 19), false},
		"alike, and on its way":                {steps.String(), false},
	} {
		for _, cut := range []int{1, 7, len(test.text)} {
			w, found := Watch{Times: 8}, false
			for text := test.text; text != ""; {
				n := min(cut, len(text))
				_, ok := w.Say([]byte(text[:n]))
				found, text = found || ok, text[n:]
			}
			if found != test.want {
				t.Errorf("%s, in pieces of %d: found %t", name, cut, found)
			}
		}
	}
}

// What is said around calls is none: agents say what they do before they do it.
func TestTextAroundCalls(t *testing.T) {
	w := Watch{Times: 3}
	for i := range 20 {
		if _, ok := w.Say([]byte("Let me run the tests and look at what they say.\n")); ok {
			t.Fatalf("found before call %d", i)
		}
		w.Call(Call{Key: uint64(i), Shown: "x"}, time.Time{})
	}
}

func TestReset(t *testing.T) {
	w := Watch{Times: 2}
	w.Call(Call{Key: 1, Shown: "a"}, time.Now())
	w.Say([]byte("A sentence that is long enough to be one of a passage.\nA sen"))
	w.Reset()
	if _, ok := w.Call(Call{Key: 1, Shown: "a"}, time.Now()); ok {
		t.Error("a call of the turn before counts")
	}
	w.Reset()
	if _, ok := w.Say([]byte("A sentence that is long enough to be one of a passage.\n")); ok {
		t.Error("a text of the turn before counts")
	}
}

// However the text comes, nothing grows.
func FuzzSay(f *testing.F) {
	f.Add("Thinking... Done. ", 3)
	f.Add("```\n|a|b|\n", 100)
	f.Fuzz(func(t *testing.T, text string, n int) {
		w := Watch{Times: 8}
		for range min(max(n, 0), 200) {
			w.Say([]byte(text))
		}
		if len(w.said) > 8*mostPieces || cap(w.piece) > 2*longestText {
			t.Fatalf("%d steps, %d bytes", len(w.said), cap(w.piece))
		}
	})
}
