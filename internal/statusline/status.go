package statusline

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/cells"
)

// Status is the state of a run.
type Status struct {
	// Iteration is the running or latest iteration; 0 is the precheck.
	Iteration int
	// Limit is how many iterations there may be, and Runtime for how long; zero means no
	// limit.
	Limit   int
	Runtime time.Duration
	// Elapsed is the run's active time.
	Elapsed time.Duration
	// Failing is how many checks failed last; negative means unknown.
	Failing int
	// Repeats is how many times in a row the last result came, and Threshold how many times it
	// may; zero means no limit.
	Repeats, Threshold int
	// Cost is the reported cost in US dollars, and Tokens in tokens; zero limits mean no
	// limit.
	Cost, MaxCost     float64
	Tokens, MaxTokens int64
	// Note is an additional message. Until is when a wait ends, for a limit or for the delay
	// between iterations, and Left how long that takes; zero means no wait.
	Note  string
	Until time.Time
	Left  time.Duration
	// Waiting means that the run waits for someone else's limit.
	Waiting bool
}

// After returns the status after the event.
func (s Status) After(e core.Event, st *core.State) Status {
	now := Status{
		Iteration: st.Iterations, Limit: st.Limits.Iterations, Runtime: st.Limits.Runtime, Elapsed: st.Elapsed,
		Failing: -1, Repeats: st.Cycles.Repeats(), Threshold: st.Limits.Loop, Note: s.Note, Until: s.Until,
		Cost: st.Cost, MaxCost: st.Limits.Cost, Tokens: st.Tokens, MaxTokens: st.Limits.Tokens, Waiting: s.Waiting,
	}
	if st.Running {
		now.Iteration = st.Open
	}
	if p := st.Last.Progress(); p != nil {
		now.Failing = p.Failing
	}
	switch d := e.Data.(type) {
	case core.WaitStarted:
		now.Until, now.Waiting = d.Until, true
	case core.IterationFinished:
		now.Note = "between iterations"
	case core.IterationStarted, core.WaitFinished, core.QuestionAnswered, core.QuestionClosed:
		now.Note, now.Waiting, now.Until = "", false, time.Time{}
	}
	if len(st.Pending()) > 0 {
		now.Note = "a question waits"
	}
	return now
}

// part is a piece of the line: its full form, its short form, and its colour.
type part struct {
	full, short string
	style       string
}

// parts returns the pieces in the order of the line. order ranks them, most important first,
// for when there is too little room.
func (s Status) parts() (parts []part, order []int) {
	add := func(p part) { parts = append(parts, p) }
	add(part{full: "looprun:"})
	switch {
	case s.Iteration == 0:
		add(part{full: "precheck"})
	case s.Limit > 0:
		add(part{full: fmt.Sprintf("iteration %d of %d", s.Iteration, s.Limit), short: fmt.Sprintf("%d/%d", s.Iteration, s.Limit)})
	default:
		add(part{full: fmt.Sprintf("iteration %d", s.Iteration), short: fmt.Sprintf("#%d", s.Iteration)})
	}
	elapsed := clock(s.Elapsed)
	if s.Runtime > 0 {
		add(part{full: elapsed + " of " + clock(s.Runtime), short: elapsed})
	} else {
		add(part{full: elapsed})
	}
	if s.Failing > 0 {
		add(part{full: fmt.Sprintf("%d failing", s.Failing), short: fmt.Sprintf("%d fail", s.Failing), style: red})
	} else {
		add(part{})
	}
	switch {
	case s.Repeats > 1 && s.Threshold > 0:
		add(part{full: fmt.Sprintf("%d of %d alike", s.Repeats, s.Threshold), short: fmt.Sprintf("%d/%d alike", s.Repeats, s.Threshold), style: yellow})
	case s.Repeats > 1:
		add(part{full: fmt.Sprintf("%d alike", s.Repeats), style: yellow})
	default:
		add(part{})
	}
	add(s.spent())
	add(part{full: s.note()})
	return parts, []int{1, 2, 4, 3, 6, 5, 0}
}

func (s Status) note() string {
	switch left := clock(s.Left + time.Second - 1); {
	case s.Waiting && !s.Until.IsZero() && s.Left > 0:
		return "waiting until " + s.Until.Local().Format(time.TimeOnly) + ", " + left
	case s.Waiting && !s.Until.IsZero():
		return "waiting until " + s.Until.Local().Format(time.TimeOnly)
	case s.Left > 0:
		return "next in " + left
	}
	return s.Note
}

// spent returns the cost, and the tokens if they are limited or nothing else is known.
func (s Status) spent() (p part) {
	if s.Cost > 0 || s.MaxCost > 0 {
		p.short = fmt.Sprintf("$%.2f", s.Cost)
		p.full = p.short
		if s.MaxCost > 0 {
			p.full += fmt.Sprintf(" of $%.2f", s.MaxCost)
		}
	}
	if s.MaxTokens > 0 || s.Tokens > 0 && p.full == "" {
		tokens := Tokens(s.Tokens)
		if s.MaxTokens > 0 {
			tokens += " of " + Tokens(s.MaxTokens)
		}
		p.full = strings.TrimPrefix(p.full+", "+tokens+" tokens", ", ")
		p.short = cmp.Or(p.short, Tokens(s.Tokens)+" tok")
	}
	return p
}

// Tokens formats a number of tokens in few characters: 950, 12.3k, 4.1M.
func Tokens(n int64) string {
	switch {
	case n >= 999_950:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

const separator = " · "

// Line returns the status in at most width columns. Parts are shortened before any is left
// out, and the least important goes first; if nothing fits, the line is empty. With colour it
// has escape sequences for colours, and ends in the default colour.
func (s Status) Line(width int, colour bool) string {
	parts, order := s.parts()
	for i := range parts {
		parts[i].short = cmp.Or(parts[i].short, parts[i].full)
	}
	// First all parts in full, then the least important in short form, and so on; then fewer
	// parts.
	for kept := len(order); kept > 0; kept-- {
		for full := kept; full >= 0; full-- {
			texts := make([]string, len(parts))
			for rank, i := range order[:kept] {
				texts[i] = parts[i].short
				if rank < full {
					texts[i] = parts[i].full
				}
			}
			if line, took := join(texts, parts, colour); took <= width {
				return line
			}
		}
	}
	return ""
}

// join returns the line of the texts, and its width in columns.
func join(texts []string, parts []part, colour bool) (string, int) {
	var b strings.Builder
	took := 0
	for i, text := range texts {
		if text == "" {
			continue
		}
		if took > 0 {
			by := separator
			if took == len("looprun:") && i == 1 {
				by = " "
			}
			b.WriteString(by)
			took += cells.Width(by)
		}
		took += cells.Width(text)
		if style := parts[i].style; colour && style != "" {
			text = style + text + plain + dim
		}
		b.WriteString(text)
	}
	if colour {
		return dim + b.String() + plain, took
	}
	return b.String(), took
}

// The colours of the line.
const (
	plain  = "\x1b[m"
	dim    = "\x1b[2m"
	red    = "\x1b[0;31m"
	yellow = "\x1b[0;33m"
)

// clock formats a duration as a watch shows it: 7s, 1m02s, 15m, 1h05m.
func clock(d time.Duration) string {
	h, m, s := int(d/time.Hour), int(d/time.Minute)%60, int(d/time.Second)%60
	switch {
	case h > 0 && m > 0:
		return fmt.Sprintf("%dh%02dm", h, m)
	case h > 0:
		return fmt.Sprintf("%dh", h)
	case m > 0 && s > 0:
		return fmt.Sprintf("%dm%02ds", m, s)
	case m > 0:
		return fmt.Sprintf("%dm", m)
	}
	return fmt.Sprintf("%ds", s)
}
