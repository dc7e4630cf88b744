package courier

import (
	"reflect"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
)

// What stands in a reply is a number of the list, an option's id or label, or words. What may be
// meant as a number is no words, and is refused unless it is clear.
func TestReply(t *testing.T) {
	trip := core.Question{ID: "q", Guard: core.MaxIterations, Kind: core.KindSelect, Options: []core.Option{
		{ID: "continue", Label: "Continue", Action: core.ActionContinue},
		{ID: "review", Label: "Review", Action: core.ActionReview},
		{ID: "accept", Label: "Accept current", Action: core.ActionAccept},
	}}
	confirm := core.Question{ID: "q", Kind: core.KindConfirm, From: core.FromCommand}
	several := core.Question{ID: "q", Kind: core.KindSelect, Multi: true, From: core.FromCommand, Options: []core.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}}
	text := core.Question{ID: "q", Kind: core.KindText, From: core.FromCommand}
	said := func(words string) ask.ShortAnswer { return ask.ShortAnswer{Question: "q", Text: &words} }
	const more, refused = stepMore, ""
	for _, c := range []struct {
		q     core.Question
		sure  string // the option that is asked about once more
		words string
		want  ask.ShortAnswer
		step  string
	}{
		{trip, "", " 1\n", ask.ShortAnswer{Question: "q", Option: "continue"}, stepTap},
		{trip, "", "1\ufe0f\u20e3", ask.ShortAnswer{Question: "q", Option: "continue"}, stepTap},
		{trip, "", "2.", ask.ShortAnswer{Question: "q", Option: "accept"}, stepTap},
		{trip, "", "2!", ask.ShortAnswer{Question: "q", Option: "accept"}, stepTap},
		{trip, "", "Accept.", ask.ShortAnswer{Question: "q", Option: "accept"}, stepTap},
		{trip, "", "accept current", ask.ShortAnswer{Question: "q", Option: "accept"}, stepTap},
		{trip, "", "2. Accept current (ends the run)", ask.ShortAnswer{Question: "q", Option: "accept"}, stepTap},
		{trip, "", "1) Continue", ask.ShortAnswer{Question: "q", Option: "continue"}, stepTap},
		{trip, "", "2 YES", ask.ShortAnswer{Question: "q", Option: "accept"}, stepTap},
		{trip, "", "2 no", ask.ShortAnswer{}, refused},
		{trip, "", "1 2", ask.ShortAnswer{}, refused},
		{trip, "", "1, 2 and", said("1, 2 and"), stepTap},
		{trip, "", "1 7", ask.ShortAnswer{}, refused},
		{trip, "", "2\nno, wait", ask.ShortAnswer{}, refused},
		{trip, "", "Accept current\nSent from a phone", ask.ShortAnswer{}, refused},
		{trip, "", "2 tests are wrong\nall of them", said("2 tests are wrong\nall of them"), stepTap},
		{trip, "", "2 tests are wrong\n2", ask.ShortAnswer{}, refused},
		{trip, "", "Hi,\n\n2\n\nAnn", ask.ShortAnswer{}, refused},
		{trip, "", "Please\naccept current.", ask.ShortAnswer{}, refused},
		{trip, "", "Number 2", ask.ShortAnswer{}, refused},
		{trip, "", "*2*", ask.ShortAnswer{}, refused},
		{trip, "", "#2", ask.ShortAnswer{}, refused},
		{trip, "", "\u200e2\ufeff", ask.ShortAnswer{Question: "q", Option: "accept"}, stepTap},
		{trip, "", "add 2 tests", said("add 2 tests"), stepTap},
		{trip, "", "Number 7", said("Number 7"), stepTap},
		{trip, "", "2?", ask.ShortAnswer{}, refused},
		{trip, "", "1%", ask.ShortAnswer{}, refused},
		{trip, "", "2 yes please", ask.ShortAnswer{}, refused},
		{trip, "", "2 accept current, and thanks", ask.ShortAnswer{}, refused},
		{trip, "", "3", said("3"), stepTap},
		{trip, "", "0", said("0"), stepTap},
		{trip, "", "-1", ask.ShortAnswer{}, refused},
		{trip, "", "2 files are missing", said("2 files are missing"), stepTap},
		{trip, "", "2.5 seconds are too few", said("2.5 seconds are too few"), stepTap},
		{trip, "", "2nd try", said("2nd try"), stepTap},
		{trip, "", "acceptance", said("acceptance"), stepTap},
		{trip, "", "", said(""), stepTap},
		{trip, "accept", "2 yes", ask.ShortAnswer{Question: "q", Option: "accept"}, stepSure},
		{trip, "accept", "2 yes!", ask.ShortAnswer{Question: "q", Option: "accept"}, stepSure},
		{trip, "accept", "2. Yes.", ask.ShortAnswer{Question: "q", Option: "accept"}, stepSure},
		{trip, "accept", "2", ask.ShortAnswer{Question: "q", Option: "accept"}, stepTap},
		{trip, "accept", "1", ask.ShortAnswer{Question: "q", Option: "continue"}, stepTap},
		{trip, "accept", "1 yes", ask.ShortAnswer{Question: "q", Option: "continue"}, stepTap},
		{trip, "accept", "2 no", ask.ShortAnswer{}, more},
		{trip, "accept", "No!", ask.ShortAnswer{}, more},
		{trip, "accept", "1 no", ask.ShortAnswer{}, refused},
		{trip, "accept", "yes", ask.ShortAnswer{}, refused},
		{trip, "accept", "go on", ask.ShortAnswer{}, refused},
		{trip, "accept", "2 files are missing", ask.ShortAnswer{}, refused},
		{confirm, "", "yes", ask.ShortAnswer{Question: "q", Option: "yes"}, stepTap},
		{confirm, "", "Yes!", ask.ShortAnswer{Question: "q", Option: "yes"}, stepTap},
		{confirm, "", "2", ask.ShortAnswer{Question: "q", Option: "no"}, stepTap},
		{confirm, "", "2. No", ask.ShortAnswer{Question: "q", Option: "no"}, stepTap},
		{several, "", "1, 2", ask.ShortAnswer{Question: "q", Options: []string{"a", "b"}}, stepTap},
		{several, "", "a and b", said("a and b"), stepTap},
		{several, "", "A, B", ask.ShortAnswer{Question: "q", Options: []string{"a", "b"}}, stepTap},
		{several, "", "2", ask.ShortAnswer{Question: "q", Options: []string{"b"}}, stepTap},
		{several, "", "1, 3", ask.ShortAnswer{}, refused},
		{text, "", "1", said("1"), stepTap},
		{text, "", "yes", said("yes"), stepTap},
	} {
		got, of, step := reply(c.q, c.sure, c.words)
		if !reflect.DeepEqual(got, c.want) || step != c.step || of.ends != (got.Option == "accept") {
			t.Errorf("%q: %+v ends %v step %q", c.words, got, of.ends, step)
		}
	}
}

// What follows the answer in an e-mail goes along, unless it makes the answer unclear.
func TestReplyWith(t *testing.T) {
	trip := core.Question{ID: "q", Guard: core.MaxIterations, Kind: core.KindSelect, Options: []core.Option{
		{ID: "continue", Label: "Continue", Action: core.ActionContinue},
		{ID: "accept", Label: "Accept current", Action: core.ActionAccept},
	}}
	command := core.Question{ID: "q", Kind: core.KindSelect, From: core.FromCommand, Options: []core.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}}
	text := "use SQLite\n\nAnn"
	for _, c := range []struct {
		q                  core.Question
		asked, words, more string
		want               ask.ShortAnswer
		step               string
	}{
		{trip, "", "1", "Ann", ask.ShortAnswer{Question: "q", Option: "continue", Guidance: "Ann"}, stepTap},
		{trip, "", "1", "no, wait, 2", ask.ShortAnswer{}, ""},
		{trip, "", "2", "Ann", ask.ShortAnswer{Question: "q", Option: "accept"}, stepTap},
		{trip, "accept", "2 yes", "Ann", ask.ShortAnswer{Question: "q", Option: "accept"}, stepSure},
		{trip, "accept", "no", "Ann", ask.ShortAnswer{}, stepMore},
		{trip, "", "use SQLite", "Ann", ask.ShortAnswer{Question: "q", Text: &text}, stepTap},
		{trip, "", "Hi,", "2\n\nAnn", ask.ShortAnswer{}, ""},
		{command, "", "1", "Ann", ask.ShortAnswer{Question: "q", Option: "a"}, stepTap},
	} {
		got, _, step := replyWith(c.q, c.asked, c.words, c.more)
		if !reflect.DeepEqual(got, c.want) || step != c.step {
			t.Errorf("%q, %q: %+v %q", c.words, c.more, got, step)
		}
	}
}
