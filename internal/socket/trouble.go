package socket

import "sync"

// shownPerSort is how many troubles of a sort are reported: a client in a loop must not fill
// the journal.
const shownPerSort = 20

// troubles reports what goes wrong, one sentence at a time.
type troubles struct {
	tell  func(string)
	mu    sync.Mutex
	count map[string]int // by sort
}

func (t *troubles) add(sort, sentence string) {
	if t.tell == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil {
		t.count = map[string]int{}
	}
	if t.count[sort] >= shownPerSort {
		return
	}
	if t.count[sort]++; t.count[sort] == shownPerSort {
		sentence += " More of this sort is not reported."
	}
	t.tell(sentence)
}
