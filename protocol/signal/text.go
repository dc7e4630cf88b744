package signal

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/looprun/looprun/internal/lines"
	"github.com/looprun/looprun/internal/termsafe"
)

// named maps the names in text to signals.
var named = map[string]Name{
	"LOOPRUN_DONE":                 Done,
	"LOOPRUN_PROGRESS":             Progress,
	"LOOPRUN_BLOCKED":              Blocked,
	"LOOPRUN_ATTEMPT":              Attempt,
	"LOOPRUN_COST":                 Cost,
	"SEEKING_DIVINE_CLARIFICATION": Clarify,
	"SEEKING_CLARIFICATION":        Clarify,
	"EXPERT_UNSUCCESSFUL":          Unsuccessful,
	"EXPERT_REQUEST":               Expert,
}

// HowTo returns instructions for a command, or the model behind it, on how to print signals.
// It is safe to echo: every name is quoted, so no line of it is a signal, however it is
// wrapped.
func HowTo() string {
	return "To send looprun a signal, print the signal's name alone on a line, without quotes, from the first column on and outside of code blocks; `NAME: ID` names a task. " +
		"Write the details on the lines below, as in `Question: …`.\n" +
		"- `LOOPRUN_DONE`: the work is finished.\n" +
		"- `LOOPRUN_PROGRESS`: how far the work is.\n" +
		"- `LOOPRUN_BLOCKED`: it cannot continue; say in `Question:` what a person has to decide.\n" +
		"- `LOOPRUN_ATTEMPT`: what is tried, in `Approach:`, `Outcome:` and `Why Different:`.\n" +
		"- `LOOPRUN_COST`: what was spent, in `USD:` and `Tokens:`.\n" +
		"- `SEEKING_CLARIFICATION`: the task is unclear; give `Cause:` (`circular_dependency`, `security_concern` or `ambiguous_criteria`), `Question:`, `Context:`, `Options Considered:` (`1. option: why insufficient`), `Attempts Made:` and `What Would Help:`.\n" +
		"- `EXPERT_REQUEST`: the next expert is wanted; `Expert:` names one.\n" +
		"- `EXPERT_UNSUCCESSFUL`: an expert's guidance did not help.\n"
}

// Before returns the part of a text that precedes its first signal that asks.
func Before(text string) string {
	var s Scanner
	end := 0
	for line := range strings.Lines(text) {
		s.Line([]byte(strings.TrimRight(line, "\r\n")), false)
		if s.open != nil && s.open.signal.Name.Asks() {
			return text[:end]
		}
		end += len(line)
	}
	return text
}

// draft is a signal as printed.
type draft struct {
	signal  Signal
	line    int
	name    string
	problem string              // with its header; empty: none
	field   string              // the label of the last field, empty for the message
	texts   map[string][]string // the lines of each field
}

// longestName is the maximum length of a line's name if it is to be a signal's, in bytes.
const longestName = 32

// header begins a signal if the line is a signal's name.
func (s *Scanner) header(line []byte) bool {
	name, after, colon := bytes.Cut(line, []byte(":"))
	if len(name) > longestName {
		return false
	}
	id := strings.TrimSpace(string(after))
	meaning, ok := named[string(name)]
	if number, is := strings.CutPrefix(string(name), "ATTEMPT "); is && id == "Self-Solve" {
		_, err := strconv.ParseUint(strings.Trim(number, "[]"), 10, 32)
		name, meaning, id, ok = []byte("LOOPRUN_ATTEMPT"), Attempt, "", err == nil
	}
	if !ok {
		return false
	}
	d := &draft{signal: Signal{Name: meaning, Task: id, Via: ViaText}, line: s.line, name: string(name), texts: map[string][]string{}}
	switch {
	case colon && len(strings.Fields(id)) > 1:
		d.problem = "The task's id follows the colon and is one word. Write the message on the lines below."
	case len(id) > MaxID:
		d.problem = fmt.Sprintf("The task's id has %d bytes. Shorten it to at most %d.", len(id), MaxID)
	}
	if s.open != nil {
		s.ended = append(s.ended, s.open)
	}
	s.open = d
	for len(s.ended) > 0 && s.past(s.ended[0]) {
		s.ended = s.ended[1:]
	}
	return true
}

// The labels of fields that are not a single text.
const (
	considered = "Options Considered"
	attempts   = "Attempts Made"
	dollars    = "USD"
	tokens     = "Tokens"
)

func (d *draft) add(line string, fenced bool) {
	line = termsafe.Text(line)
	if !fenced {
		if label, value, ok := label(line); ok {
			d.field = label
			d.texts[label] = append(d.texts[label], value)
			return
		}
	}
	d.texts[d.field] = append(d.texts[d.field], line)
}

// label returns the field that begins in the line, and the text after its colon. The label may
// be bold, as programs that write Markdown often make it.
func label(line string) (name, value string, ok bool) {
	if lines.Indented(line) {
		return "", "", false
	}
	text := strings.TrimLeft(line, " \t")
	bold := strings.HasPrefix(text, "**")
	text = strings.TrimPrefix(text, "**")
	head, value, ok := strings.Cut(text, ":")
	if !ok {
		return "", "", false
	}
	if bold {
		head = strings.TrimSuffix(head, "**")
		value = strings.TrimPrefix(value, "**")
	}
	for _, list := range [][]field{ids, messages} {
		for _, f := range list {
			if f.label != "" && strings.EqualFold(head, f.label) {
				return f.label, value, true
			}
		}
	}
	for _, special := range []string{considered, attempts, dollars, tokens} {
		if strings.EqualFold(head, special) {
			return special, value, true
		}
	}
	return "", "", false
}

// finish builds the signal from its body, or returns what is wrong with it.
func (d *draft) finish() (Signal, *Malformed) {
	malformed := func(problem string) (Signal, *Malformed) {
		return Signal{}, &Malformed{Line: d.line, Name: d.name, Problem: problem}
	}
	if d.problem != "" {
		return malformed(d.problem)
	}
	s := d.signal
	for _, f := range ids {
		text := strings.Join(d.texts[f.label], "\n")
		text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		if f.label == "Cause" && s.Name != Clarify {
			continue
		}
		if to := f.of(&s); *to == "" { // the id in the header is the task's
			*to = clip(text, MaxID)
		}
	}
	for _, f := range messages {
		*f.of(&s) = clip(tidy(strings.Join(d.texts[f.label], "\n")), MaxText)
	}
	for _, item := range items(d.texts[considered]) {
		option, why, _ := strings.Cut(item, ": ")
		s.Considered = append(s.Considered, Considered{Option: clip(option, MaxText), Why: clip(why, MaxText)})
	}
	for _, item := range items(d.texts[attempts]) {
		s.Attempts = append(s.Attempts, clip(item, MaxText))
	}
	err := errors.Join(d.number(dollars, func(text string) (err error) {
		s.USD, err = strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
		return err
	}), d.number(tokens, func(text string) (err error) {
		s.Tokens, err = strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
		return err
	}))
	s.tidy()
	if err = errors.Join(err, s.Validate()); err != nil {
		return malformed(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return s, nil
}

// number reads a field with one number; a missing field is not an error.
func (d *draft) number(label string, read func(string) error) error {
	if d.signal.Name != Cost || len(d.texts[label]) == 0 {
		return nil
	}
	text := strings.TrimSpace(d.texts[label][0])
	if read(text) != nil {
		return fmt.Errorf("%s is not a number: %q", label, clip(text, 60))
	}
	return nil
}

// items returns the entries of a numbered or dashed list. A line without a marker continues
// the entry before it. Entries after the first [MaxList] are left out.
func items(texts []string) []string {
	var list []string
	for _, line := range texts {
		text := strings.TrimSpace(line)
		entry := lines.Unlist(text)
		switch {
		case text == "":
		case len(entry) < len(text) || len(list) == 0:
			if len(list) == MaxList {
				return list
			}
			list = append(list, entry)
		default:
			list[len(list)-1] += "\n" + text
		}
	}
	return list
}

// Means returns the signal that was meant; empty for an unknown name.
func (m Malformed) Means() Name { return named[m.Name] }
