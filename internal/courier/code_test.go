package courier

import (
	"reflect"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
)

// What stands in a reply is a number of the list, an option's id, or words; a word more than
// that is no choice.
func TestReply(t *testing.T) {
	trip := core.Question{ID: "q", Guard: core.MaxIterations, Kind: core.KindSelect, Options: []core.Option{
		{ID: "continue", Label: "Continue", Action: core.ActionContinue},
		{ID: "review", Label: "Review", Action: core.ActionReview},
		{ID: "accept", Label: "Accept", Action: core.ActionAccept},
	}}
	confirm := core.Question{ID: "q", Kind: core.KindConfirm, From: core.FromCommand}
	several := core.Question{ID: "q", Kind: core.KindSelect, Multi: true, From: core.FromCommand, Options: []core.Option{{ID: "a", Label: "A"}, {ID: "b", Label: "B"}}}
	text := core.Question{ID: "q", Kind: core.KindText, From: core.FromCommand}
	said := func(words string) ask.ShortAnswer { return ask.ShortAnswer{Question: "q", Text: &words} }
	for _, c := range []struct {
		q          core.Question
		words      string
		want       ask.ShortAnswer
		ends, sure bool
	}{
		{trip, " 1\n", ask.ShortAnswer{Question: "q", Option: "continue"}, false, false},
		{trip, "1\ufe0f\u20e3", ask.ShortAnswer{Question: "q", Option: "continue"}, false, false},
		{trip, "2.", ask.ShortAnswer{Question: "q", Option: "accept"}, true, false},
		{trip, "Accept", ask.ShortAnswer{Question: "q", Option: "accept"}, true, false},
		{trip, "2 YES", ask.ShortAnswer{Question: "q", Option: "accept"}, true, true},
		{trip, "2 no", said("2 no"), false, false},
		{trip, "1 2", said("1 2"), false, false},
		{trip, "3", said("3"), false, false},
		{trip, "0", said("0"), false, false},
		{trip, "2 files are missing", said("2 files are missing"), false, false},
		{trip, "", said(""), false, false},
		{confirm, "yes", ask.ShortAnswer{Question: "q", Option: "yes"}, false, false},
		{confirm, "2", ask.ShortAnswer{Question: "q", Option: "no"}, false, false},
		{several, "1, 2", ask.ShortAnswer{Question: "q", Options: []string{"a", "b"}}, false, false},
		{several, "2", ask.ShortAnswer{Question: "q", Options: []string{"b"}}, false, false},
		{text, "1", said("1"), false, false},
	} {
		got, of, sure := reply(c.q, c.words)
		if !reflect.DeepEqual(got, c.want) || of.ends != c.ends || sure != c.sure {
			t.Errorf("%q: %+v ends %v sure %v", c.words, got, of.ends, sure)
		}
	}
}
