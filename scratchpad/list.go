package scratchpad

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
)

// Summary is a run as a list shows it.
type Summary struct {
	ID         string      `json:"id"`
	Dir        string      `json:"dir"`
	Name       string      `json:"name,omitempty"`
	Parent     string      `json:"parent,omitempty"` // the run that this one was started in
	Command    []string    `json:"command"`
	Status     core.Status `json:"status"`
	Guard      string      `json:"guard,omitempty"`
	ExitCode   int         `json:"exit_code"`
	Iterations int         `json:"iterations"`
	Started    time.Time   `json:"started"`
	Runtime    float64     `json:"runtime_seconds"`
	Signature  string      `json:"signature,omitempty"`
	Says       string      `json:"says,omitempty"` // the same in words for a person
	// Answered is the answer, in words, that the run received while it was at rest; resuming
	// the run applies it. Empty means there is none.
	Answered string `json:"answered,omitempty"`
	// AskedIn is the run above that asks the question of this one, and AnsweredIn the one where
	// it was answered; the answer is never given here. Only [Summary.Placed] sets them.
	AskedIn    string  `json:"asked_in,omitempty"`
	AnsweredIn string  `json:"answered_in,omitempty"`
	Place      string  `json:"-"` // where it works, or the repository of a work tree that looprun made
	Pending    bool    `json:"-"` // a question waits for an answer
	CostUSD    float64 `json:"-"`
	Tokens     int64   `json:"-"`
	Alive      bool    `json:"-"` // a looprun had the run open
	// Problem is why the run cannot be read; the other fields are then empty.
	Problem string `json:"problem,omitempty"`
}

// Standing returns the status with the guard, in the form of [core.Ending.String], or where its
// question is asked.
func (s Summary) Standing() string {
	switch {
	case s.AskedIn != "":
		return "asked in " + s.AskedIn
	case s.AnsweredIn != "":
		return "answered in " + s.AnsweredIn
	}
	return core.Ending{Status: s.Status, Guard: core.GuardID(s.Guard)}.String()
}

// Placed returns the summary with where the question of a paused run is asked or was answered,
// if the run above asks it.
func (s Summary) Placed() Summary {
	if s.Status != core.StatusPaused || s.Answered != "" {
		return s
	}
	switch above, waits := askedAbove(s.Dir); {
	case above == "":
	case waits:
		s.AskedIn = filepath.Base(above)
	default:
		s.AnsweredIn = filepath.Base(above)
	}
	return s
}

// AskedAbove returns the directory of the run above that has been asked what the run in dir
// asks: the answer is that one's. It is empty if the run in dir keeps its questions itself.
func AskedAbove(dir string) string {
	above, _ := askedAbove(dir)
	return above
}

// askedAbove returns [AskedAbove], and whether the question still waits there.
func askedAbove(dir string) (above string, waits bool) {
	if above = Above(dir); above == "" {
		return "", false
	}
	state, _, err := Load(above)
	if err != nil {
		return "", false
	}
	from := func(q core.Question) bool { // a question from inside names its runs
		return len(q.Path) > 0 && strings.Contains(q.Path[0], filepath.Base(dir))
	}
	if slices.ContainsFunc(state.Answerable(), from) {
		return above, true
	}
	if slices.ContainsFunc(state.Asked, func(a core.Asked) bool { return from(a.Question) }) ||
		slices.ContainsFunc(state.Answered, func(a core.Answered) bool { return a.Asked != nil && from(*a.Asked) }) {
		return above, false
	}
	return "", false
}

// IDs returns the runs of a state directory, latest first. A missing directory has none.
func IDs(stateDir string) ([]string, error) {
	entries, err := os.ReadDir(stateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the state directory cannot be read: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && isID(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// idForm is the form of a run's id, such as 20060102-150405-3f9a, for [path.Match].
const idForm = "[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]-[0-9][0-9][0-9][0-9][0-9][0-9]-[0-9a-f][0-9a-f][0-9a-f][0-9a-f]"

func isID(name string) bool {
	ok, _ := path.Match(idForm, name)
	return ok
}

// LatestName stands for the id of the latest run.
const LatestName = "latest"

// Find finds a run by its id, by a unique part of it, or, for [LatestName] or an empty text,
// as the [Latest]. It returns the run's directory.
func Find(stateDir, text string) (string, error) {
	ids, err := IDs(stateDir)
	if err != nil {
		return "", err
	}
	if text == "" || text == LatestName {
		if len(ids) == 0 {
			return "", fmt.Errorf("there are no runs in %s", stateDir)
		}
		dir, _, err := Latest(stateDir, Outermost)
		if err == nil && dir == "" {
			err = fmt.Errorf("no run in %s has begun yet", stateDir)
		}
		return dir, err
	}
	var found []string
	for _, id := range ids {
		if id == text {
			return filepath.Join(stateDir, id), nil
		}
		if strings.Contains(id, text) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return filepath.Join(stateDir, found[0]), nil
	case 0:
		return "", fmt.Errorf("no run %q in %s; looprun list shows the runs", text, stateDir)
	}
	return "", fmt.Errorf("%q fits %d runs: %s; give more of the id", text, len(found), strings.Join(found[:min(5, len(found))], ", "))
}

// HasEvents reports whether the run has recorded any events: one that is just starting, or
// that was killed before its first event, has nothing to show or resume.
func HasEvents(dir string) bool {
	start, err := readStart(filepath.Join(dir, journalName), 1)
	return err == nil && len(start) > 0 // a damaged one has something, too
}

// Summarize reads a run's summary. For a run that has ended it reads the first event and the
// result; it replays the journal only if there is no result.
func Summarize(dir string) Summary {
	s := Summary{ID: filepath.Base(dir), Dir: dir, Alive: Locked(dir)} // asked first: what a run writes last is then there
	first, err := First(dir)
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	started, _ := first.Data.(core.RunStarted)
	s.Name, s.Command, s.Started, s.Parent = started.Name, started.Command, first.Time, started.Parent
	s.Place = cmp.Or(started.Repository, started.Dir)
	if v, ok := readResult(dir); ok && !s.Alive {
		s.Status, s.Guard, s.ExitCode = v.Status, string(v.Guard), v.ExitCode
		s.Iterations, s.Runtime, s.Signature, s.Says = v.Iterations, v.RuntimeSeconds, v.Signature, v.Says
		s.Pending, s.CostUSD, s.Tokens = v.Pending, v.CostUSD, v.Tokens
		return s
	}
	state, _, err := Load(dir)
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	return SummaryOf(dir, state, s.Alive)
}

// SummaryOf returns the summary of a run in that state.
func SummaryOf(dir string, state *core.State, alive bool) Summary {
	r := state.Result()
	answered := ""
	if !alive {
		answered = state.Unused()
	}
	return Summary{
		ID: filepath.Base(dir), Dir: dir, Name: state.Name, Parent: state.Parent, Command: state.Command, Status: Standing(state, alive),
		Place: cmp.Or(state.Repository, state.Dir), Guard: string(r.Guard), ExitCode: r.ExitCode, Iterations: r.Iterations, Started: state.Started, Runtime: r.RuntimeSeconds,
		Signature: r.Signature, Says: r.Says, Answered: answered, Pending: r.Pending && answered == "", CostUSD: r.CostUSD, Tokens: r.Tokens, Alive: alive,
	}
}

// Standing returns the status of a run that may still be alive.
func Standing(s *core.State, alive bool) core.Status {
	if s.Ended && !alive {
		return s.Ending.Status
	}
	switch {
	case !alive:
		return core.StatusCrashed
	case len(s.Pending()) > 0:
		return core.StatusAwaiting
	}
	return core.StatusRunning
}

// First returns the first event of a run.
func First(dir string) (core.Event, error) {
	name := filepath.Join(dir, journalName)
	start, err := readStart(name, pageSize) // no record is longer
	if err != nil {
		return core.Event{}, err
	}
	line, _, whole := bytes.Cut(start, []byte{'\n'})
	if !whole {
		return core.Event{}, fmt.Errorf("%s holds no events", name)
	}
	return decode(dir, line)
}
