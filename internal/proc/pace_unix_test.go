//go:build unix

package proc

import (
	"testing"
	"time"
)

// Small pieces are let gather when so many have come closely, and no longer when one
// is large or late.
func TestPace(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name  string
		reads int
		gap   time.Duration
		size  int
		want  bool
	}{
		{"few", paceReads - 1, paceGap - 1, 1, false},
		{"many", paceReads, paceGap - 1, 1, true},
		{"many, and for long", 10 * paceReads, paceGap - 1, paceSmall - 1, true},
		{"slow", 10 * paceReads, paceGap, 1, false},
		{"large", 10 * paceReads, paceGap - 1, paceSmall, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := now
			p := pace{last: at}
			for range c.reads {
				at = at.Add(c.gap)
				p.read(c.size, at)
			}
			if got := p.many(); got != c.want {
				t.Errorf("many: %t, want %t", got, c.want)
			}
			p.read(1, at.Add(paceGap))
			if p.many() {
				t.Error("many after a pause")
			}
		})
	}
	p := pace{}
	if p.read(1, now); p.close != 0 {
		t.Error("the first read follows closely")
	}
}
