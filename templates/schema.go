package templates

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/looprun/looprun/core"
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

// scalar are the types of a text: YAML takes a bare 300 for a number, and looprun for the text
// as written.
var scalar = []string{"string", "number", "boolean"}

// text returns the schema of a text that must not be empty.
func text(description string, most int) object {
	o := anyText(description, most)
	o["minLength"], o["pattern"] = 1, `\S` // white space alone is empty
	return o
}

// fixed returns the schema of a text that mentions no variables.
func fixed(description string, most int) object {
	o := text(description, most)
	o["not"] = object{"type": "string", "pattern": `\{\{`}
	return o
}

// anyText returns the schema of a text that may be empty; most is its maximum length in
// characters, or zero for no limit.
func anyText(description string, most int) object {
	o := object{"type": scalar, "description": description}
	if most > 0 {
		o["maxLength"] = most
	}
	return o
}

func templateSchema() []byte {
	return strictjson.Document("looprun.dev/template/v1", "looprun template", "The question that looprun asks when a guard trips.", object{
		"x-variables": Variables(),
		"type":        "object", "additionalProperties": false,
		"required": []string{"guard"},
		"properties": object{
			"extends":   object{"const": "builtin", "description": "Keys that this file leaves out are those of the built-in template, and those of an option are those of the option with its id."},
			"guard":     object{"description": "The guard that asks; \"*\" is any that has no template of its own.", "enum": guardIDs()},
			"header":    fixed("The heading.", maxHeader),
			"short":     fixed("A heading for interfaces that limit it; needed where the header is longer than this may be.", maxShort),
			"question":  text("The question. Can mention variables: "+variableNames()+".", 0),
			"default":   text("Id of the option for detached mode defaults. Without it such a run ends with the guard's exit code.", maxID),
			"exclusive": object{"type": "boolean", "default": false, "description": "Only a person can answer."},
			"never":     object{"type": "array", "items": object{"enum": core.CanForbid()}, "uniqueItems": true, "description": "Actions that only a person may take: accept, and continue for all options that continue."},
			"options": object{
				"type": "array", "maxItems": maxOptions, "items": optionSchema(),
				"description": "What can be answered. One option has to have the action cancel.",
			},
		},
		"if": object{"required": []string{"extends"}},
		"else": object{
			"required": []string{"header", "question", "options"},
			"properties": object{"options": object{
				"minItems": minOptions, "contains": actions(core.ActionCancel), "items": object{"required": []string{"id", "label", "action"}},
			}},
			"allOf": extending(),
		},
	})
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
	var without []string
	for _, id := range guardIDs() {
		unit := core.GuardID(id).Spec().Unit()
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

func variableNames() string {
	var names []string
	for _, v := range Variables() {
		names = append(names, "{{."+v.Name+"}}")
	}
	return strings.Join(names, ", ")
}

func optionSchema() object {
	_, others := continuing()
	return object{
		"type": "object", "additionalProperties": false,
		"required": []string{"id"},
		"properties": object{
			"id":          object{"type": []string{"string", "boolean"}, "pattern": optionID, "maxLength": maxID, "description": "What policies and looprun answer name. One that is called like an action has that action; in rejections accept has the action reject, override continue, and defer pause."},
			"label":       fixed("What a person chooses.", maxLabel),
			"key":         object{"type": "string", "pattern": "^[a-z]$", "not": object{"pattern": "[" + core.TakenKeys + "]"}, "description": "The letter that chooses it at a terminal; the first free one of its label where left out. The letters " + takenLetters() + " mean the same at every question."},
			"description": anyText("What it means, on one line. Can mention variables.", maxDescription),
			"action":      object{"enum": actionNames(), "description": "What looprun does."},
			"extend":      extendSchema(),
			"guidance":    anyText("Guidance for the next iteration, if the action continues. Can mention variables.", 0),
			"requires": object{
				"description": "What has to be there for the option to be offered.",
				"oneOf":       []object{{"enum": needs}, {"type": "array", "items": object{"enum": needs}}},
			},
			"command": text("The shell line of the action run.", 0),
		},
		"if":   actions(core.ActionRun),
		"then": object{"required": []string{"command"}},
		"else": object{"properties": object{"command": false}},
		// An action that does not continue has no next iteration to guide, and extends
		// nothing.
		"allOf": []object{{
			"if": actions(others...), "then": object{"properties": object{"extend": false, "guidance": false}},
		}},
	}
}

func extendSchema() object {
	amount := func(what string) object {
		return object{
			"description": what + ": a number, or a percentage of the limit the run began with.",
			"oneOf": []object{
				{"type": "number", "exclusiveMinimum": 0, "maximum": maxAmount},
				{"type": "string", "pattern": `^[0-9]+(\.[0-9]+)?%?$`},
			},
		}
	}
	return object{
		"type": "object", "additionalProperties": false, "minProperties": 1,
		"description": "What continuing adds to the limit. Needed for max_iterations, max_runtime, max_cost and max_tokens, and only for these.",
		"properties": object{
			"iterations": object{"type": "integer", "minimum": 1, "description": "Iterations to add."},
			"runtime":    object{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(h|m|s|ms))+$`, "not": object{"pattern": `^(0+(\.0+)?(h|m|s|ms))+$`}, "description": "Active time to add, such as 10m."},
			"cost":       amount("US dollars to add"),
			"tokens":     amount("Tokens to add"),
		},
	}
}

func messagesSchema() []byte {
	properties := object{}
	for _, m := range Messages() {
		var names []string
		for _, v := range m.Variables {
			names = append(names, "{{."+v.Name+"}}")
		}
		what := "Mentions no variables."
		if len(names) > 0 {
			what = "Can mention " + strings.Join(names, ", ") + "."
		}
		said := anyText(what, 0)
		said["minLength"] = 1
		properties[m.Key] = said
	}
	return strictjson.Document("looprun.dev/messages/v1", "looprun messages", "Texts that looprun shows beside the questions. Those left out stay as they are.", object{
		"type": "object", "additionalProperties": false, "properties": properties,
	})
}
