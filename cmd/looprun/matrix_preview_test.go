//go:build unix

package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// A preview of a run's question, from the run or from its recorded state, is the
// question that was asked. Where the iteration was running, it has ended since.
func TestMatrixPreview(t *testing.T) {
	t.Parallel()
	for _, guard := range tried() {
		t.Run(string(guard), func(t *testing.T) {
			t.Parallel()
			c := newCell(t, guard, core.Option{}, "")
			out := c.over(t, begin(t, c.home, c.command("--detached", "defer", "--non-interactive")...), "state")
			j := readJournal(t, out.dir)
			asked := j.of(core.TypeQuestionAsked)
			if len(asked) != 1 {
				t.Fatalf("%d questions on record", len(asked))
			}
			want := asked[0].(core.QuestionAsked).Question
			c.write(t, "state.json", c.prints(t, "show", "--format", "state"))
			for _, from := range [][]string{{"--run", j.state.RunID}, {"--state", "state.json"}} {
				var got core.Question
				preview := append([]string{"template", "preview", string(guard), "--format", "json"}, from...)
				if err := json.Unmarshal([]byte(c.prints(t, preview...)), &got); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.OptionIDs(), want.OptionIDs()) || !c.during && (got.Text != want.Text || !slices.Equal(timeless(got), timeless(want))) {
					t.Errorf("%v shows %q %v %q; asked was %q %v %q", from, got.Text, got.OptionIDs(), got.Details, want.Text, want.OptionIDs(), want.Details)
				}
			}
		})
	}
}

// timeless are the details without the line of the runtime, which went on since.
func timeless(q core.Question) []string {
	return slices.DeleteFunc(slices.Clone(q.Details), func(d string) bool { return strings.HasPrefix(d, "Iteration ") })
}

// prints is the standard output of a command that succeeds.
func (c *cell) prints(t *testing.T, args ...string) string {
	t.Helper()
	s := begin(t, c.home, args...)
	if code := s.ended(t); code != 0 {
		t.Fatalf("%v ended with %d", args, code)
	}
	return s.stdout.String()
}
