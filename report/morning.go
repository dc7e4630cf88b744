package report

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
)

// longRun is how long a run must take for its reader to have been away.
const longRun = 10 * time.Minute

// Morning returns what somebody who was away during the run should read first, in at most five
// lines: see [Night]. It returns nil if the run took less than ten minutes, or if its events are
// not available.
func (r *Report) Morning() []string {
	s := r.state
	if s == nil || s.Elapsed < longRun {
		return nil
	}
	res, program := s.Result(), "looprun"
	if r.dir != "" && scratchpad.IsCopy(r.dir) { // of a fleet's loop
		program = "looprun-fleet"
	}
	n := Night{Ended: fmt.Sprintf("%s: %s after %s in %s", termsafe.Short(cmp.Or(s.Name, commandLine(r.Command)), 80),
		words(cmp.Or(res.Status, r.Status)), plural.Count(s.Iterations, "iteration"), plural.Seconds(s.Elapsed.Seconds())), First: program + " explain " + s.RunID}
	if res.Status != core.StatusDone {
		n.Ended += "; " + termsafe.Short(s.Summary(), 120)
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitLimit)
	defer cancel()
	base, _, err := git.LastBefore(ctx, s.Dir, s.Started)
	if n.Known = err == nil && base != ""; n.Known {
		n.Commits, n.Files, err = git.Changes(ctx, s.Dir, base, "")
		n.Known = err == nil
	}
	switch {
	case len(s.Pending()) > 0:
		n.First = program + " answer " + s.RunID
	case res.Status == core.StatusDone && n.Commits+n.Files > 0:
		n.First = "git diff " + base
	}
	return n.Lines(r)
}

// gitLimit is how long git may take for the morning report.
const gitLimit = 10 * time.Second

// Night is what somebody who was away reads first about one run, or about several that were
// started together.
type Night struct {
	Ended string // how it ended
	// Commits and Files are how many were made and changed in git, if that is Known.
	Commits, Files int
	Known          bool
	First          string // the command to begin with; empty: none
}

// Lines returns at most five lines: how it ended, what changed in git, what the runs used and
// how long they waited, what they asked, and the command to begin with.
func (n Night) Lines(runs ...*Report) []string {
	lines := []string{n.Ended}
	if n.Known && n.Commits+n.Files == 0 {
		lines = append(lines, "nothing changed since it began")
	} else if n.Known {
		lines = append(lines, fmt.Sprintf("%s and %s changed since it began", plural.Count(n.Commits, "commit"), plural.Count(n.Files, "file")))
	}
	lines = append(lines, used(runs), asked(runs))
	if n.First != "" {
		lines = append(lines, "look first: "+n.First)
	}
	return convert.Where(lines, func(line string) bool { return line != "" })
}

// used returns what runs cost and how long they waited for limits and answers; empty if neither
// is known.
func used(runs []*Report) string {
	var usd float64
	var tokens int64
	var waited time.Duration
	for _, r := range runs {
		usd, tokens, waited = usd+r.state.Cost, tokens+r.state.Tokens, waited+r.waited
	}
	var parts []string
	if usd > 0 {
		parts = append(parts, fmt.Sprintf("it cost $%.2f", usd))
	}
	if tokens > 0 {
		parts = append(parts, "it used "+plural.Count(int(tokens), "token"))
	}
	if waited >= time.Second {
		parts = append(parts, fmt.Sprintf("it waited %s for limits and answers", plural.Seconds(waited.Seconds())))
	}
	return strings.Join(parts, "; ")
}

// asked returns how many questions runs asked, the last one, and its answer; empty if none was
// asked.
func asked(runs []*Report) string {
	count := 0
	var last *Trip
	waits := false
	for _, r := range runs {
		count += r.omitted().Trips + len(r.Trips)
		if len(r.Trips) == 0 {
			continue
		}
		if t := &r.Trips[len(r.Trips)-1]; last == nil || t.Time.After(last.Time) {
			last, waits = t, len(r.state.Pending()) > 0
		}
	}
	if last == nil {
		return ""
	}
	text := "it asked " + plural.Count(count, "question")
	if count > 1 {
		text += "; the last"
	}
	text += ": " + termsafe.Short(last.what(), 120)
	if n := len(last.Answers); n > 0 {
		text += "; answer: " + termsafe.Short(last.Answers[n-1].sentence(), 120)
	} else if waits {
		text += "; it waits for an answer"
	}
	return text
}
