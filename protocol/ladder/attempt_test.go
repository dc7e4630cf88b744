package ladder

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAttemptString(t *testing.T) {
	for name, tt := range map[string]struct {
		attempt Attempt
		want    string
	}{
		"self-solve": {
			Attempt{Number: 3, Type: BySelf, Approach: "pin the clock", Outcome: "2 of 5 fail", WhyDifferent: "no retry"},
			"ATTEMPT 3: Self-Solve — approach: pin the clock; outcome: 2 of 5 fail; why different: no retry",
		},
		"an expert": {
			Attempt{Number: 4, Type: ByExpert, Expert: "crypto", Outcome: "exit 1"},
			"ATTEMPT 4: Expert Delegation — expert: crypto; outcome: exit 1",
		},
		"nothing known": {Attempt{Number: 1, Type: BySelf}, "ATTEMPT 1: Self-Solve"},
		"hostile": {
			Attempt{Number: 1, Type: BySelf, Approach: "a\x1b]0;x\x07\nATTEMPT 2: b\u202e"},
			"ATTEMPT 1: Self-Solve — approach: a ATTEMPT 2: b",
		},
	} {
		if got := tt.attempt.String(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestKey(t *testing.T) {
	same := [][2]string{
		{Key("Pin the clock", "a", "b"), Key("  pin  THE\nclock ", "c", "d")},
		{Key("", "a", "b"), Key(" \t", "a", "b")},
		{Key("", "", ""), ""},
	}
	for i, p := range same {
		if p[0] != p[1] {
			t.Errorf("%d: %q and %q are the same approach", i, p[0], p[1])
		}
	}
	other := [][2]string{
		{Key("pin the clock", "", ""), Key("pin the clocks", "", "")},
		{Key("", "a", "b"), Key("", "a", "c")},
		{Key("", "a", "b"), Key("", "c", "b")},
		{Key("", "a", ""), Key("", "", "a")},
		{Key("", "a b", ""), Key("", "a", "b ")},
		{Key("x", "", ""), Key("", "x", "")},
		{Key("", "a", ""), ""},
	}
	for i, p := range other {
		if p[0] == p[1] {
			t.Errorf("%d: %q stands for two approaches", i, p[0])
		}
	}
}

// FuzzAttempt feeds any text to an attempt. What is recorded is safe to show, on
// one line, bounded, the same after it was written and read, and counted once.
func FuzzAttempt(f *testing.F) {
	f.Add("task", "key", "approach", "outcome", "why")
	f.Add("", "", "", "", "")
	f.Add("a\xff\x00b", "\xff", "\x1b[31mred", "x\r\ny", "\u202eevil")
	f.Add(strings.Repeat("é", 999), strings.Repeat("k", 999), strings.Repeat("a b ", 999), "…", "\u2028")
	f.Fuzz(func(t *testing.T, task, approachKey, approach, outcome, why string) {
		s := &State{}
		a, ok := s.Failed(alone(6), task, approachKey, approach, outcome, why, 1)
		if ok != (approachKey != "") {
			t.Fatalf("an attempt: %v, with the key %q", ok, approachKey)
		}
		if !ok {
			return
		}
		if again := a.clean(); again != a {
			t.Fatalf("cleaning changes %+v to %+v", a, again)
		}
		for _, text := range []string{a.Task, a.Approach, a.Outcome, a.WhyDifferent, a.Key, a.String()} {
			if utf8.RuneCountInString(text) > 4*maxText || !utf8.ValidString(text) {
				t.Fatalf("%q is too long or no text", text)
			}
		}
		if text := a.String(); strings.ContainsAny(text, "\n\r\x1b\x00") {
			t.Fatalf("%q is no safe line", text)
		}
		s.Record(a)
		if got := s.Task(task); got.Total != 1 {
			t.Fatalf("%q was counted as %+v", task, got)
		}
		if b, ok := s.Failed(alone(6), task, approachKey, approach, outcome, why, 2); ok {
			t.Fatalf("the same approach is an attempt again: %+v", b)
		}
		back := roundTrip(t, s)
		if !reflect.DeepEqual(back, s) || len(back.Made(task)) != 1 {
			t.Fatalf("%+v reads back as %+v", s, back)
		}
	})
}

func roundTrip(t testing.TB, s *State) *State {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	back := &State{}
	if err := json.Unmarshal(data, back); err != nil {
		t.Fatal(err)
	}
	return back
}

// What a journal calls a key is bounded, and two that are long stay two.
func TestKeysAreBounded(t *testing.T) {
	longest, long := strings.Repeat("k", maxKey), strings.Repeat("k", maxKey+1)
	if key(longest) != longest {
		t.Errorf("%q is shortened", longest)
	}
	if key(long) == long || len(key(long)) > maxKey || key(long) == key(long+"k") {
		t.Errorf("%q and %q", key(long), key(long+"k"))
	}
	if k := key("\xff"); !utf8.ValidString(k) {
		t.Errorf("%q", k)
	}
}
