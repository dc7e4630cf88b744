package main

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/looprun/looprun/escalate/assistant"
	"github.com/looprun/looprun/escalate/hooks"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/templates"
)

// schemaCmd prints the JSON Schemas of everything that other programs exchange
// with looprun, and of the files that people write for it.
type schemaCmd struct {
	Name string `arg:"" optional:"" help:"The schema; all are listed without."`
}

// Help shows an example below the flags.
func (schemaCmd) Help() string {
	return `The same schemas are in docs/schemas of the source.

Example:
  looprun schema question > question.schema.json`
}

func (c *schemaCmd) Run(a *app) error {
	all := schemas()
	if c.Name == "" {
		t := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
		for _, s := range all {
			fmt.Fprintf(t, "%s\t%s\n", s.name, s.about)
		}
		return t.Flush()
	}
	names := make([]string, len(all))
	for i, s := range all {
		if names[i] = s.name; s.name == c.Name {
			return s.write(a.stdout)
		}
	}
	remedy := "looprun schema lists them"
	if near := nearest.Word(c.Name, names); near != "" {
		remedy = fmt.Sprintf("did you mean %q?", near)
	}
	return config.Usage(fmt.Sprintf("there is no schema %q", c.Name), remedy)
}

// namedSchema is one JSON Schema.
type namedSchema struct {
	name  string
	about string
	write func(io.Writer) error
}

// schemas are all that there are: first the documents of the protocols, then
// files.
func schemas() []namedSchema {
	fixed := func(text func() []byte) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := w.Write(text())
			return err
		}
	}
	asked := func(name string) func(io.Writer) error {
		return func(w io.Writer) error {
			text, err := ask.Schema(name)
			if err == nil {
				_, err = io.Copy(w, bytes.NewReader(text))
			}
			return err
		}
	}
	return []namedSchema{
		{"question", "what a command asks (looprun ask --request, docs/asking.md)", asked("question")},
		{"answer", "what it gets back (looprun ask --format json, LOOPRUN_ANSWERS)", asked("answer")},
		{"choices", "what a command that cannot wait prints (paused_awaiting_choices)", asked("choices")},
		{"signal", "what a command says of its work (looprun signal, docs/signals.md)", fixed(signal.Schema)},
		{"rejection", "why a task cannot be done as given (looprun reject, docs/rejections.md)", fixed(rejection.Schema)},
		{"assistant-request", "what an assistant reads (docs/assistants.md)", fixed(assistant.RequestSchema)},
		{"assistant-reply", "what it prints", fixed(assistant.ReplySchema)},
		{"hook", "what a hook reads (docs/hooks.md)", fixed(hooks.DocumentSchema)},
		{"config", "looprun.yaml", config.WriteSchema},
		{"policy", "policy files (docs/policies.md)", fixed(policy.Schema)},
		{"template", "files of questions", templates.WriteSchema},
		{"messages", "messages.yaml beside them", templates.WriteMessagesSchema},
		{"result", "result.json, and what --result writes", fixed(scratchpad.ResultSchema)},
	}
}
