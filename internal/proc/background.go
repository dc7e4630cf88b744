package proc

import (
	"sync"
	"time"
)

// kept is what a command left running because of Spec.KeepBackground.
type kept interface {
	// end ends the processes with SIGTERM, and SIGKILL after killAfter, and waits for them.
	end(killAfter time.Duration)
}

type keptTrees struct {
	mu   sync.Mutex
	list []kept
}

var background keptTrees

func (b *keptTrees) add(k kept) {
	b.mu.Lock()
	b.list = append(b.list, k)
	b.mu.Unlock()
}

// EndBackground ends all processes that commands left running because of Spec.KeepBackground:
// with SIGTERM, and with SIGKILL after killAfter (zero or less means DefaultKillAfter). It
// returns when they are gone.
func EndBackground(killAfter time.Duration) {
	if killAfter <= 0 {
		killAfter = DefaultKillAfter
	}
	background.mu.Lock()
	list := background.list
	background.list = nil
	background.mu.Unlock()
	var all sync.WaitGroup
	for _, k := range list {
		all.Go(func() { k.end(killAfter) })
	}
	all.Wait()
}
