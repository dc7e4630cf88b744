package templates

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/strictjson"
)

// object is a JSON Schema.
type object = strictjson.Schema

// WriteSchema prints the JSON Schema (2020-12) of a template file. Its x-variables lists the
// variables that wording can mention.
func WriteSchema(w io.Writer) error { return write(w, templateSchema()) }

// WriteMessagesSchema prints the JSON Schema (2020-12) of messages.yaml.
func WriteMessagesSchema(w io.Writer) error { return write(w, messagesSchema()) }

// WriteVariables prints a table of the variables that wording can mention.
func WriteVariables(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range Variables() {
		fmt.Fprintf(t, "{{.%s}}\t%s\t%s\n", v.Name, v.Type, v.Description)
	}
	return t.Flush()
}

func write(w io.Writer, data []byte) error {
	_, err := w.Write(data)
	return err
}

// types makes the schemas. YAML takes a bare 300 for a number, and looprun for the text as
// written.
var types = strictjson.Types{Tag: "yaml", Text: []string{"string", "number", "boolean"}, Known: func(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(h|m|s|ms))+$`, "not": object{"pattern": `^(0+(\.0+)?(h|m|s|ms))+$`}}
	case reflect.TypeFor[core.Action]():
		return object{"enum": core.CanForbid()}
	case reflect.TypeFor[needList]():
		return object{"oneOf": []object{{"enum": needs}, {"type": "array", "items": object{"enum": needs}}}}
	case reflect.TypeFor[amount]():
		return object{"oneOf": []object{
			{"type": "number", "exclusiveMinimum": 0, "maximum": maxAmount},
			{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?%?$`},
		}}
	}
	return nil
}}

func templateSchema() []byte {
	s := types.Schema(reflect.TypeFor[templateFile]())
	s["x-variables"], s["required"] = Variables(), []string{"guard"}
	s["if"] = object{"required": []string{"extends"}}
	s["else"] = object{
		"required": []string{"header", "question", "options"},
		"properties": object{"options": object{
			"minItems": minOptions, "contains": actions(core.ActionCancel), "items": object{"required": []string{"id", "label", "action"}},
		}},
		"allOf": extending(),
	}
	keys, options := strictjson.At(s, "properties"), strictjson.At(s, "properties", "options")
	option := strictjson.At(options, "items", "properties")
	noVariables := object{"type": "string", "pattern": `\{\{`}
	for _, of := range []struct {
		schema  object
		keyword string
		value   any
	}{
		{strictjson.At(keys, "guard"), "enum", guardIDs()},
		{strictjson.At(keys, "header"), "not", noVariables},
		{strictjson.At(keys, "short"), "not", noVariables},
		{strictjson.At(keys, "question"), "description", "The question. Can mention variables: " + written(Variables()) + "."},
		{strictjson.At(option, "label"), "not", noVariables},
		{strictjson.At(option, "key"), "not", object{"pattern": "[" + core.TakenKeys + "]"}},
		{strictjson.At(option, "key"), "description", "The letter that chooses it at a terminal; the first free one of its label where left out. The letters " + takenLetters() + " mean the same at every question."},
		{strictjson.At(option, "action"), "enum", core.Actions()},
	} {
		of.schema[of.keyword] = of.value
	}
	delete(strictjson.At(keys, "guard"), "type")
	delete(strictjson.At(option, "action"), "type")
	_, others := continuing()
	of := strictjson.At(options, "items")
	of["required"] = []string{"id"}
	of["if"] = actions(core.ActionRun)
	of["then"] = object{"required": []string{"command"}}
	of["else"] = object{"properties": object{"command": false}}
	// An action that does not continue has no next iteration to guide, and extends nothing.
	of["allOf"] = []object{{"if": actions(others...), "then": object{"properties": object{"extend": false, "guidance": false}}}}
	return strictjson.Document("looprun.dev/template/v1", "looprun template", "The question that looprun asks when a guard trips.", s)
}

// actions returns a schema that matches options with one of these actions.
func actions(of ...core.Action) object {
	return object{"properties": object{"action": object{"enum": of}}, "required": []string{"action"}}
}

// continuing returns the actions that continue the run, and the others.
func continuing() (continuing, others []core.Action) {
	for _, a := range core.Actions() {
		if a.Continues() {
			continuing = append(continuing, a)
		} else {
			others = append(others, a)
		}
	}
	return continuing, others
}

// extending returns rules for which options extend a limit: in questions about limits, every
// option that continues, and no option elsewhere.
func extending() []object {
	goOn, _ := continuing()
	options := func(schema object) object { return object{"properties": object{"options": object{"items": schema}}} }
	var rules []object
	var without []core.GuardID
	for _, id := range guardIDs() {
		unit := id.Spec().Unit()
		if unit == "" {
			without = append(without, id)
			continue
		}
		rules = append(rules, object{
			"if": object{"properties": object{"guard": object{"const": id}}, "required": []string{"guard"}},
			"then": options(object{"if": actions(goOn...), "then": object{
				"required": []string{"extend"}, "properties": object{"extend": object{"required": []string{unit}}},
			}}),
		})
	}
	return append(rules, object{
		"if":   object{"properties": object{"guard": object{"enum": without}}, "required": []string{"guard"}},
		"then": options(object{"properties": object{"extend": false}}),
	})
}

// written lists variables as a text mentions them.
func written(list []Variable) string {
	return strings.Join(convert.Each(list, func(v Variable) string { return "{{." + v.Name + "}}" }), ", ")
}

func messagesSchema() []byte {
	properties := object{}
	for _, m := range Messages() {
		what := "Mentions no variables."
		if len(m.Variables) > 0 {
			what = "Can mention " + written(m.Variables) + "."
		}
		properties[m.Key] = object{"type": types.Text, "description": what, "minLength": 1}
	}
	return strictjson.Document("looprun.dev/messages/v1", "looprun messages", "Texts that looprun shows beside the questions. Those left out stay as they are.", object{
		"type": "object", "additionalProperties": false, "properties": properties,
	})
}
