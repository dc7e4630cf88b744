package console

import (
	"fmt"
	"time"

	"github.com/looprun/looprun/internal/plural"
)

// Ago formats a time for a person: for a month as how long ago it was, then as a date.
func Ago(now, t time.Time) string {
	switch d := now.Sub(t); {
	case d < 0: // a clock was set back
		return t.Local().Format(time.DateTime)
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 30*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	}
	return t.Local().Format(time.DateOnly)
}

// Moment returns how long ago a time was, or the exact time.
func Moment(now, t time.Time, exact bool) string {
	if exact {
		return t.Local().Format(time.DateTime)
	}
	return Ago(now, t)
}

// RoundMS is [plural.Round] for a duration in milliseconds; it never shows zero.
func RoundMS(ms int64) string {
	if ms == 0 {
		return "<1ms"
	}
	return plural.Round(Milliseconds(ms))
}

// Milliseconds converts milliseconds to a duration.
func Milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
