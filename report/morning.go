package report

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// longRun is how long a run must take for its reader to have been away.
const longRun = 10 * time.Minute

// Morning returns what somebody who was away during the run should read first, in at most five
// lines: how it ended, what it changed in git, what it used and how long it waited, what it
// asked, and the command to begin with. It returns nil if the run took less than ten minutes,
// or if its events are not available.
func (r *Report) Morning() []string {
	s := r.state
	if s == nil || s.Elapsed < longRun {
		return nil
	}
	res := s.Result()
	first := fmt.Sprintf("%s: %s after %s in %s", termsafe.Short(cmp.Or(s.Name, commandLine(r.Command)), 80),
		words(cmp.Or(res.Status, r.Status)), plural.Count(s.Iterations, "iteration"), plural.Seconds(s.Elapsed.Seconds()))
	if res.Status != core.StatusDone {
		first += "; " + termsafe.Short(s.Summary(), 120)
	}
	lines := []string{first}
	base, changed := r.changes()
	for _, line := range []string{changed, r.used(), r.asked()} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	next := "looprun explain " + s.RunID
	switch {
	case len(s.Pending()) > 0:
		next = "looprun answer " + s.RunID
	case res.Status == core.StatusDone && base != "":
		next = "git diff " + base
	}
	return append(lines, "look first: "+next)
}

// gitLimit is how long git may take for the morning report.
const gitLimit = 10 * time.Second

// changes returns a text that describes how the git work tree has changed since the run began,
// and base, the last commit before the run. Without changes base is empty; outside of a git
// work tree both are.
func (r *Report) changes() (base, text string) {
	s := r.state
	ctx, cancel := context.WithTimeout(context.Background(), gitLimit)
	defer cancel()
	run := func(args ...string) string {
		out, _ := git.Run(ctx, s.Dir, nil, args...)
		return out
	}
	base = run("rev-list", "-1", "--abbrev-commit", "--before="+s.Started.UTC().Format(time.RFC3339), "HEAD")
	if base == "" {
		return "", ""
	}
	commits, _ := strconv.Atoi(run("rev-list", "--count", base+"..HEAD"))
	files := strings.Count(run("diff", "--name-only", "-z", base), "\x00") + strings.Count(run("ls-files", "--others", "--exclude-standard", "-z"), "\x00")
	if commits+files == 0 {
		return "", "nothing changed since it began"
	}
	return base, fmt.Sprintf("%s and %s changed since it began", plural.Count(commits, "commit"), plural.Count(files, "file"))
}

// used returns what the run cost and how long it waited for limits and answers; empty if
// neither is known.
func (r *Report) used() string {
	var parts []string
	if usd := r.state.Cost; usd > 0 {
		parts = append(parts, fmt.Sprintf("it cost $%.2f", usd))
	}
	if tokens := r.state.Tokens; tokens > 0 {
		parts = append(parts, "it used "+plural.Count(int(tokens), "token"))
	}
	if r.waited >= time.Second {
		parts = append(parts, fmt.Sprintf("it waited %s for limits and answers", plural.Seconds(r.waited.Seconds())))
	}
	return strings.Join(parts, "; ")
}

// asked returns how many questions were asked, the last one, and its answer; empty if none was
// asked.
func (r *Report) asked() string {
	if len(r.Trips) == 0 {
		return ""
	}
	t := &r.Trips[len(r.Trips)-1]
	text := fmt.Sprintf("it asked %s", plural.Count(r.omitted().Trips+len(r.Trips), "question"))
	if len(r.Trips) > 1 {
		text += "; the last"
	}
	text += ": " + termsafe.Short(t.what(), 120)
	if n := len(t.Answers); n > 0 {
		text += "; answer: " + termsafe.Short(t.Answers[n-1].sentence(), 120)
	} else if len(r.state.Pending()) > 0 {
		text += "; it waits for an answer"
	}
	return text
}
