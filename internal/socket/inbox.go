package socket

import "sync"

// entryCost is the cost of a line in addition to its bytes, so that very many short ones are
// limited too.
const entryCost = 64

// inbox holds the lines of one client that have not been handled yet.
type inbox struct {
	max     int // bytes from which on no further line is put
	mu      sync.Mutex
	changed sync.Cond
	lines   [][]byte
	size    int
	last    []byte // what came without a line break at the end
	err     error  // why no more will come
	closed  bool
}

func newInbox(limit int) *inbox {
	b := &inbox{max: limit}
	b.changed.L = &b.mu
	return b
}

// put adds a line once there is room, or drops it if nobody takes lines any more.
func (b *inbox) put(line []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.size >= b.max {
		b.changed.Wait()
	}
	if b.closed {
		return
	}
	b.lines = append(b.lines, line)
	b.size += len(line) + entryCost
	b.changed.Broadcast()
}

// end records that nothing follows except the text that came without a line break.
func (b *inbox) end(last []byte, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last, b.err = last, err
	b.changed.Broadcast()
}

// take waits for the next line. The last one is returned with the reason why there are no
// more.
func (b *inbox) take() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.lines) == 0 && b.err == nil {
		b.changed.Wait()
	}
	if len(b.lines) == 0 {
		last := b.last
		b.last = nil
		return last, b.err
	}
	line := b.lines[0]
	b.lines[0] = nil
	b.lines = b.lines[1:]
	b.size -= len(line) + entryCost
	b.changed.Broadcast()
	return line, nil
}

// close makes a waiting put give up: there is room, and nothing fills it any more.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed, b.lines, b.size = true, nil, 0
	b.changed.Broadcast()
}
