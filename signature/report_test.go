package signature

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReports(t *testing.T) {
	tests := []struct {
		name, report string
		kind         string
		checks       []string
		facts        []string // some that must be there
		failing      int
	}{
		{"junit", `<?xml version="1.0"?><testsuites tests="3" failures="1" errors="1"><testsuite name="a">
<testcase classname="AuthTest" name="login" time="0.1"><failure message="expected &lt;alice> but was &lt;ALICE&gt;" type="java.lang.AssertionError">trace</failure></testcase>
<testcase classname="AuthTest" name="ok" time="0.1"><!-- it's > <failure message="x"/> --></testcase><testcase classname="AuthTest" name="logout"><error type="java.lang.NullPointerException"><![CDATA[java.lang.NullPointerException
 at x]]></error></testcase></testsuite></testsuites>`, KindTestFail, []string{"AuthTest.login", "AuthTest.logout"}, []string{"error java.lang.NullPointerException"}, 2},
		{
			"nunit", `<test-run total="2" failed="1"><test-suite name="s"><test-case name="Login" fullname="A.Login" result="Failed"><failure><message><![CDATA[System.Exception : boom]]></message></failure></test-case><test-case name="Ok" result="Passed"/></test-suite></test-run>`,
			KindTestFail,
			[]string{"A.Login"},
			nil, 1,
		},
		{"checkstyle", `<checkstyle version="4.3"><file name="/srv/app/a.js"><error line="3" column="1" severity="error" message="Missing semicolon" source="semi"/></file></checkstyle>`, KindLintFail, nil, []string{"diag a.js semi Missing semicolon"}, 1},
		{
			"sarif", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"ruleId":"G101","level":"error","message":{"text":"hard-coded password"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"src/a.go"},"region":{"startLine":3}}}]}]}]}`,
			KindLintFail, nil,
			[]string{"diag src/a.go G101 hard-coded password"},
			1,
		},
		{"eslint json", `[{"filePath":"/srv/app/src/a.js","messages":[{"ruleId":"no-undef","severity":2,"message":"'x' is not defined.","line":3,"column":1}],"errorCount":1}]`, KindLintFail, nil, []string{"diag a.js no-undef 'x' is not defined."}, 1},
		{
			"jest json", `{"numFailedTests":1,"numPassedTests":2,"numTotalTests":3,"testResults":[{"name":"/srv/app/a.test.js","status":"failed","assertionResults":[{"fullName":"session logs in","status":"failed","title":"logs in","failureMessages":["TypeError: x is undefined\n    at a (b.js:1:1)"]},{"fullName":"ok","status":"passed"}]}]}`,
			KindTestFail,
			[]string{"session logs in"},
			[]string{"check session logs in", "suite a.test.js"},
			1,
		},
		{"mocha json", `{"stats":{"tests":3,"passes":2,"failures":1},"tests":[{"title":"b","fullTitle":"a b","err":{"message":"boom"}}],"failures":[{"title":"b","fullTitle":"a b","err":{"message":"boom"}}]}`, KindTestFail, []string{"a b"}, nil, 1},
		{"rspec json", `{"examples":[{"full_description":"Auth logs in","status":"failed","file_path":"./spec/a_spec.rb","line_number":3,"exception":{"class":"RuntimeError","message":"no"}}],"summary":{"example_count":4,"failure_count":1}}`, KindTestFail, []string{"Auth logs in"}, nil, 1},
		{"go test -json", `{"Time":"2026-11-21T09:00:00Z","Action":"output","Package":"x","Test":"TestA","Output":"    a_test.go:3: wrong user\n"}
{"Time":"2026-11-21T09:00:00Z","Action":"output","Package":"x","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Time":"2026-11-21T09:00:00Z","Action":"fail","Package":"x","Test":"TestA","Elapsed":0.01}`, KindTestFail, []string{"TestA"}, []string{"diag a_test.go wrong user"}, 1},
		{"cargo json", `{"reason":"compiler-message","message":{"message":"mismatched types","code":{"code":"E0308"},"level":"error","spans":[{"file_name":"src/a.rs","line_start":3}],"rendered":"x"}}`, KindLintFail, nil, []string{"diag src/a.rs E0308 mismatched types"}, 1},
		{"a check in the context of a timed one", `{"tests":[{"name":"a","time":0.1,"context":{"name":"b","status":"failed"}}]}`, KindTestFail, []string{"b"}, nil, 1},
		{"tap", "TAP version 13\n1..2\nok 1 - a\nnot ok 2 - b\n  ---\n  message: 'no'\n  at:\n    line: 3\n  ...\n", KindTestFail, []string{"b"}, nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, via := range []string{"report", "stdout"} {
				s := New(Options{})
				if via == "report" {
					if err := s.Report("r", iotest.OneByteReader(strings.NewReader(tt.report))); err != nil {
						t.Fatal(err)
					}
				} else {
					io.WriteString(s.Stdout(), tt.report+"\n")
				}
				sig := s.Sum(1)
				if sig.Kind != tt.kind || !slices.Equal(sig.Checks, tt.checks) || sig.Failing != tt.failing {
					t.Errorf("%s: got %s %q %d, want %s %q %d; facts %q", via, sig.Kind, sig.Checks, sig.Failing, tt.kind, tt.checks, tt.failing, sig.Facts)
				}
				for _, f := range tt.facts {
					if !slices.Contains(sig.Facts, f) {
						t.Errorf("%s: no fact %q in %q", via, f, sig.Facts)
					}
				}
			}
		})
	}
}

// An entry of a structured log says what failed by its message and its reason: two
// reasons are two failures, while its time, its process and its place are none.
func TestEntriesOfStructuredLogs(t *testing.T) {
	for name, entry := range map[string]string{
		"logrus":        `{"error":"REASON","level":"error","msg":"MESSAGE","time":"2026-01-02T03:04:0NZ"}`,
		"zap":           `{"level":"error","ts":176387123N.5,"caller":"srv/x.go:1N","msg":"MESSAGE","error":"REASON","stacktrace":"main.main\n\t/app/main.go:15"}`,
		"zap panic":     `{"level":"dpanic","ts":176387123N.5,"msg":"MESSAGE","error":"REASON"}`,
		"zerolog":       `{"level":"fatal","error":"REASON","time":176387123N,"message":"MESSAGE"}`,
		"slog":          `{"time":"2026-01-02T03:04:0N.1Z","level":"ERROR","msg":"MESSAGE","err":"REASON"}`,
		"pino":          `{"level":50,"time":153117108239N,"pid":65N,"hostname":"h","err":{"type":"Error","message":"REASON","stack":"Error: REASON\n    at a (/app/x.js:3:N)"},"msg":"MESSAGE"}`,
		"bunyan":        `{"name":"app","hostname":"h","pid":1N,"level":60,"err":{"message":"REASON","name":"Error"},"msg":"MESSAGE","time":"2026-01-02T03:04:0N.123Z","v":0}`,
		"structlog":     `{"event":"MESSAGE","level":"error","timestamp":"2026-01-02T03:04:0NZ","exception":"Traceback (most recent call last):\n  File \"a.py\", line N, in f\nValueError: REASON"}`,
		"python":        `{"asctime":"2026-01-02 03:04:05,12N","levelname":"CRITICAL","message":"MESSAGE","exc_info":"Traceback (most recent call last):\n  File \"a.py\", line N, in f\nValueError: REASON"}`,
		"tracing":       `{"timestamp":"2026-01-02T03:04:0NZ","level":"ERROR","fields":{"message":"MESSAGE","error":"REASON"},"target":"app"}`,
		"ECS":           `{"@timestamp":"2026-01-02T03:04:0N.123Z","log.level":"error","message":"MESSAGE","error.message":"REASON"}`,
		"ECS, nested":   `{"@timestamp":"2026-01-02T03:04:0N.123Z","log":{"level":"ERROR","logger":"a.B"},"message":"MESSAGE","error":{"message":"REASON","type":"java.lang.X"}}`,
		"Logback":       `{"@timestamp":"2026-01-02T03:04:0N.123Z","level":"ERROR","thread_name":"main","message":"MESSAGE","stack_trace":"java.lang.IllegalStateException: REASON\n\tat a.B.c(B.java:1N)\n"}`,
		"Monolog":       `{"message":"MESSAGE","context":{"exception":{"class":"X","message":"REASON"}},"level":400,"level_name":"ERROR","datetime":"2026-01-02T03:04:05.12N+00:00"}`,
		"Serilog":       `{"@t":"2026-01-02T03:04:0NZ","@m":"MESSAGE","@l":"Error","@x":"System.InvalidOperationException: REASON\n   at A.B() in /app/B.cs:line N"}`,
		"ASP.NET":       `{"Timestamp":"2026-01-02T03:04:0NZ","LogLevel":"Error","Category":"A","Message":"MESSAGE","Exception":"System.InvalidOperationException: REASON    at A.B()"}`,
		"Google Cloud":  `{"severity":"ERROR","time":"2026-01-02T03:04:0NZ","message":"MESSAGE: REASON"}`,
		"winston, time": `{"level":"error","message":"MESSAGE","timestamp":"2026-01-02T03:04:0NZ","stack":"Error: REASON\n    at a (/app/x.js:3:N)"}`,
		// The reason is set out, or under a name of its own.
		"pino, code":        `{"level":50,"time":153117108239N,"pid":65N,"err":{"type":"Error","code":"REASON","requestId":"4cc8b8a4c72fN","stack":"Error\n    at a (/app/x.js:3:N)"},"msg":"MESSAGE"}`,
		"zap, causes":       `{"level":"error","ts":176387123N.5,"msg":"MESSAGE","errorCauses":[{"error":"first"},{"error":"REASON"}]}`,
		"structlog, frames": `{"event":"MESSAGE","level":"error","timestamp":"2026-01-02T03:04:0NZ","exception":[{"exc_type":"ValueError","exc_value":"REASON","frames":[{"filename":"/a.py","lineno":N}]}]}`,
		"Serilog, template": `{"@t":"2026-01-02T03:04:0NZ","@mt":"MESSAGE: {Why}","@l":"Error","Why":"REASON"}`,
		"Logback, cause":    `{"@timestamp":"2026-01-02T03:04:0N.123Z","level":"ERROR","message":"MESSAGE","stack_trace":"java.lang.X: top\n\tat a.B.c(B.java:1N)\nCaused by: java.io.Y: REASON\n\t... 3 more"}`,
		"Quarkus, cause":    `{"timestamp":"2026-01-02T03:04:0NZ","level":"ERROR","message":"MESSAGE","exception":{"exceptionType":"X","message":"top","causedBy":{"exception":{"exceptionType":"Y","message":"REASON"}}}}`,
		"Log4j, instant":    `{"instant":{"epochSecond":176387123N,"nanoOfSecond":1},"level":"ERROR","message":"MESSAGE","thrown":{"name":"X","message":"REASON"},"threadId":2N}`,
		"Lograge":           `{"status":500,"duration":0.N,"level":"ERROR","time":"2026-01-02T03:04:0NZ","message":"MESSAGE","exception":["X","REASON"]}`,
		"Lambda":            `{"timestamp":"2026-01-02T03:04:0NZ","level":"ERROR","message":"MESSAGE","errorType":"E","errorMessage":"REASON","stackTrace":["at N"]}`,
		"metadata":          `{"time":"2026-01-02T03:04:0NZ","severity":"error","message":"MESSAGE","metadata":{"crash_reason":"REASON","pid":"<0.10N.0>"}}`,
		"payload":           `{"insertId":"cd18fc9fb64N","jsonPayload":{"message":"MESSAGE","error":"REASON"},"severity":"ERROR","timestamp":"2026-01-02T03:04:0NZ"}`,
		"loguru":            `{"text":"x","record":{"level":{"name":"ERROR","no":40},"message":"MESSAGE","exception":{"type":"REASON"},"time":{"timestamp":176387123N.5}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			sum := func(message, reason, n string) Signature {
				s := New(Options{})
				io.WriteString(s.Stdout(), `{"level":"info","time":"2026-01-02T03:04:0`+n+`Z","msg":"listening"}`+"\n")
				io.WriteString(s.Stdout(), strings.NewReplacer("MESSAGE", message, "REASON", reason, "N", n).Replace(entry)+"\n")
				return s.Sum(1)
			}
			first := sum("cannot start", "no such table", "5")
			if first.Kind != KindError || !strings.Contains(strings.Join(first.Facts, "\n"), "cannot start") {
				t.Errorf("%s %q", first.Kind, first.Facts)
			}
			if again := sum("cannot start", "no such table", "7"); again.Hash != first.Hash {
				t.Errorf("the same entry later is another failure: %q, then %q", first.Facts, again.Facts)
			}
			if other := sum("cannot start", "connection refused", "5"); other.Hash == first.Hash {
				t.Errorf("another reason is the same failure: %q", other.Facts)
			}
			if other := sum("cannot stop", "no such table", "5"); other.Hash == first.Hash {
				t.Errorf("another message is the same failure: %q", other.Facts)
			}
		})
	}
}

// A report on one line of many megabytes is read whole, in little memory.
func TestReportOnOneLongLine(t *testing.T) {
	pad := strings.Repeat(`{"fullName":"fine","status":"passed"},`, 100_000)
	s := New(Options{})
	io.WriteString(s.Stdout(), `{"results":[`+pad+`{"fullName":"the last one","status":"failed"}]}`+"\n")
	if sig := s.Sum(1); !slices.Equal(sig.Checks, []string{"the last one"}) {
		t.Errorf("got %+v", sig)
	}
}

func TestReportPassesReadErrorsOn(t *testing.T) {
	want := errors.New("disk on fire")
	s := New(Options{})
	if err := s.Report("r", iotest.ErrReader(want)); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

// Escapes are read wherever a string is cut off, and a backslash that is escaped ends
// none.
func TestStringsOfJSON(t *testing.T) {
	var got []string
	r := jsonReader{value: func(_ *jsonReader, _, v string) { got = append(got, v) }}
	r.start()
	long := strings.Repeat("x", maxScalar-3)
	doc := `["a\\","b\"c\n\u00e9\ud83d\ude00d\r","` + long + `\u00e9","` + long + `\\u"]`
	for i := range doc {
		if !r.feed([]byte(doc[i : i+1])) {
			t.Fatalf("no JSON at byte %d", i)
		}
	}
	if want := []string{`a\`, "b\"c\né😀d ", long, long + `\u`}; !slices.Equal(got, want) || r.active() {
		t.Errorf("got %.60q, want %.60q", got, want)
	}
}

func TestPlacesAreBounded(t *testing.T) {
	var fs factSet
	fs.init()
	for i := range 10 * maxPlaces {
		fs.add(fact{kind: factDiag, text: "a"}, uint64(i+1))
	}
	if f := fs.ofKind(factDiag)[0]; len(f.places) != maxPlaces || f.times != 10*maxPlaces {
		t.Errorf("%d places of %d times", len(f.places), f.times)
	}
}

// What a person is told of an error has what stands below it.
func TestErrorsHaveWhatExplainsThem(t *testing.T) {
	sig := sign("* What went wrong:\nExecution failed for task ':app:compile'.\n> Could not find org.example:core:1.2.\n", 1)
	if want := []string{"Execution failed for task ':app:compile'.", "> Could not find org.example:core:1.2."}; !slices.Equal(sig.Errors, want) {
		t.Errorf("got %q, want %q", sig.Errors, want)
	}
}
