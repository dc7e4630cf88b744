package main

import (
	"encoding/json"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/looprun/looprun/protocol/ladder"
)

// object is one JSON Schema, or a part of one.
type object = map[string]any

// writeConfigSchema writes the JSON Schema of looprun.yaml. It is made from the
// flags, so that it cannot say anything else than they do.
func writeConfigSchema(w io.Writer, keys []configKey) error {
	properties, same := object{}, object{}
	for _, k := range keys {
		s := k.schema()
		s["description"] = k.flag.Help
		properties[k.name] = s
		same[k.name] = object{"$ref": "#/properties/" + k.name}
	}
	signature := schemaOf(reflect.TypeFor[signatureConfig]())
	signature["description"] = "Your own masks and rules for signatures, and the reports that the command writes."
	properties["signature"] = signature
	same["signature"] = object{"$ref": "#/properties/signature"}
	steps := schemaOf(reflect.TypeFor[ladderConfig]())
	if rung, ok := steps["items"].(object)["properties"].(object); ok {
		rung["rung"] = object{"enum": []any{ladder.SelfSolve, ladder.Experts, ladder.Human}}
		rung["attempts"] = object{"type": "integer", "minimum": 1}
	}
	steps["description"] = "The escalation ladder: rungs that are climbed as attempts fail. The last one is a person's."
	properties["ladder"] = steps
	same["ladder"] = object{"$ref": "#/properties/ladder"}
	hooks := object{}
	for _, name := range hookKeys {
		hooks[name] = object{"type": "string", "description": "Shell line that is run then, with the event as JSON on standard input."}
	}
	properties["hooks"] = object{
		"description": "Commands that are told of questions, trips and the end.",
		"type":        "object", "additionalProperties": false, "properties": hooks,
	}
	same["hooks"] = object{"$ref": "#/properties/hooks"}
	properties["enforce"] = object{
		"description": "In " + systemConfig + " alone: keys that neither flags, variables nor other files change.",
		"type":        "object", "additionalProperties": false, "properties": same,
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         "looprun.dev/config/v1",
		"title":       "looprun.yaml",
		"description": "Defaults for the flags of looprun run. Paths are relative to the file. Flags and variables LOOPRUN_… beat it.",
		"type":        "object", "additionalProperties": false, "minProperties": 1,
		"properties": properties,
	})
}

const (
	durationPattern = `^\+?([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$|^0$`
	codesPattern    = `^\s*(none|[0-9]+(-[0-9]+)?(\s*,\s*[0-9]+(-[0-9]+)?)*)\s*$`
)

// schema is what the flag takes.
func (k configKey) schema() object {
	s := k.typeSchema()
	f := k.flag
	if f.Enum != "" {
		words := object{"enum": k.known()}
		if s = words; f.IsSlice() {
			s = object{"anyOf": []any{words, object{"type": "array", "items": words}}}
		}
	}
	if f.HasDefault && f.Default != "" {
		s["default"] = typedDefault(s, f.Default)
	}
	return s
}

func (k configKey) typeSchema() object {
	span := object{"type": "string", "pattern": durationPattern}
	code := object{"type": "integer", "minimum": 0, "maximum": 255}
	switch t := k.flag.Target.Type(); t {
	case reflect.TypeFor[*countLimit]():
		return object{"anyOf": []any{object{"type": "integer", "minimum": 1}, object{"const": "off"}}}
	case reflect.TypeFor[*durationLimit]():
		return object{"anyOf": []any{span, object{"const": "off"}}}
	case reflect.TypeFor[duration]():
		return span
	case reflect.TypeFor[*moneyLimit]():
		return object{"anyOf": []any{object{"type": "number", "exclusiveMinimum": 0}, object{"const": "off"}}}
	case reflect.TypeFor[*tokenLimit]():
		return object{"anyOf": []any{object{"type": "integer", "minimum": 1}, object{"type": "string", "pattern": `^[0-9]+[kKM]?$`}, object{"const": "off"}}}
	case reflect.TypeFor[modes]():
		mode := object{"enum": detachedModes}
		list := object{"type": "string", "pattern": `^([A-Za-z0-9_./-]+=)?(` + strings.Join(detachedModes, "|") + `)(,([A-Za-z0-9_./-]+=)?(` + strings.Join(detachedModes, "|") + `))*$`}
		return object{"anyOf": []any{mode, list, object{"type": "object", "additionalProperties": mode}}}
	case reflect.TypeFor[codes]():
		text := object{"type": "string", "pattern": codesPattern}
		return object{"anyOf": []any{code, text, object{"type": "array", "items": object{"anyOf": []any{code, text}}}}}
	case reflect.TypeFor[map[string]int]():
		return object{"type": "object", "propertyNames": object{"enum": exitCodeNames()}, "additionalProperties": code}
	default:
		if k.flag.IsSlice() { // one of them need not be a list
			return object{"anyOf": []any{schemaOf(t.Elem()), schemaOf(t)}}
		}
		return schemaOf(t)
	}
}

// schemaOf is the schema of a type that is decoded as strictly as it stands.
func schemaOf(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Struct:
		return structSchema(t)
	}
	return object{"type": []string{"string", "number", "boolean"}} // a text takes every scalar as it is written
}

func structSchema(t reflect.Type) object {
	properties := object{}
	var required []string
	for i := range t.NumField() {
		key, options, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if key == "-" {
			continue
		}
		properties[key] = schemaOf(t.Field(i).Type)
		if options == "required" {
			required = append(required, key)
		}
	}
	s := object{"type": "object", "additionalProperties": false, "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func typedDefault(s object, text string) any {
	if n, err := strconv.Atoi(text); err == nil && s["type"] == "integer" {
		return n
	}
	return text
}
