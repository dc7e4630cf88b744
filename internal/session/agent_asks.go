package session

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/lazy"
	"github.com/looprun/looprun/internal/termsafe"
)

// decideYourself answers an agent's question where nobody can be asked.
const decideYourself = "nobody can be asked now: decide, and write down why"

func ofAgent(q core.Question) bool {
	return q.AskID == core.AgentAsks && q.Returned && q.Kind == core.KindText
}

// decidesItself answers a question of an agent in place of a person, and no other question.
func decidesItself(_ context.Context, q core.Question, _ *core.State) (core.Answer, error) {
	if !ofAgent(q) {
		return core.Answer{}, core.ErrNoAnswer
	}
	return agentDecides(), nil
}

func agentDecides() core.Answer {
	return core.Answer{Text: new(decideYourself), Responder: core.RespondedByDetached}
}

// question notes what the agent asks with a tool, and reports whether that is its tool for
// questions.
func (c *scanners) question(tool string, input []byte) bool {
	if tool == "" || tool != c.tool {
		return false
	}
	type question struct {
		Question string
		Choices  []string
		Options  []struct{ Label string }
	}
	var put struct {
		question
		Questions []question
	}
	_ = json.Unmarshal(input, &put) // a question that cannot be read has no words
	c.asks = true
	for _, q := range append(put.Questions, put.question) {
		for _, o := range q.Options {
			q.Choices = append(q.Choices, o.Label)
		}
		text := q.Question
		if len(q.Choices) > 0 {
			text += " (" + strings.Join(q.Choices, ", ") + ")"
		}
		if text = termsafe.Line(text); text != "" && !slices.Contains(c.asked, text) {
			c.asked = append(c.asked, text)
		}
	}
	return true
}

// hearQuestion adds the question with which an agent ended its turn, unless the turn changed
// something or the judge has passed. Nobody sees such a question in the agent's own output, and
// the next turn would ask again.
func (h *outputFacts) hearQuestion(d *core.IterationResult) {
	if h.agent.Name == "" || d.Iteration == 0 || d.Outcome != core.OutcomeNotDone || d.Fatal != 0 || !h.s.executor.Unmoved() {
		return
	}
	var words []string
	for line := range strings.Lines(h.s.executor.LastMessage()) {
		if line = termsafe.Line(line); line != "" {
			words = append(words, line)
		}
	}
	out, errs := &h.streams.Stdout, &h.streams.Stderr
	text := strings.Join(slices.Concat(out.asked, errs.asked), " ")
	switch n := len(words) - 1; {
	case text != "":
	case n >= 0 && (out.asks || errs.asks || endsInQuestion(words[n])):
		var rest string
		text, rest = questionIn(words[n])
		if words = words[:n]; rest != "" {
			words = append(words, rest)
		}
	case out.asks || errs.asks:
		text = "It asked with its own tool, and its question could not be read."
	default:
		return
	}
	d.Said = append(d.Said, core.QuestionAsked{Question: core.Question{
		From: core.FromCommand, AskID: core.AgentAsks, Kind: core.KindText, Returned: true,
		Header: h.agent.Name + " asks", Text: text, Details: words,
	}})
}

// Lengths in characters.
const (
	longLine     = 160 // only the last sentence of a longer line is the question
	longQuestion = 400 // only the end of a longer question is
)

// nextSentence matches the end of a sentence and the beginning of the next, which is its group.
var nextSentence = lazy.Regexp(`(?:[.!?][*_\x60"'”’»)\]]*\s+|[。！？][”’」』）]*)([*_\x60"'“‘«(\[]*[^\p{Ll}\s])`)

// questionIn returns the question at the end of a line, and the rest of the line.
func questionIn(line string) (question, rest string) {
	if utf8.RuneCountInString(line) <= longLine {
		return line, ""
	}
	from := 0
	for _, next := range slices.Backward(nextSentence().FindAllStringSubmatchIndex(line, -1)) {
		if from > 0 && !endsInQuestion(line[:from]) {
			break
		}
		from = next[2]
	}
	question, rest = line[from:], strings.TrimSpace(line[:from])
	if letters := []rune(question); len(letters) > longQuestion {
		return "…" + string(letters[len(letters)-longQuestion:]), line
	}
	return question, rest
}

// endsInQuestion reports whether a line ends in a question mark, which quotes, brackets and
// Markdown may follow.
func endsInQuestion(line string) bool {
	line = strings.TrimRight(line, " \t*_`\"'”’»)]")
	return strings.HasSuffix(line, "?") || strings.HasSuffix(line, "？")
}
