package tasks

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
)

// Step is the check that no task of a file is open, after another check where there is
// one. It prints what is open in the words of the Test Anything Protocol, so that
// closed tasks are progress as tests that pass are.
func Step(file string, check engine.Step) engine.Step { return step{file, check} }

type step struct {
	file  string
	check engine.Step // nil: none
}

// Argv names both.
func (s step) Argv() []string {
	all := "every task of " + filepath.Base(s.file) + " is done"
	if s.check == nil {
		return []string{all}
	}
	argv := append([]string(nil), s.check.Argv()...)
	argv[len(argv)-1] += " and " + all
	return argv
}

// Run runs the check and reads the list, which is asked for what is left also where the
// check fails.
func (s step) Run(ctx context.Context, in engine.Invocation) engine.Exit {
	var e engine.Exit
	e.Cause = core.CauseExited
	if s.check != nil {
		e = s.check.Run(ctx, in)
	}
	list, err := Read(File(in.Dir, s.file))
	if err != nil {
		in.Stdout(fmt.Appendf(nil, "looprun: the tasks cannot be read: %v\n", err))
		if e.Cause == core.CauseExited && e.Signal == 0 && e.Code == 0 {
			e.Code = 1
		}
		return e
	}
	open := list.Open()
	if len(open) == 0 {
		return e
	}
	var b strings.Builder
	for i, t := range list {
		if !t.Done {
			fmt.Fprintf(&b, "not ok %d - %s\n", i+1, strings.ReplaceAll(t.Text, "# ", `\# `))
		}
	}
	fmt.Fprintf(&b, "1..%d\n", len(list))
	in.Stdout([]byte(b.String()))
	if e.Cause == core.CauseExited && e.Signal == 0 && e.Code == 0 {
		e.Code = 1
	}
	return e
}
