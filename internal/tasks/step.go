package tasks

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/termsafe"
)

// Step returns the check that no task of a file is open and none was deleted, run after
// another check if there is one. It prints those tasks as lines of the Test Anything Protocol,
// so that closed tasks count as progress as passing tests do.
func Step(file string, check engine.Step) engine.Step { return step{file, check} }

type step struct {
	file  string
	check engine.Step // nil: none
}

// Argv describes both the check and the tasks.
func (s step) Argv() []string {
	all := "every task of " + filepath.Base(s.file) + " is done"
	if s.check == nil {
		return []string{all}
	}
	argv := append([]string(nil), s.check.Argv()...)
	argv[len(argv)-1] += " and " + all
	return argv
}

// Run runs the check and reads the list, even if the check fails.
func (s step) Run(ctx context.Context, in engine.Invocation) engine.Exit {
	var e engine.Exit
	e.Cause = core.CauseExited
	if s.check != nil {
		e = s.check.Run(ctx, in)
	}
	before := in.Iteration.Tasks
	p, err := read(File(in.Dir, s.file))
	if err != nil {
		in.Stdout(fmt.Appendf(nil, "# the tasks cannot be read: %v\n", err))
		return failed(e)
	}
	e.Tasks = p.changes(before)
	var b strings.Builder
	for i, t := range p.list {
		if !t.Done {
			fmt.Fprintf(&b, "not ok %d - %s\n", i+1, tap(t.Text))
		}
	}
	gone := p.gone(before)
	for i, text := range gone {
		fmt.Fprintf(&b, "not ok %d - %s (gone from %s)\n", len(p.list)+i+1, tap(text), termsafe.Line(s.file))
	}
	if b.Len() == 0 {
		return e
	}
	fmt.Fprintf(&b, "1..%d\n", len(p.list)+len(gone))
	if len(gone) > 0 {
		fmt.Fprintf(&b, "# a deleted task is not done: put it back, and tick it when it is done\n")
	}
	in.Stdout([]byte(b.String()))
	e.OpenTasks = e.Cause == core.CauseExited && e.Signal == 0 && e.Code == 0
	return failed(e)
}

// failed returns the exit of a check that found open tasks; its own failure takes precedence.
func failed(e engine.Exit) engine.Exit {
	if e.Cause == core.CauseExited && e.Signal == 0 && e.Code == 0 {
		e.Code = 1
	}
	return e
}

func tap(text string) string { return strings.ReplaceAll(text, "# ", `\# `) }
