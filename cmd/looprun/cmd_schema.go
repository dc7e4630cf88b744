package main

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"text/tabwriter"

	"github.com/looprun/looprun/escalate/assistant"
	"github.com/looprun/looprun/escalate/hooks"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/documents"
	loopsfile "github.com/looprun/looprun/internal/loops"
	"github.com/looprun/looprun/internal/many"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/review"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
	"github.com/looprun/looprun/report"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
	"github.com/looprun/looprun/templates"
)

// schemaCmd prints the JSON Schemas of everything that other programs exchange with looprun,
// and of the files that people write for it.
type schemaCmd struct {
	Name string `arg:"" optional:"" help:"The schema; all are listed without."`
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
	return config.Usage(fmt.Sprintf("there is no schema %q", c.Name), cmp.Or(nearest.DidYouMean(c.Name, names), "looprun schema lists them"))
}

// namedSchema is one JSON Schema.
type namedSchema struct {
	name   string
	about  string
	write  func(io.Writer) error
	prints bool // it is of what looprun alone writes, and made of a type
}

// schemas returns all schemas: first the documents of the protocols, then files.
func schemas() []namedSchema {
	fixed := func(text func() []byte) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := w.Write(text())
			return err
		}
	}
	return []namedSchema{
		{name: "question", about: "a question of a command (looprun ask --request, docs/asking.md)", write: fixed(ask.QuestionDocument)},
		{name: "answer", about: "the answer to a question (looprun ask --format json, LOOPRUN_ANSWERS)", write: fixed(ask.AnswerDocument)},
		{name: "choices", about: "the output of a command that cannot wait (paused_awaiting_choices)", write: fixed(ask.ChoicesDocument)},
		{name: "signal", about: "a report of a command on its work (looprun signal, docs/signals.md)", write: fixed(signal.Schema)},
		{name: "rejection", about: "why a task cannot be done as given (looprun reject, docs/rejections.md)", write: fixed(rejection.Schema)},
		{name: "assistant-request", about: "the request to an assistant (docs/assistants.md)", write: fixed(assistant.RequestSchema)},
		{name: "assistant-reply", about: "the reply of an assistant (docs/assistants.md)", write: fixed(assistant.ReplySchema)},
		{name: "hook", about: "the input of a hook (docs/hooks.md)", write: fixed(hooks.DocumentSchema)},
		{name: "config", about: "looprun.yaml", write: config.WriteSchema},
		{name: "policy", about: "policy files (docs/policies.md)", write: fixed(policy.Schema)},
		{name: "template", about: "files of questions", write: templates.WriteSchema},
		{name: "messages", about: "messages.yaml of a pack", write: templates.WriteMessagesSchema},
		{name: "loops", about: "loops.yaml (looprun many)", write: fixed(loopsfile.Schema)},
		{name: "result", about: "result.json, and what --result writes", write: fixed(scratchpad.ResultSchema)},
		{name: "journal", about: "a line of journal.jsonl, and of show --follow --format json", write: writeJournal, prints: true},
		written("run", "looprun show --format json", reflect.TypeFor[review.Run]()),
		written("pending", "each question of looprun show --pending --format json", reflect.TypeFor[review.Waiting]()),
		written("listed-run", "each run of looprun list --format json", reflect.TypeFor[scratchpad.Summary]()),
		{name: "report", about: "looprun report --format json", write: fixed(report.Schema)},
		written("explanation", "looprun explain --format json", reflect.TypeFor[review.Explanation]()),
		written("replay", "looprun replay --format json", reflect.TypeFor[review.Replayed]()),
		written("signature", "looprun signature --format json", reflect.TypeFor[signed]()),
		written("signature-diff", "looprun signature --diff --format json", reflect.TypeFor[signature.Difference]()),
		written("rejection-stats", "looprun stats rejections --format json", reflect.TypeFor[rejection.Stats]()),
		written("rejection-graph", "looprun stats rejections --format graph", reflect.TypeFor[rejection.Graph]()),
		written("rejection-reply", "looprun reject --format json", reflect.TypeFor[session.RejectedReply]()),
		written("many", "many.json of looprun many", reflect.TypeFor[many.Plan]()),
		written("many-result", "what looprun many --result writes", reflect.TypeFor[many.Verdict]()),
		written("doctor", "looprun doctor --format json", reflect.TypeFor[scratchpad.Findings]()),
		written("prune", "looprun prune --format json", reflect.TypeFor[review.Pruned]()),
		written("policy-test", "looprun policy test --format json", reflect.TypeFor[policy.Evaluation]()),
		written("policy-replay", "looprun policy test --all --format json", reflect.TypeFor[replayed]()),
		written("setting", "each option of looprun config show --format json", reflect.TypeFor[config.Shown]()),
		written("agent", "each agent of looprun agents --format json", reflect.TypeFor[shownAgent]()),
		written("check", "looprun config check, policy check and template check with --format json", reflect.TypeFor[checkReport]()),
		written("listed-template", "each template of looprun template list --format json", reflect.TypeFor[listedTemplate]()),
		written("version", "looprun version --format json", reflect.TypeFor[build]()),
	}
}

// form returns the value of a document's key schema, given the name of its schema.
func form(name string) string { return "looprun.dev/" + name + "/v1" }

// written returns the schema of the output that looprun prints for a type.
func written(name, about string, t reflect.Type) namedSchema {
	return namedSchema{name: name, about: about, prints: true, write: func(w io.Writer) error {
		_, err := w.Write(documents.Schema(t, form(name), "looprun "+name, "What prints it: "+about+"."))
		return err
	}}
}

func writeJournal(w io.Writer) error {
	text, err := documents.Journal()
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}
