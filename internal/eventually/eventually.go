// Package eventually is for tests that wait for something to happen. They wait so long that a
// busy machine does not change the verdict: a test fails only if it never happens.
package eventually

import (
	"testing"
	"time"
)

// Patience is how long a test waits for something that must happen. It ends a hanging test and
// implies nothing about how long anything may take.
const Patience = 5 * time.Minute

// Holds waits until the condition holds; what describes it in the failure message.
func Holds(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for begun := time.Now(); !condition(); {
		waited := time.Since(begun)
		if waited > Patience {
			t.Fatalf("it did not happen: %s", what)
		}
		time.Sleep(min(max(waited/8, 2*time.Millisecond), 25*time.Millisecond)) // a look can cost more than what it waits for
	}
}

// Receive returns the next value from a channel.
func Receive[T any](t testing.TB, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(Patience):
		t.Fatalf("it did not happen: %s", what)
		panic("not reached")
	}
}

// Ends fails the tests where this one does not end, whatever it hangs in.
func Ends(t testing.TB) {
	t.Helper()
	late := time.AfterFunc(Patience, func() { panic(t.Name() + " does not end") })
	t.Cleanup(func() { late.Stop() })
}
