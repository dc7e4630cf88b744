// Package jsontext changes the texts of a JSON document and leaves its keys as they
// are.
package jsontext

import (
	"bytes"
	"encoding/json"
)

// Map puts what f makes of each text in the text's place; false: it left all of them
// as they are, or the document is not JSON, and is returned unchanged.
func Map(raw json.RawMessage, f func(string) string) (json.RawMessage, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var doc any
	if d.Decode(&doc) != nil {
		return raw, false
	}
	changed := false
	out, err := json.Marshal(walk(doc, func(text string) string {
		now := f(text)
		changed = changed || now != text
		return now
	}))
	if err != nil || !changed {
		return raw, false
	}
	return out, true
}

func walk(doc any, f func(string) string) any {
	switch doc := doc.(type) {
	case string:
		return f(doc)
	case []any:
		for i := range doc {
			doc[i] = walk(doc[i], f)
		}
	case map[string]any:
		for key := range doc {
			doc[key] = walk(doc[key], f)
		}
	}
	return doc
}
