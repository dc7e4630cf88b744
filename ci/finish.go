package ci

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/looprun/looprun/core"
)

// Verdict is what a CI job is told about a run that has ended.
type Verdict struct {
	Result core.Result // its ExitCode is that of the process
	Limit  int         // iterations that were allowed; under 1: off or not known
	RunDir string      // where the run is kept
	// Failing are the checks that fail, with files as they are in the repository, and
	// Document is the result as a JSON document; nil: neither is told.
	Failing  []core.FailingCheck
	Document []byte
	// Summary writes the report in Markdown, at most limit bytes of it; nil:
	// there is none.
	Summary func(w io.Writer, limit int) error
}

// SummaryLimit is how large GitHub lets a step's summary, and Buildkite an
// annotation, be, in bytes.
const SummaryLimit = 1 << 20

// Refused tells the CI system of a looprun that ended before there was a run: an
// annotation and, where it was to run something, the outputs of the step. The log stands
// at the beginning of a line, since looprun has just said the same there.
func (l *Log) Refused(ctx context.Context, why string, ran bool) error {
	v := Verdict{Result: core.Result{Ending: core.Ending{Status: core.StatusFailed, ExitCode: core.ExitFailed, Reason: why}}}
	l.mu.Lock()
	l.fresh = true
	if !ran {
		l.annotate(v)
	}
	l.mu.Unlock()
	if !ran {
		return nil
	}
	return l.Finish(ctx, v)
}

// Finish closes what is open in the log and tells the CI system the verdict: an
// annotation for it and for the checks that fail, the summary of the step and its outputs. A run that is done is
// not annotated, but for its warnings. The error says what could not be told; it is for a warning,
// since the run has ended whatever its CI system learns of it. The context bounds
// how long another program is waited for, beside a limit of 15 s.
func (l *Log) Finish(ctx context.Context, v Verdict) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished = true
	var err error
	if l.provider == GitHub { // first, should nobody read the log any more
		err = errors.Join(l.summarize(v), l.setOutputs(v))
	}
	l.close(time.Now().Unix())
	l.annotate(v)
	if l.provider == Buildkite {
		err = buildkiteAnnotation(ctx, v, l.patience)
	}
	return err
}
