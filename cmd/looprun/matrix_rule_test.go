//go:build unix

package main

import (
	"testing"

	"github.com/looprun/looprun/core"
)

// The rule that every journal of the matrix is held to can be broken.
func TestMatrixRule(t *testing.T) {
	t.Parallel()
	trip := core.GuardTripped{Trip: core.Trip{Guard: core.LoopDetected}}
	asked := core.QuestionAsked{Question: core.Question{ID: "q-1", Guard: core.LoopDetected, Options: []core.Option{
		{ID: "accept", Action: core.ActionAccept}, {ID: "continue", Action: core.ActionContinue},
	}}}
	mandatory := asked
	mandatory.Mandatory = true
	answered := func(question, option, by string) core.Data {
		return core.QuestionAnswered{QuestionID: question, Answer: core.Answer{Option: option, Responder: by}}
	}
	applied := func(option, by string) core.Data {
		return core.ActionApplied{Option: option, Action: core.Action(option), Guard: core.LoopDetected, Responder: by}
	}
	next := core.IterationStarted{Iteration: 4}
	for name, tt := range map[string]struct {
		events []core.Data
		want   int
	}{
		"answered":                       {[]core.Data{trip, asked, answered("q-1", "continue", "user"), applied("continue", "user"), next}, 0},
		"deferred":                       {[]core.Data{trip, asked, core.ActionApplied{Action: core.ActionPause, Pending: true}}, 0},
		"withdrawn":                      {[]core.Data{trip, asked, core.QuestionClosed{QuestionID: "q-1"}, next}, 0},
		"nobody was asked":               {[]core.Data{trip, applied("accept", "detached")}, 1},
		"nobody answered":                {[]core.Data{trip, asked, applied("accept", "detached")}, 1},
		"another question was answered":  {[]core.Data{trip, asked, answered("q-0", "accept", "user"), applied("accept", "user")}, 1},
		"another answer":                 {[]core.Data{trip, asked, answered("q-1", "accept", "user"), applied("continue", "user")}, 1},
		"by somebody else":               {[]core.Data{trip, asked, answered("q-1", "accept", "user"), applied("accept", "policy")}, 1},
		"an answer from the trip before": {[]core.Data{trip, asked, answered("q-1", "accept", "user"), trip, applied("accept", "user")}, 1},
		"only a person may":              {[]core.Data{trip, mandatory, answered("q-1", "continue", "assistant"), applied("continue", "assistant")}, 1},
		"an iteration past the trip":     {[]core.Data{trip, asked, next}, 1},
		"another action than offered": {[]core.Data{trip, asked, answered("q-1", "accept", "user"), core.ActionApplied{
			Option: "accept", Action: core.ActionContinue, Responder: "user",
		}}, 1},
	} {
		j := &journal{}
		for _, d := range tt.events {
			j.events = append(j.events, core.Event{Data: d})
		}
		if got := j.unfounded(); len(got) != tt.want {
			t.Errorf("%s: %q, want %d problems", name, got, tt.want)
		}
	}
}
