// Package parallel performs many small tasks concurrently.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls read with every number from 0 to n-1, concurrently: reading many runs is mostly
// waiting.
func Each(n int, read func(i int)) {
	if n == 1 {
		read(0)
		return
	}
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(n, 2*runtime.GOMAXPROCS(0)) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				read(int(i))
			}
		})
	}
	readers.Wait()
}
