package hook

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/workspace"
	"github.com/looprun/looprun/scratchpad"
)

// What an iteration means for the agent: it is blocked only where the run just paused with
// nothing asked, and a person hears why in every case that is not done.
func TestWhatAnIterationMeans(t *testing.T) {
	t.Parallel()
	ended := func(status core.Status) *core.State {
		return &core.State{Ended: true, Ending: &core.Ending{Status: status, Reason: "because"}, Iterations: 2}
	}
	asks := func() *core.State {
		s := ended(core.StatusPaused)
		s.Question = &core.Question{ID: "q", Text: "Go on?"}
		return s
	}
	passed := ended(core.StatusTripped)
	passed.Passed = true
	tripped := ended(core.StatusTripped)
	tripped.LastTrip = &core.Trip{Reason: "the same failure"}
	for name, c := range map[string]struct {
		s                        *core.State
		block, message, unjudged string
		stopped                  bool
	}{
		"it did not end":      {&core.State{}, "", "did not end", "did not run the check", false},
		"done":                {ended(core.StatusDone), "", "", "did not run the check", true},
		"accepted":            {ended(core.StatusAccepted), "", "", "", true},
		"not done":            {ended(core.StatusPaused), "You are not done", "", "did not run the check", false},
		"it asks":             {asks(), "", "lets the agent stop, though the check does not pass after stop 2: because; looprun explain run; it asks: looprun answer run", "it asks", true},
		"cancelled":           {ended(core.StatusCancelled), "", "though the check does not pass after stop 2: because", "because", true},
		"a guard, not passed": {tripped, "", "though the check does not pass after stop 2: the same failure", "the same failure", true},
		"a guard, passed":     {passed, "", "lets the agent stop after stop 2: because", "because", true},
	} {
		d := decide(c.s, "/x/run")
		if !strings.Contains(d.Block, c.block) || (d.Block == "") != (c.block == "") || !strings.Contains(d.Message, c.message) || (d.Message == "") != (c.message == "") {
			t.Errorf("%s: %+v", name, d)
		}
		if stopped(c.s) != c.stopped {
			t.Errorf("%s: stopped is %v", name, !c.stopped)
		}
		if d := unjudged(c.s, "/x/run"); d.Block != "" || !strings.Contains(d.Message, c.unjudged) || (d.Message == "") != (c.unjudged == "") {
			t.Errorf("%s: unjudged: %+v", name, d)
		}
		if strings.Contains(d.Message, "looprun answer") != (name == "it asks") {
			t.Errorf("%s: %s", name, d.Message)
		}
	}
}

// An answer goes on with a run, or ends it; without both a question and an answer it does neither.
func TestWhatAnAnswerMeans(t *testing.T) {
	t.Parallel()
	q := &core.Question{ID: "q", Options: []core.Option{{ID: "continue", Action: core.ActionContinue}, {ID: "cancel", Action: core.ActionCancel}}}
	for name, c := range map[string]struct {
		s       core.State
		on, end bool
	}{
		"nothing":                {core.State{}, false, false},
		"a question":             {core.State{Question: q}, false, false},
		"an answer":              {core.State{Answer: &core.Answer{Option: "cancel"}}, false, false},
		"go on":                  {core.State{Question: q, Answer: &core.Answer{Option: "continue"}}, true, false},
		"end":                    {core.State{Question: q, Answer: &core.Answer{Option: "cancel"}}, false, true},
		"an option that is none": {core.State{Question: q, Answer: &core.Answer{Option: "x"}}, false, true},
	} {
		if on, end := toldToGoOn(&c.s), toldToEnd(&c.s); on != c.on || end != c.end {
			t.Errorf("%s: goes on %v, ends %v", name, on, end)
		}
	}
}

// What notes no run is none, and without a place for notes each stop is judged alone.
func TestNotes(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	n := notesOf(Stop{Agent: "claude", Session: "s", Prompt: "p"}, "/w")
	if err := n.write(filepath.Join(t.TempDir(), "gone")); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "run\n", "/\n"} {
		if dir, s := n.begun(true); dir != "" || s != nil {
			t.Errorf("%q: %v", dir, s)
		}
		if err := errors.Join(os.WriteFile(n.prompt, []byte(text), 0o600), os.WriteFile(n.session, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if other := notesOf(Stop{Agent: "claude", Session: "s", Prompt: "p"}, "/v"); other == n {
		t.Error("two projects have the same notes")
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	t.Chdir(t.TempDir()) // where nothing is to be written
	n = notesOf(Stop{Agent: "claude", Session: "s", Prompt: "p"}, "/w")
	if dir, s := n.begun(true); n != (notes{}) || dir != "" || s != nil {
		t.Errorf("without a place: %+v, %q", n, dir)
	}
	if err := n.write("/w/run"); err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.WriteFile(".off", nil, 0o600), os.WriteFile(".prompt", []byte(`{"Words": "x"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	if off, err := Off("/w"); off || err != nil || n.prompted() != (prompted{}) {
		t.Errorf("files of the current directory are taken for notes: %v, %v, %+v", off, err, n.prompted())
	}
	if err := Switch("/w", false); err == nil {
		t.Error("it is off, and that is noted nowhere")
	}
}

// What cannot be noted or read is told, and half a note is none.
func TestNotesThatCannotBeKept(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("LOOPRUN", "")
	dir := t.TempDir()
	project := filepath.Dir(config.Nearest(dir))
	stop := Stop{Agent: "claude", Session: "s", Prompt: "p", Dir: dir}
	n := notesOf(stop, project)
	if err := keep(n.began, []byte(`{"Words": "x", "Tree": 7}`)); err != nil || n.prompted() != (prompted{}) {
		t.Errorf("%+v, %v", n.prompted(), err)
	}
	run := runOf(t, "continue")
	if err := errors.Join(os.MkdirAll(filepath.Join(n.prompt, "x"), 0o700), os.MkdirAll(filepath.Join(switchFile(project), "x"), 0o700), keep(n.session, []byte(run+"\n"))); err != nil {
		t.Fatal(err)
	}
	if err := n.write(run); err == nil {
		t.Error("a note is written over a folder")
	}
	if f := look(t.Context(), filepath.Join(dir, "gone")); f != (workspace.Fingerprint{}) {
		t.Errorf("a folder that is gone is as %+v", f)
	}
	if got, s := n.begun(true); got != "" || s != nil {
		t.Errorf("the stop belongs to %s, and that is not noted", got)
	}
	for _, on := range []bool{true, false} {
		if err := Switch(project, on); err == nil {
			t.Errorf("a folder is switched %v", on)
		}
	}
	if err := os.RemoveAll(switchFile(project)); err != nil {
		t.Fatal(err)
	}
	judge := Judge{Looprun: looprunThat(t, `while [ $# -gt 0 ]; do case $1 in --run-id) id=$2;; --state-dir) in=$2;; esac; shift; done; mkdir -p "$in"; cp -R '`+runOf(t, "paused")+`' "$in/$id"; exit 102`), Show: showCheck, Timeout: time.Minute}
	if d, err := judge.Decide(t.Context(), stop); err == nil {
		t.Errorf("a run that is not noted decides %+v", d)
	}
	if err := os.RemoveAll(n.prompt); err != nil {
		t.Fatal(err)
	}
	if d, err := judge.Decide(t.Context(), stop); err != nil || d.Block == "" {
		t.Errorf("a run that is noted: %+v, %v", d, err)
	}
	hooks := filepath.Dir(n.prompt)
	if err := errors.Join(os.RemoveAll(hooks), os.WriteFile(hooks, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if off, err := Off(project); off || err == nil {
		t.Errorf("nobody can say whether it is off: %v, %v", off, err)
	}
	if d, err := judge.Decide(t.Context(), stop); err == nil || !strings.Contains(err.Error(), ".off") {
		t.Errorf("nobody can say whether it is off: %+v, %v", d, err)
	}
}

// looprunThat returns a program for looprun that does what a script says.
func looprunThat(t *testing.T, script string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "looprun")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return file
}

// What looprun is run with: the project's own limits stay, and the time of an agent between two
// stops is that of its run.
func TestWhatLooprunIsRunWith(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("LOOPRUN", "")
	says := looprunThat(t, `echo "{\"message\":\"with $*\"}" >&2; exit 125`)
	dir := t.TempDir()
	project := filepath.Dir(config.Nearest(dir))
	for origin, want := range map[string]bool{"default": true, "looprun.yaml": false} {
		show := func(string, []string) ([]config.Shown, error) {
			return []config.Shown{{Key: "check", Value: "true"}, {Key: "max_iterations", Value: "9", Origin: origin}}, nil
		}
		_, err := Judge{Looprun: says, Show: show, Timeout: time.Minute}.Decide(t.Context(), Stop{Agent: "claude", Session: "s", Dir: dir})
		if err == nil || strings.Contains(err.Error(), "--max-iterations") != want {
			t.Errorf("%s: %v", origin, err)
		}
	}
	judge := Judge{Looprun: says, Show: showCheck, Timeout: time.Minute}
	stop := Stop{Agent: "claude", Session: "s", Prompt: "p", SameTurn: true, Dir: dir}
	if err := notesOf(stop, project).write(runOf(t, "paused")); err != nil {
		t.Fatal(err)
	}
	if _, err := judge.Decide(t.Context(), stop); err == nil || !strings.Contains(err.Error(), "with resume") || strings.HasSuffix(err.Error(), "--took 0s") {
		t.Errorf("the agent's time: %v", err)
	}
	// Words that are a prompt's only name are the same turn only where a hook has sent the agent back.
	words := Stop{Agent: "gemini", Session: "s", Prompt: "mend it", Dir: dir}
	n := notesOf(words, project)
	if err := n.write(runOf(t, "asks")); err != nil {
		t.Fatal(err)
	}
	begins := words
	begins.Begins, begins.Unfinished = "mend it", "the agent plans"
	if _, err := judge.Decide(t.Context(), begins); err != nil || n.prompted().Words != "mend it" {
		t.Errorf("a prompt in plan mode: %+v, %v", n.prompted(), err)
	}
	if run, _ := recorded(n.prompt); run == "" {
		t.Error("the run of a prompt with a name is forgotten")
	}
	if d, err := judge.Decide(t.Context(), words); err == nil || !strings.Contains(err.Error(), "with run ") {
		t.Errorf("the same words once more: %+v, %v", d, err)
	}
	// A check that passes has nothing to pass on.
	run := runOf(t, "paused")
	if err := notesOf(stop, project).write(run); err != nil {
		t.Fatal(err)
	}
	judge.Looprun = looprunThat(t, "cp -R '"+runOf(t, "done")+"/.' '"+run+"'")
	if d, err := judge.Decide(t.Context(), stop); err != nil || d != (Decision{}) {
		t.Errorf("done: %+v, %v", d, err)
	}
}

// Only a run that waits for an answer is superseded, and none that nobody noted.
func TestWhatIsSuperseded(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	asks, n := runOf(t, "asks"), notesOf(Stop{Agent: "claude", Session: "s", Prompt: "p"}, "/w")
	t.Chdir(asks)
	if err := n.supersede("x"); err != nil || !scratchpad.Summarize(asks).Pending {
		t.Errorf("a run of the current directory: %v", err)
	}
	for _, run := range []string{filepath.Join(t.TempDir(), "gone"), runOf(t, "done"), asks} {
		if err := errors.Join(n.write(run), n.supersede("x")); err != nil || scratchpad.Summarize(run).Pending {
			t.Errorf("%s: %v", run, err)
		}
	}
}

// The last of looprun's own messages says why, and without one the last line.
func TestLastMessage(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]string{
		"": "",
		"{\"message\":\"a\"}\n{\"message\":\"b\\nc\"}\nplain\n\n": "b",
		"first\nplain\n\n":  "plain",
		"{\"level\":\"x\"}": "{\"level\":\"x\"}",
	} {
		if got := lastMessage([]byte(stderr)); got != want {
			t.Errorf("%q: %q, want %q", stderr, got, want)
		}
	}
}

// runOf is a run that has come so far: paused, done, asks, or answered with an option.
func runOf(t *testing.T, until string) (dir string) {
	t.Helper()
	const id = "20260102-030405-0a1b"
	run, err := scratchpad.CreateAs(t.TempDir(), id, scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	play := looptest.Play{Outcome: core.OutcomeNotDone, Same: 1}
	if until == "done" {
		play.Outcome = core.OutcomeDone
	}
	loop := &engine.Loop{
		Guards: guards.Default(), Journal: run.Journal, Runner: &looptest.Script{Steps: []looptest.Play{play}}, Questions: looptest.Asks{}, Once: until == "paused",
		Responders: []core.Responder{core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
			return core.Answer{}, core.ErrDeferred
		})},
	}
	if err := loop.Start(core.RunStarted{RunID: id, Limits: looptest.Defaults, Caps: core.DefaultCaps(looptest.Defaults)}); err != nil {
		t.Fatal(err)
	}
	if _, err := loop.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := loop.State(); until == "continue" || until == "cancel" {
		answer := core.QuestionAnswered{QuestionID: s.Question.ID, Answer: core.Answer{Option: until, Responder: core.RespondedByUser, Person: true}}
		if err := run.Journal.Append(core.Event{Seq: s.Seq + 1, Time: time.Now(), Data: answer}); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	return run.Dir
}

// Which run a stop belongs to: that of its prompt, or the session's last where somebody has
// let it go on since. Otherwise another one begins.
func TestWhichRunAStopBelongsTo(t *testing.T) {
	for name, c := range map[string]struct {
		until, note string
		sameTurn    bool
		want        bool
	}{
		"paused, by its prompt":                      {"paused", "prompt", false, true},
		"paused, by its session":                     {"paused", "session", false, false},
		"done, in the same turn":                     {"done", "prompt", true, false},
		"it asks, in the same turn":                  {"asks", "prompt", true, true},
		"it asks, in the next":                       {"asks", "prompt", false, false},
		"it asks, in another prompt":                 {"asks", "session", false, false},
		"it may go on":                               {"continue", "prompt", false, true},
		"it may go on, in another prompt":            {"continue", "session", false, true},
		"it was cancelled, in the same turn":         {"cancel", "prompt", true, true},
		"it was cancelled, in the next":              {"cancel", "prompt", false, false},
		"it was cancelled, in another prompt":        {"cancel", "session", false, false},
		"it was cancelled, in the same other prompt": {"cancel", "session", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			run := runOf(t, c.until)
			n := notesOf(Stop{Agent: "claude", Session: "s", Prompt: "p"}, "/w")
			if err := n.write(run); err != nil {
				t.Fatal(err)
			}
			if c.note == "session" {
				if err := os.Remove(n.prompt); err != nil {
					t.Fatal(err)
				}
			}
			dir, s := n.begun(c.sameTurn)
			if (s != nil) != c.want || (dir == run) != c.want {
				t.Errorf("%q, want it: %v", dir, c.want)
			}
			if text, err := os.ReadFile(n.prompt); c.want && (err != nil || string(text) != run+"\n") {
				t.Errorf("the prompt's note is %q, %v", text, err)
			}
			t.Chdir(filepath.Dir(run))
			if err := os.WriteFile(n.prompt, []byte(filepath.Base(run)+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if dir, s := recorded(n.prompt); s != nil {
				t.Errorf("a note without a whole path is %q", dir)
			}
		})
	}
}

// showCheck says that a run has a check.
func showCheck(string, []string) ([]config.Shown, error) {
	return []config.Shown{{Key: "check", Value: "true"}}, nil
}

// Inside a run of looprun, and where the agent was stopped, nothing is judged and nothing runs.
func TestNoStopToJudge(t *testing.T) {
	missing := Judge{Looprun: filepath.Join(t.TempDir(), "looprun"), Show: showCheck, Timeout: time.Minute}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("LOOPRUN", "")
	if _, err := missing.Decide(t.Context(), Stop{Agent: "claude", Session: "s"}); err == nil || !strings.Contains(err.Error(), missing.Looprun) {
		t.Errorf("a looprun that is not there: %v", err)
	}
	for dir, in := range map[string]string{filepath.Dir(missing.Looprun): `{"session_id":"s","cwd":"` + filepath.ToSlash(filepath.Dir(missing.Looprun)) + `"}`, "": "none"} {
		if _, err := missing.Answer(t.Context(), strings.NewReader(in), ""); err == nil {
			t.Errorf("%s: it judges", in)
		}
		if dir == "" {
			dir, _ = os.Getwd()
		}
		if got, ok := LastTrouble(time.Time{}); !ok || filepath.FromSlash(got.Dir) != dir {
			t.Errorf("%s: the trouble was in %s, want %s", in, got.Dir, dir)
		}
	}
	if d, err := missing.Decide(t.Context(), Stop{Agent: "claude", Session: "s", Unfinished: "it was stopped"}); err != nil || d != (Decision{}) {
		t.Errorf("stopped: %+v, %v", d, err)
	}
	// A run that was stopped in this turn is not judged again; one that may go on is, and the time
	// that its person took is not the run's.
	project := t.TempDir()
	stop := Stop{Agent: "claude", Session: "s", Prompt: "p", SameTurn: true, Dir: project}
	n := notesOf(stop, filepath.Dir(config.Nearest(project)))
	if err := n.write(runOf(t, "asks")); err != nil {
		t.Fatal(err)
	}
	if d, err := missing.Decide(t.Context(), stop); err != nil || !strings.Contains(d.Message, "did not run the check") {
		t.Errorf("stopped by a guard: %+v, %v", d, err)
	}
	if err := n.write(runOf(t, "continue")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(missing.Looprun, []byte("#!/bin/sh\necho \"{\\\"message\\\":\\\"called with $*\\\"}\" >&2\nexit 125\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	if d, err := missing.Decide(t.Context(), stop); err == nil || !strings.Contains(err.Error(), "called with resume") || !strings.HasSuffix(err.Error(), "--took 0s") {
		t.Errorf("it may go on: %+v, %v", d, err)
	}
	t.Setenv("LOOPRUN", "1")
	if d, err := missing.Decide(t.Context(), Stop{Agent: "claude", Session: "s"}); err != nil || d != (Decision{}) {
		t.Errorf("inside of looprun: %+v, %v", d, err)
	}
}

// Where looprun cannot be run, does not end or says nothing that can be read, nothing was judged.
func TestNothingIsJudged(t *testing.T) {
	t.Setenv("LOOPRUN", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	type show = func(string, []string) ([]config.Shown, error)
	wrong := func(string, []string) ([]config.Shown, error) { return nil, errors.New("looprun.yaml is wrong") }
	none := func(string, []string) ([]config.Shown, error) { return nil, nil }
	for name, c := range map[string]struct {
		show              show
		script, dir, want string
	}{
		"a folder that is gone":  {none, "", filepath.Join(dir, "gone"), "cannot be used"},
		"a file for a folder":    {none, "", file, "cannot be used"},
		"a wrong configuration":  {wrong, "", dir, "looprun.yaml is wrong"},
		"there is no check":      {none, "", dir, "there is no check"},
		"the run fails":          {showCheck, `echo not JSON >&2; printf '%s\n' '{"message":"no disk\nmore"}' >&2; exit 125`, dir, "no disk"},
		"the run leaves nothing": {showCheck, "exit 1", dir, "journal.jsonl"},
		"killed":                 {showCheck, "kill -9 $$", dir, "signal"},
	} {
		looprun := filepath.Join(t.TempDir(), "looprun")
		if err := os.WriteFile(looprun, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatal(err)
		}
		d, err := Judge{Looprun: looprun, Show: c.show, Timeout: time.Minute}.Decide(t.Context(), Stop{Agent: "claude", Session: "s", Dir: c.dir})
		if err == nil || !strings.Contains(err.Error(), c.want) || d != (Decision{}) {
			t.Errorf("%s: %+v, %v, want %q", name, d, err, c.want)
		}
	}
	slow := filepath.Join(t.TempDir(), "looprun")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	if d, err := (Judge{Looprun: slow, Show: showCheck, Timeout: 50 * time.Millisecond}).Decide(t.Context(), Stop{Agent: "claude", Session: "s", Dir: dir}); err == nil || !strings.Contains(err.Error(), "did not end within") {
		t.Errorf("%+v, %v", d, err)
	}
}

// The last trouble is kept for those who look later, in the user's own folder and nowhere else.
func TestTrouble(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	now := time.Now()
	if got, ok := LastTrouble(now); ok {
		t.Errorf("before anything was kept: %+v", got)
	}
	Trouble{Time: now, Agent: "claude", Dir: "/w\x1b[2J", Why: "no check"}.Keep()
	if got, ok := LastTrouble(now.Add(-time.Second)); !ok || got.Why != "no check" || got.Dir != "/w" {
		t.Errorf("%+v, %v", got, ok)
	}
	if got, ok := LastTrouble(now.Add(time.Second)); ok {
		t.Errorf("one of before: %+v", got)
	}
	if err := keep(own(troubleName), []byte(`{"Time":"`+now.Format(time.RFC3339)+`","Why":7}`)); err != nil {
		t.Fatal(err)
	}
	if got, ok := LastTrouble(time.Time{}); ok {
		t.Errorf("half a trouble: %+v", got)
	}
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("HOME", "")
	t.Chdir(t.TempDir())
	Trouble{Time: now, Why: "no check"}.Keep()
	if _, err := os.Stat("hooks"); err == nil {
		t.Error("it is kept in the project")
	}
	if err := errors.Join(os.Mkdir("hooks", 0o700), os.WriteFile(filepath.Join("hooks", troubleName), []byte(`{"why":"planted"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, ok := LastTrouble(time.Time{}); ok {
		t.Errorf("the project says %+v", got)
	}
}

// A file that install or remove would change is left as it is where that cannot be done.
func TestWhatInstallWrites(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a", "settings.json")
	if err := Write(file, nil); err != nil {
		t.Errorf("nothing to remove: %v", err)
	}
	if err := Write(file, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if at, ok := errors.AsType[*fs.PathError](Write(filepath.Join(file, "below"), []byte("{}"))); !ok || at.Op != "mkdir" {
		t.Errorf("a file below a file: %v", at)
	}
	if err := Write(filepath.Join(file, "below"), nil); err == nil {
		t.Error("a file below a file is removed")
	}
	if err := Write(dir, []byte("{}")); err == nil {
		t.Error("a folder was written")
	}
	if before, after, err := Change(file, func(text []byte) ([]byte, error) { return append(text, 'x'), nil }); string(before) != "{}" || string(after) != "{}x" || err != nil {
		t.Errorf("%q became %q, %v", before, after, err)
	}
	if err := Write(file, nil); err != nil {
		t.Error(err)
	}
	if before, _, err := Change(file, func(text []byte) ([]byte, error) { return text, nil }); before != nil || err != nil {
		t.Errorf("a file that was removed has %q, %v", before, err)
	}
	called := false
	if _, after, err := Change(dir, func([]byte) ([]byte, error) { called = true; return []byte("x"), nil }); err == nil || after != nil || called {
		t.Errorf("a folder is read as %q, %v", after, err)
	}
	t.Chdir(dir)
	if written, err := WriteCheck("", ""); written != "" || err != nil {
		t.Errorf("no check: %q, %v", written, err)
	}
	for _, check := range []string{"a\nb", "a\rb", "a\x00b"} {
		if written, err := WriteCheck(check, ""); err == nil || !strings.Contains(err.Error(), "more than one line") {
			t.Errorf("%q: %q, %v", check, written, err)
		}
	}
	name := config.Nearest(dir)
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	if written, err := WriteCheck("true", ""); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder was written: %q, %v", written, err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	written, err := WriteCheck("it's", "it's") // one that is kept elsewhere
	if err != nil {
		t.Fatal(err)
	}
	for has, wrong := range map[string]bool{"it's": false, "another": true} {
		if again, err := WriteCheck("it's", has); again != "" || (err != nil) != wrong {
			t.Errorf("where it has %q: %q, %v", has, again, err)
		}
	}
	if text, err := os.ReadFile(written); err != nil || string(text) != "check: 'it''s'\n" {
		t.Errorf("%s has %q, %v", written, text, err)
	}
}
