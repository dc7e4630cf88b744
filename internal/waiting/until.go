package waiting

import (
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/lazy"
)

const (
	// grace is how long a time of day that has passed still means today's: a message is read a
	// little after it was printed.
	grace = 15 * time.Minute
	// farthest is how far ahead a time may be to be accepted.
	farthest = 31 * 24 * time.Hour
)

// Until returns the time until which a message asks to wait. The time follows words such as
// "try again at", "resets", "retry-after" or "wait", or, as Claude Code prints it, is given in
// Unix seconds after a vertical bar:
//
//	3:45 PM, 3am, 15:45, 3am (Europe/Rome)   the next such time
//	3pm PST, 15:00 UTC+2, 15:00+02:00        the next such time in that zone
//	Thu 3am, Thursday at 3am (Europe/Rome)   the next such day and time
//	Feb 7, 11am; Jul 5th, 2026 8:19 PM       that day
//	5m 30s, 2 hours, 8h44m7s, 5 days 22 hours from now
//	in 1:30:00                               hours, minutes and seconds from now
//	120                                      seconds, after retry-after
//	1763769600                               Unix seconds, or milliseconds
//	2026-11-21T15:45:00Z                     RFC 3339
//	Sat, 21 Nov 2026 15:45:00 GMT            an HTTP date
//
// A time of day is in loc unless a zone follows it: a name such as Europe/Rome, an offset,
// UTC, GMT, or one of the American names of RFC 5322. A time of day followed by any other
// zone, such as IST, is not recognised; nor is a time of day after "in". A time of day that
// has passed means tomorrow, unless it passed within the last 15 minutes: then it has just
// come, and the result is in the past. A time that daylight saving time skips is moved later
// by the length of the gap. If there are several times, the first counts. Times more than 31
// days from now are ignored; other times that have passed are returned as they are.
func Until(text string, now time.Time, loc *time.Location) (time.Time, bool) {
	if loc == nil {
		loc = time.UTC
	}
	for _, at := range lead().FindAllStringIndex(text, -1) {
		words := text[at[0]:at[1]]
		r := reader{now: now, loc: loc, bar: words == "|", span: relative().MatchString(words)}
		if bare().MatchString(words) {
			r.unit = time.Second
		}
		if strings.Contains(strings.ToLower(words), "ms") {
			r.unit = time.Millisecond
		}
		t, ok := r.moment(text[at[1]:])
		if ok && t.Before(now.Add(farthest)) && t.After(now.Add(-farthest)) {
			return t, true
		}
	}
	return time.Time{}, false
}

var (
	// lead matches the words before a time, with the words that connect them to it.
	lead = lazy.Regexp(`(?i)(?:` +
		`\b(?:try(?:ing)? again|available again|retry(?:[-_ ]?after(?:[-_ ]ms)?|delay)?|(?:[a-z]+-)*resets?(?:[_-](?:at|in|after))?(?:_seconds)?|wait(?: for| until)?)\b` +
		`(?:\\?["'])?[\s:=]*(?:\\?["'])?(?:(?:will be |time )?(?:at|in|on|after|until|is|about|another)\b[\s:]*)*~?` +
		`|\|)`)
	// bare matches the leads after which a bare number means seconds.
	bare = lazy.Regexp(`(?i)after|delay|_seconds`)
	// relative matches the leads that are followed by a time from now.
	relative = lazy.Regexp(`(?i)(?:^|[^a-z])(?:in|for|another)[\s:="'\\~]*$`)
	hms      = lazy.Regexp(`^(\d{1,3}):([0-5]\d):([0-5]\d)(?:\D|$)`)
	unix     = lazy.Regexp(`^(\d{10}|\d{13})(?:\D|$)`)
	plain    = lazy.Regexp(`^(\d{1,9}(?:\.\d+)?)(?:[^\w.%/:-]|\.?$|\.\s)`)
	stamp    = lazy.Regexp(`^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[-+]\d\d:\d\d)`)
	httpDate = lazy.Regexp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [0-9A-Za-z: -]{15,25}(?: GMT)?`)
	span     = lazy.Regexp(`(?i)^(\d+(?:\.\d+)?)\s?(days?|d|hours?|hrs?|hr|h|minutes?|mins?|min|milliseconds?|ms|m|seconds?|secs?|sec|s)(?:[^a-z]|$)`)
	joint    = lazy.Regexp(`^(?:\s|,|and\b)*`)
	clock    = lazy.Regexp(`(?i)^(\d{1,2})(?::(\d\d)(?::(\d\d))?)?\s?(?:([ap])\.?m\b\.?)?`)
	offset   = lazy.Regexp(`^(?i)(UTC|GMT)?\s?([-+−])(\d{1,2})(?::?(\d\d))?\b`)
	named    = lazy.Regexp(`^(?:(?i:UTC|GMT|Z|[ECMP][SD]T|eastern|central|mountain|pacific)\b|[A-Za-z]+(?:/[A-Za-z0-9_+-]+){1,2}|[A-Z]{2,5}\b)`)
	weekday  = lazy.Regexp(`(?i)^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? (?:at )?`)
	day      = lazy.Regexp(`(?i)^(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? )?(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4})\b)?[\s,]*(?:at )?`)
)

// httpDates are the three forms of a date that RFC 9110, section 5.6.7, requires recipients to
// accept. net/http parses them too, but would be a tenth of a program that has no other use
// for it.
var httpDates = []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC}

// reader parses a time at the beginning of a text.
type reader struct {
	now  time.Time
	loc  *time.Location
	unit time.Duration // of a number alone; 0: it says nothing
	bar  bool          // only Unix seconds can follow
	span bool          // no time of day can follow
}

func (r reader) moment(text string) (time.Time, bool) {
	if m := unix().FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if len(m[1]) == 13 {
			return time.UnixMilli(n), err == nil
		}
		return time.Unix(n, 0), err == nil
	}
	if r.bar {
		return time.Time{}, false
	}
	if s := stamp().FindString(text); s != "" {
		t, err := time.Parse(time.RFC3339, strings.Replace(strings.ToUpper(s), " ", "T", 1))
		return t, err == nil
	}
	if s := httpDate().FindString(text); s != "" {
		for _, layout := range httpDates {
			if t, err := time.Parse(layout, s); err == nil {
				return t, true
			}
		}
	}
	if d, ok := duration(text); ok {
		return r.now.Add(d), true
	}
	if t, ok := r.date(text); ok {
		return t, true
	}
	if r.span {
		if m := hms().FindStringSubmatch(text); m != nil {
			d, err := time.ParseDuration(m[1] + "h" + m[2] + "m" + m[3] + "s")
			return r.now.Add(d), err == nil
		}
	} else if t, ok := r.timeOfDay(text); ok {
		return t, true
	}
	if m := plain().FindStringSubmatch(text); m != nil && r.unit > 0 {
		n, err := strconv.ParseFloat(m[1], 64)
		return r.now.Add(time.Duration(n * float64(r.unit))), err == nil
	}
	return time.Time{}, false
}

// duration parses 5m 30s, 2 hours and the like.
func duration(text string) (time.Duration, bool) {
	var sum float64
	found := false
	for {
		m := span().FindStringSubmatchIndex(text)
		if m == nil {
			return time.Duration(sum), found && sum < float64(2*farthest)
		}
		n, err := strconv.ParseFloat(text[m[2]:m[3]], 64)
		if err != nil {
			return 0, false
		}
		unit := strings.ToLower(text[m[4]:m[5]])
		size := map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}[unit[0]]
		if unit == "ms" || strings.HasPrefix(unit, "milli") {
			size = time.Millisecond
		}
		sum += n * float64(size)
		found = true
		text = text[m[5]:]
		text = text[len(joint().FindString(text)):]
	}
}

// date parses a day with a time of day.
func (r reader) date(text string) (time.Time, bool) {
	m := day().FindStringSubmatchIndex(text)
	if m == nil {
		return time.Time{}, false
	}
	hour, minute, second, loc, ok := r.clock(text[m[1]:])
	if !ok {
		return time.Time{}, false
	}
	month := time.Month(strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(text[m[2]:m[3]]))/3 + 1)
	dayOfMonth, _ := strconv.Atoi(text[m[4]:m[5]])
	year := r.now.In(loc).Year()
	if m[6] >= 0 {
		year, _ = strconv.Atoi(text[m[6]:m[7]])
	}
	t := wall(year, month, dayOfMonth, hour, minute, second, loc)
	if t.Day() != dayOfMonth {
		return time.Time{}, false // no such day
	}
	if !t.After(r.now.Add(-grace)) {
		t = again(t)
	}
	if m[6] < 0 && t.Before(r.now.Add(-farthest)) {
		t = wall(year+1, month, dayOfMonth, hour, minute, second, loc)
	}
	return t, true
}

// timeOfDay parses a time, possibly with a day of the week, and returns its next occurrence.
func (r reader) timeOfDay(text string) (time.Time, bool) {
	weekday := weekday().FindString(text)
	text = text[len(weekday):]
	hour, minute, second, loc, ok := r.clock(text)
	if !ok {
		return time.Time{}, false
	}
	y, m, d := r.now.In(loc).Date()
	// Just after midnight, yesterday's may have passed a minute ago.
	for days := -1; days <= 7; days++ {
		t := wall(y, m, d+days, hour, minute, second, loc)
		if weekday != "" && !strings.EqualFold(t.Format("Mon"), weekday[:3]) {
			continue
		}
		for _, t := range []time.Time{t, again(t)} {
			if t.After(r.now.Add(-grace)) {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// wall returns the time at which clocks show that. A time that daylight saving time skips is
// moved later by the length of the gap, since waiting too short would be useless.
func wall(y int, m time.Month, d, hour, minute, second int, loc *time.Location) time.Time {
	t := time.Date(y, m, d, hour, minute, second, 0, loc)
	wanted, shown := time.Date(y, m, d, hour, minute, second, 0, time.UTC), clocks(t)
	return t.Add(max(0, wanted.Sub(shown)))
}

// again returns when clocks show that time a second time, after being put back, or the same
// time if they show it only once.
func again(t time.Time) time.Time {
	_, before := t.Zone()
	_, after := t.Add(6 * time.Hour).Zone()
	if u := t.Add(time.Duration(before-after) * time.Second); u.After(t) && clocks(u).Equal(clocks(t)) {
		return u
	}
	return t
}

// clocks returns what clocks show, as a time that can be compared.
func clocks(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// clock parses a time of day. A bare number does not count.
func (r reader) clock(text string) (hour, minute, second int, loc *time.Location, ok bool) {
	m := clock().FindStringSubmatch(text)
	if m == nil || m[2] == "" && m[4] == "" {
		return 0, 0, 0, nil, false
	}
	hour, _ = strconv.Atoi(m[1])
	minute, _ = strconv.Atoi(m[2])
	second, _ = strconv.Atoi(m[3])
	switch half := strings.ToLower(m[4]); {
	case half != "" && (hour < 1 || hour > 12):
		return 0, 0, 0, nil, false
	case half == "a":
		hour %= 12
	case half == "p":
		hour = hour%12 + 12
	}
	if hour > 23 || minute > 59 || second > 59 {
		return 0, 0, 0, nil, false
	}
	loc, ok = r.zone(text[len(m[0]):], m[3] != "")
	return hour, minute, second, loc, ok
}

// american maps the zones of RFC 5322, section 4.3, to hours behind UTC.
var american = map[string]int{"EST": 5, "EDT": 4, "CST": 6, "CDT": 5, "MST": 7, "MDT": 6, "PST": 8, "PDT": 7}

// zone returns the time zone that follows a time of day, or the reader's if none does; it
// returns false if an unknown one does. After a time with seconds a minus begins an offset;
// otherwise it may begin the end of a time span.
func (r reader) zone(text string, seconds bool) (*time.Location, bool) {
	text = strings.TrimLeft(text, " \t,(")
	if m := offset().FindStringSubmatch(text); m != nil {
		hours, _ := strconv.Atoi(m[3])
		minutes, _ := strconv.Atoi(m[4])
		ahead := hours*3600 + minutes*60
		if m[2] != "+" {
			ahead = -ahead
		}
		doubtful := m[1] == "" && (len(m[3]) < 2 || m[4] == "" || m[2] != "+" && !seconds)
		return time.FixedZone("", ahead), !doubtful && hours <= 14 && minutes < 60
	}
	name := named().FindString(text)
	upper := strings.ToUpper(name)
	switch behind, ok := american[upper]; {
	case name == "":
		return r.loc, true
	case upper == "UTC" || upper == "GMT" || upper == "Z":
		return time.UTC, true
	case ok:
		return time.FixedZone(upper, -behind*3600), true
	case !strings.Contains(name, "/"):
		return nil, false
	}
	loc, err := time.LoadLocation(name)
	return loc, err == nil
}
