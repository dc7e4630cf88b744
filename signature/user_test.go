package signature

import (
	"slices"
	"strings"
	"testing"
)

func TestUserPatterns(t *testing.T) {
	src := Source{File: "looprun.yaml", Line: 7}
	mask, err := NewMask(`build-[a-z]{6}`, "build", src)
	if err != nil {
		t.Fatal(err)
	}
	ignore, err := NewPattern(`^deprecated:`, src)
	if err != nil {
		t.Fatal(err)
	}
	check, err := NewRule(RuleText{ID: "probe", Fact: "check", Pattern: "probe {name} says nay", Source: src})
	if err != nil {
		t.Fatal(err)
	}
	fail, err := NewRule(RuleText{Fact: "error", Regexp: `!! (?P<name>\w+) went away`, Source: src})
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Mask: []Pattern{mask}, Ignore: []Pattern{ignore}, Extract: []Rule{check, fail}})
	sum := func(out string) Signature {
		s.Reset()
		s.Stdout().Write([]byte(out))
		return s.Sum(1)
	}
	a, b := sum("stopped in build-abcdef\ndeprecated: x\n"), sum("stopped in build-qwerty\n")
	if a.Hash != b.Hash {
		t.Errorf("mask and ignore have no effect: %q and %q", a.Facts, b.Facts)
	}
	if want := []string{"exit 1", "line stopped in <build>"}; !slices.Equal(a.Facts, want) || !slices.Equal(b.Facts, want) {
		t.Errorf("masks and ignored lines are shown otherwise than they are signed: %q and %q, want %q", a.Facts, b.Facts, want)
	}
	c := sum("probe disk says nay\n")
	if c.Kind != KindTestFail || !slices.Equal(c.Checks, []string{"disk"}) {
		t.Errorf("pattern rule: %+v", c)
	}
	d := sum("12:00 !! broker went away\n")
	if !slices.Contains(d.Facts, "error broker") {
		t.Errorf("regexp rule: %q", d.Facts)
	}
}

func TestUserErrorsSayWhere(t *testing.T) {
	src := Source{File: "looprun.yaml", Line: 12}
	for _, tt := range []struct {
		name string
		err  error
		want []string
	}{
		{"bad regexp", second(NewPattern(`a(`, src)), []string{"looprun.yaml:12: ", `"a("`, "missing closing )"}},
		{"empty", second(NewPattern(``, src)), []string{"looprun.yaml:12: ", "every line"}},
		{"matches nothing much", second(NewPattern(`x*`, src)), []string{"looprun.yaml:12: ", "every line"}},
		{"mask name", second(NewMask(`a`, "a b", src)), []string{"looprun.yaml:12: ", "mask name"}},
		{"unknown fact", second(NewRule(RuleText{ID: "r", Fact: "chek", Pattern: "x", Source: src})), []string{"looprun.yaml:12: ", "rule r", `"chek"`}},
		{"two ways", second(NewRule(RuleText{Fact: "check", Pattern: "x", Regexp: "y", Source: src})), []string{"looprun.yaml:12: ", "one of"}},
		{"bad capture", second(NewRule(RuleText{Fact: "check", Pattern: "x {nam}", Source: src})), []string{"looprun.yaml:12: ", "{nam}"}},
		{"bad rule regexp", second(NewRule(RuleText{Fact: "check", Regexp: "[", Source: src})), []string{"looprun.yaml:12: ", "missing closing ]"}},
		{"no place", second(NewPattern(`a(`, Source{})), []string{`pattern "a("`}},
	} {
		if tt.err == nil {
			t.Errorf("%s: no error", tt.name)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(tt.err.Error(), w) {
				t.Errorf("%s: %q lacks %q", tt.name, tt.err, w)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestExplain(t *testing.T) {
	s := New(Options{Explain: true})
	s.Stdout().Write([]byte("2026-11-21 09:00:00 INFO up\n--- FAIL: TestLogin (0.01s)\nmake: *** [t] Error 1\n"))
	s.Stderr().Write([]byte("took 12 ms\n"))
	e := s.Explain(s.Sum(1))
	if len(e.Lines) != 4 || e.Lines[0].Text != "<time> INFO up" || e.Lines[3] != (MaskedLine{"stderr", "took <dur>"}) {
		t.Errorf("lines %+v", e.Lines)
	}
	want := []FoundFact{{Rule: "check-dashes", Fact: "check TestLogin", Line: "--- FAIL: TestLogin (0.01s)", Used: true}, {Rule: "consequence", Fact: "weak make: *** [t] Error 1", Line: "make: *** [t] Error 1"}}
	if !slices.Equal(e.Facts, want) {
		t.Errorf("facts %+v, want %+v", e.Facts, want)
	}
	if plain := New(Options{}).Explain(Pass); plain.Lines != nil || plain.Facts != nil {
		t.Errorf("without Options.Explain: %+v", plain)
	}
}

func TestDiff(t *testing.T) {
	a := sign("FAIL: test_a (m.T)\nFAIL: test_b (m.T)\n", 1)
	for _, tt := range []struct {
		name, b string
		code    int
		why     string
		alike   float64
	}{
		{"same", "FAIL: test_b (m.T)\nFAIL: test_a (m.T)\n", 1, "the same failure: all 3 facts are equal", 1},
		{"fewer", "FAIL: test_b (m.T)\n", 1, "2 failing and 1 failing", 2.0 / 3},
		{"other", "FAIL: test_b (m.T)\nFAIL: test_c (m.T)\n", 1, `facts differ: only the first has "check test_a", only the second has "check test_c"`, 0.5},
		{"kind", "error: no space\n", 1, "different kinds: test-fail and error", 0.25},
	} {
		d := Diff(a, sign(tt.b, tt.code))
		if d.Why != tt.why || d.Alike != tt.alike || d.Same != (tt.name == "same") {
			t.Errorf("%s: %+v, want %q and %v", tt.name, d, tt.why, tt.alike)
		}
	}
	if d := Diff(Pass, Pass); !d.Same || d.Why != "both pass" {
		t.Errorf("two passes: %+v", d)
	}
}

func TestHashText(t *testing.T) {
	var h Hash
	if err := h.UnmarshalText([]byte("00ab00000000000f")); err != nil || h.String() != "00ab00000000000f" {
		t.Errorf("%v, %v", h, err)
	}
	for _, bad := range []string{"", "123", "00ab00000000000g", "+0ab00000000000f"} {
		if err := h.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is taken for a hash", bad)
		}
	}
}
