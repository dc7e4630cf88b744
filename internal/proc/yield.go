package proc

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// yieldEvery is less than the 10 ms after which Go's scheduler considers that a goroutine that
// has not been rescheduled keeps others waiting.
const yieldEvery = 8 * time.Millisecond

var yielded atomic.Int64 // nanoseconds since the first call

var beginning = sync.OnceValue(time.Now)

// yield lets other goroutines run, every few milliseconds. A goroutine that makes only short
// system calls is never rescheduled by itself: the runtime then takes its processor away at
// each call and looks for more work fifty thousand times a second.
func yield() {
	now := int64(time.Since(beginning()))
	if last := yielded.Load(); now-last >= int64(yieldEvery) {
		yielded.Store(now)
		runtime.Gosched()
	}
}
