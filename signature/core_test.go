package signature

import (
	"encoding/json"
	"strings"
	"testing"
)

// The core is the same where only values differ, and another where anything else does.
func TestCore(t *testing.T) {
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"a number", "--- FAIL: TestSum (0.00s)\n    sum_test.go:9: got 4, want 3", "--- FAIL: TestSum (0.00s)\n    sum_test.go:9: got 5, want 3", true},
		{"a text", "FAILED test_a.py::test_b\nE   AssertionError: assert 'ab' == 'cd'", "FAILED test_a.py::test_b\nE   AssertionError: assert 'xy' == 'cd'", true},
		{"brackets", "✗ adds\nError: expected [1, {a: 2}] to be <3>", "✗ adds\nError: expected [] to be <4>", true},
		{"expected and received", "✗ adds\nError: not equal\nExpected: one\nReceived: two words", "✗ adds\nError: not equal\nExpected: one\nReceived: three", true},
		{"a short id", "--- FAIL: TestSum (0.00s)\n    sum_test.go:9: no session Obi3OyLO", "--- FAIL: TestSum (0.00s)\n    sum_test.go:9: no session q11CQ06J", true},
		{"another name", "--- FAIL: TestSum (0.00s)\n    sum_test.go:9: undefined: parseLine", "--- FAIL: TestSum (0.00s)\n    sum_test.go:9: undefined: readAll", false},
		{"another name with a number", "--- FAIL: TestSum (0.00s)\n    sum_test.go:9: undefined: utf8Len", "--- FAIL: TestSum (0.00s)\n    sum_test.go:9: undefined: base64Len", false},
		{"another check", "✗ adds\nError: got 4", "✗ subtracts\nError: got 4", false},
		{"a check less", "✗ adds\n✗ subtracts\nError: got 4", "✗ adds\nError: got 4", false},
		{"another error", "✗ adds\nError: got 4", "✗ adds\nError: cannot read 4", false},
		{"another kind", "✗ adds\nTypeError: got 4", "✗ adds\nRangeError: got 4", false},
		{"another code", "✗ adds\nError [ERR_ASSERTION]: got 4", "✗ adds\nError [ERR_INVALID]: got 4", false},
		{"another kind in a detail", "not ok 1 - adds\n  ---\n  name: 'TypeError'", "not ok 1 - adds\n  ---\n  name: 'RangeError'", false},
		{"a number in the name of a check", "✗ case_1\nError: got 4", "✗ case_2\nError: got 4", false},
		{"another ending", "  1 - grow (SEGFAULT)", "  1 - grow (Timeout)", false},
	}
	for _, tt := range tests {
		a, b := sign(tt.a+"\n", 1), sign(tt.b+"\n", 1)
		if a.Core == 0 || (a.Core == b.Core) != tt.same {
			t.Errorf("%s: cores %s and %s, want them the same: %v\n%q\n%q", tt.name, a.Core, b.Core, tt.same, a.Facts, b.Facts)
		}
		if a.Hash == b.Hash {
			t.Errorf("%s: the same failure: %q", tt.name, a.Facts)
		}
	}
	if a := sign("✗ adds\nError: got 4\n", 1); a.Core == sign("✗ adds\nError: got 4\n", 2).Core {
		t.Error("the exit code makes no other core")
	}
	if c := sign("Error: got 4\n", 1).Core; c != 0 {
		t.Errorf("without a check the core is %s", c)
	}
	if c := sign("✗ adds\n", 0).Core; c != 0 {
		t.Errorf("a pass has the core %s", c)
	}
	var old Signature
	if err := json.Unmarshal([]byte(`{"kind":"output","label":"x","hash":"0000000000000001","loose":"0000000000000001","failing":-1,"passed":-1,"total":-1}`), &old); err != nil || old.Core != 0 {
		t.Errorf("a signature without a core: %+v, %v", old, err)
	}
}

// In the recordings no other set of failing checks has the same core, and hardly any
// other kind of error has.
func TestCoresOfRecordings(t *testing.T) {
	set := loadBench(t, benchDir)
	sigs := set.sign()
	for _, p := range set.pairs {
		if a, b := sigs[p.A], sigs[p.B]; !p.Same && a.Core != 0 && a.Core == b.Core && !strings.Contains(p.Why, "value") {
			t.Errorf("%s and %s have the same core (%s)", p.A, p.B, p.Why)
		}
	}
}
