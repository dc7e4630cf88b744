package looprun_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/looprun/looprun"
)

// What answers a question of the command, and what does not: each rule with the
// answer next to it that is taken.
func TestWhatAnswersAQuestionOfTheCommand(t *testing.T) {
	text := func(s string) *string { return &s }
	list := func(change func(*looprun.Question)) looprun.Question {
		q := database()
		if change != nil {
			change(&q)
		}
		return q
	}
	one, several := list(nil), list(func(q *looprun.Question) { q.Multi = true })
	free := list(func(q *looprun.Question) { q.AllowText = true })
	optional := list(func(q *looprun.Question) { q.AllowCancel = true })
	words, confirm := looprun.Question{Kind: looprun.KindText}, looprun.Question{Kind: looprun.KindConfirm}
	inner := looprun.Question{Guard: looprun.Blocked, Kind: looprun.KindSelect, Options: []looprun.Option{
		{ID: "tell", Action: looprun.ActionContinue}, {ID: "again", Action: looprun.ActionContinue, Guidance: "Try again."}, {ID: "cancel", Action: looprun.ActionCancel},
	}}
	for _, c := range []struct {
		name     string
		question looprun.Question
		answer   looprun.Answer
		takes    bool
	}{
		{"an option", one, looprun.Answer{Option: "pg"}, true},
		{"no option of it", one, looprun.Answer{Option: "mysql"}, false},
		{"nothing at all", one, looprun.Answer{}, false},
		{"nothing, of several", several, looprun.Answer{}, false},
		{"several", several, looprun.Answer{Options: []string{"pg", "my"}}, true},
		{"several, where it takes one", one, looprun.Answer{Options: []string{"pg", "my"}}, false},
		{"a list of one, where it takes one", one, looprun.Answer{Options: []string{"pg"}}, false},
		{"several and one beside them", several, looprun.Answer{Option: "pg", Options: []string{"pg", "my"}}, false},
		{"one twice", several, looprun.Answer{Options: []string{"pg", "my", "pg"}}, false},
		{"several, one not of it", several, looprun.Answer{Options: []string{"pg", "mysql"}}, false},
		{"a text beside options", free, looprun.Answer{Text: text("SQLite")}, true},
		{"a text where options are wanted", one, looprun.Answer{Text: text("SQLite")}, false},
		{"a text and an option", free, looprun.Answer{Option: "pg", Text: text("SQLite")}, false},
		{"a text and several options", free, looprun.Answer{Options: []string{"pg"}, Text: text("SQLite")}, false},
		{"an empty text beside options", free, looprun.Answer{Text: text("")}, false},
		{"a text", words, looprun.Answer{Text: text("SQLite")}, true},
		{"an empty text", words, looprun.Answer{Text: text("")}, false},
		{"white space", words, looprun.Answer{Text: text(" \t\n")}, false},
		{"an option where a text is wanted", words, looprun.Answer{Option: "pg"}, false},
		{"an option that a text question carries", list(func(q *looprun.Question) { q.Kind = looprun.KindText }), looprun.Answer{Option: "pg"}, false},
		{"no text", words, looprun.Answer{}, false},
		{"yes", confirm, looprun.Answer{Option: looprun.Yes}, true},
		{"no", confirm, looprun.Answer{Option: looprun.No}, true},
		{"neither yes nor no", confirm, looprun.Answer{Option: "maybe"}, false},
		{"nothing to yes or no", confirm, looprun.Answer{}, false},
		{"a text to yes or no", confirm, looprun.Answer{Text: text("yes")}, false},
		{"a cancel", optional, looprun.Answer{Cancelled: true}, true},
		{"a cancel beats an option", optional, looprun.Answer{Cancelled: true, Option: "mysql"}, true},
		{"a cancel where an answer is needed", one, looprun.Answer{Cancelled: true}, false},
		{"a cancel beside an option", one, looprun.Answer{Cancelled: true, Option: "pg"}, false},
		{"what wants words, without", inner, looprun.Answer{Option: "tell"}, false},
		{"what wants words", inner, looprun.Answer{Option: "tell", Guidance: "Ask there."}, true},
		{"what has words of its own", inner, looprun.Answer{Option: "again"}, true},
		{"what ends it wants none", inner, looprun.Answer{Option: "cancel"}, true},
	} {
		c.answer.Responder, c.answer.Person = looprun.RespondedByUser, true
		if err := c.question.Accepts(c.answer); (err == nil) != c.takes {
			t.Errorf("%s: %v, taken should be %v", c.name, err, c.takes)
		}
	}
}

// What was answered and nobody fetched does not stand in the way of new questions; only
// those that wait for their answers do.
func TestAnswersThatNobodyFetchesGiveWay(t *testing.T) {
	events := []looprun.Data{begun, first}
	answer := func(id string) looprun.QuestionAnswered {
		return looprun.QuestionAnswered{QuestionID: id, Answer: looprun.Answer{Option: looprun.Yes, Responder: looprun.RespondedByUser, Person: true}}
	}
	for i := range 64 {
		events = append(events, commandAsks(fmt.Sprint("a", i)))
	}
	full := folded(t, events...)
	if err := full.Apply(looprun.Event{Seq: full.Seq + 1, Data: commandAsks("one")}); err == nil || !strings.Contains(err.Error(), "answer those first") {
		t.Errorf("with 64 that wait: %v", err)
	}
	s := folded(t, append(events, answer("a3"), answer("a9"), commandAsks("one"), commandAsks("two"))...)
	if len(s.Asked) != 64 || len(s.Pending()) != 64 || s.Asked[62].Question.ID != "one" || s.Asked[63].Question.ID != "two" {
		t.Errorf("%d are kept, of which %d wait", len(s.Asked), len(s.Pending()))
	}
}
