package ci

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/looprun/looprun/core"
)

// Verdict is what the CI system is told about a run that has ended.
type Verdict struct {
	Result core.Result // its ExitCode is that of the process
	Limit  int         // iterations that were allowed; under 1: off or not known
	RunDir string      // where the run is kept
	// Failing holds the failing checks, with file paths relative to the repository. Document
	// is the result as a JSON document. Either may be nil.
	Failing  []core.FailingCheck
	Document []byte
	// Summary writes at most limit bytes of the report in Markdown. Nil means there is no
	// report.
	Summary func(w io.Writer, limit int) error
}

// SummaryLimit is the maximum size, in bytes, of a step summary on GitHub and of an annotation
// on Buildkite.
const SummaryLimit = 1 << 20

// Refused reports to the CI system that looprun ended before there was a run: with an
// annotation and, if it was to run something, the step's outputs. It expects the log to be at
// the beginning of a line, since looprun has just printed the same message there.
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

// Finish closes whatever is open in the log and reports the verdict to the CI system: an
// annotation for it and for the failing checks, the step's summary and its outputs. A run that
// is done gets no annotations except for its warnings. The error describes what could not be
// reported; callers should only warn about it, since the run has ended regardless. The
// context, along with a limit of 15 s, bounds how long Finish waits for another program.
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
