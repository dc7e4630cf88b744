package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/scratchpad"
)

// Text in the table is data.
func TestListIsSafe(t *testing.T) {
	var b bytes.Buffer
	p := &console.Printer{}
	tab := listed([]scratchpad.Summary{{ID: "x", Command: []string{"a\x1b]0;t\x07\nb\u202e"}, Status: core.StatusDone, Says: "s\rt"}}, time.Now(), true, false)
	tab.Print(p)
	b.Write(p.Bytes())
	if got := b.String(); strings.ContainsAny(got, "\x1b\x07\r\u202e") || strings.Count(got, "\n") != 2 {
		t.Errorf("printed %q", got)
	}
}
