//go:build unix

package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// How a command is found to write many small pieces, and how long they are let
// gather then. Being read, each of them would wake this program, which costs the
// command more than to write it.
const (
	paceGap   = 600 * time.Microsecond // reads this near to each other follow closely
	paceReads = 32                     // so many of these, and it writes many
	paceSmall = 32 << 10               // bytes; who brings more has let them gather by itself
	paceRest  = 200 * time.Microsecond
)

// pace is how a command's output comes. Its zero value is that of silence.
type pace struct {
	last  time.Time // of the last read
	close int       // reads in a row that followed closely
}

// read takes note of a read of n bytes.
func (p *pace) read(n int, now time.Time) {
	if n >= paceSmall || now.Sub(p.last) >= paceGap {
		p.close = 0
	} else {
		p.close = min(p.close+1, paceReads)
	}
	p.last = now
}

// many reports whether small reads have followed each other closely for a while.
func (p *pace) many() bool { return p.close >= paceReads }

// rest lets them gather then. [time.Sleep] would wake as many threads as it saves.
func (p *pace) rest() {
	if p.many() {
		t := unix.NsecToTimeval(int64(paceRest))
		_, _ = unix.Select(0, nil, nil, nil, &t)
	}
}
