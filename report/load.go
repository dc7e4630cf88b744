package report

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// Load reads a run from its directory: .looprun/RUN-ID. Memory use does not depend on the
// journal's size; [MaxIterations] and the other limits bound it. Load fails where
// [scratchpad.Replay] does: if the journal cannot be read, is damaged, or was written by a
// newer looprun. A run that is still in progress, or that crashed, also has a report, whose
// status reflects that.
func Load(dir string) (*Report, error) {
	alive := scratchpad.Locked(dir)
	f := folder{r: &Report{Schema: SchemaID, dir: dir}}
	tail, err := scratchpad.Replay(dir, f.event)
	if err != nil {
		return nil, err
	}
	if tail.Events == 0 {
		return nil, fmt.Errorf("the run in %s was killed before it started: there is nothing to report; remove its directory", dir)
	}
	if !alive { // else an event is being written just now
		f.r.TornBytes = tail.Cut
	}
	return f.finish(alive), nil
}

// FromEvents returns the report of a run whose events are kept elsewhere. A run that has not
// ended counts as crashed, and there are no outputs.
func FromEvents(events iter.Seq2[core.Event, error]) (*Report, error) {
	f := folder{r: &Report{Schema: SchemaID}}
	for e, err := range events {
		if err == nil {
			err = f.event(e)
		}
		if err != nil {
			return nil, err
		}
	}
	if f.state.Seq == 0 {
		return nil, errors.New("there is nothing to report: the run has no events")
	}
	r := f.finish(false)
	for i := range r.History {
		r.History[i].OutputFile = ""
	}
	return r, nil
}

// Live is the report of a run that may be in progress; it grows as events arrive. Close it
// when done.
type Live struct {
	f    folder
	from *scratchpad.Follower
}

// Follow starts the report of a run, which is empty until [Live.Next] is called.
func Follow(dir string) (*Live, error) {
	from, err := scratchpad.Follow(dir)
	if err != nil {
		return nil, err
	}
	return &Live{folder{r: &Report{Schema: SchemaID, dir: dir}}, from}, nil
}

// Next reads the events written since the last call. The report and the state are valid until
// the next call.
func (l *Live) Next() (*Report, *core.State, error) {
	if _, err := l.from.Next(l.f.event); err != nil {
		return nil, nil, err
	}
	return l.f.finish(scratchpad.Locked(l.f.r.dir)), &l.f.state, nil
}

// Close stops following the run.
func (l *Live) Close() error { return l.from.Close() }

// finish adds what the state knows so far.
func (f *folder) finish(alive bool) *Report {
	whole := *f.r
	r, s := &whole, &f.state
	r.state = s
	res := s.Result()
	r.Status = scratchpad.Standing(s, alive)
	if s.Ended && !alive {
		r.ExitCode, r.Guard, r.Decision = res.ExitCode, id(res.Guard), line(res.Decision, 100)
		r.Responder, r.Assistant, r.Reason = line(res.Responder, 100), named(res.Assistant), line(res.Reason, maxProse)
	}
	if s.Task != s.Name {
		r.Task = line(s.Task, maxProse)
	}
	if list := s.Decomposed(); list != nil {
		r.Subtasks = &core.Subtasks{
			Done: notNil(lines(list.Done, maxLabel)), Current: line(list.Current, maxLabel), Remaining: notNil(lines(list.Remaining, maxLabel)),
		}
	}
	r.Blockers = lines(s.Blockers, maxProse)
	r.Pending, r.Warnings = res.Pending, lines(res.Warnings, maxProse)
	r.Iterations, r.Runtime, r.Limits = s.Iterations, s.Result().RuntimeSeconds, s.Limits
	r.Progress = line(s.Summary(), maxProse)
	r.Known = convert.Each(s.Known, func(k core.KnownIssue) core.KnownIssue {
		return core.KnownIssue{Hash: k.Hash, Label: line(s.Named(k), maxLabel)}
	})
	r.TripCount = s.Trips
	// Lists are never null in JSON.
	r.Signatures, r.History = notNil(r.Signatures), notNil(r.History)
	r.Trips, r.Known, r.Moments = notNil(r.Trips), notNil(r.Known), notNil(r.Moments)
	r.Command = notNil(r.Command)
	return r
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Maximum lengths of texts, in characters.
const (
	maxProse   = 2000 // a reason, a question
	maxLabel   = 300
	maxText    = 8000 // several lines: guidance, findings
	maxArg     = 2000 // one argument of a command
	maxArgs    = 200
	maxAnswers = 20 // of anything that one trip has several of

	maxFailures = 50
)

// line cleans a text from outside and puts it on one line.
func line(s string, limit int) string { return termsafe.Cut(termsafe.Line(s), limit) }

// text cleans a text from outside that may have several lines.
func text(s string, limit int) string {
	return termsafe.Cut(strings.TrimRight(termsafe.Text(s), "\n"), limit)
}

// lines cleans a list of names.
func lines(list []string, limit int) []string {
	return convert.Each(list[:min(len(list), maxArgs)], func(s string) string { return line(s, limit) })
}

// id cleans an identifier from the journal: guards can have names of their own.
func id[T ~string](s T) T { return T(line(string(s), 100)) }

func ids[T ~string](list []T) []T {
	return convert.Each(list[:min(len(list), maxAnswers)], id)
}

// arguments cleans a command and keeps line breaks, which a shell line may have.
func arguments(list []string) []string {
	return convert.Each(list[:min(len(list), maxArgs)], func(s string) string { return text(s, maxArg) })
}

// title returns the run's name for a heading.
func (r *Report) title() string {
	switch {
	case r.Name != "":
		return r.Name
	case len(r.Command) > 0:
		return commandLine(r.Command)
	}
	return r.RunID
}

// commandLine formats a command as one line.
func commandLine(argv []string) string { return line(core.CommandLine(argv), maxArg) }

// letters returns the name of the n-th signature: A to Z, then AA, AB and so on.
func letters(n int) string {
	name := ""
	for n++; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}

// passLetter marks a check that passed.
const passLetter = "✓"

// words formats an identifier for a person.
func words[T ~string](id T) string { return strings.ReplaceAll(string(id), "_", " ") }

// over reports whether the run has ended, and so has an exit code.
func (r *Report) over() bool {
	return r.Status != core.StatusRunning && r.Status != core.StatusAwaiting && r.Status != core.StatusCrashed
}

// standing returns the status with its guard: “tripped (loop detected)”.
func (r *Report) standing() string {
	return strings.ReplaceAll(core.Ending{Status: r.Status, Guard: r.Guard}.String(), "_", " ")
}
