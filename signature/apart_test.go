package signature

import (
	"fmt"
	"strings"
	"testing"
)

// What tells two failures apart is read, and what only moves is not.
func TestWhatTellsFailuresApart(t *testing.T) {
	rollout := func(rs, pod, state, since, event string) string {
		return "error: deployment \"api\" exceeded its progress deadline\n\nNAME   READY   STATUS   RESTARTS   AGE\napi-" + rs + "-" + pod + "   0/1     " + state + "   5 (" + since + " ago)   5m54s\n\n" +
			"LAST SEEN   TYPE      REASON   OBJECT   MESSAGE\n" + since + "         Warning   Failed   pod/api-" + rs + "-" + pod + "   " + event + "\n"
	}
	rebase := func(commit, file string) string {
		return "CONFLICT (content): Merge conflict in " + file + "\nerror: could not apply " + commit + "... work\n"
	}
	tests := []struct {
		name, a, again, b string
	}{
		{"pods", rollout("5j92wkm9x", "9fclt", "CrashLoopBackOff", "53s", "Back-off restarting"), rollout("f65xjfrk2", "gq5fg", "CrashLoopBackOff", "12s", "Back-off restarting"), rollout("5j92wkm9x", "9fclt", "ImagePullBackOff", "53s", "Back-off restarting")},
		{"events", rollout("5j92wkm9x", "9fclt", "Running", "53s", "Readiness probe failed"), rollout("f65xjfrk2", "gq5fg", "Running", "1s", "Readiness probe failed"), rollout("5j92wkm9x", "9fclt", "Running", "53s", "Liveness probe failed")},
		{"conflicts", rebase("07f484e", "a.txt"), rebase("3825135d", "a.txt"), rebase("07f484e", "b.txt")},
		{"a tree of tests", "└─ RouteTest ✔\n   ├─ stats() ✘ expected: <1> but was: <2>\nFailures (1):\n", "└─ RouteTest ✔\n   └─ stats() ✘ expected: <1> but was: <2>\nFailures (1):\n", "└─ RouteTest ✔\n   ├─ legs() ✘ expected: <1> but was: <2>\nFailures (1):\n"},
		{"kinds under checks", "OrdersTest > total() FAILED\n    org.opentest4j.AssertionFailedError at OrdersTest.java:18\n", "OrdersTest > total() FAILED\n    org.opentest4j.AssertionFailedError at OrdersTest.java:21\n", "OrdersTest > total() FAILED\n    java.lang.NullPointerException at OrdersTest.java:18\n"},
		{"kinds behind asterisks", "  geo: area_test...*failed*\n**error:undef\n", "  geo: area_test...*failed*\n**error:undef\n", "  geo: area_test...*failed*\n**error:badarith\n"},
		{"a server's answer", "curl: (22) The requested URL returned error: 500\n{\"timestamp\":\"2026-11-02T10:00:00Z\",\"status\":500,\"error\":\"Internal Server Error\",\"message\":\"could not obtain connection\"}\n", "curl: (22) The requested URL returned error: 500\n{\"timestamp\":\"2026-11-03T11:11:11Z\",\"status\":500,\"error\":\"Internal Server Error\",\"message\":\"could not obtain connection\"}\n", "curl: (22) The requested URL returned error: 500\n{\"timestamp\":\"2026-11-02T10:00:00Z\",\"status\":500,\"error\":\"Internal Server Error\",\"message\":\"Java heap space\"}\n"},
		{"a resource", "│ Error: creating EC2 Instance\n│\n│   with aws_instance.web,\n│   on main.tf line 12, in resource \"aws_instance\" \"web\":\n", "│ Error: creating EC2 Instance\n│\n│   with aws_instance.web,\n│   on main.tf line 19, in resource \"aws_instance\" \"web\":\n", "│ Error: creating EC2 Instance\n│\n│   with aws_instance.worker,\n│   on main.tf line 12, in resource \"aws_instance\" \"worker\":\n"},
	}
	pnpm := func(line, rest string) string {
		return "Scope: 3 of 4 workspace projects\npackages/util test: " + line + "\n" + rest + "packages/util test: Failed\n/home/ci/w/packages/util:\nERR_PNPM  util@1.0.0 test: `make test`\nExit status 1\n"
	}
	behind := func(id, at, test string) string {
		line := func(s string) string {
			return "2026-11-02 10:" + at + " +0000 docker." + id + ": {\"container_name\":\"/ci_1\",\"log\":\"" + s + "\"}\n"
		}
		return line("=== RUN   "+id[:3]) + line("--- FAIL: "+test+" (0.1s)") + line("    a_test.go:31: got 401, want 200") + line("FAIL")
	}
	listed := func(at, test string) string {
		return "fatal: [10.0.0.7]: FAILED! => {\"delta\": \"" + at + "\", \"rc\": 1, \"stdout_lines\": [\n        \"--- FAIL: " + test + " (0.1s)\",\n        \"    a_test.go:31: got \\\"a\\\", want b\"\n    ]}\n"
	}
	coloured := func(n, text string) string {
		return `{"event":"ran","stdout":"checking\n\u001b[31mError: \u001b[0m\u001b[1m` + text + `\u001b[0m\nit took a while\n"}` + "\n" + `{"event":"end","tokens":` + n + "}\n"
	}
	tests = append(tests, []struct{ name, a, again, b string }{
		{"JSON behind a margin", behind("0c1d2e3f4a5b", "01:02.000000001", "TestLogin"), behind("9f8e7d6c5b4a", "07:44.100000001", "TestLogin") + "2026-11-02 10:08:00.1 +0000 docker.9f8e7d6c5b4a: {\"container_name\":\"/ci_1\",\"log\":\"exit status 1 after all\"}\n", behind("0c1d2e3f4a5b", "01:02.000000001", "TestLogout")},
		{"a warning of Python's", "/usr/lib/python3/cli.py:4: DeprecationWarning: This command will be removed.\n  from cli import main\norders: 'one' is not of type 'integer'\n", "/usr/lib/python3/cli.py:5: DeprecationWarning: This command will be removed.\n  from cli import main\norders: 'one' is not of type 'integer'\n", "/usr/lib/python3/cli.py:4: DeprecationWarning: This command will be removed.\n  from cli import main\nusers: 'one' is not of type 'integer'\n"},
		{"a compiler's warning beside what nobody knows", "src/a.c:5:1: warning: unused variable 'y'\ncompiled 12 files\ngadget: step 'pack' came to no end\n", "src/a.c:7:1: warning: unused variable 'y'\ncompiled 14 files\ngadget: step 'pack' came to no end\n", "src/a.c:5:1: warning: unused variable 'y'\ncompiled 12 files\ngadget: step 'sign' came to no end\n"},
		{"colours in an object that nobody knows", coloured("803", "no value a"), coloured("12", "no value a"), coloured("803", "no value b")},
		{"a list of lines", listed("0:00:01.1", "TestLogin"), listed("0:00:02.7", "TestLogin"), listed("0:00:01.1", "TestLogout")},
		{"few lines with a margin", pnpm("cannot tell a from b", ""), pnpm("cannot tell a from b", ""), pnpm("cannot tell a from c", "")},
		{"findings behind what nobody knows", "1. job of mine: src/a.ts(6,52): error TS2322: no Date.\n2. job: failed to run\n", "1. job of mine: src/a.ts(9,5): error TS2322: no Date.\n2. job: failed to run\n", "1. job of mine: src/b.ts(6,52): error TS2322: no Date.\n2. job: failed to run\n"},
		{"a pod among few lines", "+ api-695f79f47-vwj8f › app\napi-695f79f47-vwj8f app src/a.ts(6,52): error TS2322: no Date.\napi-695f79f47-vwj8f app src/a.ts(7,3): error TS2561: Did you mean b?\n- api-695f79f47-vwj8f › app\n", "+ api-5c9d8b7f6-x2x4z › app\napi-5c9d8b7f6-x2x4z app src/a.ts(6,52): error TS2322: no Date.\napi-5c9d8b7f6-x2x4z app src/a.ts(7,3): error TS2561: Did you mean b?\n- api-5c9d8b7f6-x2x4z › app\n", "+ api-695f79f47-vwj8f › app\napi-695f79f47-vwj8f app src/c.ts(6,52): error TS2322: no Date.\napi-695f79f47-vwj8f app src/a.ts(7,3): error TS2561: Did you mean b?\n- api-695f79f47-vwj8f › app\n"},
	}...)
	inner := func(line, reason string) string {
		return "Unhandled exception. System.Exception: failed to start\n ---> " + reason + "\n   at A.B() in /app/B.cs:line " + line + "\n   --- End of inner exception stack trace ---\n   at P.Main() in /app/P.cs:line 9\n"
	}
	stamped := func(second, what, table string) (s string) {
		for l := range strings.Lines("make\nreading\nbuilding\nlinking\nstarting\nready\nnow the tests\nasking\nERROR:  " + what + "\nDETAIL:  It is not in " + table + ".\n") {
			s += "2026-01-02T03:04:0" + second + ".1234567Z " + l
		}
		return s
	}
	sbt := func(took, why string) string {
		return "[info] ATest:\n[info] - adds (" + took + " milliseconds)\n[info] - works *** FAILED *** (1" + took + " milliseconds)\n[info]   " + why + " (ATest.scala:1" + took + ")\n[info] Run completed in " + took + " seconds.\n[info] *** 1 TEST FAILED ***\n[error] Total time: " + took + " s\n"
	}
	printed := func(got, stderr string) string {
		return "--- FAIL: TestRun (0.0s)\n    run_test.go:5: it ended with " + got + "\n        stderr:\n            the store is at " + stderr + "\nFAIL\n"
	}
	row := func(id, table string) string {
		return "ERROR:  insert or update on table \"a\" violates foreign key constraint \"fk\"\nDETAIL:  Key (id)=(" + id + ") is not present in table \"" + table + "\".\n"
	}
	build := func(took, lacks string) string {
		return "FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:compile'.\n> Could not resolve all files.\n   > Could not find " + lacks + ".\n\n* Try:\n> Run with --info\n\nBUILD FAILED in " + took + "\n"
	}
	box := func(line, why string) string {
		return "╷\n│ Error: Invalid value for variable\n│ \n│   on main.tf line " + line + ":\n│    " + line + ": variable \"x\" {\n│     ├────\n│     │ var.x is \"b\"\n│ \n│ " + why + "\n╵\n"
	}
	tests = append(tests, []struct{ name, a, again, b string }{
		{"an inner exception", inner("4", "System.IO.IOException: refused"), inner("7", "System.IO.IOException: refused"), inner("4", "System.ArgumentException: no table")},
		{"what a failing test printed", printed("3", "number 3"), printed("3", "number 4"), printed("2", "number 3")},
		{"the detail of a database", row("1", "users"), "\n" + row("1", "users"), row("1", "groups")},
		{"the cause of a build's end", build("3s", "com.a:b:1.0"), build("8s", "com.a:b:1.0"), build("3s", "com.a:c:1.0")},
		{"prose in a box", box("1", "The region must be one of eu or us."), box("8", "The region must be one of eu or us."), box("1", "The region must not be empty.")},
		{"what explains an error", "error: failed to select a version for `a`.\n    ... required by package `b v0.1.0`\nthe package `b` depends on `a` with features that it does not have.\n", "error: failed to select a version for `a`.\n    ... required by package `b v0.1.2`\nthe package `b` depends on `a` with features that it does not have.\n", "error: failed to select a version for `a`.\n    ... required by package `b v0.1.0`\nall possible versions conflict with others.\n"},
		{"a class of Ruby's", "Error:\nUserTest#test_a:\nActiveRecord::RecordInvalid: Validation failed: Name can't be blank\n    test/user_test.rb:3:in `block'\n", "Error:\nUserTest#test_a:\nActiveRecord::RecordInvalid: Validation failed: Name can't be blank\n    test/user_test.rb:8:in `block'\n", "Error:\nUserTest#test_a:\nActiveRecord::RecordInvalid: Validation failed: Email is invalid\n    test/user_test.rb:3:in `block'\n"},
		{"a class that is not called an error", "Traceback (most recent call last):\n  File \"/app/a.py\", line 3, in f\n    g()\napp.config.Unset: no key\nread 12 files\n", "Traceback (most recent call last):\n  File \"/app/a.py\", line 9, in f\n    g()\napp.config.Unset: no key\nread 13 files\n", "Traceback (most recent call last):\n  File \"/app/a.py\", line 3, in f\n    g()\napp.config.Unset: no name\nread 12 files\n"},
		{"a tool's word behind a runner's times", stamped("1", "cannot add the row", "users"), stamped("8", "cannot add the row", "users"), stamped("1", "cannot add the row", "groups")},
		{"a test behind [info]", sbt("3", "1 did not equal 2"), sbt("7", "1 did not equal 2"), sbt("3", "the list was not empty")},
		{"a class of Ruby's, alone", "  1) Login works\n     Failure/Error: User.create!\n\n     ActiveRecord::RecordInvalid:\n       Validation failed: Name can't be blank\n", "  1) Login works\n     Failure/Error: User.create!\n\n     ActiveRecord::RecordInvalid:\n       Validation failed: Name can't be blank\n\n1 example, 1 failure\n", "  1) Login works\n     Failure/Error: User.create!\n\n     ActiveRecord::RecordInvalid:\n       Validation failed: Email is invalid\n"},
		{"what was evaluated", "works: Test Failed at /app/a.jl:3\n  Expression: x == 1\n   Evaluated: 2 == 1\n", "works: Test Failed at /app/a.jl:9\n  Expression: x == 1\n   Evaluated: 2 == 1\n", "works: Test Failed at /app/a.jl:3\n  Expression: isempty(y)\n   Evaluated: isempty([1])\n"},
		{"words behind a quotation", "```\nerror: cannot open the store\n```\nLet me look at it first.\n", "```\nerror: cannot open the store\n```\nThat did not help at all.\n", "```\nerror: cannot open the door\n```\nLet me look at it first.\n"},
		{"words of an agent", "● Bash(make)\n  ⎿  error: cannot open the store\n\n● Let me look at it first.\n", "● Bash(make)\n  ⎿  error: cannot open the store\n\n● That did not help at all.\n", "● Bash(make)\n  ⎿  error: cannot open the door\n\n● Let me look at it first.\n"},
		{"a call of an agent", "● Bash(make)\n  ⎿  no rule knows this line\n", "● Bash(make)\n  ⎿  no rule knows this line\n", "● Bash(make)\n  ⎿  nor does one this\n"},
		{"words below a paragraph", "error: cannot open the store\n\nLet me look at it first.\n", "error: cannot open the store\n\nThat did not help at all.\n", "error: cannot open the door\n\nLet me look at it first.\n"},
		{"a severity behind a place in brackets", "a.pas(4,60) Error: Identifier not found \"bb\"\nFatal: Compilation aborted\n", "a.pas(9,60) Error: Identifier not found \"bb\"\nFatal: Compilation aborted\n", "a.pas(4,60) Error: Identifier not found \"cc\"\nFatal: Compilation aborted\n"},
		{"a list that no rule knows", "Fatal: Compilation aborted\nat unit a, expected a semicolon\nat unit b, name is not declared, wrong case\n", "Fatal: Compilation aborted\nat unit b, name is not declared, wrong case\nat unit a, expected a semicolon\n", "Fatal: Compilation aborted\nat unit b, name is not declared, wrong case\n"},
		{"a frame in a box", "#\n# SIGSEGV (0xb) at pc=0x7f48, pid=28, tid=29\n#\n# V  [libjvm.so+0xed2f94]  Unsafe_Put+0x124\n#\n", "#\n# SIGSEGV (0xb) at pc=0x7f99, pid=31, tid=77\n#\n# V  [libjvm.so+0xed3f94]  Unsafe_Put+0x124\n#\n", "#\n# SIGSEGV (0xb) at pc=0x7f48, pid=28, tid=29\n#\n# C  [libc.so.6+0x9f]  __libc_free+0x1d\n#\n"},
		{"a message above its place", "@x/core: b.js does not export 'b'\n\n  /srv/a.js:2:10\n", "@x/core: b.js does not export 'b'\n\n  /srv/a.js:7:10\n", "@x/core: b.js does not export 'c'\n\n  /srv/a.js:2:10\n"},
		{"warnings that fail", "i.rst:3: ERROR: Unknown directive\ni.rst:5: WARNING: undefined label: x\nbuild finished with problems, 2 warnings.\n", "i.rst:5: ERROR: Unknown directive\ni.rst:9: WARNING: undefined label: x\nbuild finished with problems, 2 warnings.\n", "i.rst:3: ERROR: Unknown directive\ni.rst:5: WARNING: undefined label: y\nbuild finished with problems, 2 warnings.\n"},
		{"warnings that do not", "a.c:3:1: error: no x\na.c:5:1: warning: unused y\n", "a.c:3:1: error: no x\n", "a.c:3:1: error: no z\na.c:5:1: warning: unused y\n"},
		{"a value is no verdict", "Tests:\n  FAILED:\n    alertname: Down\n        exp: a\n        got: b\n", "Tests:\n  FAILED:\n    alertname: Down\n        exp: a\n        got: b\n", "Tests:\n  FAILED:\n    alertname: Down\n        exp: a\n        got: c\n"},
		{"sizes are no counts", "deploy: error: cannot bundle\nbundle.bin 54239 bytes\n", "deploy: error: cannot bundle\nbundle.bin 66494 bytes\n", "deploy: error: cannot fetch\nbundle.bin 54239 bytes\n"},
		{"what a process holds", "--- FAIL: TestLeak (0.5s)\n    leak_test.go:20: 17 goroutines leaked\n", "--- FAIL: TestLeak (0.5s)\n    leak_test.go:20: 9 goroutines leaked\n", "--- FAIL: TestLeak (0.5s)\n    leak_test.go:20: 17 items leaked\n"},
		{"values behind their words", "FAIL  \"adds\"\n    ++90    (Expected)\n    --80    (Actual)\n", "FAIL  \"adds\"\n    ++90    (Expected)\n    --80    (Actual)\n", "FAIL  \"adds\"\n    ++90    (Expected)\n    --70    (Actual)\n"},
		{"a trace in a list", `{"level":"error","time":"2026-01-02T03:04:05Z","msg":"no order","error":{"message":"lost","stack":["at a (x.js)","at b (y.js)"]}}` + "\n", `{"level":"error","time":"2026-01-02T03:04:05Z","msg":"no order","error":{"message":"lost","stack":["at c (z.js)"]}}` + "\n", `{"level":"error","time":"2026-01-02T03:04:05Z","msg":"no order","error":{"message":"late","stack":["at a (x.js)"]}}` + "\n"},
		{"words in a box", box("1", "access denied for ann"), box("8", "access denied for ann"), box("1", "no such bucket here")},
	}...)
	inContainer := func(id, test string) (s string) {
		for _, l := range []string{"=== RUN   " + test, "--- FAIL: " + test + " (0.1s)", "    a_test.go:31: got 401, want 200", "FAIL", "exit status 1"} {
			s += id + " " + l + "\n"
		}
		return s
	}
	tests = append(tests, struct{ name, a, again, b string }{"behind the id of a container", inContainer("abb03f564d57", "TestLogin"), inContainer("41170355812e", "TestLogin"), inContainer("abb03f564d57", "TestLogout")})
	long := func(format, column, end string) string {
		return fmt.Sprintf(format, column, strings.Repeat("a::long_name<of<a, type>, that, goes<on>> ", 20)+end)
	}
	for _, c := range [...]struct{ name, format string }{
		{"the end of a long finding", "src/a.cc:3:%s: error: no matching function for call to %s\n"},
		{"the end of a long error", "now %s\nError: command failed: %s\n"},
		{"the end of a long name", "now %s\n--- FAIL: TestTypes/%s (0.01s)\n"},
		{"the end of a long entry", `{"level":"error","ts":17638712%s.5,"msg":"%s"}` + "\n"},
	} {
		tests = append(tests, struct{ name, a, again, b string }{c.name, long(c.format, "12", "first"), long(c.format, "17", "first"), long(c.format, "12", "second")})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, again, b := sign(tt.a, 1), sign(tt.again, 1), sign(tt.b, 1)
			if a.Hash != again.Hash {
				t.Errorf("the same failure differs: %q and %q", a.Facts, again.Facts)
			}
			if a.Hash == b.Hash {
				t.Errorf("two failures are one: %q", a.Facts)
			}
		})
	}
}

// The text of a warning, in its box, is no error, and Python's warnings are no findings.
func TestTheTextOfAWarning(t *testing.T) {
	sig := sign("╷\n│ Warning: No configuration file\n│\n│ The file \"/root/.toolrc\" does not exist.\n╵\n╷\n│ Error: Invalid reference\n│\n│   on main.tf line 3:\n╵\n", 1)
	if len(sig.Errors) == 0 || sig.Errors[0] != "Error: Invalid reference" {
		t.Errorf("errors %q", sig.Errors)
	}
	sig = sign("/usr/lib/python3/cli.py:4: DeprecationWarning: This command will be removed.\n  from cli import main\norders: it is no number\n", 1)
	if sig.Kind != KindOutput || sig.Failing > 0 {
		t.Errorf("%s, %d failing", sig.Kind, sig.Failing)
	}
}

// Objects with a name that collectors use too, names of one length, the words after a line
// number, what an example got and the container that a log names tell failures apart.
func TestNamesAndValuesTellFailuresApart(t *testing.T) {
	rows := func(names ...string) string {
		return fmt.Sprintf(`{"i":"%s","m":"  a"}`+"\n"+`{"i":"%s","m":"b c"}`+"\n"+`{"i":"%s","m":"d"}`+"\n", names[0], names[1], names[2])
	}
	tests := [][2]string{
		{`{"log":"request failed","code":500}`, `{"log":"request failed","code":404}`},
		{`{"log":"request failed","reason":"no stock"}`, `{"log":"request failed","reason":"no money"}`},
		{`{"level":"error","log":"request failed","shop":"a"}`, `{"level":"error","log":"request failed","shop":"b"}`},
		{`{"MESSAGE":"job failed","job":"mails"}`, `{"MESSAGE":"job failed","job":"bills"}`},
		{`{"Log":"job failed","job":"mails"}`, `{"Log":"job failed","job":"bills"}`},
		{`{"textPayload":"job failed","job":"mails"}`, `{"textPayload":"job failed","job":"bills"}`},
		{`{"line":"job failed","job":"mails"}`, `{"line":"job failed","job":"bills"}`},
		{`{"message":"job failed","job":"mails"}`, `{"message":"job failed","job":"bills"}`},
		{`{"event":"job failed","job":"mails"}`, `{"event":"job failed","job":"bills"}`},
		{rows("login", "carts", "pager"), rows("bills", "stock", "mails")},
		{"site.pp - ERROR: syntax error on line 3 near 'node'", "site.pp - ERROR: syntax error on line 3 near 'class'"},
		{"site.pp - WARNING: quoted value on line 3 in 'node'", "site.pp - WARNING: quoted value on line 3 in 'class'"},
		{"a.conf - error: on line 3: unknown key colour", "a.conf - error: on line 3: unknown key shape"},
	}
	example := func(got string) string {
		return "File \"/w/shop.py\", line 14, in shop.names\nFailed example:\n    names(2)\nExpected:\n    ['a', 'b']\nGot:\n    " + got + "\n1 items had failures:\n   1 of   2 in shop.names\n***Test Failed*** 1 failures."
	}
	tests = append(tests, [2]string{example("['a', 'c']"), example("['a', 'd']")}, [2]string{example("3\n    5"), example("3\n    4")},
		[2]string{`{"container_name":"api","log":"FAIL orders"}`, `{"container_name":"web","log":"FAIL orders"}`})
	for _, c := range tests {
		a, b := sign(c[0]+"\n", 1), sign(c[1]+"\n", 1)
		if a.Hash == b.Hash {
			t.Errorf("%q and %q are the same failure: %q", c[0], c[1], a.Facts)
		}
		many, others := sign(strings.Repeat(c[0]+"\n", 4), 1), sign(strings.Repeat(c[1]+"\n", 4), 1)
		if many.Hash == others.Hash {
			t.Errorf("%q and %q, four times each, are the same failure: %q", c[0], c[1], many.Facts)
		}
	}
}
