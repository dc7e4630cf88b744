package plural

import (
	"math"
	"testing"
	"time"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{-1: "-1 runs", 0: "0 runs", 1: "1 run", 2: "2 runs", 1000: "1000 runs"} {
		if got := Count(n, "run"); got != want {
			t.Errorf("Count(%d) is %q, want %q", n, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 15 * time.Minute: "15m", 2 * time.Hour: "2h", 10 * time.Second: "10s", 10 * time.Minute: "10m", 20 * time.Hour: "20h",
		90 * time.Second: "1m30s", time.Hour + 30*time.Minute: "1h30m", time.Hour + time.Second: "1h0m1s", 1500 * time.Millisecond: "1.5s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) is %q, want %q", d, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1 KiB", 1536: "1.5 KiB", 10 << 10: "10 KiB", 1 << 20: "1 MiB", 3 << 29: "1.5 GiB", math.MaxInt64: "8388608 TiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
