package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/socket"
)

// What the run outside says is what it is: kept for later, interrupted, or no
// answer. What only this run's own terminal can do is not offered there, and what
// is for an assistant is not asked there.
func TestWhatTheParentSays(t *testing.T) {
	trip := core.Question{ID: "q", Guard: core.LoopDetected, Kind: core.KindSelect, Text: "How to go on?", Options: []core.Option{
		{ID: "review", Action: core.ActionReview}, {ID: "debug", Action: core.ActionDebug, Shell: true}, {ID: "cancel", Action: core.ActionCancel},
	}}
	forAssistant := trip
	forAssistant.To = ask.ToAssistant
	withDebug := trip
	withDebug.Options = slices.Clone(trip.Options)
	withDebug.Options[1].Shell = false
	for _, c := range []struct {
		name     string
		question core.Question
		debug    string
		says     error // of the run outside; nil: cancel
		want     error
		offered  []string // nil: it is not asked
	}{
		{"an answer", trip, "", nil, nil, []string{"cancel"}},
		{"with a debug command of its own", withDebug, "make debug", nil, nil, []string{"debug", "cancel"}},
		{"kept for later", trip, "", &socket.Error{Code: CodeDeferred}, core.ErrDeferred, []string{"cancel"}},
		{"interrupted", trip, "", &socket.Error{Code: CodeInterrupted}, core.ErrInterrupted, []string{"cancel"}},
		{"refused", trip, "", &socket.Error{Code: "refused"}, core.ErrNoAnswer, []string{"cancel"}},
		{"for an assistant", forAssistant, "", nil, core.ErrNoAnswer, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var offered []string
			server, err := socket.Listen(socket.Options{Handle: func(_ context.Context, _ socket.Peer, kind string, body json.RawMessage) (any, error) {
				var b bubbled
				if err := json.Unmarshal(body, &b); err != nil || kind != kindBubble {
					return nil, errors.Join(err, errors.New(kind))
				}
				offered = b.Question.OptionIDs()
				return core.Answer{Option: "cancel", Responder: core.RespondedByUser, Person: true}, c.says
			}})
			if err != nil {
				t.Fatal(err)
			}
			s := &Session{parent: server.Path(), opts: &config.Options{Debug: config.ShellLine(c.debug)}}
			a, err := s.byParent(t.Context(), c.question, &core.State{RunID: "inner"})
			if closed := server.Close(); closed != nil {
				t.Error(closed)
			}
			if !errors.Is(err, c.want) || (err == nil) != (a.Option == "cancel" && a.Responder == core.RespondedByParent) || !slices.Equal(offered, c.offered) {
				t.Errorf("got %+v, %v; offered were %q", a, err, offered)
			}
		})
	}
	s := &Session{parent: "/nowhere", opts: &config.Options{}}
	if _, err := s.byParent(t.Context(), trip, &core.State{}); !errors.Is(err, core.ErrNoAnswer) {
		t.Errorf("without a run outside: %v", err)
	}
}

// What the run outside knows of a rejection is asked before the assistant is; where
// that cannot be found out, nobody is.
func TestAnAssistantInsideARun(t *testing.T) {
	for _, c := range []struct {
		name  string
		known *core.Advice // in the run outside
		says  error
		asked bool
		want  error
	}{
		{"it was not rejected", nil, nil, true, nil},
		{"it was rejected", &core.Advice{Text: "no"}, nil, false, core.ErrNoAnswer},
		{"nobody can say", nil, errors.New("too late"), false, core.ErrNoAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, err := socket.Listen(socket.Options{Handle: func(context.Context, socket.Peer, string, json.RawMessage) (any, error) {
				return c.known, c.says
			}})
			if err != nil {
				t.Fatal(err)
			}
			s, asked := &Session{parent: server.Path(), opts: &config.Options{}}, false
			assistant := s.advised(core.ResponderFunc(func(context.Context, core.Question, *core.State) (core.Answer, error) {
				asked = true
				return core.Answer{Option: core.Yes}, nil
			}))
			_, err = assistant.Respond(t.Context(), core.Question{Kind: core.KindConfirm, Text: "Drop it?"}, &core.State{RunID: "inner"})
			if closed := server.Close(); closed != nil {
				t.Error(closed)
			}
			if asked != c.asked || !errors.Is(err, c.want) {
				t.Errorf("asked: %v, %v", asked, err)
			}
		})
	}
}
