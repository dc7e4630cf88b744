package main

import (
	"bytes"
	"context"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	const want = "a fixer that works: done after 3 iterations\n" +
		"a fixer that is stuck: tripped after 3 iterations (loop_detected)\n"
	if out.String() != want {
		t.Errorf("it printed\n%swant\n%s", out.String(), want)
	}
}

// Ctrl-C ends the run as interrupted.
func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	if err := run(ctx, &out); err != nil {
		t.Fatal(err)
	}
	const want = "a fixer that works: interrupted after 0 iterations\n" +
		"a fixer that is stuck: interrupted after 0 iterations\n"
	if out.String() != want {
		t.Errorf("it printed\n%swant\n%s", out.String(), want)
	}
}
