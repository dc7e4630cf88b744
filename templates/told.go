package templates

import (
	"cmp"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// shownItems is how many entries of a list from the command are shown. It is enough for all
// attempts that can be made for one question.
const shownItems = ladder.MaxAttempts

// tell sets the command's message that the question is about. All of it comes from the command
// and is data, whatever it says.
func (s *source) tell() {
	switch {
	case s.trip.Guard == core.Rejection && s.state.Rejected != nil:
		s.rejection = s.state.Rejected.Rejection
	case s.trip.Guard != core.Rejection && s.state.Signal != nil:
		s.signal = *s.state.Signal
	}
}

// phrase returns the text on one line, in a form that fits into a sentence.
func phrase(text string) string { return strings.TrimRight(line(text, valueLength), ".") }

// cause returns the cause that the command named, in the words of the messages.
func (s *source) cause() string {
	id := phrase(s.signal.Cause)
	if id == "" {
		return ""
	}
	return cmp.Or(s.texts.say("cause_"+id, nil), id)
}

func (s *source) considered() []string {
	return lines(s, s.signal.Considered, "considered_line", func(c signal.Considered) facts {
		return facts{"Option": phrase(c.Option), "Why": phrase(c.Why)}
	})
}

// attempts returns the records of the ladder for this question, followed by the attempts that
// the command itself lists.
func (s *source) attempts() []string {
	all := convert.Each(s.state.Ladder.Made(s.state.LadderTask()), func(a ladder.Attempt) string { return a.String() })
	return append(all, lines(s, s.signal.Attempts, "", nil)...)
}

func (s *source) evidence() []string {
	return lines(s, s.rejection.Evidence, "evidence_line", func(e rejection.Evidence) facts {
		return facts{"Kind": phrase(e.Type), "Data": line(e.Data, valueLength), "Where": phrase(e.Source)}
	})
}

// subtasks returns the tasks proposed instead, each after those that it depends on.
func (s *source) subtasks() []string {
	tasks, _ := s.rejection.Subtasks() // what is wrong with them is a warning, given before
	return lines(s, tasks, "subtask_line", func(t rejection.Task) facts {
		return facts{
			"Title": phrase(t.Title), "Scope": phrase(t.Scope), "Estimate": phrase(t.Estimate),
			"Dependencies": clean(t.Dependencies),
		}
	})
}

func (s *source) suggestedWhy() string {
	reason := s.rejection.Normalize().ReasonType
	if slices.Contains(rejection.Reasons(), reason) {
		return s.texts.say("suggested_"+strings.ToLower(string(reason)), nil)
	}
	return ""
}

// lines turns each entry into one line, in the words of the message with that key; without a
// key the entries are the lines. If there are too many, the last line gives the number of the
// rest.
func lines[T any](s *source, list []T, key string, values func(T) facts) []string {
	var out []string
	for i, entry := range list {
		if i == shownItems {
			return append(out, s.texts.say("list_more", facts{"More": len(list) - i}))
		}
		text, plain := any(entry).(string)
		if !plain {
			text = s.texts.say(key, values(entry))
		}
		if text = line(text, valueLength); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// toldParts are the details of the command's message, each shown if its variable is not empty.
var toldParts = []struct{ key, variable string }{
	{"detail_agent", "Sender"},
	{"detail_cause", "CauseInWords"},
	{"detail_context", "Context"},
	{"detail_reason", "ReasonDetail"},
	{"detail_blocking_factor", "BlockingFactor"},
	{"detail_attempted", "Attempted"},
	{"detail_evidence", "Evidence"},
	{"detail_alternative", "Alternative"},
	{"detail_subtasks", "Subtasks"},
	{"detail_suggested", "SuggestedWhy"},
	{"detail_considered", "Considered"},
	{"detail_attempts", "AttemptsMade"},
	{"detail_would_help", "WouldHelp"},
}

// toldDetails returns the evidence from the command's message: each part that is present,
// except a cause that the sentence already names.
func (s *source) toldDetails(values facts, sentence string) []string {
	var out []string
	for _, d := range toldParts {
		switch v := values[d.variable].(type) {
		case string:
			if v != "" && (d.variable != "CauseInWords" || !strings.Contains(sentence, v)) {
				out = append(out, s.texts.say(d.key, values))
			}
		case []string:
			if len(v) > 0 {
				out = append(append(out, s.texts.say(d.key, values)), indented(v)...)
			}
		}
	}
	return out
}

// isProtocol reports whether the question is about a message of the command.
func isProtocol(id core.GuardID) bool {
	return slices.Contains(core.ProtocolIDs(), id)
}
