// Package hook runs a guarded loop inside a coding agent's own session: each time the agent is
// about to stop is one iteration of a run, judged by the project's check.
//
// A failing hook must not keep a session from ending: whatever goes wrong here, the stop is
// allowed.
package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/internal/termsafe"
)

// MaxInput is the maximum size of an agent's message, in bytes.
const MaxInput = 1 << 20

// Stop is an agent's message that it is about to stop.
type Stop struct {
	Agent string // whose words these are: the name of an [Agent]
	// Session and Prompt distinguish a session, and its prompt, from others. They are whatever
	// the agent sent, and are never used as a path.
	Session, Prompt string
	// SameTurn means that a stop with the same Session and Prompt as an earlier one belongs to
	// the same turn: the prompt has an id, or the agent reports that a hook has sent it back.
	// If it is false, two prompts may have the same text.
	SameTurn bool
	Dir      string // where the agent works; empty: where the hook runs
	// Unfinished is why the agent does not stop for good: one of its tasks is still running in
	// the background, or somebody ended the turn.
	Unfinished string
	// Begins is the person's prompt if this is the beginning of a prompt; empty if it is a
	// stop.
	Begins string
}

// said holds the keys that agents send; each agent sets some of them. Other keys are ignored.
type said struct {
	Event        string            `json:"hook_event_name"`
	Session      string            `json:"session_id"`
	Prompt       string            `json:"prompt_id"`
	Turn         string            `json:"turn_id"`
	Cwd          string            `json:"cwd"`
	Active       bool              `json:"stop_hook_active"`
	PromptText   *string           `json:"prompt"`
	Background   []json.RawMessage `json:"background_tasks"`
	CopilotID    string            `json:"sessionId"`
	Conversation string            `json:"conversation_id"`
	Generation   string            `json:"generation_id"`
	Status       string            `json:"status"`
	Mode         string            `json:"permission_mode"`
	Roots        []string          `json:"workspace_roots"`
}

// Read reads an agent's message from the hook's standard input, until the context ends. as
// names the agent; if it is empty, the message identifies it.
func Read(ctx context.Context, in io.Reader, as string) (Stop, error) {
	var text []byte
	read := make(chan error, 1)
	go func() {
		all, err := inputfile.ReadLimited(in, MaxInput)
		text = all
		read <- err
	}()
	select {
	case err := <-read:
		if err != nil {
			return Stop{}, fmt.Errorf("the agent's request cannot be read: %w", err)
		}
	case <-ctx.Done():
		return Stop{}, errors.New("the agent's request has no end")
	}
	var s said
	if err := json.Unmarshal(text, &s); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			err = fmt.Errorf("%s has the wrong type: %s", cmp.Or(wrong.Field, "all of it"), wrong.Value)
		}
		return Stop{}, fmt.Errorf("the agent's request is not a hook request in JSON: %w", err)
	}
	if twice := strictjson.Repeated(text); twice != "" {
		return Stop{}, fmt.Errorf("the agent's request has %s twice", twice)
	}
	stop, prompt := Stop{Dir: s.Cwd}, ""
	if s.PromptText != nil {
		prompt = *s.PromptText
	}
	who := func(agent, session, prompt string) {
		stop.Agent, stop.Session, stop.Prompt = cmp.Or(as, agent), session, prompt
	}
	switch {
	case s.Conversation != "":
		who("cursor", s.Conversation, s.Generation)
		if len(s.Roots) > 0 && stop.Dir == "" {
			stop.Dir = s.Roots[0]
		}
		if s.Status != "completed" {
			stop.Unfinished = "the agent was stopped: " + termsafe.Line(s.Status)
		}
	case s.CopilotID != "":
		who("copilot", s.CopilotID, "")
		if s.PromptText != nil {
			stop.Begins = cmp.Or(prompt, "a prompt")
		}
		if strings.HasPrefix(prompt, notDone) || strings.HasPrefix(prompt, passOn) {
			stop.Begins, stop.Unfinished = "", "the agent was sent back, which is no prompt of the person's"
		}
	case s.Session == "":
		return Stop{}, errors.New("the agent's request has no session id")
	case s.Event == "AfterAgent", s.Event == "BeforeAgent":
		who("gemini", s.Session, prompt)
	case s.Turn != "":
		who("codex", s.Session, s.Turn)
	default:
		who("claude", s.Session, s.Prompt)
	}
	stop.SameTurn = s.Active || stop.Prompt != "" && stop.Prompt != prompt
	switch s.Event {
	case "UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt":
		stop.Begins = cmp.Or(prompt, "a prompt")
	}
	if s.Mode == "plan" {
		stop.Unfinished = "the agent plans, and may change nothing"
	}
	if len(s.Background) > 0 {
		stop.Unfinished = "a task of the agent's still runs in the background"
	}
	return stop, nil
}

// Decision is the reply to the agent.
type Decision struct {
	// Block is why the agent is not done, for the agent; empty means it may stop.
	Block string
	// Message is for the person, if the agent shows it.
	Message string
	// Pass means that an agent that shows none may be asked to pass it on: it is allowed to stop
	// when it has done so.
	Pass bool
}

// What a decision says to the agent begins with one of these.
const (
	notDone = "You are not done: the check of this project does not pass."
	passOn  = "Say this to the person, word for word, and stop:"
)

// JSON returns the decision in the agent's format.
func (d Decision) JSON(agent string) []byte {
	out := map[string]string{}
	switch {
	case d.Block != "" && agent == "cursor":
		out["followup_message"] = d.Block
	case d.Block != "" && agent == "gemini":
		out["decision"], out["reason"] = "deny", d.Block
	case d.Block != "":
		out["decision"], out["reason"] = "block", d.Block
	case d.Pass && agent == "copilot":
		out["decision"], out["reason"] = "block", passOn+"\n\n"+d.Message
	case d.Message != "" && agent != "cursor" && agent != "copilot": // they show none
		out["systemMessage"] = d.Message
	}
	text, _ := json.Marshal(out) // of words
	return append(text, '\n')
}
