package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/looprun/looprun/core"
)

// LogObserver is an [Observer] that logs events. Config.Log is the short form; a program that
// has an observer of its own calls both. With a nil logger it logs nothing. The context is
// passed to the logger's handler.
//
// The message is the type of the event, as in the journal. The keys are as follows; keys
// without a value are left out:
//
//	run          id of the run (Config.RunID)
//	iteration    number of the iteration, 0 for the precheck
//	outcome      how it ended: done, not_done, error, interrupted, waiting
//	exit_code    of the judge; of looprun where the run ended
//	duration     of the iteration, of a command, or active time of the run so far
//	signature    hash of what the output meant; equal for equal failures
//	failing      checks that fail
//	cause        why looprun ended the iteration
//	guard        what tripped
//	also         other guards that tripped
//	question     id of a question
//	option       the answer's option
//	action       what the answer does, or what the run was told to do
//	responder    who answered
//	rule         FILE:LINE of the policy's rule
//	assistant    which assistant it was
//	status       how the run ended
//	iterations   how many were run
//	usd, tokens  what was reported
//	signal       what interrupted the run, or what the command said
//	until        the moment up to which a limit is waited out
//	error        why looprun itself failed
//
// Levels: failures of looprun itself are errors. Warnings are trips, answers and messages that
// could not be used, an assistant's advice, questions that nobody answered, interrupts, and
// iterations that ended as an error. Information is the start and the end of a run, the end of
// an iteration, answers and their effects. The rest is for debugging: the start of an
// iteration, heartbeats, costs, signals.
//
// The command's output is never logged, and nothing derived from it: no excerpts, labels or
// findings. Command lines, environments, questions, reasons and guidance are not logged
// either, because they can hold secrets.
func LogObserver(ctx context.Context, l *slog.Logger) Observer {
	if l == nil {
		return func(core.Event, *core.State) {}
	}
	return func(e core.Event, s *core.State) {
		level, attrs := logged(e, s)
		if !l.Enabled(ctx, level) {
			return
		}
		if s.RunID != "" {
			attrs = append([]slog.Attr{slog.String("run", s.RunID)}, attrs...)
		}
		l.LogAttrs(ctx, level, string(e.Data.Type()), attrs...)
	}
}

// logged returns the level and the attributes to log for an event.
func logged(e core.Event, s *core.State) (slog.Level, []slog.Attr) {
	var a attrs
	switch d := e.Data.(type) {
	case core.RunStarted, core.RunResumed:
		return slog.LevelInfo, a
	case core.IterationStarted:
		return slog.LevelDebug, a.number("iteration", d.Iteration)
	case core.IterationFinished:
		return loggedIteration(d)
	case core.IterationWithdrawn:
		return slog.LevelWarn, a.number("iteration", d.Iteration)
	case core.GuardTripped:
		a = a.text("guard", string(d.Guard)).number("iteration", d.Iteration)
		if len(d.Also) > 0 {
			a = append(a, slog.Any("also", d.Also))
		}
		return slog.LevelWarn, a
	case core.QuestionAsked:
		return slog.LevelInfo, a.text("question", d.ID).text("guard", string(d.Guard))
	case core.QuestionAnswered:
		return slog.LevelInfo, a.text("question", d.QuestionID).text("option", d.Option).text("responder", d.Responder).text("rule", d.Rule).text("assistant", d.Assistant.String())
	case core.QuestionClosed:
		level := slog.LevelInfo
		if d.Unanswered {
			level = slog.LevelWarn
		}
		return level, a.text("question", d.QuestionID)
	case core.AnswerInvalid:
		return slog.LevelWarn, a.text("question", d.QuestionID).text("responder", d.Responder)
	case core.AdviceGiven:
		return slog.LevelWarn, a.text("question", d.QuestionID).text("responder", d.Responder)
	case core.MessageRefused:
		return slog.LevelWarn, a
	case core.ActionApplied:
		return slog.LevelInfo, a.text("action", string(d.Action)).text("guard", string(d.Guard)).text("option", d.Option).text("responder", d.Responder).text("rule", d.Rule).text("assistant", d.Assistant.String())
	case core.DebugFinished:
		return slog.LevelInfo, a.text("action", string(d.Action)).number("exit_code", d.ExitCode)
	case core.VerifyFinished:
		return slog.LevelInfo, a.text("rule", d.Rule).number("exit_code", d.ExitCode).took(d.DurationMS)
	case core.InterruptReceived:
		return slog.LevelWarn, a.text("signal", d.Signal).number("exit_code", d.Code)
	case core.OrderReceived:
		return slog.LevelInfo, a.text("action", string(d.Order)).text("responder", d.Responder)
	case core.RunPaused, core.RunFinished:
		return loggedEnd(s)
	}
	return loggedProtocol(e.Data)
}

func loggedIteration(d core.IterationFinished) (slog.Level, []slog.Attr) {
	level := slog.LevelInfo
	if d.Outcome == core.OutcomeError {
		level = slog.LevelWarn
	}
	a := attrs{}.number("iteration", d.Iteration).text("outcome", string(d.Outcome)).number("exit_code", d.ExitCode).took(d.DurationMS)
	if d.Signature.Hash != 0 {
		a = a.text("signature", d.Signature.Hash.String())
	}
	if p := d.Progress(); p != nil && p.Failing >= 0 {
		a = a.number("failing", p.Failing)
	}
	return level, a.text("cause", string(d.Cause))
}

func loggedEnd(s *core.State) (slog.Level, []slog.Attr) {
	end := *s.Ending
	a := attrs{}.text("status", string(end.Status)).number("exit_code", end.ExitCode).text("guard", string(end.Guard)).
		text("option", end.Decision).text("responder", end.Responder).text("rule", end.Rule).text("assistant", end.Assistant.String()).
		number("iterations", s.Iterations).took(s.Elapsed.Milliseconds())
	if end.Status != core.StatusFailed {
		return slog.LevelInfo, a
	}
	if s.Last == nil || s.Last.Fatal == 0 { // then the reason is looprun's own, and not the command's
		a = a.text("error", end.Reason)
	}
	return slog.LevelError, a
}

// loggedProtocol returns the same for events that come from the command or follow from its
// messages.
func loggedProtocol(d core.Data) (slog.Level, []slog.Attr) {
	var a attrs
	switch d := d.(type) {
	case core.SignalReceived:
		if d.Problem != "" {
			return slog.LevelWarn, a.text("signal", string(d.Name))
		}
		return slog.LevelDebug, a.text("signal", string(d.Name))
	case core.CostReported:
		return slog.LevelDebug, append(a, slog.Float64("usd", d.USD), slog.Int64("tokens", d.Tokens))
	case core.RejectionInvalid:
		return slog.LevelWarn, a
	case core.RejectionSubmitted:
		return slog.LevelInfo, a
	case core.RejectionDecided:
		return slog.LevelInfo, a.text("option", string(d.Decision)).text("responder", d.Responder)
	case core.ExpertFinished:
		return slog.LevelInfo, a.number("exit_code", d.ExitCode)
	case core.WaitStarted:
		return slog.LevelInfo, append(a, slog.Time("until", d.Until))
	}
	return slog.LevelDebug, a
}

// attrs are the attributes logged for an event.
type attrs []slog.Attr

func (a attrs) number(key string, n int) attrs { return append(a, slog.Int(key, n)) }

// text adds a text unless it is empty.
func (a attrs) text(key, text string) attrs {
	if text == "" {
		return a
	}
	return append(a, slog.String(key, text))
}

func (a attrs) took(ms int64) attrs {
	return append(a, slog.Duration("duration", time.Duration(ms)*time.Millisecond))
}
