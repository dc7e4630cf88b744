package templates

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file in testdata/golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test ./templates -update writes it anew\ngot\n%s\nwant\n%s", name, got, want)
	}
}

func load(t *testing.T, dirs ...string) *Set {
	t.Helper()
	set, err := Load(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The ids, labels and actions of the built-in questions are a contract:
// policies name them.
func TestBuiltinOptions(t *testing.T) {
	rest := "continue:Continue:continue review:Review:review accept:Accept current:accept cancel:Cancel:cancel"
	half := strings.Replace(rest, "Continue", "Continue +50%", 1)
	for _, c := range []struct {
		guard          core.GuardID
		options, deflt string
	}{
		{core.MaxIterations, "continue:Continue +5:continue new_approach:Continue +5 (new approach):continue accept:Accept current:accept cancel:Cancel:cancel", "cancel"},
		{core.MaxRuntime, "continue:Continue +10min:continue pause:Checkpoint & pause:pause accept:Accept current:accept cancel:Cancel:cancel", "pause"},
		{core.LoopDetected, "new_approach:Try different approach:continue debug:Debug first:debug accept:Accept current:accept cancel:Cancel:cancel", "cancel"},
		{core.ConsecutiveErrors, "retry:Retry with context:continue debug:Debug first:debug skip:Skip and continue:skip cancel:Cancel:cancel", "cancel"},
		{core.MaxCost, half, "cancel"},
		{core.MaxTokens, half, "cancel"},
		{core.NoProgress, rest, "cancel"},
		{core.WorkspaceCycle, rest, "cancel"},
		{core.Rejection, "override:Override:continue accept:Accept the rejection:reject defer:Defer:pause decompose:Decompose:decompose reformulate:Reformulate:reformulate cancel:Cancel:cancel", ""},
		{core.Blocked, "continue:Continue:continue pause:Checkpoint & pause:pause accept:Accept current:accept cancel:Cancel:cancel", ""},
		{core.Clarification, "continue:Answer:continue pause:Checkpoint & pause:pause cancel:Cancel:cancel", ""},
		{core.LadderExhausted, "continue:Continue:continue pause:Checkpoint & pause:pause accept:Accept current:accept cancel:Cancel:cancel", ""},
		{"a_guard_of_ones_own", rest, ""},
	} {
		t.Run(string(c.guard), func(t *testing.T) {
			s, trip := Sample(c.guard)
			q, err := load(t).Question(s, trip)
			if err != nil {
				t.Fatal(err)
			}
			var options []string
			for _, o := range q.Options {
				options = append(options, o.ID+":"+o.Label+":"+string(o.Action))
				if o.Description == "" {
					t.Errorf("option %s has no description", o.ID)
				}
			}
			if got := strings.Join(options, " "); got != c.options {
				t.Errorf("options\n%s\nwant\n%s", got, c.options)
			}
			if q.Default != c.deflt {
				t.Errorf("default %q, want %q", q.Default, c.deflt)
			}
			if q.Kind != core.KindSelect || q.Guard != c.guard || q.Exclusive || len(q.Short) > 12 {
				t.Errorf("question %+v", q)
			}
		})
	}
}

func TestBuiltinExtensionsAndGuidance(t *testing.T) {
	option := func(guard core.GuardID, id string) core.Option {
		t.Helper()
		s, trip := Sample(guard)
		q, err := load(t).Question(s, trip)
		if err != nil {
			t.Fatal(err)
		}
		o, ok := q.Option(id)
		if !ok {
			t.Fatalf("%s has no option %s", guard, id)
		}
		return o
	}
	for _, c := range []struct {
		guard core.GuardID
		id    string
		want  core.Extend
	}{
		{core.MaxIterations, "continue", core.Extend{Iterations: 5}},
		{core.MaxIterations, "new_approach", core.Extend{Iterations: 5}},
		{core.MaxRuntime, "continue", core.Extend{Runtime: 10 * time.Minute}},
		{core.MaxCost, "continue", core.Extend{CostPercent: 50}},
		{core.MaxTokens, "continue", core.Extend{TokensPercent: 50}},
		{core.LoopDetected, "new_approach", core.Extend{}},
	} {
		if got := option(c.guard, c.id).Extend; got != c.want {
			t.Errorf("%s %s extends by %+v, want %+v", c.guard, c.id, got, c.want)
		}
	}
	const approach = "Try a different approach than previous iterations"
	for _, guard := range []core.GuardID{core.MaxIterations, core.LoopDetected} {
		if got := option(guard, "new_approach").Guidance; got != approach {
			t.Errorf("%s: guidance %q", guard, got)
		}
	}
	want := `The last iterations ended as errors. Take them into account:
- iterations 1 to 3: 3 of 5 tests failing: TestAuth, TestLogin (exit 1): auth_test.go:31: got 401, want 200
- iterations 4 to 6: killed by SIGKILL: “signal: killed” (exit 137)`
	if got := option(core.ConsecutiveErrors, "retry").Guidance; got != want {
		t.Errorf("retry's guidance is\n%s\nwant\n%s", got, want)
	}
}

func TestQuestionsGolden(t *testing.T) {
	set := load(t)
	for _, guard := range append(slices.Concat(core.GuardIDs(), core.ProtocolIDs()), AnyGuard) {
		name := strings.ReplaceAll(string(guard), "*", "other")
		t.Run(name, func(t *testing.T) {
			s, trip := Sample(guard)
			q, err := set.Question(s, trip)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", rendered(q))
		})
	}
}

func TestQuestionWording(t *testing.T) {
	set := load(t)
	ask := func(guard core.GuardID, change func(*core.State, *core.Trip)) core.Question {
		t.Helper()
		s, trip := Sample(guard)
		change(s, &trip)
		q, err := set.Question(s, trip)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	q := ask(core.MaxIterations, func(*core.State, *core.Trip) {})
	if want := "10 of 10 iterations are used"; q.Text != want {
		t.Errorf("text %q, want %q", q.Text, want)
	}
	q = ask(core.LoopDetected, func(s *core.State, trip *core.Trip) {
		trip.Period, trip.Repeats = 2, 3
		s.Labels = []core.KnownIssue{{Hash: 1, Label: "x"}, {Hash: 1, Label: "a"}, {Hash: 2, Label: "b"}}
	})
	if q.Text != "The same 2 failures repeated in turn 3 times" {
		t.Errorf("cycle: %q\n%s", q.Text, details(q))
	}
	if strings.Contains(details(q), "--loop-threshold off") {
		t.Error("the hint for waiting is shown though there is a check")
	}
	q = ask(core.LoopDetected, func(s *core.State, trip *core.Trip) { s.Check = nil })
	if strings.Contains(details(q), "--loop-threshold off") {
		t.Error("the hint for waiting is shown though tests fail")
	}
	for output, hint := range map[string]bool{"": true, "curl: (7) Failed to connect: Connection refused\n": true, "Error: no such table\n": false} {
		q = ask(core.LoopDetected, func(s *core.State, trip *core.Trip) {
			s.Check = nil
			s.Last = &core.IterationFinished{Iteration: s.Iterations, Excerpt: output}
		})
		if strings.Contains(details(q), "--loop-threshold off") != hint {
			t.Errorf("a command that printed %q:\n%s", output, details(q))
		}
	}
	q = ask(core.LoopDetected, func(s *core.State, trip *core.Trip) { trip.Known, trip.Period = true, 0 })
	if !strings.HasPrefix(q.Text, "The last iterations had only known issues") {
		t.Errorf("known: %q", q.Text)
	}
	q = ask(core.ConsecutiveErrors, func(s *core.State, trip *core.Trip) { s.Last.Signature.Hash = 0 })
	if _, ok := q.Option("skip"); ok || !strings.Contains(details(q), "“Skip and continue” is not offered: the output") {
		t.Errorf("skip without a signature: %v\n%s", q.OptionIDs(), details(q))
	}
	for _, c := range []struct {
		name   string
		change func(*core.State)
		want   string
	}{
		{"killed and silent", func(s *core.State) {
			s.Check, s.Last.ExitCode, s.Last.Excerpt, s.Last.Signature.Errors = nil, 139, "", nil
		}, "./fix.sh was killed by SIGSEGV 3 times in a row and printed nothing"},
		{"a tool that is not there", func(s *core.State) {
			s.Last.ExitCode, s.Last.WorkExitCode, s.Last.Excerpt = 127, new(0), "sh: 1: nosuchtool: not found"
		}, "The check `nosuchtool` was not found 3 times in a row"},
		{"the work itself", func(s *core.State) {
			s.Last.ExitCode, s.Last.WorkExitCode, s.Last.Words = 1, new(7), "API Error: 500"
		}, "./fix.sh failed 3 times in a row (exit code 7)"},
		{"a time limit", func(s *core.State) {
			s.Check, s.Last.Cause = nil, core.CauseIdleTimeout
		}, "./fix.sh ran into a time limit 3 times in a row"},
		{"once", func(s *core.State) {
			s.Check, s.Last.ExitCode, s.ErrorRun, s.Errors = nil, 200, 1, s.Errors[:1]
		}, "./fix.sh failed (exit code 200)"},
		{"a command of several words", func(s *core.State) {
			s.Command, s.Check, s.Last.ExitCode = []string{"sh", "-c", "test -c /dev/one || exit 200"}, nil, 200
		}, "`test -c /dev/one || exit 200` failed 3 times in a row (exit code 200)"},
		{"a long one", func(s *core.State) {
			s.Command, s.Check, s.Last.ExitCode = []string{"sh", "-c", "test -c /some/long/path/to/a/device/that/is/not/there || exit 200"}, nil, 200
		}, "`test -c /some/long/path/to/a/device/tha…` failed 3 times in a row (exit code 200)"},
	} {
		q := ask(core.ConsecutiveErrors, func(s *core.State, trip *core.Trip) {
			c.change(s)
			trip.Also = []core.GuardID{core.LoopDetected}
			for i := range s.Errors {
				s.Errors[i].ExitCode, s.Errors[i].Cause = s.Last.ExitCode, s.Last.Cause
			}
		})
		if q.Text != c.want || strings.Contains(details(q), "Tripped as well") {
			t.Errorf("%s: %q, want %q and no other guard:\n%s", c.name, q.Text, c.want, details(q))
		}
	}
	q = ask(core.MaxRuntime, func(s *core.State, trip *core.Trip) {
		trip.Output, trip.QuietMS = "starting\nwaiting for lock on users (pid 77)", 240_000
	})
	if got := details(q); !strings.Contains(got, "Its last output, 4m ago:\n  starting\n  waiting for lock on users (pid 77)") || strings.Contains(got, "TestLogin") {
		t.Errorf("in the middle of an iteration: %s", got)
	}
	for _, c := range []struct {
		guard core.GuardID
		want  bool
	}{{core.LoopDetected, true}, {core.MaxIterations, true}, {core.ConsecutiveErrors, false}, {core.Blocked, false}} {
		q = ask(c.guard, func(s *core.State, trip *core.Trip) {
			s.Check, s.Last.ExitCode, s.Last.Excerpt, s.Last.OutputBytes, s.Last.Signature = nil, 3, "", 0, signature.Signature{Hash: 1, Failing: -1, Passed: -1}
		})
		if got := strings.Contains(details(q), "\n./fix.sh failed (exit code 3) and printed nothing\n"); got != c.want {
			t.Errorf("%s: a silent failure is told: %t\n%s", c.guard, got, details(q))
		}
	}
	q = ask(core.MaxIterations, func(s *core.State, trip *core.Trip) {
		s.Limits.Iterations, s.Limits.Runtime = core.Off, core.Off
	})
	if d := q.Details[len(q.Details)-1]; d != "Iteration 10 · 4m10s" {
		t.Errorf("without limits: %q", d)
	}
}

func details(q core.Question) string { return strings.Join(q.Details, "\n") }

// A run of which nothing is known has questions too.
func TestQuestionOfNothing(t *testing.T) {
	set := load(t)
	for _, guard := range append(slices.Concat(core.GuardIDs(), core.ProtocolIDs()), "other") {
		q, err := set.Question(&core.State{}, core.Trip{Guard: guard, Period: 7})
		if err != nil || q.Text == "" || len(q.Options) < 2 {
			t.Errorf("%s: %+v, %v", guard, q, err)
		}
		if got := details(q); strings.Contains(got, "fail") || strings.Contains(got, "said last") {
			t.Errorf("%s: something of nothing: %q", guard, got)
		}
	}
}

// The words of the built-in messages are those of the state itself.
func TestSummaryAgreesWithState(t *testing.T) {
	set := load(t)
	for _, change := range []func(*core.State){
		func(s *core.State) {},
		func(s *core.State) { s.Last = nil },
		func(s *core.State) { s.Last.Outcome = core.OutcomeDone },
		func(s *core.State) { s.Last.Signature.Total = -1 },
		func(s *core.State) { s.Last.Signature.Passed = -1 },
		func(s *core.State) { s.Last.Signature.Failing = -1 },
		func(s *core.State) { s.Last.Signature.Failing, s.Last.Signature.Passed = -1, -1 },
		func(s *core.State) { s.Last.Signature.Hash, s.Last.Signature.Label = 0, "" },
		func(s *core.State) { s.Last.Signature.Checks = strings.Fields("a b c d e f g") },
		func(s *core.State) { s.Last.Signature.Checks = nil },
		func(s *core.State) { s.Last.Signature.Kind = signature.KindBuildFail },
		func(s *core.State) { s.Last.Signature.Total = 0 },
		func(s *core.State) { setCounts(s, 1, 1, -1) },
		func(s *core.State) { setCounts(s, 1, 0, 1) },
		func(s *core.State) { setCounts(s, 0, 1, 1) },
		func(s *core.State) { setCounts(s, 1, 1, 2) },
		func(s *core.State) { setCounts(s, 0, 0, 0) },
	} {
		s, _ := Sample(core.MaxIterations)
		change(s)
		src := &source{state: s, texts: set.texts}
		if got, want := set.Summary(s), s.Summary(); got != want {
			t.Errorf("Summary %q, the state says %q", got, want)
		}
		if p := s.Last.Progress(); p != nil && p.Passed >= 0 && src.passing(p) != s.CurrentState() {
			t.Errorf("passing %q, the state says %q", src.passing(p), s.CurrentState())
		}
	}
}

func setCounts(s *core.State, failing, passed, total int) {
	s.Last.Signature.Failing, s.Last.Signature.Passed, s.Last.Signature.Total = failing, passed, total
}

func TestVariables(t *testing.T) {
	for _, guard := range append(slices.Concat(core.GuardIDs(), core.ProtocolIDs()), AnyGuard) {
		s, trip := Sample(guard)
		for _, state := range []*core.State{s, {}} {
			values := newSource(state, trip, core.CI{}, load(t).texts).facts()
			for _, v := range Variables() {
				ok := false
				switch values[v.Name].(type) {
				case string:
					ok = v.Type == TypeText
				case int:
					ok = v.Type == TypeNumber
				case bool:
					ok = v.Type == TypeBool
				case []string:
					ok = v.Type == TypeList
				}
				if !ok || v.Description == "" {
					t.Errorf("%s: %s is a %T, documented as %s: %s", guard, v.Name, values[v.Name], v.Type, v.Description)
				}
			}
		}
	}
	var b bytes.Buffer
	if err := WriteVariables(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "variables.txt", b.String())
}

func TestMessagesAreAllThere(t *testing.T) {
	var keys []string
	for _, m := range Messages() {
		keys = append(keys, m.Key)
		if _, ok := builtinTexts()[m.Key]; !ok {
			t.Errorf("the built-in messages.yaml has no %s", m.Key)
		}
		for _, v := range m.Variables {
			if v.Description == "" {
				t.Errorf("%s: %s has no description", m.Key, v.Name)
			}
		}
	}
	if !slices.IsSorted(keys) {
		t.Errorf("not sorted: %v", keys)
	}
}

func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 15 * time.Minute: "15m", time.Hour: "1h", 90 * time.Minute: "1h30m",
		250*time.Second + 400*time.Millisecond: "4m10s", time.Hour + time.Second: "1h0m1s", 10 * time.Second: "10s",
		1500 * time.Microsecond: "2ms", 100 * time.Hour: "100h",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		loadPack(builtinNames(b), builtinFiles.ReadFile)
	}
}

// The program does not look for faults in the built-in pack, so this does.
func TestBuiltinPackHasNoFaults(t *testing.T) {
	if p, problems := loadPack(builtinNames(t), builtinFiles.ReadFile); len(problems) > 0 || p.messages == nil {
		t.Error(problems)
	}
}

func builtinNames(t testing.TB) (names []string) {
	entries, err := builtinFiles.ReadDir("builtin")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, "builtin/"+e.Name())
	}
	return names
}

func BenchmarkQuestion(b *testing.B) {
	set, err := Load()
	if err != nil {
		b.Fatal(err)
	}
	s, trip := Sample(core.LoopDetected)
	for b.Loop() {
		if _, err := set.Question(s, trip); err != nil {
			b.Fatal(err)
		}
	}
}

// A name means one thing in questions and in other texts, so it has one type.
func TestMessagesNameThingsAsQuestionsDo(t *testing.T) {
	types := map[string]VariableType{}
	for _, v := range Variables() {
		types[v.Name] = v.Type
	}
	for _, m := range Messages() {
		for _, v := range m.Variables {
			if now := types[v.Name]; now != "" && now != v.Type {
				t.Errorf("%s: {{.%s}} is a %s, in questions a %s", m.Key, v.Name, v.Type, now)
			}
		}
	}
}

// The English notes of core mention only what a translated text can mention.
func TestNotesMentionWhatMessagesDo(t *testing.T) {
	for _, m := range Messages() {
		values := map[string]any{"Text": "as core puts it"}
		for _, v := range m.Variables {
			values[v.Name] = v.Name
		}
		if text := (core.Note{Key: m.Key, Values: values}).String(); strings.Contains(text, "nil") {
			t.Errorf("%s: %s", m.Key, text)
		}
	}
}
