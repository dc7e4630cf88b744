package console

import (
	"testing"
	"time"
)

func TestAgo(t *testing.T) {
	now := time.Date(2026, 5, 20, 12, 0, 0, 0, time.Local)
	for d, want := range map[time.Duration]string{
		0: "0s ago", 59 * time.Second: "59s ago", time.Minute: "1m ago", 59*time.Minute + 59*time.Second: "59m ago", time.Hour: "1h ago",
		47*time.Hour + 59*time.Minute: "47h ago", 48 * time.Hour: "2d ago", 30*24*time.Hour - time.Second: "29d ago", 30 * 24 * time.Hour: "2026-04-20", -time.Minute: "2026-05-20 12:01:00",
	} {
		if got := Ago(now, now.Add(-d)); got != want {
			t.Errorf("%s ago is %q, want %q", d, got, want)
		}
	}
}

func TestRoundMS(t *testing.T) {
	for ms, want := range map[int64]string{0: "<1ms", 1: "1ms", 1000: "1s", 12_345: "12s"} {
		if got := RoundMS(ms); got != want {
			t.Errorf("%d ms are %q, want %q", ms, got, want)
		}
	}
}
