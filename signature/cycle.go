package signature

// MaxPeriod is the longest cycle that Cycles looks for.
const MaxPeriod = 5

// Cycles detects repeats and short cycles in a sequence of signature hashes.
//
// The zero value is ready to use. It remembers the last MaxPeriod hashes and one counter for
// each period, so memory use and the time of each Add are small and constant, however long the
// run. Its fields are exported only so that it can be stored as JSON between runs; they are
// not meant to be set by hand.
type Cycles struct {
	// Recent holds the last hashes, oldest first, at most MaxPeriod of them.
	Recent []Hash `json:"recent,omitempty"`
	// Runs[p-1] counts how many consecutive entries, up to the last one, equalled the entry p
	// places before them.
	Runs [MaxPeriod]int `json:"runs"`
}

// Add appends one hash. The zero hash ("no signature") equals nothing, not even another zero:
// it breaks every run of equal hashes.
func (c *Cycles) Add(h Hash) {
	for p := 1; p <= MaxPeriod; p++ {
		if p <= len(c.Recent) && h != 0 && c.Recent[len(c.Recent)-p] == h {
			c.Runs[p-1]++
		} else {
			c.Runs[p-1] = 0
		}
	}
	if len(c.Recent) < MaxPeriod {
		c.Recent = append(c.Recent, h)
		return
	}
	copy(c.Recent, c.Recent[1:])
	c.Recent[MaxPeriod-1] = h
}

// Reset clears the sequence.
func (c *Cycles) Reset() {
	c.Recent = c.Recent[:0]
	c.Runs = [MaxPeriod]int{}
}

// Tripped reports whether the sequence is stuck at the last Add: with period 1 if the same
// hash came threshold times in a row, with a period p from 2 to MaxPeriod if a cycle of that
// length came threshold times. It reports the smallest such period. A threshold below 2 never
// trips.
func (c *Cycles) Tripped(threshold int) (period int, ok bool) {
	if threshold < 2 {
		return 0, false
	}
	for p := 1; p <= MaxPeriod; p++ {
		if c.Runs[p-1] >= p*(threshold-1) {
			return p, true
		}
	}
	return 0, false
}

// Repeats returns how many times in a row the last hash came: 0 before the first Add and after
// a zero hash, 1 for a new hash.
func (c *Cycles) Repeats() int {
	if len(c.Recent) == 0 || c.Recent[len(c.Recent)-1] == 0 {
		return 0
	}
	return c.Runs[0] + 1
}
