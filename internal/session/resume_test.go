package session

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/scratchpad"
)

// A cap stays until another is given, or the new limit is above it; a limit that is off has no cap.
func TestCapsOfARunThatGoesOn(t *testing.T) {
	t.Parallel()
	old := core.Caps{Iterations: 50, Runtime: time.Hour, Cost: 20, Tokens: 1000}
	given := core.Caps{Iterations: 99, Runtime: 9 * time.Hour, Cost: 99, Tokens: 9999}
	below := core.Limits{Iterations: 40, Runtime: time.Minute, Cost: 10, Tokens: 500}
	above := core.Limits{Iterations: 60, Runtime: 2 * time.Hour, Cost: 30, Tokens: 2000}
	at := core.Limits{Iterations: 50, Runtime: time.Hour, Cost: 20, Tokens: 1000}
	count, long, usd, tokens := new(config.CountLimit), new(config.DurationLimit), new(config.MoneyLimit), new(config.TokenLimit)
	limits := config.LimitFlags{MaxCost: usd, MaxTokens: tokens}
	for name, c := range map[string]struct {
		flags config.LimitFlags
		old   core.Caps
		to    core.Limits
		want  core.Caps
	}{
		"nothing given":        {config.LimitFlags{}, old, below, old},
		"limits below":         {limits, old, below, old},
		"limits at the caps":   {limits, old, at, old},
		"limits above":         {limits, old, above, given},
		"no cap: off":          {config.LimitFlags{}, core.Caps{}, above, core.Caps{}},
		"limits that are new":  {limits, core.Caps{}, below, core.Caps{Cost: 99, Tokens: 9999}},
		"cap off, limit above": {limits, core.Caps{Iterations: -1, Runtime: -1, Cost: -1, Tokens: -1}, above, core.Caps{Iterations: -1, Runtime: -1, Cost: -1, Tokens: -1}},
		"--cap-iterations":     {config.LimitFlags{CapIterations: count}, old, below, core.Caps{Iterations: 99, Runtime: time.Hour, Cost: 20, Tokens: 1000}},
		"--cap-runtime":        {config.LimitFlags{CapRuntime: long}, old, below, core.Caps{Iterations: 50, Runtime: 9 * time.Hour, Cost: 20, Tokens: 1000}},
		"--cap-cost":           {config.LimitFlags{CapCost: usd}, old, below, core.Caps{Iterations: 50, Runtime: time.Hour, Cost: 99, Tokens: 1000}},
		"--cap-tokens":         {config.LimitFlags{CapTokens: tokens}, old, below, core.Caps{Iterations: 50, Runtime: time.Hour, Cost: 20, Tokens: 9999}},
	} {
		if got := (&ResumeFlags{LimitFlags: c.flags}).caps(c.old, c.to, given); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// begun is a run that began, with that configuration on record.
func begun(t *testing.T, recorded string) (dir string, state *core.State) {
	t.Helper()
	run, err := scratchpad.Create(t.TempDir(), time.Now(), scratchpad.SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	state = new(core.State)
	if _, err := core.Record(state, run.Journal, nil, 0, core.RunStarted{RunID: run.ID, Command: []string{"true"}, Dir: t.TempDir(), Config: []byte(recorded)}); err != nil {
		t.Fatal(err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	return run.Dir, state
}

// An answer that somebody else has carried out in the meantime is not carried out again, and
// nothing is run for it. What cannot be opened is not run either.
func TestAnAnswerThatWasCarriedOut(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir, _ := begun(t, "{}")
	resume := func(dir string) error {
		s := &Session{app: &Program{Say: &console.Observer{Messages: console.Messages{W: t.Output()}}}, opts: new(config.Options), concludes: true}
		_, err := s.resume(dir, core.RunResumed{}, TrustFlag{})
		<-s.caught
		return err
	}
	if err := resume(dir); !errors.Is(err, ErrConcluded) || scratchpad.Locked(dir) {
		t.Errorf("%v; it is locked: %v", err, scratchpad.Locked(dir))
	}
	if err := resume(filepath.Join(dir, "none")); err == nil {
		t.Error("a run that is not there goes on")
	}
}

// A run whose configuration is not known, or not whole, is not run again.
func TestWhatIsNotKnownDoesNotGoOn(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for recorded, want := range map[string]string{
		"": "no recorded configuration", `"text"`: "another looprun recorded it", `{"masked":true}`: "held a secret", `{"lossy":true}`: "not UTF-8",
	} {
		dir, state := begun(t, recorded)
		if _, _, err := (&ResumeFlags{}).restore(&Program{}, dir, state); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", recorded, err, want)
		}
	}
	if _, err := RecordedOf(t.TempDir()); err == nil || errors.Is(err, ErrNoConfig) {
		t.Errorf("no journal: %v", err)
	}
}

// What is given replaces what was recorded, with what only belonged to that and what contradicts it.
func TestWhatIsGivenToAResumedRun(t *testing.T) {
	t.Parallel()
	is := func(change func(*config.Options)) (o config.Options) {
		o.Assistant, o.AssistantName, o.AssistantModel = "old", "Old", "model"
		change(&o)
		return o
	}
	nobody, asks := func(o *config.Options) { o.NonInteractive = true }, func(o *config.Options) { o.Ask = true }
	for name, c := range map[string]struct {
		given          config.AnswerFlags
		recorded, want config.Options
		same           bool
	}{
		"nothing, nobody is asked": {config.AnswerFlags{}, is(nobody), is(nobody), true},
		"nothing, somebody is":     {config.AnswerFlags{}, is(asks), is(asks), true},
		"ask":                      {config.AnswerFlags{Ask: true}, is(nobody), is(asks), false},
		"ask nobody":               {config.AnswerFlags{NonInteractive: true}, is(asks), is(nobody), false},
		"an assistant": {config.AnswerFlags{Assistant: "new"}, is(nobody), is(func(o *config.Options) {
			nobody(o)
			o.Assistant, o.AssistantName, o.AssistantModel = "new", "", ""
		}), false},
	} {
		r := Recorded{Options: c.recorded}
		if changed := (&ResumeFlags{AnswerFlags: c.given}).change(&r, func(string) bool { return false }); changed == c.same || !reflect.DeepEqual(r.Options, c.want) {
			t.Errorf("%s: changed: %v\n%+v\nwant\n%+v", name, changed, r.Options, c.want)
		}
	}
}

// The commands of a run go on in its directory; where that is gone or has moved, a person says where.
func TestWhereARunGoesOn(t *testing.T) {
	t.Parallel()
	project, other := realDir(t.TempDir()), realDir(t.TempDir())
	inside := filepath.Join(project, "sub")
	run := filepath.Join(project, scratchpad.StateDirName, "20260102-030405-0a1b")
	for _, dir := range []string{inside, run} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(project, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(other, "state", "20260102-030405-0a1b")
	for name, c := range map[string]struct {
		flag, run  string
		began      string
		repository string
		want, err  string
	}{
		"where it began":                {"", run, project, "", project, ""},
		"in a folder of the project":    {"", run, inside, "", inside, ""},
		"the directory is gone":         {"", run, filepath.Join(project, "gone"), "", "", "is gone"},
		"it is a file now":              {"", run, file, "", "", "is gone"},
		"the project was copied":        {"", run, other, "", "", "moved or copied"},
		"a work tree of many":           {"", run, other, project, other, ""},
		"state that is kept elsewhere":  {"", elsewhere, project, "", project, ""},
		"--dir":                         {other, run, project, "", other, ""},
		"--dir, where it began is gone": {other, run, filepath.Join(project, "gone"), "", other, ""},
		"--dir is a file":               {file, run, project, "", "", "is not a directory"},
		"--dir that is not there":       {filepath.Join(project, "gone"), run, project, "", "", "is not a directory"},
	} {
		got, err := (&ResumeFlags{Dir: c.flag}).place(c.run, &core.State{Dir: c.began, Repository: c.repository})
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v, want %q %s", name, got, err, c.want, c.err)
		}
	}
	odd := filepath.Join(project, "a\xff")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Skip(err)
	}
	if got, err := (&ResumeFlags{Dir: odd}).place(run, &core.State{Dir: project}); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("bytes that are no text: %q, %v", got, err)
	}
}
