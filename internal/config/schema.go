package config

import (
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/signature"
)

// object is a JSON Schema, or a part of one.
type object = strictjson.Schema

// WriteSchema writes the JSON Schema of looprun.yaml. It is generated from the flags, so it
// cannot differ from them.
func WriteSchema(w io.Writer) error {
	keys := Keys()
	properties, same := KeySchemas(), object{}
	for _, k := range keys {
		same[k.Name] = object{"$ref": "#/properties/" + k.Name}
	}
	for _, b := range wholeBlocks {
		properties[b.name] = withBlock(properties[b.name].(object), b, keys, properties)
	}
	for name, s := range partSchemas() {
		properties[name], same[name] = s, object{"$ref": "#/properties/" + name}
	}
	properties["enforce"] = object{
		"description": "Only in " + SystemFile + ": keys that neither flags, variables nor other files change.",
		"type":        "object", "additionalProperties": false, "properties": same,
	}
	const about = "Defaults for the flags of looprun run. Paths are relative to the file. Flags and variables LOOPRUN_… beat it."
	_, err := w.Write(strictjson.Document("looprun.dev/config/v1", "looprun.yaml", about, object{
		"type": "object", "additionalProperties": false, "properties": properties,
	}))
	return err
}

// KeySchemas returns the JSON Schema of each key that has a flag.
func KeySchemas() strictjson.Schema {
	schemas := object{}
	for _, k := range Keys() {
		s := k.schema()
		s["description"] = k.Help()
		schemas[k.Name] = s
	}
	return schemas
}

const (
	durationPattern = `^\+?([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$|^([0-9]+[smhdw])+$|^0$`
	codePattern     = `^\s*[0-9]+(-[0-9]+)?(\s*,\s*[0-9]+(-[0-9]+)?)*\s*$`
	zeroPattern     = `^\+?(0+(\.0*)?(ns|us|µs|ms|s|m|h|d|w))+$|^0$` // a limit of nothing
	codesPattern    = `^\s*(none|[0-9]+(-[0-9]+)?(\s*,\s*[0-9]+(-[0-9]+)?)*)\s*$`
)

// schema returns the schema of the flag's value.
func (k Key) schema() object {
	s := k.typeSchema()
	if least, err := strconv.Atoi(k.tag("min")); err == nil && s["type"] == "integer" {
		s["minimum"] = least
	}
	if k.tag("blank") == "no" {
		s = notBlank(s)
	}
	if known := k.Words(); known != nil {
		words := object{"enum": known}
		if s = words; k.Repeats() {
			s = object{"anyOf": []any{words, object{"type": "array", "items": words}}}
		}
	}
	switch normal := k.tag("normal"); {
	case k.tag("default") != "":
		s["default"] = typedDefault(s["type"] == "integer", k.tag("default"))
	case normal != "":
		s["default"] = typedDefault(true, normal)
	case k.IsBool():
		s["default"] = false
	}
	return s
}

// kind describes the values of a type.
type kind struct {
	takes, example string
	schema         object // nil: as the type itself says
}

// kinds describes the types of keys. Its schemas are new each time: a key's own tags change them.
func kinds() map[reflect.Type]kind {
	off := object{"const": "off"}
	span := object{"type": "string", "pattern": durationPattern, "not": object{"pattern": zeroPattern}}
	duration := object{"anyOf": []any{object{"type": "string", "pattern": durationPattern}, object{"const": 0}}}
	count := object{"type": "integer", "minimum": 1}
	short := object{"type": "string", "pattern": `^[0-9]+[kKM]?$`}
	scalar := []string{"string", "number", "boolean"}
	return map[reflect.Type]kind{
		reflect.TypeFor[CountLimit]():    {"a whole number of 1 or more, or off", "5", object{"anyOf": []any{count, off}}},
		reflect.TypeFor[DurationLimit](): {"a time such as 90s, 15m, 2h30m or 1d, or off", "90s", object{"anyOf": []any{span, off}}},
		reflect.TypeFor[Duration]():      {"a time such as 500ms, 90s, 15m or 1d", "90s", duration},
		reflect.TypeFor[Span]():          {"a time such as 500ms, 90s, 15m or 1d", "90s", span},
		reflect.TypeFor[MoneyLimit]():    {"an amount in US dollars, or off", "2.50", object{"anyOf": []any{object{"type": "number", "exclusiveMinimum": 0}, off}}},
		reflect.TypeFor[TokenLimit]():    {"a number of tokens such as 500000, 500k or 2M, or off", "500k", object{"anyOf": []any{count, short, off}}},
		reflect.TypeFor[Codes]():         {"a list of exit codes such as 0,3-5, or none", "0,3", nil},
		reflect.TypeFor[Often]():         {"K/N, or off", "", object{"type": scalar, "pattern": `^([0-9]+/[0-9]+|off)$`}},
		reflect.TypeFor[Weakening]():     {"trip, warn or off", "", object{"enum": []string{"trip", "warn", "off"}}},
		reflect.TypeFor[Modes]():         {strings.Join(DetachedModes, ", ") + ", or KEY=MODE with commas", "", nil},
		reflect.TypeFor[Keep]():          {"runs=N, days=N, megabytes=N, with commas, or off", "", nil},
		reflect.TypeFor[ShellLine]():     {"a line for sh -c", "", object{"type": scalar, "pattern": `\S`}},
		reflect.TypeFor[bool]():          {"true or false", "true", nil},
		reflect.TypeFor[int]():           {"a whole number", "5", nil},
	}
}

// knownType returns the schema for the types of limits, spans and commands; nil for any other
// type.
func knownType(t reflect.Type) object { return kinds()[t].schema }

func (k Key) typeSchema() object {
	code := object{"type": "integer", "minimum": 0, "maximum": 255}
	switch t := k.field.Type; t {
	case reflect.TypeFor[*CountLimit]():
		s := schemaOf(t)
		if least, err := strconv.Atoi(k.tag("min")); err == nil { // once is no repetition
			s["anyOf"].([]any)[0].(object)["minimum"] = least
		}
		return s
	case reflect.TypeFor[Modes]():
		mode := object{"enum": DetachedModes}
		list := object{"type": "string", "pattern": `^([A-Za-z0-9_./-]+=)?(` + strings.Join(DetachedModes, "|") + `)(,([A-Za-z0-9_./-]+=)?(` + strings.Join(DetachedModes, "|") + `))*$`}
		return object{"anyOf": []any{mode, list, object{"type": "object", "minProperties": 1, "additionalProperties": mode}}}
	case reflect.TypeFor[Keep]():
		return keepSchema()
	case reflect.TypeFor[Services]():
		keys := schemaOf(reflect.TypeFor[Service]())
		keys["dependentRequired"] = object{"exclusive": []string{"answers"}, "from": []string{"answers"}}
		one := schemaOf(reflect.TypeFor[string]())
		return object{"anyOf": []any{one, object{"type": "array", "items": object{"anyOf": []any{one, keys}}}}}
	case reflect.TypeFor[Codes]():
		text := object{"type": "string", "pattern": codesPattern}
		one := object{"type": "string", "pattern": codePattern}
		return object{"anyOf": []any{code, text, object{"type": "array", "minItems": 1, "items": object{"anyOf": []any{code, one}}}}}
	case reflect.TypeFor[map[string]int]():
		names := exitCodeNames()
		hidden := object{} // what may not look like success
		for _, name := range names {
			if wrongExitCode(name, 0) != "" {
				hidden[name] = object{"type": "integer", "minimum": 1, "maximum": 255, "description": "Exit code of a run that " + name + " ended; not 0."}
			}
		}
		return object{"type": "object", "propertyNames": object{"enum": names}, "properties": hidden, "additionalProperties": code}
	default:
		if t.Kind() == reflect.Slice { // one of them need not be a list
			one := schemaOf(t.Elem())
			if k.tag("value") == "pattern" {
				one["minLength"] = 1
			}
			return object{"anyOf": []any{one, object{"type": "array", "items": one}}}
		}
		return schemaOf(t)
	}
}

// Types generates schemas of the types that YAML files are decoded into: a text accepts every
// scalar as written, and a value of a flag's type what the flag accepts.
var Types = strictjson.Types{Tag: "yaml", Text: []string{"string", "number", "boolean"}, Known: knownType}

// schemaOf returns the schema of a type that is decoded strictly.
func schemaOf(t reflect.Type) object { return Types.Schema(t) }

// notBlank requires a text with more than white space.
func notBlank(s object) object {
	s["pattern"] = `\S`
	return s
}

// oneOf makes a schema one of some words.
func oneOf(s object, words any) {
	delete(s, "type")
	s["enum"] = words
}

func typedDefault(number bool, text string) any {
	if n, err := strconv.Atoi(text); err == nil && number {
		return n
	}
	return text
}

// partSchemas returns the schemas of the keys that are not flags, with what their types cannot
// say.
func partSchemas() object {
	at := strictjson.At
	s := at(schemaOf(reflect.TypeFor[parts]()), "properties")

	extract := at(s, "signature", "properties", "extract", "items")
	oneOf(at(extract, "properties", "fact"), signature.FactNames())
	extract["oneOf"] = []object{{"required": []string{"pattern"}}, {"required": []string{"regexp"}}}

	hooks, _ := hooksBlock.keys(Keys())
	told := object{}
	for _, name := range hooks {
		told[name] = notBlank(schemaOf(reflect.TypeFor[string]()))
		at(told, name)["description"] = "Shell line that is run then, with the event as JSON on standard input."
	}
	of := at(s, "hooks")
	of["additionalProperties"], of["properties"] = false, told

	agents := at(s, "agents")
	agents["propertyNames"] = object{"pattern": agentName, "not": object{"enum": agent.Agents(nil).Names()}}
	command := at(agents, "additionalProperties", "properties", "command")
	command["minItems"], command["prefixItems"] = 1, []object{{"minLength": 1}}
	shape := at(agents, "additionalProperties", "properties", "transcript", "items", "properties")
	at(shape, "when")["not"] = object{"patternProperties": object{"^[^*.]": object{"const": "-"}}} // nothing that must be there
	oneOf(at(shape, "read", "items", "properties", "turn"), []carrier.Turn{carrier.Done, carrier.Failed})

	ladderRules(at(s, "ladder"))
	return s
}

// ladderRules adds what ladder.Config.Validate requires of each rung.
func ladderRules(s object) {
	rung := strictjson.At(s, "items")
	keys := strictjson.At(rung, "properties")
	oneOf(strictjson.At(keys, "rung"), []any{ladder.SelfSolve, ladder.Experts, ladder.Human})
	strictjson.At(keys, "attempts")["maximum"] = ladder.MaxAttempts
	experts := strictjson.At(keys, "experts")
	experts["propertyNames"] = object{"pattern": `^[A-Za-z0-9_.-]{1,40}$`}
	notBlank(strictjson.At(experts, "additionalProperties"))
	is := func(name ladder.RungName) object {
		return object{"properties": object{"rung": object{"const": name}}, "required": []string{"rung"}}
	}
	none := object{"maxProperties": 0}
	rung["allOf"] = []object{
		{"if": is(ladder.SelfSolve), "then": object{"properties": object{"experts": none}}},
		{"if": is(ladder.Human), "then": object{"properties": object{"experts": none, "attempts": false}}},
		{"if": is(ladder.Experts), "then": object{
			"properties": object{"attempts": object{"maximum": ladder.MaxExpertFailures}, "experts": object{"minProperties": 1}},
			"required":   []string{"experts"},
		}},
	}
	s["uniqueItems"] = true
	s["if"] = object{"minItems": 1}
	s["then"] = object{"prefixItems": []object{is(ladder.SelfSolve)}, "contains": is(ladder.Human)}
}
