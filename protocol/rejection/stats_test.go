package rejection

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/termsafe"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s is different; -update writes it\n%s", path, got)
	}
}

func day(n int) time.Time { return time.Date(2026, 3, n, 9, 30, 0, 0, time.UTC) }

// records are seven rejections of three runs, one of them read twice.
func records() []Record {
	record := func(n int, run string, reason Reason, task, agent, factor string, d Decision, created ...string) Record {
		r := valid(reason)
		r.Task, r.Agent, r.BlockingFactor = task, agent, factor
		rec := Record{RunID: run, Time: day(n), ID: fmt.Sprintf("%s-%d", run, n), Rejection: r, Valid: true, Decision: d, Created: created}
		if d != "" {
			rec.DecidedBy, rec.DecidedReason, rec.DecidedAt = "user", "because", day(n).Add(time.Hour)
		}
		return rec
	}
	invalid := record(4, "run2", Blocker, "Deploy", "", "too hard", "")
	invalid.Valid, invalid.Issues = false, invalid.Rejection.Validate()
	pending := record(7, "run3", Infeasible, "Deploy", "planner", "The two rules contradict each other", "")
	stale := record(2, "run1", Blocker, "Upload", "fixer", "The storage bucket refuses every write", "")
	stale.Dir = "another work tree"
	return []Record{
		record(1, "run1", Blocker, "Upload", "fixer", "The storage bucket refuses every write", Override),
		record(2, "run1", Blocker, "Upload", "fixer", "The Storage bucket\nrefuses every  write.", Defer, "Resolve what blocks “Upload”"),
		record(3, "run2", ScopeCreep, "Deploy", "fixer", "Every service has to move as well", Decompose, "Move one service", "Move \"the\" rest"),
		invalid,
		record(5, "run2", MissingDependency, "Deploy", "planner", "the storage bucket refuses every write!", Override),
		record(6, "run3", Infeasible, "Deploy", "planner", "The two rules contradict each other", "postpone"),
		pending, stale,
	}
}

func shuffled(list []Record, seed uint64) []Record {
	list = append([]Record{}, list...)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func TestCollect(t *testing.T) {
	s := Collect(records(), time.Time{})
	if s.Since != nil || !s.First.Equal(day(1)) || !s.Last.Equal(day(7)) || s.Runs != 3 ||
		s.Total != 7 || s.Valid != 6 || s.Invalid != 1 || s.Decided != 5 || s.Pending != 1 {
		t.Errorf("%+v", s)
	}
	for _, c := range []struct{ got, want any }{
		{s.ByReason, []Group{{"BLOCKER", 3, 2, 2, 1}, {"INFEASIBLE", 2, 2, 1, 0}, {"MISSING_DEPENDENCY", 1, 1, 1, 1}, {"SCOPE_CREEP", 1, 1, 1, 0}}},
		{s.ByAgent, []Group{{"fixer", 3, 3, 3, 1}, {"planner", 3, 3, 2, 1}, {"", 1, 0, 0, 0}}},
		{s.ByTask, []Group{{"Deploy", 5, 4, 3, 1}, {"Upload", 2, 2, 2, 1}}},
		{s.Blockers, []BlockerCount{
			{"The storage bucket refuses every write", 3, []string{"Deploy", "Upload"}},
			{"The two rules contradict each other", 2, []string{"Deploy"}},
			{"Every service has to move as well", 1, []string{"Deploy"}},
		}},
		{s.Decisions, []DecisionCount{{Override, 2}, {Accept, 0}, {Defer, 1}, {Decompose, 1}, {Reformulate, 0}, {"postpone", 1}}},
		{*s.OverrideRate, 0.4},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got  %+v\nwant %+v", c.got, c.want)
		}
	}
	for seed := range uint64(20) {
		if got := Collect(shuffled(records(), seed), time.Time{}); !reflect.DeepEqual(got, s) {
			t.Fatalf("another order gives\n%+v\nnot\n%+v", got, s)
		}
	}
}

// The text of a blocker is the one that came first in time, whatever the ids.
func TestCollectByTime(t *testing.T) {
	later := Record{RunID: "a", ID: "a-1", Time: day(2), Valid: true, Rejection: Rejection{BlockingFactor: "THE BUCKET"}}
	first := Record{RunID: "b", ID: "b-1", Time: day(1), Valid: true, Rejection: Rejection{BlockingFactor: "The bucket."}}
	s := Collect([]Record{later, first}, time.Time{})
	if len(s.Blockers) != 1 || s.Blockers[0].Text != "The bucket." || !s.First.Equal(day(1)) || !s.Last.Equal(day(2)) {
		t.Errorf("%+v", s)
	}
}

// Of a journal that is read twice the copy with the decision counts.
func TestCollectTwice(t *testing.T) {
	stale := Record{RunID: "r", ID: "r-1", Time: day(1), Valid: true, Dir: "a"}
	decided := stale
	decided.Decision, decided.Dir = Accept, "b"
	for _, list := range [][]Record{{stale, decided}, {decided, stale}} {
		if s := Collect(list, time.Time{}); s.Total != 1 || s.Decided != 1 {
			t.Errorf("%+v", s)
		}
	}
}

// A time counts from its own instant on.
func TestCollectSince(t *testing.T) {
	for _, c := range []struct {
		since time.Time
		total int
	}{
		{day(3).Add(-1), 5}, {day(3), 5}, {day(3).Add(1), 4}, {day(8), 0},
	} {
		s := Collect(records(), c.since)
		if s.Total != c.total || !s.Since.Equal(c.since) {
			t.Errorf("since %s: %d, want %d", c.since, s.Total, c.total)
		}
	}
}

// The override rate comes from the recorded decision, whatever the texts say,
// and there is none without decisions. Nobody decides on what is invalid.
func TestOverrideRate(t *testing.T) {
	r := Record{RunID: "r", Rejection: valid(Blocker), Valid: true}
	r.DecidedBy, r.DecidedReason = "override", "override: go on"
	if s := Collect([]Record{r}, time.Time{}); s.OverrideRate != nil || s.Pending != 1 || s.Decided != 0 {
		t.Errorf("%+v", s)
	}
	accepted := r
	accepted.Decision = Accept
	if s := Collect([]Record{r, accepted}, time.Time{}); s.OverrideRate == nil || *s.OverrideRate != 0 || s.Decided != 1 {
		t.Errorf("%+v", s)
	}
	overridden := r
	overridden.Decision, overridden.DecidedReason = Override, "accept"
	if s := Collect([]Record{r, accepted, overridden}, time.Time{}); *s.OverrideRate != 0.5 || s.Total != 3 {
		t.Errorf("%+v", s)
	}
	overridden.Valid = false
	if s := Collect([]Record{overridden}, time.Time{}); s.OverrideRate != nil || s.Decided != 0 || s.Invalid != 1 || s.ByTask[0].Overridden != 0 {
		t.Errorf("%+v", s)
	}
}

func TestStatsJSON(t *testing.T) {
	data, err := json.Marshal(Collect(nil, time.Time{}))
	const want = `{"since":null,"first":null,"last":null,"runs":0,"total":0,"valid":0,"invalid":0,"decided":0,"pending":0,` +
		`"by_reason":[],"by_agent":[],"by_task":[],"blockers":[],"decisions":[{"decision":"override","count":0},{"decision":"accept","count":0},` +
		`{"decision":"defer","count":0},{"decision":"decompose","count":0},{"decision":"reformulate","count":0}],"override_rate":null}`
	if err != nil || string(data) != want {
		t.Errorf("got  %s %v\nwant %s", data, err, want)
	}
}

func TestStatsText(t *testing.T) {
	golden(t, "stats.txt", []byte(Collect(records(), day(1)).Text()))
	if got, want := Collect(nil, day(2)).Text(), "Rejections since 2026-03-02: none\n"; got != want {
		t.Error(got)
	}
	pending := Record{RunID: "r", Rejection: valid(Blocker), Valid: true}
	if got := Collect([]Record{pending}, time.Time{}).Text(); !strings.HasPrefix(got, "Rejections: 1 in 1 run\n1 valid, 0 invalid; 0 decided, 1 pending\nOverride rate: no decisions yet\n") {
		t.Error(got)
	}
}

const hostile = "a\x1b]0;pwned\x07\"; } \\\n\t\u202e<b>&lt;\\\""

func hostileRecord() Record {
	r := Rejection{Task: hostile, Agent: hostile, ReasonType: hostile, Summary: hostile, BlockingFactor: hostile}
	return Record{RunID: hostile, ID: hostile, Rejection: r, Valid: true, Decision: hostile, DecidedBy: hostile, Created: []string{hostile}}
}

// No text of a command reaches the terminal as it is, and none breaks a table.
func TestStatsTextIsSafe(t *testing.T) {
	r := hostileRecord()
	r.Rejection.Agent += strings.Repeat("界", 5000)
	text := Collect([]Record{r}, time.Time{}).Text()
	if text != termsafe.Text(text) || strings.Contains(text, "\t") || len(text) > 4000 {
		t.Errorf("%q", text)
	}
	s := Collect([]Record{r}, time.Time{})
	if name := s.ByTask[0].Name; name != termsafe.Line(hostile) {
		t.Errorf("%q", name)
	}
	s.ByTask[0].Name = "x\ty\n\x1b[1m"
	if text := s.Text(); text != termsafe.Text(text) || !strings.Contains(text, "\nx y ") {
		t.Errorf("%q", text)
	}
}
