//go:build unix

package tasks

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/redact"
)

// ends is a check that ends in that way.
type ends engine.Exit

func (e ends) Run(context.Context, engine.Invocation) engine.Exit { return engine.Exit(e) }
func (ends) Argv() []string                                       { return nil }

// The check passes if it does, no task is open, and none was deleted.
func TestStep(t *testing.T) {
	sh := func(line string) engine.Step { return engine.Shell(line) }
	const deleted = "# a deleted task is not done: put it back, and tick it when it is done\n"
	words := strings.Repeat("word ", maxText)
	for name, c := range map[string]struct {
		text   string // empty: there is no file
		before []string
		check  engine.Step
		want   engine.Exit
		says   string
	}{
		"all are done":         {text: "- [x] a", check: sh("true")},
		"one is open":          {text: "- [ ] a\n- [x] b", before: []string{"a"}, want: engine.Exit{Code: 1, OpenTasks: true}, says: "not ok 1 - a\n1..2\n"},
		"the check passes":     {text: "- [ ] a", before: []string{"a"}, check: sh("true"), want: engine.Exit{Code: 1, OpenTasks: true}, says: "not ok 1 - a\n1..1\n"},
		"the check fails":      {text: "- [ ] a", before: []string{"a"}, check: sh("exit 3"), want: engine.Exit{Code: 3}, says: "not ok 1 - a\n1..1\n"},
		"the check is killed":  {text: "- [ ] a", before: []string{"a"}, check: ends{Signal: 9}, want: engine.Exit{Signal: 9}, says: "not ok 1 - a\n1..1\n"},
		"the check hangs":      {text: "- [ ] a", before: []string{"a"}, check: ends{Cause: core.CauseIterationTimeout}, want: engine.Exit{Cause: core.CauseIterationTimeout}, says: "not ok 1 - a\n1..1\n"},
		"only the check fails": {text: "- [x] a", check: sh("exit 3"), want: engine.Exit{Code: 3}},
		"no file":              {want: engine.Exit{Code: 1}, says: "# the tasks cannot be read: FILE: no such file or directory\n"},
		"new ones, and one is done": {
			text: "- [ ] a\n- [ ] a\n- [ ] b\n- [x] c", before: []string{"b", "c"}, says: "not ok 1 - a\nnot ok 2 - a\nnot ok 3 - b\n1..4\n",
			want: engine.Exit{Code: 1, OpenTasks: true, Tasks: &core.TaskChanges{Opened: []string{"a"}, Closed: []string{"c"}}},
		},
		"others have its words": {text: "- [ ] a\n- [x] a and b", before: []string{"a"}, want: engine.Exit{Code: 1, OpenTasks: true}, says: "not ok 1 - a\n1..2\n"},
		"without a text":        {text: "- [ ]", want: engine.Exit{Code: 1, OpenTasks: true}, says: "not ok 1 - task 1\n1..1\n"},
		"in other letters":      {text: "- [x] **Fix** the-bug", before: []string{"fix the bug."}, want: engine.Exit{Tasks: &core.TaskChanges{Closed: []string{"fix the bug."}}}},
		"deleted":               {text: "- [x] a c", before: []string{"a b"}, want: engine.Exit{Code: 1, OpenTasks: true}, says: "not ok 2 - a b (gone from FILE)\n1..2\n" + deleted},
		"deleted, no words":     {text: "- [x] ???", before: []string{"!!!"}, want: engine.Exit{Code: 1, OpenTasks: true}, says: "not ok 2 - !!! (gone from FILE)\n1..2\n" + deleted},
		"kept cut":              {text: "- [x] " + words, before: []string{words[:maxText-1] + "x"}, want: engine.Exit{Tasks: &core.TaskChanges{Closed: []string{words[:maxText-1] + "x"}}}},
		"kept without a secret": {text: "- [x] key now", before: []string{redact.Mask + " now"}, want: engine.Exit{Tasks: &core.TaskChanges{Closed: []string{redact.Mask + " now"}}}},
		"kept cut, one word":    {text: "- [x] a", before: []string{strings.Repeat("x", maxText)}, want: engine.Exit{Code: 1, OpenTasks: true}, says: "not ok 2 - " + strings.Repeat("x", maxText) + " (gone from FILE)\n1..2\n" + deleted},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if c.text != "" {
				if err := os.WriteFile(filepath.Join(dir, "T"), []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for file, in := range map[string]string{"T": dir, filepath.Join(dir, "T"): t.TempDir()} {
				var says strings.Builder
				invocation := engine.Invocation{Dir: in, Stdout: func(b []byte) { says.Write(b) }, Stderr: func([]byte) {}}
				invocation.Iteration.Tasks = c.before
				got := Step(file, c.check).Run(t.Context(), invocation)
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("%s: it ends with %+v, want %+v", file, got, c.want)
				}
				if text := strings.NewReplacer(filepath.Join(dir, "T"), "FILE", "(gone from T)", "(gone from FILE)").Replace(says.String()); text != c.says {
					t.Errorf("%s: it says %q, want %q", file, text, c.says)
				}
			}
		})
	}
}
