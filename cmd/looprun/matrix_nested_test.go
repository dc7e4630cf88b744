//go:build unix

package main

import (
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/scratchpad"
)

// The questions of a run inside another one reach the person at the terminal of
// the outermost, and the answer does there what it says.
func TestMatrixNestedPrompt(t *testing.T) {
	t.Parallel()
	set := builtin(t)
	for n, guard := range tried() {
		if !sampled(n, 3) {
			continue
		}
		t.Run(string(guard), func(t *testing.T) {
			t.Parallel()
			c := newCell(t, guard, set.Template(guard).Options[0].Option, "inside")
			writeFile(t, c.dir, "outer.sh", "cd inside && LOOPRUN --state-dir ../inner "+shellWords(c.command())+" >../printed\necho $? >../code\n")
			s := onTerminal(t, c.dir, "--", "sh", "outer.sh")
			s.moveTo(t, c.option.Label)
			s.keys(t, "\r")
			c.says(t, s)
			if code := s.ended(t); code != 0 {
				t.Errorf("the outer run ended with %d", code)
			}
			inner, err := scratchpad.Find(s.file("inner"), "")
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, responder{as: core.RespondedByParent, person: true}, outcome{code: s.pid(t, "code"), dir: inner, stderr: s.stdout.String()})
		})
	}
}
