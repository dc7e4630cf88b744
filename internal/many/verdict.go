package many

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/git"
	"github.com/looprun/looprun/internal/junit"
	"github.com/looprun/looprun/internal/parallel"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/report"
)

// Verdict is the outcome of all loops.
type Verdict struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`
	// ExitCode is 0 if all are done, otherwise the first code above 0, in the order of the
	// loops.
	ExitCode int     `json:"exit_code"`
	Runtime  float64 `json:"runtime_seconds"`
	Cost     float64 `json:"cost_usd,omitempty"`
	Tokens   int64   `json:"tokens,omitempty"`
	Loops    []End   `json:"loops"`
}

// finish handles the result of a loop that has ended: it brings the files into the user's
// repository and prints a line about it. The loop is done only when all files are there; then
// its tree is removed.
func (b *Batch) finish(e *entry) {
	ctx := context.Background() // also when the batch is interrupted
	e.sum()
	end := &e.end
	end.ExitCode = cmp.Or(end.ExitCode, e.seen.ExitCode)
	if end.ExitCode == 0 && !end.Status.MayExitZero() {
		end.ExitCode = core.ExitFailed
	}
	var err error
	if end.Status.MayExitZero() {
		err = e.repo.settle(ctx, e.Loop, b.runDir(e.Loop))
	} else {
		_, err = e.repo.publish(ctx, e.RunID)
	}
	if last, _ := checkpoint.Last(ctx, e.Repository, e.RunID); last != "" {
		end.Ref = checkpoint.Ref(e.RunID)
	}
	switch {
	case err != nil && end.Status.MayExitZero():
		end.Reason = fmt.Sprintf("it is %s, but its result on %s is incomplete: %v; its work tree stays: %s", end.Status, checkpoint.Ref(e.RunID), err, e.Tree)
		end.Status, end.ExitCode, end.Ref = core.StatusFailed, core.ExitFailed, ""
	case err != nil:
		b.warn(e, err.Error())
	case end.Status.MayExitZero():
		if err := e.repo.remove(ctx, e.Tree); err != nil {
			b.warn(e, "its work tree cannot be removed: "+err.Error())
		}
	}
	if _, err := os.Lstat(e.Tree); err == nil {
		end.Tree = e.Tree
	}
	b.say(func() { b.Say.News("%s", end.line(b.count(over), len(b.entries))) })
}

// sum copies what a loop's run records about itself into its end.
func (e *entry) sum() {
	end, s := &e.end, e.seen
	end.Name, end.RunID, end.Status, end.Guard = e.Name, e.RunID, s.Status, s.Guard
	end.Iterations, end.Runtime, end.Cost, end.Tokens, end.Says = s.Iterations, s.Runtime, e.cost, e.tokens, s.Says
}

// line returns the line about one loop.
func (e *End) line(n, of int) string {
	text := fmt.Sprintf("[%d/%d] %s: ", n, of, e.Name)
	if e.Status == "" {
		return text + "not started: " + e.Reason
	}
	text += fmt.Sprintf("%s after %s, %s", e.standing(), plural.Count(e.Iterations, "iteration"), plural.Seconds(e.Runtime))
	if why := cmp.Or(e.Reason, console.Short(e.Says, 80)); why != "" {
		text += ": " + why
	}
	if e.ExitCode != 0 {
		text += fmt.Sprintf("; exit %d", e.ExitCode)
	}
	if e.Ref != "" {
		text += fmt.Sprintf("; see: looprun diff %s; take: git merge --squash %s", e.RunID, e.Ref)
	}
	return text
}

func (e *End) standing() string {
	return core.Ending{Status: e.Status, Guard: core.GuardID(e.Guard)}.String()
}

// verdict returns the verdict on all loops. A loop that is still asking is not done.
func (b *Batch) verdict() *Verdict {
	v := &Verdict{Schema: "looprun.dev/many-result/v1", ID: b.ID, Runtime: time.Since(b.Started).Seconds()}
	for _, e := range b.entries {
		if e.stands == asking {
			e.end.ExitCode = cmp.Or(e.seen.ExitCode, core.StatusPaused.ExitCode())
			if commit, _ := e.repo.publish(context.Background(), e.RunID); commit != "" {
				e.end.Ref = checkpoint.Ref(e.RunID)
			}
			e.sum()
			e.end.Tree = e.Tree
			e.end.Reason = "it asks: looprun answer " + e.RunID
		}
		v.Loops = append(v.Loops, e.end)
		v.Cost, v.Tokens = v.Cost+e.end.Cost, v.Tokens+e.end.Tokens
		v.ExitCode = cmp.Or(v.ExitCode, e.end.ExitCode)
	}
	return v
}

// Morning returns what somebody who was away should read first about the loops; nil if none has
// begun.
func (b *Batch) Morning(v *Verdict) []string {
	n := report.Night{Known: true}
	runs := make([]*report.Report, len(b.entries))
	var mu sync.Mutex
	parallel.Each(len(b.entries), func(i int) {
		e := b.entries[i]
		r, _ := report.Load(b.runDir(e.Loop)) // nil: it has not begun, or its line says why
		commits, files, err := 0, 0, error(nil)
		switch {
		case e.end.Tree != "":
			commits, files, err = git.Changes(context.Background(), e.Tree, e.Base, "")
		case e.end.Ref != "":
			commits, files, err = git.Changes(context.Background(), e.Repository, e.Base, e.end.Ref)
		}
		mu.Lock()
		defer mu.Unlock()
		runs[i], n.Commits, n.Files, n.Known = r, n.Commits+commits, n.Files+files, n.Known && err == nil
	})
	if runs = slices.DeleteFunc(runs, func(r *report.Report) bool { return r == nil }); len(runs) == 0 {
		return nil
	}
	for _, to := range []struct {
		command string
		fits    func(e *entry) bool
	}{
		{"answer", func(e *entry) bool { return e.stands == asking }},
		{"explain", func(e *entry) bool { return e.end.Status != "" && e.end.ExitCode != 0 }},
		{"diff", func(e *entry) bool { return e.end.Ref != "" }},
	} {
		if i := slices.IndexFunc(b.entries, to.fits); i >= 0 {
			n.First = "looprun " + to.command + " " + b.entries[i].RunID
			break
		}
	}
	iterations := 0
	for _, e := range v.Loops {
		iterations += e.Iterations
	}
	n.Ended = fmt.Sprintf("%s: %s after %s in %s", plural.Count(len(v.Loops), "loop"), v.Counts(), plural.Count(iterations, "iteration"), plural.Seconds(v.Runtime))
	return n.Lines(runs...)
}

// Write records the verdict, and writes copies of it to the named files; empty names are
// skipped.
func (v *Verdict) Write(p *Plan, result, junit, report string) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	errs := []error{atomicfile.Write(filepath.Join(p.dir(), resultName), text, true)}
	export := func(name string, write func(io.Writer) error) {
		if name == "" {
			return
		}
		var b strings.Builder
		errs = append(errs, write(&b), atomicfile.Export(name, []byte(b.String())))
	}
	export(result, func(w io.Writer) error { _, err := w.Write(text); return err })
	export(junit, v.junit)
	export(report, v.Markdown)
	return errors.Join(errs...)
}

// Counts summarizes how the loops ended: “3 done, 1 tripped”.
func (v *Verdict) Counts() string {
	var order []string
	counts := map[string]int{}
	for _, e := range v.Loops {
		word := cmp.Or(string(e.Status), "not started")
		if counts[word] == 0 {
			order = append(order, word)
		}
		counts[word]++
	}
	for i, word := range order {
		order[i] = fmt.Sprintf("%d %s", counts[word], word)
	}
	return strings.Join(order, ", ")
}

// Markdown writes a table of all loops. Names are data and cannot create markup.
func (v *Verdict) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %d loops: %s\n\n| loop | status | exit code | iterations | cost | run |\n|---|---|---|---|---|---|\n", len(v.Loops), v.Counts())
	cell := strings.NewReplacer("|", "&#124;", "<", "&lt;", "&", "&amp;", "`", "&#96;", "[", "&#91;", "*", "&#42;", "_", "&#95;")
	for _, e := range v.Loops {
		status := e.standing()
		if e.Reason != "" {
			status += ": " + e.Reason
		}
		cost := ""
		if e.Cost > 0 {
			cost = fmt.Sprintf("$%.2f", e.Cost)
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s | %s |\n", cell.Replace(termsafe.Line(e.Name)), cell.Replace(termsafe.Line(status)), e.ExitCode, e.Iterations, cost, e.RunID)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// junit writes one test case for each loop.
func (v *Verdict) junit(w io.Writer) error {
	suite := junit.Suite{Name: "looprun many", Time: junit.Seconds(v.Runtime)}
	for i := range v.Loops {
		e := &v.Loops[i]
		c := junit.Case{Name: termsafe.Line(e.Name), Class: "looprun.many", Time: junit.Seconds(e.Runtime)}
		if e.ExitCode != 0 {
			c.Failures = []junit.Result{{Message: termsafe.Line(e.line(i+1, len(v.Loops))), Type: string(e.Status), Text: termsafe.Line(e.Says)}}
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite.Write(w)
}
