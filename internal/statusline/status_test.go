package statusline

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/signature"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.Local)

var full = Status{
	Iteration: 3, Limit: 10, Elapsed: 62 * time.Second, Runtime: 15 * time.Minute, Failing: 2, Repeats: 2, Threshold: 3, Note: "waiting until 12:00:00",
}

// Parts are shortened first and left out then, the least important before the
// others; a part is never cut.
func TestLineAtAnyWidth(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
	}{
		{200, "looprun: iteration 3 of 10 · 1m02s of 15m · 2 failing · 2 of 3 alike · waiting until 12:00:00"},
		{93, "looprun: iteration 3 of 10 · 1m02s of 15m · 2 failing · 2 of 3 alike · waiting until 12:00:00"},
		{92, "looprun: iteration 3 of 10 · 1m02s of 15m · 2 fail · 2 of 3 alike · waiting until 12:00:00"},
		{80, "looprun: iteration 3 of 10 · 1m02s · 2 fail · 2/3 alike · waiting until 12:00:00"},
		{79, "looprun: 3/10 · 1m02s · 2 fail · 2/3 alike · waiting until 12:00:00"},
		{60, "3/10 · 1m02s · 2 fail · 2/3 alike · waiting until 12:00:00"},
		{50, "iteration 3 of 10 · 1m02s · 2 fail · 2/3 alike"},
		{40, "3/10 · 1m02s · 2 fail · 2/3 alike"},
		{26, "3/10 · 1m02s · 2/3 alike"},
		{20, "3/10 · 1m02s"},
		{13, "3/10 · 1m02s"},
		{12, "3/10 · 1m02s"},
		{11, "3/10"},
		{4, "3/10"},
		{3, ""},
		{0, ""},
		{-1, ""},
	} {
		if got := full.Line(c.width, false); got != c.want {
			t.Errorf("in %d columns:\n%q, want\n%q", c.width, got, c.want)
		}
	}
}

func TestLineSaysWhatIsKnown(t *testing.T) {
	for _, c := range []struct {
		s    Status
		want string
	}{
		{Status{Failing: -1, Limit: 10}, "looprun: precheck · 0s"},
		{Status{Iteration: 1, Failing: -1}, "looprun: iteration 1 · 0s"},
		{Status{Iteration: 1, Failing: 0, Repeats: 1, Threshold: 3}, "looprun: iteration 1 · 0s"},
		{Status{Iteration: 1, Failing: 1, Repeats: 2, Elapsed: time.Hour}, "looprun: iteration 1 · 1h · 1 failing · 2 alike"},
		{Status{Iteration: 2, Cost: 0.125, Tokens: 12_345}, "looprun: iteration 2 · 0s · $0.12"},
		{Status{Iteration: 2, MaxCost: 2, Tokens: 999, MaxTokens: 1_000_000}, "looprun: iteration 2 · 0s · $0.00 of $2.00, 999 of 1.0M tokens"},
		{Status{Iteration: 1, Note: "between iterations", Left: 61*time.Second - 1}, "looprun: iteration 1 · 0s · next in 1m01s"},
		{Status{Iteration: 1, Waiting: true, Until: noon, Left: time.Second}, "looprun: iteration 1 · 0s · waiting until 12:00:00, 1s"},
		{Status{Iteration: 2, Tokens: 12_345}, "looprun: iteration 2 · 0s · 12.3k tokens"},
	} {
		if got := c.s.Line(100, false); got != c.want {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A line fits, colours or not, is one line, and with colours says the same.
func FuzzLine(f *testing.F) {
	f.Add(3, 10, int64(62), int64(900), 2, 2, 3, 40)
	f.Add(1, 0, int64(0), int64(0), -1, 1, 0, 13)
	f.Add(50000, 50000, int64(1<<40), int64(1), 1<<30, 7, 8, 0)
	f.Fuzz(func(t *testing.T, iteration, limit int, elapsed, runtime int64, failing, repeats, threshold, width int) {
		s := Status{
			Iteration: iteration, Limit: limit, Elapsed: time.Duration(elapsed) * time.Second, Runtime: time.Duration(runtime) * time.Second,
			Failing: failing, Repeats: repeats, Threshold: threshold, Note: "note",
		}
		plainly, coloured := s.Line(width, false), s.Line(width, true)
		if got := cells.Width(plainly); got > max(0, width) || strings.ContainsAny(plainly, "\n\r\x1b") {
			t.Errorf("%q takes %d of %d columns", plainly, got, width)
		}
		if colours.ReplaceAllString(coloured, "") != plainly {
			t.Errorf("%q says otherwise than %q", coloured, plainly)
		}
		if coloured != "" && !strings.HasSuffix(coloured, plain) {
			t.Errorf("%q leaves a colour on", coloured)
		}
	})
}

func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999 * time.Millisecond: "0s", 59 * time.Second: "59s", time.Minute: "1m", 70 * time.Second: "1m10s", 61 * time.Second: "1m01s",
		15 * time.Minute: "15m", time.Hour: "1h", 65 * time.Minute: "1h05m", 25*time.Hour + 59*time.Second: "25h",
	} {
		if got := clock(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

// The status follows a run.
func TestAfter(t *testing.T) {
	var st core.State
	var s Status
	seq := int64(0)
	happens := func(d core.Data) Status {
		t.Helper()
		seq++
		e := core.Event{Seq: seq, Elapsed: time.Duration(seq) * time.Second, Data: d}
		if err := st.Apply(e); err != nil {
			t.Fatal(err)
		}
		s = s.After(e, &st)
		return s
	}
	failed := func(n int) core.IterationFinished {
		return core.IterationFinished{Iteration: n, Outcome: core.OutcomeNotDone, ExitCode: 1, Signature: signature.Signature{Hash: 7, Label: "test-fail:2", Failing: 2, Passed: 1, Total: 3}}
	}
	happens(core.RunStarted{RunID: "r", Command: []string{"x"}, Limits: core.DefaultLimits(), Caps: core.DefaultCaps(core.DefaultLimits())})
	if got := happens(core.IterationStarted{Iteration: 1}); got.Iteration != 1 || got.Failing != -1 || got.Limit != 10 || got.Threshold != 3 || got.Note != "" {
		t.Errorf("in iteration 1: %+v", got)
	}
	if got := happens(failed(1)); got.Iteration != 1 || got.Failing != 2 || got.Repeats != 1 || got.Note != "between iterations" {
		t.Errorf("after it: %+v", got)
	}
	for n := 2; n <= 3; n++ {
		happens(core.IterationStarted{Iteration: n})
		happens(failed(n))
	}
	if s.Repeats != 3 {
		t.Errorf("after three: %+v", s)
	}
	ask := func(id string) core.QuestionAsked {
		return core.QuestionAsked{Question: core.Question{ID: id, Kind: core.KindText, Text: id + "?", From: core.FromCommand}}
	}
	happens(core.IterationStarted{Iteration: 4})
	happens(ask("first"))
	happens(ask("second"))
	for _, c := range []struct{ answer, want string }{{"first", "a question waits"}, {"second", ""}} {
		text := "x"
		if got := happens(core.QuestionAnswered{QuestionID: c.answer, Answer: core.Answer{Text: &text, Responder: core.RespondedByUser}}); got.Note != c.want {
			t.Errorf("with the %s answered: %+v", c.answer, got)
		}
	}
	happens(failed(4))
	trip := core.Trip{Guard: core.LoopDetected, Reason: "stuck", Iteration: 4}
	if got := happens(core.GuardTripped{Trip: trip}); got.Elapsed != 14*time.Second {
		t.Errorf("tripped: %+v", got)
	}
}
