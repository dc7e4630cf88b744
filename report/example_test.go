package report_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/report"
)

// A run whose events are kept elsewhere than in a directory has a report as well.
func ExampleFromEvents() {
	journal := new(looprun.MemoryJournal)
	_, err := looprun.Run(context.Background(), looprun.Config{
		RunID: "ledger", Work: looprun.Func(func(context.Context, looprun.Invocation) error { return errors.New("error: 3 entries do not balance") }),
		Limits: looprun.DefaultLimits(), Guards: guards.Default(), Journal: journal,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := report.FromEvents(journal.All())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.RunID, r.Status, r.Guard, len(r.History))
	fmt.Println(r.JUnit(io.Discard)) // or Markdown, HTML, JSON
	// Output:
	// ledger tripped loop_detected 3
	// <nil>
}
