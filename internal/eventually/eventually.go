// Package eventually is for tests that wait for something to happen. They wait so
// long that a machine which is busy changes no verdict: only what never happens fails.
package eventually

import (
	"testing"
	"time"
)

// Patience is how long a test waits for what has to happen. It ends a test that hangs
// and says nothing about how long anything may take.
const Patience = 10 * time.Minute

// Holds waits until the condition holds; what it is about stands in the failure.
func Holds(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}

// Receive takes the next value from a channel.
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
