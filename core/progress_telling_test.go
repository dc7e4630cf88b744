package core

import (
	"strings"
	"testing"

	"github.com/looprun/looprun/signature"
)

func TestErrorOutput(t *testing.T) {
	for _, c := range []struct {
		name                    string
		errors, checks, excerpt string
		want                    string
	}{
		{"a passing test is last", "", "TestA", "--- FAIL: TestA (0.00s)\n=== RUN TestB\n--- PASS: TestB (0.00s)\n", "--- FAIL: TestA (0.00s)"},
		{"bare words are last", "", "TestA", "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\n", "--- FAIL: TestA (0.00s)"},
		{"an error line of the signature", "a.go:3: got 1", "TestA", "--- FAIL: TestA (0.00s)", "a.go:3: got 1"},
		{"the first of several", "one\ntwo", "", "three", "one"},
		{"a passing line of the signature", "ok to go\na.go:3: got 1", "", "x", "a.go:3: got 1"},
		{"only a passing line of the signature", "all tests passed", "", "error: x", "error: x"},
		{"a bare word is last", "", "", "error: x\nFAIL\n", "error: x"},
		{"the name of a check is as good as a failure", "", "auth.spec > logs in", "error Command failed\nauth.spec > logs in\nerror again", "error again"},
		{"the check and a failure", "", "auth.spec > logs in", "FAIL auth.spec > logs in\nerror Command failed", "FAIL auth.spec > logs in"},
		{"the check before what says nothing", "", "login", "login\ncollecting", "login"},
		{"the check that passed elsewhere", "", "login", "PASS login\ncollecting", "collecting"},
		{"a name within another is no mention", "", "TestA", "FAIL TestA\nFAIL TestAll", "FAIL TestA"},
		{"a count of nothing is no failure", "", "", "got 401\n5 passed, 0 failed\n", "got 401"},
		{"nor is an error that is none", "", "", "Output: Error: got 401\nError: (none)\nExit Code: 0\n", "Output: Error: got 401"},
		{"a count of something is", "", "", "got 401\n5 passed, 10 failed\n", "5 passed, 10 failed"},
		{"no errors is none", "", "", "AssertionError: x\nok, no errors", "AssertionError: x"},
		{"not ok", "", "", "not ok 1 - login\nok 2 - logout", "not ok 1 - login"},
		{"signs", "", "", "  ✗ login\n  ✓ logout", "✗ login"},
		{"the last of those alike", "", "", "error: one\nerror: two\n\n", "error: two"},
		{"nothing but what says nothing", "", "", "one\ntwo", "two"},
		{"nothing but what passes", "", "", "ok 1\nok 2", "ok 2"},
		{"nothing", "", "", "\n \n", ""},
		{"escapes", "", "", "\x1b[31mFAIL\x1b[0m TestA\n\x1b[32mPASS\x1b[0m TestB", "FAIL TestA"},
	} {
		d := IterationFinished{Excerpt: c.excerpt, Signature: signature.Signature{Errors: splitLines(c.errors), Checks: splitLines(c.checks)}}
		if got := d.Telling(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// What a question shows of an output of any kind is one clean line of it, and of
// two lines never the one that passed.
func FuzzErrorOutput(f *testing.F) {
	f.Add("--- FAIL: TestA (0.00s)\n--- PASS: TestB (0.00s)", "TestA")
	f.Add("\x1b[2J漢字\r\n\xff ok", "")
	f.Fuzz(func(t *testing.T, excerpt, check string) {
		d := IterationFinished{Excerpt: excerpt, Signature: signature.Signature{Checks: []string{check}}}
		got := d.Telling()
		if got != oneLine(got) {
			t.Errorf("%q is no clean line", got)
		}
		d.Excerpt = "there was an error\n" + excerpt
		if got := d.Telling(); passes(words(got)) {
			t.Errorf("%q was preferred to a line with an error", got)
		}
	})
}

// The error of a compiler comes before tests that fail beside it, in every language.
func TestCompileErrorIsTheHeadline(t *testing.T) {
	stale := IterationFinished{Iteration: 1, Outcome: OutcomeNotDone, ExitCode: 2, Signature: signature.Signature{
		Hash: 1, Kind: signature.KindTestFail, Failing: 1, Passed: 18, Total: 19, Checks: []string{"misc_tests"},
	}}
	const tests = "1 of 19 tests failing: misc_tests"
	for line, headline := range map[string]bool{
		"/src/cJSON.c:112:5: error: ‘foo’ undeclared":                                 true,
		"src/app.cpp(12,7): error C2065: 'foo': undeclared identifier":                true,
		"lib/app.dart:4:11: Error: The getter 'foo' isn't defined":                    true,
		"shop.pas(4,60) Error: Identifier not found \"bb\"":                           true,
		"a.f90:3:2: fatal error: cannot open module":                                  true,
		"/w/Tests/A.swift:12: error: -[Mod.misc_tests testX] : XCTAssertEqual failed": false,
		"test/lru_test.cc:30: Failure":                                                false,
		"expected 1, got 2":                                                           false,
		"Error: connect ECONNREFUSED":                                                 false,
	} {
		d := stale
		d.Signature.Errors = []string{line}
		want := tests
		if headline {
			want = line + "; " + tests
		}
		if got := d.Says(); got != want {
			t.Errorf("%q: says %q, want %q", line, got, want)
		}
	}
}
