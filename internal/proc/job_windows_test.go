package proc

import (
	"sync/atomic"
	"testing"
	"time"
)

// A time limit that passes while the command is being started ends it: it does not come
// a second time.
func TestALimitInTheMomentOfTheStart(t *testing.T) {
	for range 20 {
		var ended atomic.Bool
		p := Start(Spec{
			Argv: []string{"cmd", "/c", "for /l %i in () do @rem"}, Timeout: time.Nanosecond,
			Stdout: func([]byte) {}, Stderr: func([]byte) {},
		})
		late := time.AfterFunc(time.Minute, func() { ended.Store(true); p.Stop(0) })
		exit := p.Wait()
		if late.Stop(); ended.Load() || exit.Cause != Timeout {
			t.Fatalf("it ended by %v, and ran on for a minute: %t", exit.Cause, ended.Load())
		}
	}
}
