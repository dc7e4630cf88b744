package waiting

import (
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests are there on every machine
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestUntil(t *testing.T) {
	const none = ""
	for _, c := range []struct{ text, now, zone, want string }{
		// A time of day: the next one.
		{"try again at 3:45 PM.", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T15:45:00Z"},
		{"try again at 3:45 PM", "2026-11-21T16:00:01Z", "UTC", "2026-11-22T15:45:00Z"},
		{"resets 3am", "2026-11-21T02:59:59Z", "UTC", "2026-11-21T03:00:00Z"},
		{"resets 3am", "2026-11-21T22:00:00Z", "UTC", "2026-11-22T03:00:00Z"},
		{"resets 3 a.m.", "2026-11-21T22:00:00Z", "UTC", "2026-11-22T03:00:00Z"},
		{"Limits will reset at 9:30 AM. View", "2026-11-21T22:00:00Z", "UTC", "2026-11-22T09:30:00Z"},
		{"try again at 15:45", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T15:45:00Z"},
		{"try again at 15:45:30", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T15:45:30Z"},
		// It has just come, until 15 minutes after.
		{"resets 3am", "2026-11-21T03:00:00Z", "UTC", "2026-11-21T03:00:00Z"},
		{"resets 3am", "2026-11-21T03:14:59Z", "UTC", "2026-11-21T03:00:00Z"},
		{"resets 3am", "2026-11-21T03:15:00Z", "UTC", "2026-11-22T03:00:00Z"},
		// Around midnight.
		{"resets 12am", "2026-11-21T23:59:00Z", "UTC", "2026-11-22T00:00:00Z"},
		{"resets 12am", "2026-11-21T00:30:00Z", "UTC", "2026-11-22T00:00:00Z"},
		{"resets 12:30 AM", "2026-11-21T00:10:00Z", "UTC", "2026-11-21T00:30:00Z"},
		{"resets 12pm", "2026-11-21T11:00:00Z", "UTC", "2026-11-21T12:00:00Z"},
		{"resets 12:10 PM", "2026-11-21T12:30:00Z", "UTC", "2026-11-22T12:10:00Z"},
		{"resets 11:55pm", "2026-11-22T00:05:00Z", "UTC", "2026-11-21T23:55:00Z"},
		{"resets 11:45pm", "2026-11-22T00:05:00Z", "UTC", "2026-11-22T23:45:00Z"},
		{"resets 1am", "2026-12-31T23:00:00Z", "UTC", "2027-01-01T01:00:00Z"},
		// Zones: the message's, else the reader's.
		{"resets 12:50am (America/Los_Angeles)", "2026-07-04T06:00:00Z", "UTC", "2026-07-04T07:50:00Z"},
		{"Your limit will reset at 5pm (Europe/Warsaw).", "2026-08-19T14:00:00Z", "America/New_York", "2026-08-19T15:00:00Z"},
		{"resets 3am", "2026-11-21T06:00:00Z", "America/New_York", "2026-11-21T08:00:00Z"},
		{"resets 3am (UTC)", "2026-11-21T06:00:00Z", "America/New_York", "2026-11-22T03:00:00Z"},
		{"resets 3am UTC", "2026-11-21T06:00:00Z", "America/New_York", "2026-11-22T03:00:00Z"},
		{"resets 3am (../../etc/passwd)", "2026-11-21T06:00:00Z", "America/New_York", "2026-11-21T08:00:00Z"},
		// Daylight saving: clocks go forward on 8 March 2026 and back on 1 November.
		{"resets 3am", "2026-03-08T01:30:00-05:00", "America/New_York", "2026-03-08T03:00:00-04:00"},
		{"resets 2:30am", "2026-03-08T01:30:00-05:00", "America/New_York", "2026-03-08T03:30:00-04:00"},
		{"resets 9am", "2026-03-07T22:00:00-05:00", "America/New_York", "2026-03-08T09:00:00-04:00"},
		{"resets 9am", "2026-10-31T22:00:00-04:00", "America/New_York", "2026-11-01T09:00:00-05:00"},
		{"resets in 3 hours", "2026-03-08T01:00:00-05:00", "America/New_York", "2026-03-08T05:00:00-04:00"},
		// Days of the week.
		{"resets Thu 3am (Europe/London)", "2026-11-21T12:00:00Z", "UTC", "2026-11-26T03:00:00Z"},
		{"resets Thursday at 3am", "2026-11-26T02:00:00Z", "UTC", "2026-11-26T03:00:00Z"},
		{"resets Thu 3am", "2026-11-26T03:05:00Z", "UTC", "2026-11-26T03:00:00Z"},
		{"resets Thu, 3am", "2026-11-26T04:00:00Z", "UTC", "2026-12-03T03:00:00Z"},
		{"resets Thu 3am (Asia/Tokyo)", "2026-11-25T17:00:00Z", "UTC", "2026-11-25T18:00:00Z"},
		{"resets Thu", "2026-11-26T04:00:00Z", "UTC", none},
		// Days.
		{"You've hit your limit · resets Feb 7, 11am (Asia/Seoul)", "2026-02-04T00:00:00Z", "UTC", "2026-02-07T02:00:00Z"},
		{"try again at Jul 5th, 2026 8:19 PM.", "2026-06-10T00:00:00Z", "UTC", "2026-07-05T20:19:00Z"},
		{"resets Mon, Nov 23 at 5:00 PM", "2026-11-21T00:00:00Z", "UTC", "2026-11-23T17:00:00Z"},
		{"resets Jan 2, 5am", "2026-12-30T00:00:00Z", "UTC", "2027-01-02T05:00:00Z"},
		{"resets Nov 20, 5am", "2026-11-21T00:00:00Z", "UTC", "2026-11-20T05:00:00Z"},
		{"resets Feb 30, 5am", "2026-02-21T00:00:00Z", "UTC", none},
		{"resets Feb 25", "2026-02-21T00:00:00Z", "UTC", none},
		{"try again at Jul 5th, 2027 8:19 PM.", "2026-06-10T00:00:00Z", "UTC", none},
		// From now.
		{"try again in 5m 30s", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:05:30Z"},
		{"try again in 2 hours.", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T12:00:00Z"},
		{"try again in about 2 hours and 5 minutes", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T12:05:00Z"},
		{"Please try again in 11.5s. Visit", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:00:11.5Z"},
		{"Please try again in 20ms.", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:00:00.02Z"},
		{"Please retry in 34.07s.", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:00:34.07Z"},
		{"Your quota will reset after 4h28m20s.", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T14:28:20Z"},
		{"Your quota will reset after 0s.. Retrying after 5710ms...", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:00:00Z"},
		{"or try again in 5 days 22 hours 11\nminutes.", "2026-11-21T10:00:00Z", "UTC", "2026-11-27T08:11:00Z"},
		{"try again in 1 day, 2 hours", "2026-11-21T10:00:00Z", "UTC", "2026-11-22T12:00:00Z"},
		{"please wait 90 seconds", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:01:30Z"},
		{"retry-after: 120", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:02:00Z"},
		{"< Retry-After: 120\r", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:02:00Z"},
		{"'retry-after': '120',", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:02:00Z"},
		{"retry-after-ms: 1500", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:00:01.5Z"},
		{`"retryDelay": "34s"`, "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:00:34Z"},
		{`\"retryDelay\": \"34s\"`, "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:00:34Z"},
		{`"resets_in_seconds":3600}`, "2026-11-21T10:00:00Z", "UTC", "2026-11-21T11:00:00Z"},
		{"try again in 32 days", "2026-11-21T10:00:00Z", "UTC", none},
		{"try again in 99999999999999999999 days", "2026-11-21T10:00:00Z", "UTC", none},
		// Moments.
		{"Claude AI usage limit reached|1763769600", "2025-11-21T10:00:00Z", "UTC", "2025-11-22T00:00:00Z"},
		{`"Claude AI usage limit reached|1763769600","session_id"`, "2025-11-21T10:00:00Z", "UTC", "2025-11-22T00:00:00Z"},
		{"reset at 1763769600", "2025-11-21T10:00:00Z", "UTC", "2025-11-22T00:00:00Z"},
		{"x-ratelimit-reset: 1763769600", "2025-11-21T10:00:00Z", "UTC", "2025-11-22T00:00:00Z"},
		{"reset at 1763769600000", "2025-11-21T10:00:00Z", "UTC", "2025-11-22T00:00:00Z"},
		{`{"type":"usage_limit_reached","resets_at":1763769600,"resets_in_seconds":7}`, "2025-11-21T10:00:00Z", "UTC", "2025-11-22T00:00:00Z"},
		{"anthropic-ratelimit-requests-reset: 2026-11-21T15:45:00Z", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T15:45:00Z"},
		{"try again at 2026-11-21 15:45:00+02:00", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T13:45:00Z"},
		{"Retry-After: Sat, 21 Nov 2026 15:45:00 GMT", "2026-11-21T10:00:00Z", "America/New_York", "2026-11-21T15:45:00Z"},
		{"Retry-After: Saturday, 21-Nov-26 15:45:00 GMT", "2026-11-21T10:00:00Z", "America/New_York", "2026-11-21T15:45:00Z"},
		{"Retry-After: Sat Nov 21 15:45:00 2026", "2026-11-21T10:00:00Z", "America/New_York", "2026-11-21T15:45:00Z"},
		{"limit reached|1000000000", "2026-11-21T10:00:00Z", "UTC", none},
		{"resets_at: 4000000000, resets in 5m", "2026-11-21T10:00:00Z", "UTC", "2026-11-21T10:05:00Z"},
		// Zones that follow a time.
		{"resets 3pm PST", "2026-11-22T16:00:00Z", "UTC", "2026-11-22T23:00:00Z"},
		{"resets 3pm (pdt)", "2026-11-22T16:00:00Z", "UTC", "2026-11-22T22:00:00Z"},
		{"resets 3pm EST. Upgrade", "2026-11-22T16:00:00Z", "UTC", "2026-11-22T20:00:00Z"},
		{"resets at 15:00 GMT-08:00", "2026-11-22T10:00:00Z", "UTC", "2026-11-22T23:00:00Z"},
		{"resets at 15:00 UTC+2", "2026-11-22T10:00:00Z", "UTC", "2026-11-22T13:00:00Z"},
		{"resets 3pm (UTC+5:30)", "2026-11-22T08:00:00Z", "UTC", "2026-11-22T09:30:00Z"},
		{"resets at 15:00+02:00", "2026-11-22T10:00:00Z", "UTC", "2026-11-22T13:00:00Z"},
		{"resets at 15:00 +0200", "2026-11-22T10:00:00Z", "UTC", "2026-11-22T13:00:00Z"},
		{"resets at 15:00:00-08:00", "2026-11-22T10:00:00Z", "UTC", "2026-11-22T23:00:00Z"},
		{"resets Nov 24, 8pm PST", "2026-11-22T10:00:00Z", "UTC", "2026-11-25T04:00:00Z"},
		{"resets 3pm - 4pm", "2026-11-22T10:00:00Z", "UTC", "2026-11-22T15:00:00Z"},
		{"resets 3pm (local time)", "2026-11-22T10:00:00Z", "America/New_York", "2026-11-22T20:00:00Z"},
		// Spans with colons.
		{"resets in 1:30:00", "2026-11-22T10:00:00Z", "UTC", "2026-11-22T11:30:00Z"},
		{"resets_in: 100:00:05", "2026-11-22T10:00:00Z", "UTC", "2026-11-26T14:00:05Z"},
		// Clocks that skip midnight, and that show an hour twice.
		{"resets at 12:15am", "2026-09-05T22:00:00-04:00", "America/Santiago", "2026-09-06T01:15:00-03:00"},
		{"resets Sep 6, 12:15am", "2026-09-05T22:00:00-04:00", "America/Santiago", "2026-09-06T01:15:00-03:00"},
		{"resets at 1:30am", "2026-11-01T01:45:00-04:00", "America/New_York", "2026-11-01T01:30:00-05:00"},
		{"resets at 1:30am", "2026-11-01T01:40:00-04:00", "America/New_York", "2026-11-01T01:30:00-04:00"},
		{"resets Nov 1, 1:30am", "2026-11-01T01:45:00-04:00", "America/New_York", "2026-11-01T01:30:00-05:00"},
		{"resets at 1:30am", "2026-11-01T00:45:00-04:00", "America/New_York", "2026-11-01T01:30:00-04:00"},
		// None.
		{"resets 3am (Nowhere/Land)", "2026-11-21T06:00:00Z", "UTC", none},
		{"resets 3pm IST", "2026-11-21T06:00:00Z", "UTC", none},
		{"resets 3pm PT", "2026-11-21T06:00:00Z", "UTC", none},
		{"resets 3pm Pacific", "2026-11-21T06:00:00Z", "UTC", none},
		{"resets Nov 24, 8pm IST", "2026-11-21T06:00:00Z", "UTC", none},
		{"resets at 15:00 UTC+25", "2026-11-21T06:00:00Z", "UTC", none},
		{"resets at 15:00 GMT+2:75", "2026-11-21T06:00:00Z", "UTC", none},
		{"resets at 09:00-12:00", "2026-11-21T06:00:00Z", "UTC", none},
		{"resets in 1:30", "2026-11-21T06:00:00Z", "UTC", none},
		{"resets in 3pm", "2026-11-21T06:00:00Z", "UTC", none},
		{"", "2026-11-21T10:00:00Z", "UTC", none},
		{"try again later", "2026-11-21T10:00:00Z", "UTC", none},
		{"Please wait and try again", "2026-11-21T10:00:00Z", "UTC", none},
		{"attempt 3 of 10 at 3:45 PM", "2026-11-21T10:00:00Z", "UTC", none},
		{"| 3:45 PM | 5m |", "2026-11-21T10:00:00Z", "UTC", none},
		{"|3:45 PM|5m|", "2026-11-21T10:00:00Z", "UTC", none},
		{"resets 3", "2026-11-21T10:00:00Z", "UTC", none},
		{"resets 13pm", "2026-11-21T10:00:00Z", "UTC", none},
		{"resets 0am", "2026-11-21T10:00:00Z", "UTC", none},
		{"resets 24:00", "2026-11-21T10:00:00Z", "UTC", none},
		{"resets 10:60", "2026-11-21T10:00:00Z", "UTC", none},
		{"presets 3am", "2026-11-21T10:00:00Z", "UTC", none},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := Until(c.text, now, zone(t, c.zone))
		if c.want == none {
			if ok || !got.IsZero() {
				t.Errorf("%q at %s: %s, want none", c.text, c.now, got)
			}
			continue
		}
		want, err := time.Parse(time.RFC3339Nano, c.want)
		if err != nil {
			t.Fatal(err)
		}
		if !ok || !got.Equal(want) {
			t.Errorf("%q at %s: %s %v, want %s", c.text, c.now, got, ok, c.want)
		}
	}
}

// Without a zone the reader's is UTC.
func TestUntilWithoutZone(t *testing.T) {
	now := time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	if got, ok := Until("resets 3am", now, nil); !ok || !got.Equal(now.Add(2*time.Hour)) {
		t.Error(got, ok)
	}
}

// FuzzUntil: whatever is printed, the moment is none or less than 31 days away.
func FuzzUntil(f *testing.F) {
	for _, s := range []string{"try again at 3:45 PM", "resets Feb 29, 11am (Asia/Seoul)", "|1763769600", "retry-after: 120", "resets in 5 days 22 hours", "retryDelay: 1e9s", "Retry-After: Sat, 21 Nov 2026 15:45:00 GMT", "reset at 2026-11-21T15:45:00Z"} {
		f.Add(s, int64(1763769600))
	}
	loc := zone(f, "America/New_York")
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		now := time.Unix(unix%4_000_000_000, 0)
		got, ok := Until(text, now, loc)
		if ok != !got.IsZero() || ok && (got.Sub(now) >= farthest || now.Sub(got) >= farthest) {
			t.Errorf("%q at %s: %s %v", text, now, got, ok)
		}
	})
}
