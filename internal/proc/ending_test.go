//go:build unix

package proc

import "testing"

// Stop says that an end is asked for also when the tree is gone, and what it has
// printed is still being taken.
func TestEndingOfWhatIsGone(t *testing.T) {
	said := 0
	p := &Process{spec: Spec{Ending: func() { said++ }}}
	p.Stop(0)
	if said != 1 {
		t.Errorf("said %d times", said)
	}
}
