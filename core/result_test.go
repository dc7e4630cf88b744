package core_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

func TestRuntimeIsShortInJSON(t *testing.T) {
	for elapsed, want := range map[time.Duration]string{
		0:                             `"runtime_seconds":0,`,
		499 * time.Microsecond:        `"runtime_seconds":0,`,
		500 * time.Microsecond:        `"runtime_seconds":0.001,`,
		1235 * time.Millisecond:       `"runtime_seconds":1.235,`,
		1234999999 * time.Nanosecond:  `"runtime_seconds":1.235,`,
		61*time.Hour + 17*time.Second: `"runtime_seconds":219617,`,
	} {
		s := core.State{Elapsed: elapsed}
		r := s.Result()
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), want) {
			t.Errorf("%s: %s, want %s", elapsed, b, want)
		}
		if r.Runtime != elapsed {
			t.Errorf("%s: runtime %s", elapsed, r.Runtime)
		}
	}
}
