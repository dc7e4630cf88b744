package strictjson

// Schema is a JSON Schema.
type Schema = map[string]any

// Document returns the JSON Schema (2020-12) of a document of the shape; form is the name of
// its form.
func (s Shape) Document(form, title string) []byte { return Document(form, title, "", s.Schema()) }

// Schema returns the JSON Schema of a value of the shape.
func (s Shape) Schema() Schema {
	out := Schema{}
	if s.About != "" {
		out["description"] = s.About
	}
	types := map[Form]any{Text: "string", Bool: "boolean", Number: "number", Integer: "integer", List: "array", Object: "object"}
	if t, ok := types[s.Form]; ok {
		out["type"] = t
		if s.Nullable {
			out["type"] = []any{t, "null"}
		}
	}
	if len(s.Words) > 0 {
		out["enum"] = s.Words
	}
	if s.Filled {
		out["pattern"] = `\S`
	}
	switch s.Form {
	case Text:
		if s.Most > 0 {
			out["maxLength"] = s.Most
		}
	case List:
		out["items"] = s.Items.Schema()
		if s.Least > 0 {
			out["minItems"] = s.Least
		}
		if s.Most > 0 {
			out["maxItems"] = s.Most
		}
	case Selected:
		out["type"] = []any{"string", "array", "null"}
		out["items"] = Schema{"type": "string"}
		out["minItems"] = 1
		out["uniqueItems"] = true
	case Object:
		properties, required := Schema{}, []string{}
		for _, f := range s.Fields {
			properties[f.Name] = f.Shape.Schema()
			if f.Required {
				required = append(required, f.Name)
			}
		}
		out["properties"], out["required"], out["additionalProperties"] = properties, required, false
	}
	for keyword, value := range s.Also {
		if out[keyword] = value; value == nil {
			delete(out, keyword)
		}
	}
	return out
}
