package user

import (
	"fmt"
	"strings"

	"github.com/AlecAivazis/survey/v2"
	"github.com/AlecAivazis/survey/v2/core"
	"github.com/AlecAivazis/survey/v2/terminal"
)

// sheet is the appearance of the menu on a screen of a certain size. Items can have several
// lines.
type sheet struct {
	message string
	items   []string
	cursor  int
	rows    int // items to show at once
	hint    string
	plain   bool // no colours
}

// surveyTemplate replaces survey's own template, which advertises filtering. It ends with the
// hint; of a finished prompt, the message remains.
const surveyTemplate = `
{{- define "option"}}
    {{- if eq .SelectedIndex .CurrentIndex }}{{color .Config.Icons.SelectFocus.Format }}{{ .Config.Icons.SelectFocus.Text }} {{else}}{{color "default"}}  {{end}}
    {{- .CurrentOpt.Value}}{{color "reset"}}
{{end}}
{{- color .Config.Icons.Question.Format }}{{ .Message }}{{color "reset"}}{{"\n"}}
{{- if not .ShowAnswer}}
  {{- range $ix, $option := .PageEntries}}
    {{- template "option" $.IterateOption $ix $option}}
  {{- end}}
  {{- color .Config.Icons.Help.Format }}{{ .Help }}{{color "reset"}}
{{- end}}`

// The bytes that survey recognises as keys. The left arrow has no meaning for it but makes it
// redraw.
const surveyUp, surveyDown, surveyDraw, surveyEnter = "\x1b[A", "\x1b[B", "\x1b[D", "\r"

// choose shows the sheet and returns the index of the item chosen with the keys that next
// returns. next returns an updated sheet with each key. survey never sees other bytes, the end
// of its input or a signal: it receives whole keys only, and the first error of next ends it
// with that error. Its panics become errors.
func choose(out terminal.FileWriter, s sheet, next func() (key, sheet, error)) (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			n, err = -1, panicked(p)
		}
	}()
	ours := survey.SelectQuestionTemplate
	survey.SelectQuestionTemplate = surveyTemplate
	defer func() { survey.SelectQuestionTemplate = ours }()

	menu := s.menu()
	var icons *survey.IconSet
	at := max(0, s.cursor) // survey always has a place
	in := &surveyKeys{next: func() (string, error) {
		k, s, err := next()
		if err != nil {
			return "", err
		}
		menu.Options, menu.Help = s.items, s.hint
		s.icons(icons)
		codes := surveyDraw
		to, n := max(0, s.cursor), len(s.items)
		// Take the shorter way, possibly around the end: survey draws each step.
		if down, up := (to-at+n)%n, (at-to+n)%n; down > 0 && down <= up {
			codes = strings.Repeat(surveyDown, down)
		} else if up > 0 {
			codes = strings.Repeat(surveyUp, up)
		}
		if at = to; k == keyEnter {
			codes += surveyEnter
		}
		return codes, nil
	}}
	n = -1
	err = survey.AskOne(menu, &n, survey.WithStdio(in, out, out), survey.WithIcons(func(set *survey.IconSet) {
		icons = set
		s.icons(set)
	}))
	return n, err
}

// picture returns what choose shows of the whole sheet, without colours.
func (s sheet) picture() (string, error) {
	var config survey.PromptConfig
	s.icons(&config.Icons)
	_, plain, err := core.RunTemplate(surveyTemplate, survey.SelectTemplateData{
		Select: *s.menu(), PageEntries: core.OptionAnswerList(s.items), SelectedIndex: max(0, s.cursor), Config: &config,
	})
	return plain, err
}

func (s sheet) menu() *survey.Select {
	return &survey.Select{
		Message:  s.message,
		Options:  s.items,
		Default:  max(0, s.cursor),
		Help:     s.hint,
		PageSize: s.rows,
		Filter:   func(string, string, int) bool { return true },
	}
}

func (s sheet) icons(icons *survey.IconSet) {
	icons.SelectFocus = survey.Icon{Text: ">", Format: s.format("cyan+b")}
	if s.cursor < 0 { // nothing is marked
		icons.SelectFocus = survey.Icon{Text: " ", Format: "default"}
	}
	icons.Question.Format = s.format("default+hb")
	icons.Help.Format = s.format("cyan")
}

func panicked(v any) error { return fmt.Errorf("panic: %v", v) }

func (s sheet) format(colour string) string {
	if s.plain {
		return "reset"
	}
	return colour
}

// surveyKeys is the input that survey reads: one whole key at a time.
type surveyKeys struct {
	next func() (string, error)
	rest string
}

func (r *surveyKeys) Read(p []byte) (int, error) {
	if r.rest == "" {
		codes, err := r.next()
		if err != nil {
			return 0, err
		}
		r.rest = codes
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Fd returns no valid descriptor: survey must not change the terminal's state.
func (r *surveyKeys) Fd() uintptr { return ^uintptr(0) }
