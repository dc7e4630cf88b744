package proc

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// relentEvery is below the 10 ms after which Go's scheduler takes a goroutine
// that has not been rescheduled for one that keeps others waiting.
const relentEvery = 8 * time.Millisecond

var relented atomic.Int64 // nanoseconds since the first call

var beginning = sync.OnceValue(time.Now)

// relent lets other goroutines run, every few milliseconds. One that does nothing
// but short system calls is never rescheduled by itself; the runtime then takes its
// processor away at each of them, and looks for more to do fifty thousand times a
// second.
func relent() {
	now := int64(time.Since(beginning()))
	if last := relented.Load(); now-last >= int64(relentEvery) {
		relented.Store(now)
		runtime.Gosched()
	}
}
