//go:build unix

package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// When a command counts as writing many small pieces, and how long the pieces are then allowed
// to accumulate. Reading each one separately would wake this program each time, which costs
// the command more than writing it.
const (
	paceGap   = 600 * time.Microsecond // reads this near to each other follow closely
	paceReads = 32                     // so many of these, and it writes many
	paceSmall = 32 << 10               // bytes; who brings more has let them gather by itself
	paceRest  = 200 * time.Microsecond
)

// pace is the pattern in which a command's output arrives. The zero value means silence.
type pace struct {
	last  time.Time // of the last read
	close int       // reads in a row that followed closely
}

// read records a read of n bytes.
func (p *pace) read(n int, now time.Time) {
	if n >= paceSmall || now.Sub(p.last) >= paceGap {
		p.close = 0
	} else {
		p.close = min(p.close+1, paceReads)
	}
	p.last = now
}

// many reports whether small reads have been following each other closely for a while.
func (p *pace) many() bool { return p.close >= paceReads }

// rest then lets them accumulate. [time.Sleep] would wake as many threads as it saves.
func (p *pace) rest() {
	if p.many() {
		t := unix.NsecToTimeval(int64(paceRest))
		_, _ = unix.Select(0, nil, nil, nil, &t)
	}
}
