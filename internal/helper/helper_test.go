package helper

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/internal/proc"
)

// Only a command that ended by itself, in time and with 0, has passed.
func TestFailed(t *testing.T) {
	c := Command{Timeout: time.Second}
	of := func(e proc.Exit) End { return End{Exit: e, cut: c.cut(t.Context(), e)} }
	if end := of(proc.Exit{Cause: proc.Exited}); end.Failed() != "" || end.Cut() != "" || end.Err("x") != nil {
		t.Errorf("%q, %q", end.Failed(), end.Cut())
	}
	for want, e := range map[string]proc.Exit{
		"exited with 1":                        {Cause: proc.Exited, Code: 1},
		"took longer than 1s and was ended":    {Cause: proc.Timeout},
		"did not end by itself":                {Cause: proc.Stopped},
		"could not be started: no room":        {Cause: proc.StartFailed, StartErr: errors.New("no room")},
		"ended nobody knows how: shot":         {Cause: proc.Lost, Lost: errors.New("shot")},
		"exited with 143 (signal: terminated)": {Cause: proc.Exited, Code: 143, Signal: 15},
	} {
		end := of(e)
		if end.Failed() != want || (end.Cut() != "") != (e.Cause != proc.Exited) {
			t.Errorf("%q, %q, want %q", end.Failed(), end.Cut(), want)
		}
		if err := end.Err("a line"); err == nil || err.Error() != "it "+want+": a line" {
			t.Error(err)
		}
	}
}

// A helper reads its document, and ends when its time is over, when its caller has enough,
// or when the context ends.
func TestRun(t *testing.T) {
	var out Head
	end := Command{Line: "cat; echo; exit 3", Input: []byte("hello"), Stdout: out.Take}.Run(t.Context())
	if out.FirstLine() != "hello" || end.Failed() != "exited with 3" {
		t.Errorf("%q, %s", out, end.Failed())
	}
	if end := (Command{Line: "exec sleep 60", Timeout: 50 * time.Millisecond}).Run(t.Context()); !strings.Contains(end.Cut(), "took longer") {
		t.Error(end.Cut())
	}
	enough := make(chan struct{})
	close(enough)
	if end := (Command{Line: "exec sleep 60", Enough: enough}).Run(t.Context()); end.Cause != proc.Stopped {
		t.Error(end.Cause)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the run is over"))
	if end := (Command{Line: "exec sleep 60"}).Run(ctx); end.Cut() != "did not end by itself: the run is over" {
		t.Error(end.Cut())
	}
	if end := (Command{Argv: []string{"/nothing/here"}}).Run(t.Context()); end.Cut() == "" || end.Code == 0 {
		t.Error(end)
	}
}
