package engine

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/signature"
)

// Exit describes how a step ended.
type Exit struct {
	// Code is its exit status: 128+n if signal n killed it, 126 or 127 if it could not be
	// started.
	Code   int
	Signal syscall.Signal // zero: no signal killed it
	Cause  core.Cause     // why it ended, when not by itself
	Detail string         // the cause in words
	// Failure is a failure that the step itself reports, such as an agent that is not logged
	// in, whatever its exit code; empty if it reports none.
	Failure string
	// Turn is how the agents' turns in its transcripts ended.
	Turn Turn
	// Warnings are sentences about the step that a person should read although they do not
	// change how it ended; nil if there are none.
	Warnings []string
	// Tasks is how the list of open tasks that it judges changed; nil if it did not.
	Tasks *core.TaskChanges
	// OpenTasks says that nothing but open tasks of that list keeps the iteration from being done.
	OpenTasks bool
	// Err is the error of a [Func] that failed; Fatal reports that it ends the run.
	Err   error
	Fatal bool
}

// Turn describes how the turns of coding agents ended, according to their transcripts. The
// zero value is for a command that printed none.
type Turn struct {
	// Wrong describes a turn that began but has no end, or a turn before the last that failed;
	// empty if there is neither. A failure of the last turn is in [Exit.Failure].
	Wrong string
	Ended bool // the last turn ended well
}

// Judge decides what an iteration's exits mean. With the zero value nothing ever passes; a nil
// Judge means [DefaultJudge].
type Judge struct {
	Done   Codes // codes of the judge that pass
	Errors Codes // codes of the judge that are errors
	// WorkErrors are exit codes of the work that count as errors if a check or a promise
	// judges.
	WorkErrors Codes
	Stop       Codes // codes of the judge that end the run as failed
	Promise    bool  // done needs the promise too
	Turn       bool  // done needs an agent's turn that ended well
	Terminal   bool  // exit 130 is a person's interrupt
}

// DefaultJudge returns a judge for which exit 0 passes and 126 and up are errors. If something
// else judges the work, any failure of the work is an error.
func DefaultJudge() Judge {
	return Judge{Done: CodeRange(0, 0), Errors: CodeRange(126, 255), WorkErrors: CodeRange(1, 255)}
}

// Exits are the exits to judge: the work's, nil in the precheck, and the check's, nil if there
// is none or it did not run.
type Exits struct {
	Work, Check *Exit
	Unchecked   bool // a check judges, and it did not run: the iteration is never done
	Promised    bool
	Unpromised  string // why a text that looks like the promise is none; empty: nothing does

	took  time.Duration // of the check that failed
	again bool          // it can be run once more
}

// err returns why the judge, or else the work, failed.
func (e Exits) err() error {
	if e.Check != nil && e.Check.Err != nil || e.Work == nil {
		return e.Check.Err
	}
	return e.Work.Err
}

// Outcome returns the outcome of the first rule that matches. The judge is the check if there
// is one, or else the work.
func (j Judge) Outcome(e Exits) core.Outcome {
	judge := cmp.Or(e.Check, e.Work)
	switch {
	case j.interrupted(e.Work) || j.interrupted(e.Check):
		return core.OutcomeInterrupted
	case cut(e.Work) && !j.hears(e):
		return core.OutcomeError
	case j.EndedWell(e):
		return core.OutcomeDone
	case j.fails(judge):
		return core.OutcomeError
	case judge == e.Work && j.passes(judge) && (!j.Turn || judge.Turn.Ended): // but for the promise
		return core.OutcomeNotDone
	case j.workFailed(e):
		return core.OutcomeError
	}
	return core.OutcomeNotDone
}

// hears reports whether the work still counts after its own time limit ended it, because
// something else judges it.
func (j Judge) hears(e Exits) bool { return timedOut(e.Work) && (e.Check != nil || j.Promise) }

// EndedWell reports whether the iteration is done: by the promise if one is needed, and by the
// judge's exit and transcript. Nothing else decides it.
func (j Judge) EndedWell(e Exits) bool {
	switch {
	case e.Unchecked, j.Promise && !e.Promised:
		return false
	case e.Check != nil:
		return j.passes(e.Check)
	case j.Turn && !e.Work.Turn.Ended:
		return false
	}
	return j.passes(e.Work) || j.hears(e) && e.Work.troubled() == ""
}

// workFailed reports whether the work failed in a way that counts. Its exit code counts if
// something else judges.
func (j Judge) workFailed(e Exits) bool {
	switch {
	case e.Work == nil:
		return false
	case e.Work.Failure != "", e.Check == nil && e.Work.Turn.Wrong != "":
		return true
	case e.Check == nil && j.Turn && !e.Work.Turn.Ended:
		return true
	case e.Check == nil && !j.Promise:
		return false
	}
	return e.Work.Signal != 0 || e.Work.Cause != core.CauseExited || j.WorkErrors.Has(e.Work.Code)
}

// blamed reports whether an iteration that is not done is an error because of the work, not
// because of the check that judges it.
func (j Judge) blamed(e Exits) bool {
	return e.Check != nil && j.workFailed(e) && !j.fails(e.Check)
}

// keepsSignal reports whether a promise that the work made with a signal still counts after it
// ended: it does not if the work failed afterwards.
func (j Judge) keepsSignal(work *Exit) bool {
	ended := work.Cause == core.CauseExited && work.Signal == 0 && (!j.WorkErrors.Has(work.Code) || j.Done.Has(work.Code))
	return work.troubled() == "" && (ended || timedOut(work))
}

func (j Judge) interrupted(e *Exit) bool {
	return e != nil && (e.Cause == core.CauseInterrupt ||
		e.Cause == core.CauseExited && (e.Signal == syscall.SIGINT || j.Terminal && e.Code == core.StatusInterrupted.ExitCode()))
}

// cut reports whether looprun ended the step or lost track of it.
func cut(e *Exit) bool {
	return timedOut(e) || e != nil && (e.Cause == core.CauseMaxRuntime || e.Cause == core.CauseLost)
}

// timedOut reports whether the step, and not the whole run, was ended by a time limit or
// because an agent repeated itself.
func timedOut(e *Exit) bool {
	return e != nil && (e.Cause == core.CauseIterationTimeout || e.Cause == core.CauseIdleTimeout || e.Cause == core.CauseTurnLoop)
}

func (j Judge) passes(e *Exit) bool {
	return e.Cause == core.CauseExited && e.Signal == 0 && e.troubled() == "" && j.Done.Has(e.Code)
}

func (j Judge) fails(e *Exit) bool {
	return e.Cause != core.CauseExited || e.Signal != 0 || e.troubled() != "" || j.Errors.Has(e.Code)
}

// troubled returns the problem that its transcript shows: a turn failed or was cut off.
func (e *Exit) troubled() string { return cmp.Or(e.Failure, e.Turn.Wrong) }

// Fatal returns the exit code that ends the run at once, or 0 if the run continues. A command
// that cannot be run at its first try is not retried, and a stop code of the judge ends the
// run.
func (j Judge) Fatal(e Exits, first bool) int {
	judge := cmp.Or(e.Check, e.Work)
	if j.EndedWell(e) {
		return 0
	}
	if j.Stop.Has(judge.Code) && judge.Cause == core.CauseExited && judge.Signal == 0 {
		return judge.Code
	}
	for _, x := range []*Exit{e.Work, e.Check} {
		if x != nil && x.Fatal {
			return x.Code
		}
		if first && x != nil && j.unrunnable(x) {
			return x.Code
		}
	}
	return 0
}

// unrunnable reports whether the command could not be run, unless its code is one that passes.
func (j Judge) unrunnable(e *Exit) bool {
	return unstartable(e) && (e.Cause == core.CauseStartFailed || !j.Done.Has(e.Code))
}

func unstartable(e *Exit) bool {
	return e.Cause == core.CauseStartFailed || e.Cause == core.CauseExited && e.Signal == 0 && (e.Code == core.ExitNotExecutable || e.Code == core.ExitNotFound)
}

// both returns the signature of an iteration in which both the work and the check failed: it
// differs if either differs. The one to blame names it.
func both(check, work signature.Signature, blamed bool) signature.Signature {
	named := check
	if blamed && work.Kind != signature.KindSilent {
		named = work
		named.Failing, named.Passed, named.Total, named.Checks = check.Failing, check.Passed, check.Total, check.Checks
		if len(work.Errors) == 0 {
			named.Errors = check.Errors
		}
	}
	mix := func(a, b signature.Hash) signature.Hash {
		return signature.Hash(xxhash.Sum64String(fmt.Sprintf("check %s work %s", a, b)))
	}
	named.Hash, named.Loose = mix(check.Hash, work.Hash), mix(check.Loose, work.Loose)
	if named.Core = check.Core; check.Core != 0 {
		named.Core = mix(check.Core, cmp.Or(work.Core, work.Loose))
	}
	return named
}

// Codes is a set of exit codes, 0 to 255. The zero value is empty.
type Codes struct{ bits [4]uint64 }

// ParseCodes parses a list of codes and ranges such as "0,3" or "2,70-78", or "none" for the
// empty set.
func ParseCodes(text string) (Codes, error) {
	var c Codes
	if strings.TrimSpace(text) == "none" {
		return c, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			to = from
		}
		lo, err1 := strconv.Atoi(from)
		hi, err2 := strconv.Atoi(to)
		if err1 != nil || err2 != nil || hi > 255 || lo > hi {
			return Codes{}, fmt.Errorf("%q is not a list of exit codes: write codes from 0 to 255 and ranges such as 2,70-78, or none", text)
		}
		c.add(lo, hi)
	}
	return c, nil
}

func (c *Codes) add(lo, hi int) {
	for n := lo; n <= hi; n++ {
		c.bits[n/64] |= 1 << (n % 64)
	}
}

// CodeRange returns the set of all codes from lo to hi.
func CodeRange(lo, hi int) Codes {
	var c Codes
	c.add(max(lo, 0), min(hi, 255))
	return c
}

// Has reports whether the code is in the set.
func (c Codes) Has(code int) bool {
	return code >= 0 && code <= 255 && c.bits[code/64]&(1<<(code%64)) != 0
}

// Both returns the codes that are in both sets.
func (c Codes) Both(d Codes) Codes {
	for i := range c.bits {
		c.bits[i] &= d.bits[i]
	}
	return c
}

// Empty reports whether no code is in the set.
func (c Codes) Empty() bool { return c == Codes{} }

// String returns the set in the form that ParseCodes parses.
func (c Codes) String() string {
	var parts []string
	for n := 0; n <= 255; n++ {
		if !c.Has(n) {
			continue
		}
		lo := n
		for c.Has(n + 1) {
			n++
		}
		if lo == n {
			parts = append(parts, strconv.Itoa(lo))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", lo, n))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ",")
}
