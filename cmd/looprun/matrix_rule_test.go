//go:build unix

package main

import (
	"testing"

	"github.com/looprun/looprun"
)

// The rule that every journal of the matrix is held to can be broken.
func TestMatrixRule(t *testing.T) {
	t.Parallel()
	trip := looprun.GuardTripped{Trip: looprun.Trip{Guard: looprun.LoopDetected}}
	asked := looprun.QuestionAsked{Question: looprun.Question{ID: "q-1", Guard: looprun.LoopDetected, Options: []looprun.Option{
		{ID: "accept", Action: looprun.ActionAccept}, {ID: "continue", Action: looprun.ActionContinue},
	}}}
	mandatory := asked
	mandatory.Mandatory = true
	answered := func(question, option, by string) looprun.Data {
		return looprun.QuestionAnswered{QuestionID: question, Answer: looprun.Answer{Option: option, Responder: by}}
	}
	applied := func(option, by string) looprun.Data {
		return looprun.ActionApplied{Option: option, Action: looprun.Action(option), Guard: looprun.LoopDetected, Responder: by}
	}
	next := looprun.IterationStarted{Iteration: 4}
	for name, tt := range map[string]struct {
		events []looprun.Data
		want   int
	}{
		"answered":                       {[]looprun.Data{trip, asked, answered("q-1", "continue", "user"), applied("continue", "user"), next}, 0},
		"deferred":                       {[]looprun.Data{trip, asked, looprun.ActionApplied{Action: looprun.ActionPause, Pending: true}}, 0},
		"withdrawn":                      {[]looprun.Data{trip, asked, looprun.QuestionClosed{QuestionID: "q-1"}, next}, 0},
		"nobody was asked":               {[]looprun.Data{trip, applied("accept", "detached")}, 1},
		"nobody answered":                {[]looprun.Data{trip, asked, applied("accept", "detached")}, 1},
		"another question was answered":  {[]looprun.Data{trip, asked, answered("q-0", "accept", "user"), applied("accept", "user")}, 1},
		"another answer":                 {[]looprun.Data{trip, asked, answered("q-1", "accept", "user"), applied("continue", "user")}, 1},
		"by somebody else":               {[]looprun.Data{trip, asked, answered("q-1", "accept", "user"), applied("accept", "policy")}, 1},
		"an answer from the trip before": {[]looprun.Data{trip, asked, answered("q-1", "accept", "user"), trip, applied("accept", "user")}, 1},
		"only a person may":              {[]looprun.Data{trip, mandatory, answered("q-1", "continue", "assistant"), applied("continue", "assistant")}, 1},
		"an iteration past the trip":     {[]looprun.Data{trip, asked, next}, 1},
		"another action than offered": {[]looprun.Data{trip, asked, answered("q-1", "accept", "user"), looprun.ActionApplied{
			Option: "accept", Action: looprun.ActionContinue, Responder: "user",
		}}, 1},
	} {
		j := &journal{}
		for _, d := range tt.events {
			j.events = append(j.events, looprun.Event{Data: d})
		}
		if got := j.unfounded(); len(got) != tt.want {
			t.Errorf("%s: %q, want %d problems", name, got, tt.want)
		}
	}
}
