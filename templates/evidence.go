package templates

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/cells"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
)

const (
	shownCommand = 40 // characters of a command within a line
	shownCheck   = 24 // columns that the names of checks share
	shownWords   = 240
)

// details returns the evidence in words below the sentence, with an empty line between its
// parts.
func (s *source) details(values facts, sentence string) []string {
	var lines []string
	part := func(more ...string) {
		if more = full(more); len(more) > 0 {
			if len(lines) > 0 {
				lines = append(lines, "")
			}
			lines = append(lines, more...)
		}
	}
	say := func(key string) string { return s.texts.say(key, values) }
	part(say("detail_place"))
	if isProtocol(s.trip.Guard) {
		part(s.toldDetails(values, sentence)...)
	}
	if s.failing() > 0 {
		part(append([]string{say("detail_failing")}, indented(s.checks())...)...)
	}
	if errs := values["LastErrors"].([]string); s.trip.Guard == core.ConsecutiveErrors && len(errs) > 1 {
		part(append([]string{say("detail_errors")}, indented(errs)...)...)
	} else if output := values["Output"].([]string); len(output) > 0 {
		part(append([]string{say("detail_output")}, indented(output)...)...)
	} else if values["Silent"] == true && s.ofLast() {
		part(say("detail_silent"))
	}
	said := []string{""}
	if values["Words"] != "" {
		said[0] = say("detail_words")
	}
	part(append(said, values["Before"].([]string)...)...)
	also := ""
	same := s.trip.Guard == core.ConsecutiveErrors && slices.Equal(s.trip.Also, []core.GuardID{core.LoopDetected})
	if len(s.trip.Also) > 0 && !same { // errors in a row are told as such
		also = say("detail_tripped")
	}
	if s.trip.Guard == core.LoopDetected && len(s.state.Check) == 0 && s.failing() == 0 && (values["Silent"] == true || waits(values["Output"].([]string))) {
		part(say("detail_waiting"))
	}
	if s.trip.Guard != core.LoopDetected && s.state.OnlyCountsChanged() {
		part(say("detail_counts"))
	}
	part(say("detail_far"), also)
	return lines
}

// waits reports whether a command that prints these lines looks as if it waited for something.
func waits(lines []string) bool {
	text := strings.ToLower(strings.Join(lines, "\n"))
	return slices.ContainsFunc([]string{
		"refused", "not ready", "unavailable", "waiting", "timed out", "timeout", "unreachable", "not yet", "pending", "could not resolve", "could not connect",
	}, func(word string) bool { return strings.Contains(text, word) })
}

func full(lines []string) []string {
	return convert.Where(lines, func(l string) bool { return strings.TrimSpace(l) != "" })
}

// failing returns how many checks fail in the evidence; 0 when that is not known.
func (s *source) failing() int {
	if s.has.Progress == nil {
		return 0
	}
	return max(0, s.has.Progress.Failing)
}

// checks returns the failing checks, one per line, each with the reason why it fails.
func (s *source) checks() []string {
	width := 0
	for _, f := range s.has.Failing {
		width = max(width, min(cells.Width(f.Check), shownCheck))
	}
	var lines []string
	named := 0
	for _, f := range s.has.Failing {
		switch {
		case f.Check == "":
			lines = append(lines, f.Why)
			continue
		case f.Why == "":
			lines = append(lines, f.Check)
		default:
			lines = append(lines, cells.Pad(f.Check, width)+"  "+f.Why)
		}
		named++
	}
	if more := s.has.Progress.Failing - named; more > 0 && named > 0 {
		lines = append(lines, s.texts.say("list_more", facts{"More": more}))
	}
	return lines
}

// before returns the earlier answers, newest first.
func (s *source) before() []string {
	var lines []string
	for _, a := range s.has.Before {
		lines = append(lines, s.texts.say("before_line", facts{
			"Iteration": a.Iteration, "Responder": line(a.Who(), lineLength), "Answer": line(a.Answer, lineLength),
			"Asked": askedBefore(a), "Guidance": termsafe.Short(a.Words, shownWords),
		}))
	}
	return lines
}

// askedBefore returns the text of the command's question. It is empty for a guard's question,
// which the answer makes clear.
func askedBefore(a core.PastAnswer) string {
	if a.Guard != "" {
		return ""
	}
	return line(a.Question, lineLength)
}

// place returns where the question comes from, with the task as the command names it.
func (s *source) place() string {
	e := s.has
	e.Task = phrase(s.known.Task)
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		if rest, ok := strings.CutPrefix(e.Dir, home+string(filepath.Separator)); ok {
			e.Dir = filepath.Join("~", rest)
		}
	}
	return e.Place()
}

// program returns the command's name as a person would say it.
func (s *source) program() string {
	argv := s.state.Command
	if len(argv) == 0 || len(argv) == 3 && core.CommandLine(argv) == argv[2] {
		return s.named(s.has.Command)
	}
	return line(filepath.Base(argv[0]), shownCommand)
}

// who returns the name of whatever failed, to begin a sentence with.
func (s *source) who() string {
	if s.has.Checked && s.has.Who != s.has.Command {
		return s.texts.say("who_check", facts{"Label": cells.Cut(s.has.Who, shownCommand)})
	}
	return s.named(s.has.Who)
}

// named returns a command for use within a sentence; if it has several words, it is quoted.
func (s *source) named(command string) string {
	label := cells.Cut(command, shownCommand)
	if !strings.Contains(label, " ") {
		return label
	}
	return s.texts.say("who_words", facts{"Label": label})
}

// ofLast reports whether the question is about the last iteration and its sentence does not
// already describe how that ended.
func (s *source) ofLast() bool {
	return !s.trip.During && s.trip.Guard != core.ConsecutiveErrors && !isProtocol(s.trip.Guard)
}

// alike reports whether the consecutive errors all ended in the same way.
func (s *source) alike() bool {
	errs := s.state.Errors
	errs = errs[max(0, len(errs)-max(1, s.state.ErrorRun)):]
	for _, d := range errs {
		if d.ExitCode != errs[0].ExitCode || d.Cause != errs[0].Cause {
			return false
		}
	}
	return true
}

// trend returns how many checks failed in each iteration; empty if there was only one.
func (s *source) trend() string {
	var parts []string
	for i, n := range s.has.Trend {
		if i == 1 && s.has.Earlier {
			parts = append(parts, "…")
		}
		parts = append(parts, strconv.Itoa(n))
	}
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts, " → ")
}

// progressing reports whether fewer checks fail than two iterations earlier.
func (s *source) progressing() bool {
	n := len(s.has.Trend)
	return n > 1 && s.has.Trend[n-1] < s.has.Trend[max(0, n-3)]
}
