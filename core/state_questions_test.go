package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/looptest"
)

// What answers a question of the command, and what does not: each rule with the
// answer next to it that is taken.
func TestWhatAnswersAQuestionOfTheCommand(t *testing.T) {
	text := func(s string) *string { return &s }
	list := func(change func(*core.Question)) core.Question {
		q := looptest.Database()
		if change != nil {
			change(&q)
		}
		return q
	}
	one, several := list(nil), list(func(q *core.Question) { q.Multi = true })
	free := list(func(q *core.Question) { q.AllowText = true })
	optional := list(func(q *core.Question) { q.AllowCancel = true })
	words, confirm := core.Question{Kind: core.KindText}, core.Question{Kind: core.KindConfirm}
	inner := core.Question{Guard: core.Clarification, Kind: core.KindSelect, Options: []core.Option{
		{ID: "tell", Action: core.ActionContinue}, {ID: "again", Action: core.ActionContinue, Guidance: "Try again."}, {ID: "cancel", Action: core.ActionCancel},
	}}
	for _, c := range []struct {
		name     string
		question core.Question
		answer   core.Answer
		takes    bool
	}{
		{"an option", one, core.Answer{Option: "pg"}, true},
		{"no option of it", one, core.Answer{Option: "mysql"}, false},
		{"nothing at all", one, core.Answer{}, false},
		{"nothing, of several", several, core.Answer{}, false},
		{"several", several, core.Answer{Options: []string{"pg", "my"}}, true},
		{"several, where it takes one", one, core.Answer{Options: []string{"pg", "my"}}, false},
		{"a list of one, where it takes one", one, core.Answer{Options: []string{"pg"}}, false},
		{"several and one beside them", several, core.Answer{Option: "pg", Options: []string{"pg", "my"}}, false},
		{"one twice", several, core.Answer{Options: []string{"pg", "my", "pg"}}, false},
		{"several, one not of it", several, core.Answer{Options: []string{"pg", "mysql"}}, false},
		{"a text beside options", free, core.Answer{Text: text("SQLite")}, true},
		{"a text where options are wanted", one, core.Answer{Text: text("SQLite")}, false},
		{"a text and an option", free, core.Answer{Option: "pg", Text: text("SQLite")}, false},
		{"a text and several options", free, core.Answer{Options: []string{"pg"}, Text: text("SQLite")}, false},
		{"an empty text beside options", free, core.Answer{Text: text("")}, false},
		{"a text", words, core.Answer{Text: text("SQLite")}, true},
		{"an empty text", words, core.Answer{Text: text("")}, false},
		{"white space", words, core.Answer{Text: text(" \t\n")}, false},
		{"an option where a text is wanted", words, core.Answer{Option: "pg"}, false},
		{"an option that a text question carries", list(func(q *core.Question) { q.Kind = core.KindText }), core.Answer{Option: "pg"}, false},
		{"no text", words, core.Answer{}, false},
		{"yes", confirm, core.Answer{Option: core.Yes}, true},
		{"no", confirm, core.Answer{Option: core.No}, true},
		{"neither yes nor no", confirm, core.Answer{Option: "maybe"}, false},
		{"nothing to yes or no", confirm, core.Answer{}, false},
		{"a text to yes or no", confirm, core.Answer{Text: text("yes")}, false},
		{"a cancel", optional, core.Answer{Cancelled: true}, true},
		{"a cancel beats an option", optional, core.Answer{Cancelled: true, Option: "mysql"}, true},
		{"a cancel where an answer is needed", one, core.Answer{Cancelled: true}, false},
		{"a cancel beside an option", one, core.Answer{Cancelled: true, Option: "pg"}, false},
		{"what wants words, without", inner, core.Answer{Option: "tell"}, false},
		{"what wants words", inner, core.Answer{Option: "tell", Guidance: "Ask there."}, true},
		{"what has words of its own", inner, core.Answer{Option: "again"}, true},
		{"what ends it wants none", inner, core.Answer{Option: "cancel"}, true},
	} {
		c.answer.Responder, c.answer.Person = core.RespondedByUser, true
		if err := c.question.Accepts(c.answer); (err == nil) != c.takes {
			t.Errorf("%s: %v, taken should be %v", c.name, err, c.takes)
		}
	}
}

// What was answered and nobody fetched does not stand in the way of new questions; only
// those that wait for their answers do.
func TestAnswersThatNobodyFetchesGiveWay(t *testing.T) {
	events := []core.Data{looptest.Begun, looptest.First}
	answer := func(id string) core.QuestionAnswered {
		return core.QuestionAnswered{QuestionID: id, Answer: core.Answer{Option: core.Yes, Responder: core.RespondedByUser, Person: true}}
	}
	for i := range 64 {
		events = append(events, commandAsks(fmt.Sprint("a", i)))
	}
	full := looptest.Folded(t, events...)
	if err := full.Apply(core.Event{Seq: full.Seq + 1, Data: commandAsks("one")}); err == nil || !strings.Contains(err.Error(), "answer those first") {
		t.Errorf("with 64 that wait: %v", err)
	}
	s := looptest.Folded(t, append(events, answer("a3"), answer("a9"), commandAsks("one"), commandAsks("two"))...)
	if len(s.Asked) != 64 || len(s.Pending()) != 64 || s.Asked[62].Question.ID != "one" || s.Asked[63].Question.ID != "two" {
		t.Errorf("%d are kept, of which %d wait", len(s.Asked), len(s.Pending()))
	}
}
