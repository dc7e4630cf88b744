package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
)

func TestLoad(t *testing.T) {
	r := story(t).load()
	if r.Status != core.StatusDone || r.Iterations != 7 || r.Name != "make the tests pass" || r.Version != "v1" || r.TripCount != 1 {
		t.Errorf("%+v", r)
	}
	var letters []string
	for _, it := range r.History {
		letters = append(letters, it.Letter)
		if !it.Counted {
			t.Errorf("iteration %d counts for no guard", it.Iteration)
		}
	}
	if want := []string{"A", "B", "B", "B", "C", "D", "✓"}; !slices.Equal(letters, want) {
		t.Errorf("letters %q, want %q", letters, want)
	}
	if s := r.Signatures[1]; s.Letter != "B" || s.Count != 3 || s.First != 2 || s.Last != 4 || s.Label != "test-fail:2-auth,login" {
		t.Errorf("%+v", s)
	}
	if len(r.Trips) != 1 || len(r.Moments) != 2 {
		t.Fatalf("%d trips, %d moments", len(r.Trips), len(r.Moments))
	}
	trip := r.Trips[0]
	if trip.Guard != core.LoopDetected || trip.Iteration != 4 || len(trip.Refused) != 1 || len(trip.Commands) != 1 || len(trip.Options) != 2 {
		t.Errorf("%+v", trip)
	}
	if a := trip.decided(); a == nil || a.Option != "new_approach" || a.Who() != "policy (policy.yaml:3)" || a.Reason == "" {
		t.Errorf("%+v", a)
	}
	if trip.Effect == nil || trip.Effect.Guidance == "" || trip.Effect.Resets[0] != core.LoopDetected {
		t.Errorf("%+v", trip.Effect)
	}
	if m := r.Moments[0]; m.Type != core.TypeRunPaused || m.Text != "the machine goes down" || m.Iteration != 5 {
		t.Errorf("%+v", m)
	}
}

// A real loop: its processes, guards and questions, and who answered what.
// From the events alone a run has the same report, without its outputs.
func TestFromEvents(t *testing.T) {
	r := story(t)
	want := r.load()
	for i := range want.History {
		want.History[i].OutputFile = ""
	}
	got, err := FromEvents(func(yield func(core.Event, error) bool) {
		if _, err := scratchpad.Replay(r.run.Dir, func(e core.Event) error { yield(e, nil); return nil }); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want.dir = ""
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\n%+v", got, want)
	}
	t.Chdir(r.run.Dir) // whose outputs are not this report's
	var page bytes.Buffer
	if err := got.HTML(&page); err != nil || strings.Contains(page.String(), "running") {
		t.Errorf("%v, with the outputs of some folder", err)
	}
	failed := errors.New("the database is gone")
	for want, events := range map[error]iter.Seq2[core.Event, error]{
		failed: func(yield func(core.Event, error) bool) { yield(core.Event{}, failed) },
		core.ErrEvent: func(yield func(core.Event, error) bool) {
			yield(core.Event{Seq: 7, Data: core.RunPaused{}}, nil)
		},
	} {
		if _, err := FromEvents(events); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if _, err := FromEvents(new(core.MemoryJournal).All()); err == nil {
		t.Error("a run without events has a report")
	}
}

func TestLoadOfALiveRun(t *testing.T) {
	limits := core.DefaultLimits()
	limits.Iterations = 9
	answer := func(_ context.Context, q core.Question, s *core.State) (core.Answer, error) {
		if s.Trips > 1 {
			return core.Answer{}, core.ErrNoAnswer
		}
		return core.Answer{Option: "new_approach", Responder: core.RespondedByUser, Person: true, Reason: "I have an idea."}, nil
	}
	r := live(t, engine.Shell(`printf '\033[31m--- FAIL\033[0m: TestLogin (0.0%ss)\nFAIL\n' $LOOPRUN_ITERATION; exit 1`), nil, limits, answer)
	if r.Status != core.StatusTripped || r.Guard != core.LoopDetected || r.ExitCode != 111 || r.Iterations != 6 {
		t.Fatalf("%s (%s), exit %d after %d: %s", r.Status, r.Guard, r.ExitCode, r.Iterations, r.Reason)
	}
	if len(r.Signatures) != 1 || r.Signatures[0].Count != 6 || !slices.Equal(r.History[5].Checks, []string{"TestLogin"}) {
		t.Errorf("%+v", r.Signatures)
	}
	if len(r.Trips) != 2 || r.Trips[0].decided().Who() != "user" || r.Trips[1].Closed == "" || r.Trips[1].decided() != nil {
		t.Errorf("%+v", r.Trips)
	}
	page := written(t, r.HTML)
	for _, want := range []string{"TestLogin", "I have an idea.", "loop detected"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
}

func TestLetters(t *testing.T) {
	for n, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 51: "AZ", 52: "BA", 701: "ZZ", 702: "AAA"} {
		if got := letters(n); got != want {
			t.Errorf("letters(%d) = %s, want %s", n, got, want)
		}
	}
}

// Signatures that differ in numbers only have one letter where the run compares
// them so.
func TestLettersOfALooseRun(t *testing.T) {
	for loose, want := range map[bool]int{true: 1, false: 2} {
		r := record(t, func(d *core.RunStarted) { d.Loose = loose })
		r.iterate(failing("auth", "login"), "x")
		r.iterate(failing("auth"), "x")
		if got := len(r.load().Signatures); got != want {
			t.Errorf("loose %v: %d signatures, want %d", loose, got, want)
		}
	}
}

// An iteration without a signature has no letter and no counts.
func TestNoSignature(t *testing.T) {
	r := record(t, nil)
	r.iterate(core.IterationFinished{Outcome: core.OutcomeNotDone, ExitCode: 1}, "")
	it := r.load().History[0]
	if it.Letter != "" || it.Failing != -1 || it.Passed != -1 || it.Total != -1 || it.OutputFile != "" {
		t.Errorf("%+v", it)
	}
}

// A signature is counted as the guards count it: without the precheck.
func TestSignatureOfThePrecheck(t *testing.T) {
	r := record(t, func(d *core.RunStarted) { d.Check, d.Precheck = []string{"go", "test"}, true })
	r.add(core.IterationStarted{})
	precheck := failing("auth")
	r.add(precheck)
	for range 2 {
		r.iterate(failing("auth"), "x")
	}
	report := r.load()
	if s := report.Signatures; len(s) != 1 || s[0].Count != 2 || s[0].First != 1 || s[0].Last != 2 {
		t.Errorf("%+v", s)
	}
	if len(report.History) != 3 || report.History[0].Counted || report.History[0].Letter != "A" {
		t.Errorf("%+v", report.History)
	}
	page := written(t, report.HTML)
	for _, want := range []string{"The precheck", ">pre</i>", "2 times, 1–2"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// What was cut off is listed and does not count; it runs again under its number.
func TestACutOffIteration(t *testing.T) {
	r := record(t, nil)
	r.iterate(failing("auth"), "x")
	r.iterate(core.IterationFinished{Outcome: core.OutcomeError, Cause: core.CauseMaxRuntime, Detail: "ended at the runtime limit", Signature: signature.Signature{}}, "half")
	r.iterate(failing("auth"), "x")
	report := r.load()
	if len(report.History) != 3 || report.History[1].Counted || !report.History[2].Counted || report.History[2].Iteration != 2 || report.Iterations != 2 {
		t.Errorf("%+v", report.History)
	}
	if report.History[1].OutputFile != "" || report.History[2].OutputFile != "output/0002.log" {
		t.Errorf("its output is taken for that of the other: %q, %q", report.History[1].OutputFile, report.History[2].OutputFile)
	}
	page := written(t, report.HTML)
	for _, want := range []string{`id="i2"`, `id="i2-2"`, "It was cut off and counts for no guard.", "A dashed frame counts for no guard.", `class="cell none error uncounted"`, "What it printed was replaced when the iteration ran again."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// Both sides of what is kept: the last iteration that fits, and one more.
func TestBounds(t *testing.T) {
	for _, more := range []int{0, 1, 5} {
		r := record(t, func(d *core.RunStarted) { d.Limits.Iterations = core.Off })
		for i := range MaxIterations + more {
			d := failing(fmt.Sprintf("check%d", i))
			if i == 0 {
				d = crashing("error:first")
			}
			r.iterate(d, "")
		}
		report := r.load()
		if len(report.History) != MaxIterations || report.Iterations != MaxIterations+more || report.History[0].Iteration != more+1 {
			t.Errorf("%d more: %d kept, the first %d", more, len(report.History), report.History[0].Iteration)
		}
		if len(report.Signatures) != MaxSignatures || report.History[MaxIterations-1].Letter != "…" {
			t.Errorf("%d signatures, the last letter %q", len(report.Signatures), report.History[MaxIterations-1].Letter)
		}
		switch e := report.Earlier; {
		case more == 0 && e != nil:
			t.Errorf("%+v although all is there", e)
		case more > 0 && (e == nil || e.Iterations != more || e.Errors != 1 || e.DurationMS != int64(20+1500*(more-1))):
			t.Errorf("%d more: %+v", more, e)
		}
		if more == 5 {
			for name, text := range map[string]string{"page": written(t, report.HTML), "Markdown": markdown(t, report), "JUnit": written(t, report.JUnit)} {
				if !strings.Contains(text, "earlier iteration") && !strings.Contains(text, "5 iterations before these") {
					t.Errorf("the %s does not say what it leaves out", name)
				}
				if len(text) > PageLimit && name != "JUnit" {
					t.Errorf("the %s has %d bytes", name, len(text))
				}
			}
		}
	}
}

func TestManyTripsAndMoments(t *testing.T) {
	r := record(t, nil)
	for range MaxTrips + 3 {
		r.add(core.GuardTripped{Trip: core.Trip{Guard: core.MaxIterations, Reason: "enough"}})
		r.add(core.QuestionClosed{Reason: "the limit was raised on resume"})
		r.add(core.RunPaused{Reason: "noon"})
		r.add(core.RunResumed{})
	}
	report := r.load()
	if len(report.Trips) != MaxTrips || len(report.Moments) != MaxMoments || report.Earlier.Trips != 3 || report.Earlier.Moments != 2*(MaxTrips+3)-MaxMoments {
		t.Errorf("%d trips, %d moments, %+v", len(report.Trips), len(report.Moments), report.Earlier)
	}
}

// A run that waits for an answer has a report, and one that died then.
func TestUnansweredAndRunning(t *testing.T) {
	r := record(t, nil)
	r.iterate(failing("auth"), "x")
	r.add(core.GuardTripped{Trip: core.Trip{Guard: core.MaxRuntime, Iteration: 1, Reason: "15m0s of 15m0s have passed"}})
	r.add(core.QuestionAsked{Question: core.Question{ID: "q", Guard: core.MaxRuntime, Text: "Go on?"}})
	report, err := Load(r.run.Dir) // while it lives
	if err != nil {
		t.Fatal(err)
	}
	if report.Status != core.StatusAwaiting || !report.Pending || report.Trips[0].Question != "Go on?" {
		t.Errorf("%s %+v", report.Status, report.Trips)
	}
	if report := r.load(); report.Status != core.StatusCrashed {
		t.Errorf("%s once looprun is gone", report.Status)
	}
	ends := story(t).load()
	for name, write := range map[string]func(*Report) string{
		"page":     func(r *Report) string { return written(t, r.HTML) },
		"Markdown": func(r *Report) string { return markdown(t, r) },
		"JUnit":    func(r *Report) string { return strings.ReplaceAll(written(t, r.JUnit), "exit_code", "Exit code") },
	} {
		if strings.Contains(write(report), "Exit code") || !strings.Contains(write(ends), "Exit code") {
			t.Errorf("the %s gives an exit code to a run that has none, or none to one that has", name)
		}
	}
}

func TestLoadFails(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a run that is not there has a report")
	}
	r := story(t)
	r.load()
	name := filepath.Join(r.run.Dir, "journal.jsonl")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(r.run.Dir); err == nil {
		t.Error("a damaged journal has a report")
	}
	impossible := record(t, nil)
	event := core.Event{Seq: 2, Time: day, Data: core.QuestionClosed{Reason: "no question is open"}}
	if err := impossible.run.Journal.Append(event); err != nil {
		t.Fatal(err)
	}
	_ = impossible.run.Close()
	if _, err := Load(impossible.run.Dir); !errors.Is(err, core.ErrEvent) {
		t.Errorf("an event that cannot happen: %v", err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(r.run.Dir); err == nil || !strings.Contains(err.Error(), "remove its directory") {
		t.Errorf("an empty journal: %v", err)
	}
}

func TestVerdict(t *testing.T) {
	r := &Report{Status: core.StatusCancelled, Guard: core.LoopDetected, Iterations: 1, Runtime: 61.4}
	if got, want := r.verdict(), "cancelled (loop detected) after 1 iteration in 1m1s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Responder, r.Reason = "detached", "the question waits for an answer"
	if got, want := r.course(), "after 1 iteration in 1m1s: the question waits for an answer"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.Decision = "cancel"
	if got, want := fullStop(r.course()), "after 1 iteration in 1m1s; detached decided cancel: the question waits for an answer."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for in, want := range map[string]string{"a": "a.", "a.": "a.", "a?": "a?", "a…": "a…"} {
		if got := fullStop(in); got != want {
			t.Errorf("fullStop(%q) = %q", in, got)
		}
	}
}

// What somebody reads first of a run that took long: how it ended, what changed in git, what it
// used and waited for, what it asked, and what to look at. A shorter one has none of it.
func TestMorning(t *testing.T) {
	repo := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@a.invalid"}, args...)...)
		c.Dir = repo
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull)
		if args[0] == "commit" && len(args) == 6 {
			c.Env = append(c.Env, "GIT_COMMITTER_DATE="+args[5])
			c.Args = c.Args[:len(c.Args)-1]
		}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "before", day.Add(-time.Hour).Format(time.RFC3339))
	night := func(d core.Data, last time.Duration) []string {
		r := record(t, func(s *core.RunStarted) { s.Dir = repo })
		r.iterate(failing("auth", "login"), "")
		r.add(core.CostReported{USD: 1.5, Tokens: 2000})
		r.add(core.IterationStarted{Iteration: 2})
		r.add(core.IterationFinished{Iteration: 2, Outcome: core.OutcomeWaiting, Match: "limit reached", Until: new(day.Add(time.Hour))})
		r.add(core.WaitStarted{Match: "limit reached", Until: day.Add(time.Hour)})
		r.at += last
		r.add(core.WaitFinished{})
		r.iterate(core.IterationFinished{Outcome: core.OutcomeDone}, "")
		r.add(d)
		return r.load().Morning()
	}
	done := core.RunFinished{Ending: core.Ending{Status: core.StatusDone}}
	if got := night(done, time.Minute); got != nil {
		t.Errorf("a short run: %q", got)
	}
	if got := strings.Join(night(done, time.Hour), "\n"); !strings.HasPrefix(got, "make the tests pass: done after 2 iterations in 1h") ||
		!strings.Contains(got, "\nnothing changed since it began\nit cost $1.50; it used 2000 tokens; it waited 1h") || !strings.Contains(got, "\nlook first: looprun explain ") {
		t.Error(got)
	}
	w := record(t, nil)
	w.iterate(failing("auth", "login"), "")
	for _, id := range []string{"first", "second"} {
		w.add(core.QuestionAsked{Question: core.Question{ID: id, Kind: core.KindText, Text: id + "?", From: core.FromCommand}})
	}
	for _, id := range []string{"first", "second"} {
		w.at += time.Hour
		w.add(core.QuestionAnswered{QuestionID: id, Answer: core.Answer{Text: new("x"), Responder: core.RespondedByUser}})
	}
	w.add(done)
	if got := strings.Join(w.load().Morning(), "\n"); !strings.Contains(got, "it waited 2h") {
		t.Errorf("two questions: %s", got)
	}
	if err := os.WriteFile(filepath.Join(w.run.Dir, "copy"), nil, 0o600); err != nil { // of a fleet's loop
		t.Fatal(err)
	}
	if got := strings.Join(w.load().Morning(), "\n"); !strings.Contains(got, "\nlook first: looprun-fleet explain ") {
		t.Error(got)
	}
	git("commit", "-q", "--allow-empty", "-m", "one", day.Add(time.Minute).Format(time.RFC3339))
	if err := os.WriteFile(filepath.Join(repo, "new file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(night(done, time.Hour), "\n"); !strings.Contains(got, "\n1 commit and 1 file changed since it began\n") || !strings.Contains(got, "\nlook first: git diff ") {
		t.Error(got)
	}
	if err := os.WriteFile(filepath.Join(repo, ".git", "index"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(night(done, time.Hour), "\n"); strings.Contains(got, "changed since") || !strings.Contains(got, "\nlook first: looprun explain ") {
		t.Errorf("what git cannot count: %s", got)
	}
	paused := core.RunPaused{Reason: "x"}
	var b strings.Builder
	r := record(t, func(s *core.RunStarted) { s.Dir = repo })
	r.iterate(failing("auth", "login"), "")
	r.at += time.Hour
	r.add(core.QuestionAsked{Question: core.Question{ID: "ask-1", Kind: core.KindText, Header: "Which base", Text: "Which database?", From: core.FromCommand}})
	r.add(paused)
	report := r.load()
	if err := report.Markdown(&b, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"paused after 1 iteration", "2 of 5 tests failing: auth, login", "it asked 1 question: the command asked: Which database?; it waits for an answer", "look first: looprun answer " + report.RunID} {
		if got := strings.Join(report.Morning(), "\n"); !strings.Contains(got, want) || len(report.Morning()) > 5 {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if !strings.Contains(b.String(), "- look first: looprun answer ") {
		t.Error(b.String())
	}
}
