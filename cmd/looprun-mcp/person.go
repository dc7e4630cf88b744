package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// question is a waiting question of a run, as printed by looprun show.
type question struct {
	ID      string   `json:"id"`
	Text    string   `json:"question"`
	Details []string `json:"details"`
	Options []struct {
		ID, Label, Description string
	} `json:"options"`
	Multi       bool `json:"multi_select"`
	AllowText   bool `json:"allow_text"`
	AllowCancel bool `json:"allow_cancel"`
}

type askArgs struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
}

// ask asks the person the agent's question.
func (t *toolbox) ask(_ context.Context, r *mcp.CallToolRequest, in askArgs) (*mcp.CallToolResult, error) {
	const id = "ask"
	answer, request := answered(r, id)
	if request {
		if !asksForms(r.Session) {
			return nil, errors.New("this client shows the person no questions; ask in your own words, and end your turn")
		}
		return form(id, "The agent asks: "+in.Question, choose(in.Options, in.Options), "Why, or what the agent should know."), nil
	}
	if answer.Action != "accept" {
		return says("The person did not answer (" + clean(answer.Action) + "). This agrees to none of the options."), nil
	}
	option, reason := word(answer, "option"), word(answer, "reason")
	if !slices.Contains(in.Options, option) {
		return nil, errors.New("what came back is none of the options")
	}
	document, err := json.Marshal(map[string]string{"option": option, "reason": reason})
	return says(string(document)), err
}

// pass shows the person the question of a run, in looprun's words, and passes their answer to
// the run. The key of the request is the question's id, so that an answer never goes to a
// different question than the one shown.
func (t *toolbox) pass(ctx context.Context, r *mcp.CallToolRequest, in runArgs) (*mcp.CallToolResult, error) {
	s, err := t.show(ctx, in.Run)
	if err != nil {
		return nil, err
	}
	by := "; the person can answer with looprun answer " + s.RunID + " or in looprun serve"
	if len(s.Pending) == 0 {
		return says("Run " + s.RunID + " waits with no question; it is " + clean(s.Status) + "."), nil
	}
	q := s.Pending[0]
	id := s.RunID + " " + q.ID
	answer, request := answered(r, id)
	switch {
	case request && len(r.Params.InputResponses) > 0:
		return nil, errors.New("another question waits now than the one that was answered; call question_to_person once more" + by)
	case request && !asksForms(r.Session):
		return nil, errors.New("this client shows the person no questions" + by)
	case request:
		return q.form(id), nil
	case answer.Action != "accept":
		return says("The person did not answer (" + clean(answer.Action) + "): the question still waits" + by + "."), nil
	}
	document, err := q.answer(answer)
	if err != nil {
		return nil, err
	}
	if _, err := t.of(s.RunID).call(ctx, document, "answer", s.RunID, "-"); err != nil {
		return nil, err
	}
	run := s.RunID
	if s, err = t.show(ctx, run); err == nil && s.Answered != "" { // it does not continue by itself
		_, err = t.of(run).start(ctx, func() {}, "resume", run)
	}
	if err != nil {
		return nil, fmt.Errorf("the answer is recorded, but the run does not continue: %w", err)
	}
	return says("The person answered, and run " + run + " continues or ends accordingly. loop_status tells which."), nil
}

// form returns the form that shows the question to the person.
func (q question) form(id string) *mcp.CallToolResult {
	message := clean(q.Text + "\n\n" + strings.Join(q.Details, "\n"))
	properties := fields{}
	switch {
	case q.Multi: // one box each: all generations of the protocol have these
		for _, o := range q.Options {
			properties["choose_"+o.ID] = &jsonschema.Schema{Type: "boolean", Title: clean(o.Label), Description: clean(o.Description)}
		}
	case len(q.Options) > 0:
		var ids, labels []string
		for _, o := range q.Options {
			ids, labels = append(ids, o.ID), append(labels, o.Label)
			message += "\n- " + clean(o.Label) + ": " + clean(o.Description)
		}
		properties = choose(ids, labels)
	}
	if q.AllowText || len(q.Options) == 0 {
		properties["text"] = &jsonschema.Schema{Type: "string", Title: "In your own words", MaxLength: new(4000)}
	}
	return form(id, cut(message, 8<<10), properties, "Why, and what should be done differently.")
}

// answer returns the person's answer in the format of looprun answer, which decides whether it
// is valid for the question.
func (q question) answer(given *mcp.ElicitResult) (string, error) {
	out := map[string]any{"question": q.ID, "reason": "answered in the agent's window"}
	for key, field := range map[string]string{"option": "option", "text": "text", "reason": "reason", "guidance": "reason"} {
		if value := word(given, field); value != "" {
			out[key] = value
		}
	}
	var options []string
	for _, o := range q.Options {
		if chosen, _ := given.Content["choose_"+o.ID].(bool); chosen {
			options = append(options, o.ID)
		}
	}
	if q.Multi {
		out["options"] = options
	}
	document, err := json.Marshal(out)
	return string(document), err
}

// fields are those of a form.
type fields map[string]*jsonschema.Schema

// choose returns a field for choosing one of them.
func choose(ids, labels []string) fields {
	s := &jsonschema.Schema{Type: "string", Title: "Answer"}
	var names []any
	for i, id := range ids {
		s.Enum, names = append(s.Enum, id), append(names, clean(labels[i]))
	}
	s.Extra = map[string]any{"enumNames": names}
	return fields{"option": s}
}

// form asks the client to show the person a form: the fields, and one for a reason.
func form(id, message string, f fields, reason string) *mcp.CallToolResult {
	schema := &jsonschema.Schema{Type: "object", Properties: f}
	if _, ok := f["option"]; ok && f["text"] == nil {
		schema.Required = []string{"option"}
	}
	f["reason"] = &jsonschema.Schema{Type: "string", Title: "Reason", Description: reason, MaxLength: new(2000)}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{id: &mcp.ElicitParams{Mode: "form", Message: clean(message), RequestedSchema: schema}}}
}

// answered returns the client's answer to that request; request means that the request must
// still be made.
func answered(r *mcp.CallToolRequest, id string) (answer *mcp.ElicitResult, request bool) {
	answer, ok := r.Params.InputResponses[id].(*mcp.ElicitResult)
	return answer, !ok || answer == nil
}

func word(answer *mcp.ElicitResult, key string) string {
	text, _ := answer.Content[key].(string)
	return strings.TrimSpace(text)
}

// asksForms reports whether the client can show forms to the person.
func asksForms(s *mcp.ServerSession) bool {
	p := s.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	return e.Form != nil || e.URL == nil // neither means forms, as it did at first
}
