package statusline

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// The progress mark is ConEmu's sequence OSC 9;4;STATE;PERCENT, which other
// terminals took over: they show it at the tab, the window or the task bar.
const (
	markNone = iota
	markNormal
	markError
	markBusy // without a percentage
	markPaused
)

// markAgain is how often a mark that does not change is set: some terminals take
// one that is older than about 15 seconds for forgotten.
const markAgain = 5 * time.Second

// mark is what was last set, and when.
type mark struct {
	state, percent int
	at             time.Time
}

// markOf is the mark for a status: how much is used of the limit that is nearest.
func markOf(s Status) mark {
	m := mark{state: markBusy}
	share := func(used, of float64) {
		if of > 0 {
			m.state, m.percent = markNormal, max(m.percent, min(100, int(100*used/of)))
		}
	}
	share(float64(s.Done), float64(s.Limit))
	share(float64(s.Elapsed), float64(s.Runtime))
	switch {
	case s.Stuck:
		m.state = markError
	case s.Waiting:
		m.state = markPaused
	}
	return m
}

// setMark sets the mark where it changed or is old. In an escape sequence, or in
// an unfinished line, which may end in a part of a character, it is left alone.
func (d *Display) setMark(now time.Time) {
	m := markOf(d.status)
	same := m.state == d.mark.state && m.percent == d.mark.percent && now.Sub(d.mark.at) < markAgain
	if !d.o.Mark || same || d.closed || d.lent > 0 || !d.cursor.fresh || d.cursor.in != inText || !d.ready() {
		return
	}
	m.at = now
	d.mark = m
	d.writeMark()
}

func (d *Display) removeMark() {
	if d.mark.state != markNone {
		d.mark = mark{}
		d.writeMark()
	}
}

func (d *Display) writeMark() {
	_, _ = io.WriteString(d.screen, fmt.Sprintf("\x1b]9;4;%d;%d\x1b\\", d.mark.state, d.mark.percent)) // as put
}

// KnowsMark reports whether the environment is that of a terminal which shows the
// mark. To others the sequence may be a notification to pop up, so that nothing
// is tried. In tmux and screen it is the outer terminal that would have to.
func KnowsMark(getenv func(string) string) bool {
	if term := getenv("TERM"); getenv("TMUX") != "" || getenv("STY") != "" || strings.HasPrefix(term, "screen") || strings.HasPrefix(term, "tmux") {
		return false
	}
	if getenv("WT_SESSION") != "" || getenv("ConEmuANSI") == "ON" {
		return true
	}
	if since, ok := markSince[getenv("TERM_PROGRAM")]; ok {
		return atLeast(getenv("TERM_PROGRAM_VERSION"), since)
	}
	return atLeast(getenv("VTE_VERSION"), "8000") || atLeast(getenv("KONSOLE_VERSION"), "250400")
}

// markSince are the versions of terminals that brought the mark.
var markSince = map[string]string{
	"ghostty":   "1.2.0",
	"iTerm.app": "3.6.6",
	"WezTerm":   "20250209",
	"mintty":    "3.4.2",
}

// atLeast compares versions number by number; one that is not known is none.
func atLeast(version, least string) bool {
	have, want := numbers(version), numbers(least)
	for i, n := range want {
		if i >= len(have) {
			return false
		}
		if c := cmp.Compare(have[i], n); c != 0 {
			return c > 0
		}
	}
	return true
}

// numbers are those of the version, up to the first part that is none.
func numbers(version string) []int {
	var all []int
	for p := range strings.FieldsFuncSeq(version, func(r rune) bool { return r == '.' || r == '-' }) {
		n, err := strconv.Atoi(p)
		if err != nil {
			break
		}
		all = append(all, n)
	}
	return all
}
