package signature

import (
	"strings"
	"testing"
)

// sign signs an output as the standard output of a judge that exited with code.
func sign(output string, code int) Signature {
	s := New(Options{})
	s.Stdout().Write([]byte(output))
	return s.Sum(code)
}

func goTest(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString("--- FAIL: " + n + " (0.00s)\n")
	}
	return b.String() + "FAIL\nFAIL\texample.test/app\t0.004s\nFAIL\n"
}

// Fewer failing checks is progress, and the labels say so.
func TestLabelsShowProgress(t *testing.T) {
	steps := []struct {
		output, label string
	}{
		{goTest("TestAuth", "TestLogin", "TestZone"), "test-fail:3-auth,login"},
		{goTest("TestAuth", "TestLogin"), "test-fail:2-auth,login"},
		{goTest("TestAuth"), "test-fail:1-auth"},
	}
	seen := map[Hash]bool{}
	for _, st := range steps {
		sig := sign(st.output, 1)
		if sig.Label != st.label {
			t.Errorf("label %q, want %q", sig.Label, st.label)
		}
		if seen[sig.Hash] {
			t.Errorf("%s has the hash of an earlier step", sig.Label)
		}
		seen[sig.Hash] = true
	}
}

func TestKindsAndLabels(t *testing.T) {
	tests := []struct {
		name, output string
		code         int
		kind, label  string
		failing      int
	}{
		{"pass", "ok  \texample.test/app\t0.2s\n", 0, KindPass, "pass", 0},
		{"spec's labels", goTest("TestAuth", "TestLogout"), 1, KindTestFail, "test-fail:2-auth,logout", 2},
		{"what a heading announces", "* What went wrong:\nExecution failed for task ':app:compile'.\n> Could not resolve all files.\n", 1, KindError, "error:execution-failed-for-task-app-co", -1},
		{"exception with a place", "TypeError: x is not a function\n    at handle (/srv/app/src/auth.ts:12:5)\n    at node:internal/main:1:1\n", 1, KindError, "error:TypeError-auth.ts", -1},
		{"exception that ends with its place", "TypeError: null is not an object at auth.ts:31\n", 1, KindError, "error:TypeError-auth.ts", -1},
		{"traceback", "Traceback (most recent call last):\n  File \"/srv/app/load.py\", line 3, in main\n    x = d['k']\nKeyError: 'k'\n", 1, KindError, "error:KeyError-load.py", -1},
		{"compiler", "main.go:3:2: undefined: a\nmain.go:9:2: undefined: a\nutil.go:1:1: expected 'package'\n", 1, KindBuildFail, "build-fail:3-main.go", 3},
		{"linter", "app.py:1:1: F401 'os' imported but unused\n", 1, KindLintFail, "lint-fail:1-app.py", 1},
		{"nothing known", "the moon is full\n", 1, KindOutput, "", -1},
		{"nothing at all", "", 3, KindSilent, "silent:exit-3", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sig := sign(tt.output, tt.code)
			if sig.Kind != tt.kind || tt.label != "" && sig.Label != tt.label || sig.Failing != tt.failing {
				t.Errorf("got %s %q %d, want %s %q %d; facts %q", sig.Kind, sig.Label, sig.Failing, tt.kind, tt.label, tt.failing, sig.Facts)
			}
			if sig.Hash == 0 || sig.Loose == 0 {
				t.Error("no hash")
			}
		})
	}
}

// Words that look like failures in outputs that tell of none.
func TestNoFailure(t *testing.T) {
	for _, out := range []string{
		`{"type":"result","is_error": false,"result":"done"}`, `  "is_error": false,`, "0 tests failed", "0 errors", "no errors", "errors: 0", "Failures: 0",
		"✓ handles error: bad input (3 ms)", "ok 4 - error is reported", "test parse_error ... ok", "PASS test/error.test.js", "--- PASS: TestError (0.00s)",
		"8 passed, 0 failed", "Found 0 errors", "no issues found", "gcc -Wall -Werror=format -c error.c -o error.o",
	} {
		s := New(Options{})
		s.Stdout().Write([]byte(out + "\n"))
		sig := s.Sum(1)
		if sig.Kind != KindOutput && sig.Kind != KindSilent {
			t.Errorf("%q is taken for %s with facts %q", out, sig.Label, sig.Facts)
		}
	}
}

// The same failure with other noise, and a change that is none.
func TestSameAndNotTheSame(t *testing.T) {
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"time", "2026-11-21T09:00:01Z worker: cannot open spool", "2026-11-22T10:11:12Z worker: cannot open spool", true},
		{"pid and port", "server[311]: listen 127.0.0.1:8080: address already in use", "server[4711]: listen 127.0.0.1:9090: address already in use", true},
		{"uuid", "Error: no such job 689f95ca-7d0b-4c01-a62e-635ac8ae638d", "Error: no such job ff1fb513-722a-4425-b078-644422310401", true},
		{"temporary path", "Error: cannot write /tmp/x.Q1w2/out.json", "Error: cannot write /tmp/x.Zz99/out.json", true},
		{"checkout path", "/srv/r1/app/main.c:3:5: error: x undeclared", "/home/ci/work/app/main.c:30:7: error: x undeclared", true},
		{"order", "FAIL: test_a (m.T)\nFAIL: test_b (m.T)", "FAIL: test_b (m.T)\nFAIL: test_a (m.T)", true},
		{"colour", "error: no space", "\x1b[1;31merror\x1b[0m: no space", true},
		{"redraw", "loading 1%\rloading 99%\rerror: no space", "error: no space", true},
		{"own lines", "looprun: iteration 3 of 10\nerror: no space", "error: no space", true},
		{"log lines between", "error: no space", "2026-11-21 09:00:00 INFO nothing of note\nerror: no space", true},
		{"place in a name", "  ✘  3 [chromium] › orders.spec.ts:12:5 › Orders › total (5.2s)", "  ✘  12 [chromium] › orders.spec.ts:101:9 › Orders › total (4.9s)", true},
		{"place behind a name", "1) Scenario: a slug # features/shop.feature:2", "2) Scenario: a slug # features/shop.feature:12", true},
		{"another project in a name", "  ✘  3 [chromium] › orders.spec.ts:12:5 › Orders › total (5.2s)", "  ✘  3 [firefox] › orders.spec.ts:12:5 › Orders › total (5.2s)", false},
		{"number in a name", "✕ case_12 of 3 [a] is taken", "✕ case_13 of 3 [a] is taken", false},
		{"unordered map", "Error: expected:<{legs=0, points=1}> but was:<{legs=0, point=1}>", "Error: expected:<{points=1, legs=0}> but was:<{point=1, legs=0}>", true},
		{"unordered set", "Error: unexpected fields {'b', 'a'}", "Error: unexpected fields {'a', 'b'}", true},
		{"another map", "Error: got {a: 1, b: 2}", "Error: got {a: 1, c: 2}", false},
		{"order of a list", "Error: got [a, b]", "Error: got [b, a]", false},
		{"an error with a place and without, in any order", "Error: x\n\nok 1\nError: x\n    at f (src/a.js:3:4)", "Error: x\n    at f (src/a.js:3:4)\nok 1\nError: x", true},
		{"a path behind an object file", "/tmp/cc1x.o:/srv/r1/main.c:3: first defined here, error: x", "/tmp/cc2y.o:/srv/r2/main.c:3: first defined here, error: x", true},
		{"another check", "FAIL: test_a (m.T)", "FAIL: test_b (m.T)", false},
		{"another error", "error: no space", "error: no such host", false},
		{"another kind", "E   KeyError: 'a'", "E   ValueError: a", false},
		{"one less of the same message", "a.go:1:1: undefined: x\na.go:9:1: undefined: x", "a.go:9:1: undefined: x", false},
		{"a count only", "12 failed, 3 passed", "11 failed, 4 passed", false},
		{"another file", "a.go:1:1: undefined: x", "b.go:1:1: undefined: x", false},
		{"a size that is made", "error: bundle is 412 kB, limit 300 kB", "error: bundle is 290kB, limit 300 kB", false},
		{"a size that is left", "error: no memory within the limit: 412 kB free", "error: no memory within the limit: 290 kB free", true},
		{"how far it got", "migrated 12000 of 40000 rows\nERROR: connection lost", "migrated 31000 of 40000 rows\nERROR: connection lost", false},
		{"the way there", "migrated 1000 of 40000 rows\nmigrated 12000 of 40000 rows\nERROR: connection lost", "migrated 12000 of 40000 rows\nERROR: connection lost", true},
		{"memory of", "312 of 2048 MB in use\nERROR: connection lost", "407 of 2048 MB in use\nERROR: connection lost", true},
		{"errors generated", "m.c:3:5: error: x\n18 errors generated.", "m.c:3:5: error: x\n7 errors generated.", false},
		{"a long value", "✗ adds\nError: not equal\n  actual  : 1252", "✗ adds\nError: not equal\n  actual  : 1246", false},
		{"a number between marks", "✗ adds\n==4711==ABORTING", "✗ adds\n==4733==ABORTING", true},
		{"a moment as a value", "✗ adds\nError: not equal\n  actual  : 1795326760566", "✗ adds\nError: not equal\n  actual  : 1795326799123", true},
		{"a difference", "✗ adds\nError: not equal\n+ actual - expected\n\n+ 'a b'\n- 'a-b'", "✗ adds\nError: not equal\n+ actual - expected\n\n+ 'a, b'\n- 'a-b'", false},
		{"values between backticks", "✗ adds\nError: not equal\n  `actual`: 4\n`expected`: 3", "✗ adds\nError: not equal\n  `actual`: 5\n`expected`: 3", false},
		{"batch", "stopped at batch 3 of 9", "stopped at batch 4 of 9", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := sign(tt.a+"\n", 1), sign(tt.b+"\n", 1)
			if (a.Hash == b.Hash) != tt.same {
				t.Errorf("%q and %q: same is %v, want %v\n%q\n%q", tt.a, tt.b, !tt.same, tt.same, a.Facts, b.Facts)
			}
		})
	}
	a, b := sign("12 failed, 3 passed\n", 1), sign("11 failed, 4 passed\n", 1)
	if d := Diff(a, b); d.Same || !d.OnlyNumbers {
		t.Errorf("12 and 11 failed: %+v, want only numbers to differ", d)
	}
	if c := sign("error: no space\n", 2); c.Hash == sign("error: no space\n", 1).Hash {
		t.Error("the exit code makes no difference")
	}
}

func TestNumberRule(t *testing.T) {
	sc := &scanner{dir: "/srv/checkout"}
	for _, tt := range []struct{ in, want string }{
		{"2026-11-21T09:12:05.719Z x", "<time> x"},
		{"Nov 21 09:12:05 x", "<time> x"},
		{"21/Nov/2026:09:01:31 +0000 x", "<time> x"},
		{"Sat, 21 Nov 2026 09:12:05 GMT", "<time>"},
		{"v1.2.3", "v1.2.3"},
		{"10.0.0.7:8080 up", "<n> up"},
		{"689f95ca-7d0b-4c01-a62e-635ac8ae638d", "<n>"},
		{"req d6603439c8b89ca7", "req <n>"},
		{"at 0x7fdada3384c0", "at <n>"},
		{"took 12 ms", "took <dur>"},
		{"1m30.5s", "<dur>"},
		{"0.04s", "<dur>"},
		{"4.5MB used", "<size> used"},
		{"68805 bytes", "<size>"},
		{"a.go:12:5", "a.go:<n>:<n>"},
		{"f.ts(6,52)", "f.ts(<n>,<n>)"},
		{"port 80", "port <n>"},
		{"pid=7", "pid=<n>"},
		{"line 17", "line <n>"},
		{"exit status 2", "exit status 2"},
		{"HTTP 500", "HTTP 500"},
		{"code 12345", "code 12345"},
		{"smoke[1270]", "smoke[<n>]"},
		{"x[2]", "x[2]"},
		{"batch 3 of 9", "batch 3 of 9"},
		{"404", "404"},
		{"63%", "63%"},
		{"12 rows", "12 rows"},
		{"1200 rows", "1200 rows"},
		{"7/5000", "7/5000"},
		{"30352", "<n>"},
		{"1,234,567", "<n>"},
		{"E501 TS2322", "E501 TS2322"},
		{"utf8 sha256 x86_64", "utf8 sha256 x86_64"},
		{"TestX1760837767", "TestX<n>"},
		{"blk_-1608999687919862906", "blk_<n>"},
		{"rdd_42_20", "rdd_42_20"},
		{"/tmp/a.Q1/b", "<tmp>"},
		{"/tmp/a.Q1/main.c", "<tmp>main.c"},
		{"/srv/checkout/src/a.go", "src/a.go"},
		{"/usr/lib/x/y.so", "y.so"},
		{`C:\Users\a\x.cs`, "x.cs"},
	} {
		if got := string(sc.text(nil, []byte(tt.in), false)); got != tt.want {
			t.Errorf("%q is masked to %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := string(sc.text(nil, []byte("rdd_42_20 E501 utf8"), true)); got != "rdd_<n>_<n> E501 utf<n>" {
		t.Errorf("loose: %q", got)
	}
	if got := string(sc.text(nil, []byte("batch 3 of 9"), true)); got != "batch <n> of <n>" {
		t.Errorf("loose: %q", got)
	}
}

func TestWithPromiseContentDecides(t *testing.T) {
	s := New(Options{})
	s.Stdout().Write([]byte("working on part one\n"))
	a := s.SumContent(0)
	s.Reset()
	s.Stdout().Write([]byte("working on part two\n"))
	b := s.SumContent(0)
	if a.Hash == b.Hash || a.Hash == Pass.Hash || a.Kind != KindOutput {
		t.Errorf("content of exit 0: %+v and %+v", a, b)
	}
}
