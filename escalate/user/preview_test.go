//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package user

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// The preview is what the prompt draws on a real terminal, line by line.
func TestPreviewIsWhatThePromptShows(t *testing.T) {
	wide := testQuestion()
	wide.Header = "反復の上限"
	wide.Text = strings.Repeat("反復の上限に達しました。", 8) + "\nどうしますか。"
	wide.Details = append(wide.Details, "最後の出力:", "  "+strings.Repeat("漢字 e\u0301 😀 ", 12))
	for i := range wide.Options {
		wide.Options[i].Description = strings.Repeat("説明", 20)
	}
	long := testQuestion()
	long.Text = strings.Repeat("The same result came 3 times in a row. ", 6) + "\n\nHow to proceed?"
	long.Details = append(long.Details, "  "+strings.Repeat("x", 170))
	long.Options[0].Description = strings.Repeat("what it does ", 20)
	for name, q := range map[string]core.Question{
		"a trip": testQuestion(), "long": long, "wide characters": wide,
		"one of several": commandQuestion(func(q *core.Question) { q.Text, q.AllowText, q.AllowCancel = "Which?", true, true }),
		"several": commandQuestion(func(q *core.Question) {
			q.Header, q.Text, q.Multi, q.Default = "Colours", "Which?", true, "g"
			q.Options[0].Description = strings.Repeat("the colour of blood ", 4)
		}),
		"a text": commandQuestion(func(q *core.Question) {
			q.Kind, q.Options, q.Text, q.Default = core.KindText, nil, "Where?", "main"
		}),
		"yes or no": commandQuestion(func(q *core.Question) { q.Kind, q.Options, q.Text = core.KindConfirm, nil, "Really?" }),
	} {
		for _, columns := range []int{120, 80, 40, 14} {
			t.Run(fmt.Sprintf("%s, %d columns", name, columns), func(t *testing.T) {
				want, err := Preview(q, columns, nil)
				if err != nil {
					t.Fatal(err)
				}
				if strings.ContainsAny(want, "\x1b\r") || strings.Contains(want, said("hint_wait")) {
					t.Fatalf("the preview is no plain text of a prompt that is ready: %q", want)
				}
				s := start(t, setup{scenario: scenario{Question: q}, columns: columns, rows: 150})
				s.sees("what the preview shows:\n"+want, func(screen string) bool {
					return trimmed(screen) == trimmed(want)
				})
			})
		}
	}
}

// trimmed leaves out what a screen has around the text.
func trimmed(screen string) string {
	lines := strings.Split(screen, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

func TestPreviewOfWhatNoMenuCanPut(t *testing.T) {
	q := testQuestion()
	q.Options = nil
	if got, err := Preview(q, 80, nil); got != "" || !errors.Is(err, core.ErrNoAnswer) {
		t.Errorf("a question without options: %q, %v", got, err)
	}
}

// A width that no terminal has draws as the least one.
func TestPreviewOfNoWidth(t *testing.T) {
	want, err := Preview(testQuestion(), minColumns+1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range []int{minColumns, 0, -5} {
		if got, err := Preview(testQuestion(), columns, nil); err != nil || got != want {
			t.Errorf("%d columns: %q, %v; want %q", columns, got, err, want)
		}
	}
}
