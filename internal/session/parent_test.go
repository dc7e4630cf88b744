package session

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/socket"
)

// What the run outside says is what it is: kept for later, interrupted, or no
// answer. What only this run's own terminal can do is not offered there, and what
// is for an assistant is not asked there.
func TestWhatTheParentSays(t *testing.T) {
	trip := looprun.Question{ID: "q", Guard: looprun.LoopDetected, Kind: looprun.KindSelect, Text: "How to go on?", Options: []looprun.Option{
		{ID: "review", Action: looprun.ActionReview}, {ID: "debug", Action: looprun.ActionDebug}, {ID: "cancel", Action: looprun.ActionCancel},
	}}
	forAssistant := trip
	forAssistant.To = ask.ToAssistant
	for _, c := range []struct {
		name     string
		question looprun.Question
		debug    string
		says     error // of the run outside; nil: cancel
		want     error
		offered  []string // nil: it is not asked
	}{
		{"an answer", trip, "", nil, nil, []string{"cancel"}},
		{"with a debug command of its own", trip, "make debug", nil, nil, []string{"debug", "cancel"}},
		{"kept for later", trip, "", &socket.Error{Code: CodeDeferred}, looprun.ErrDeferred, []string{"cancel"}},
		{"interrupted", trip, "", &socket.Error{Code: CodeInterrupted}, looprun.ErrInterrupted, []string{"cancel"}},
		{"refused", trip, "", &socket.Error{Code: "refused"}, looprun.ErrNoAnswer, []string{"cancel"}},
		{"for an assistant", forAssistant, "", nil, looprun.ErrNoAnswer, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var offered []string
			server, err := socket.Listen(socket.Options{Handle: func(_ context.Context, _ socket.Peer, kind string, body json.RawMessage) (any, error) {
				var b bubbled
				if err := json.Unmarshal(body, &b); err != nil || kind != kindBubble {
					return nil, errors.Join(err, errors.New(kind))
				}
				offered = b.Question.OptionIDs()
				return looprun.Answer{Option: "cancel", Responder: looprun.RespondedByUser, Person: true}, c.says
			}})
			if err != nil {
				t.Fatal(err)
			}
			s := &Session{parent: server.Path(), opts: &config.Options{Debug: config.ShellLine(c.debug)}}
			a, err := s.byParent(t.Context(), c.question, &looprun.State{RunID: "inner"})
			if closed := server.Close(); closed != nil {
				t.Error(closed)
			}
			if !errors.Is(err, c.want) || (err == nil) != (a.Option == "cancel" && a.Responder == looprun.RespondedByParent) || !slices.Equal(offered, c.offered) {
				t.Errorf("got %+v, %v; offered were %q", a, err, offered)
			}
		})
	}
	s := &Session{parent: "/nowhere", opts: &config.Options{}}
	if _, err := s.byParent(t.Context(), trip, &looprun.State{}); !errors.Is(err, looprun.ErrNoAnswer) {
		t.Errorf("without a run outside: %v", err)
	}
}

// What the run outside knows of a rejection is asked before the assistant is; where
// that cannot be found out, nobody is.
func TestAnAssistantInsideARun(t *testing.T) {
	for _, c := range []struct {
		name  string
		known *looprun.Advice // in the run outside
		says  error
		asked bool
		want  error
	}{
		{"it was not rejected", nil, nil, true, nil},
		{"it was rejected", &looprun.Advice{Text: "no"}, nil, false, looprun.ErrNoAnswer},
		{"nobody can say", nil, errors.New("too late"), false, looprun.ErrNoAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, err := socket.Listen(socket.Options{Handle: func(context.Context, socket.Peer, string, json.RawMessage) (any, error) {
				return c.known, c.says
			}})
			if err != nil {
				t.Fatal(err)
			}
			s, asked := &Session{parent: server.Path(), opts: &config.Options{}}, false
			assistant := s.advised(looprun.ResponderFunc(func(context.Context, looprun.Question, *looprun.State) (looprun.Answer, error) {
				asked = true
				return looprun.Answer{Option: looprun.Yes}, nil
			}))
			_, err = assistant.Respond(t.Context(), looprun.Question{Kind: looprun.KindConfirm, Text: "Drop it?"}, &looprun.State{RunID: "inner"})
			if closed := server.Close(); closed != nil {
				t.Error(closed)
			}
			if asked != c.asked || !errors.Is(err, c.want) {
				t.Errorf("asked: %v, %v", asked, err)
			}
		})
	}
}
