package engine

import (
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/lines"
)

// A line that goes on after what is kept of it is no promise, however it begins.
func TestALongLineIsNoPromise(t *testing.T) {
	p := newSaid("DONE", false)
	p.write([]byte("DONE" + strings.Repeat(" ", 2*lines.Max) + "is what I will print\n"))
	if made, _ := p.end(); made {
		t.Error("the beginning of a sentence was taken for the promise")
	}
}
