package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/problem"
)

// Assistant is a command that answers some questions, as configured in looprun.yaml.
type Assistant struct {
	Command    ShellLine `yaml:"command" json:"command,omitempty" doc:"Shell line that answers; the assistant's without it."`
	Name       string    `yaml:"name" json:"name,omitempty" also:"pattern=\\S" doc:"What it is called where its answers are shown."`
	Model      string    `yaml:"model" json:"model,omitempty" also:"pattern=\\S" doc:"The model that it asks, to be shown with its answers."`
	Escalation bool      `yaml:"escalation" json:"escalation,omitempty" doc:"Whether its no is passed to a person, with its reason."`
	Person     bool      `yaml:"person" json:"person,omitempty" doc:"Whether a person answers, and no assistant is asked."`
}

// Named returns the assistant as its answers name it.
func (a Assistant) Named() core.Assistant { return core.Assistant{Name: a.Name, Model: a.Model} }

// Assisted reports whether an assistant answers any question.
func (o *Options) Assisted() bool {
	for _, a := range o.Assistants {
		if !a.Person {
			return true
		}
	}
	return o.Assistant != ""
}

// AssistantOf returns the assistant for a question with these names, most specific first; it
// has no command if there is none. One without a command of its own has that of the usual
// assistant, and its name unless it has another. chosen reports whether looprun.yaml names it
// for such questions.
func (o *Options) AssistantOf(names ...string) (a Assistant, chosen bool) {
	for _, name := range names {
		if a, ok := o.Assistants[name]; ok && name != "" {
			if a.Command == "" {
				a.Command, a.Name, a.Escalation = o.Assistant, cmp.Or(a.Name, o.AssistantName), a.Escalation || o.AssistantEscalation
			}
			return a, true
		}
	}
	return Assistant{Command: o.Assistant, Name: o.AssistantName, Model: o.AssistantModel, Escalation: o.AssistantEscalation}, false
}

// readAssistants reads the key assistants of a part of the file.
func (l *layer) readAssistants(given map[string]Assistant, problems *problem.List, path func(...any) []any) {
	l.assistants = given
	for _, of := range slices.Sorted(maps.Keys(given)) {
		for _, text := range []struct{ key, value string }{{"name", given[of].Name}, {"model", given[of].Model}} {
			at := path("assistants", of, text.key)
			if strings.TrimSpace(text.value) == "" && l.file.doc.Has(at...) {
				*problems = append(*problems, l.file.doc.Problem(fmt.Sprintf("the %s of the assistant for %s is blank", text.key, of), "write one, or leave it out", at...))
			}
		}
	}
}

// shownAssistants shows the assistants for some questions to a person who is asked for
// consent.
func shownAssistants(given map[string]Assistant, show func(key string, value any)) {
	for _, of := range slices.Sorted(maps.Keys(given)) {
		a := given[of]
		text := cmp.Or(oneLine(string(a.Command)), "the assistant's command")
		if named := a.Named().String(); named != "" {
			text += " as " + oneLine(named)
		}
		if a.Escalation {
			text += ", escalation"
		}
		if a.Person {
			text = "a person"
		}
		show("assistants: "+of, text)
	}
}

// withBlock returns a schema that also accepts a block of the keys with its prefix.
func withBlock(one object, b block, all []Key, schemas object) object {
	about := one["description"]
	delete(one, "description")
	within := object{}
	names, keys := b.keys(all)
	for i, k := range keys {
		within[names[i]] = schemas[k.Name]
	}
	return object{"description": about, "anyOf": []any{one, object{
		"type": "object", "additionalProperties": false, "properties": within, "required": []string{b.whole},
	}}}
}
