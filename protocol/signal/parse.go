package signal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Parse reads one signal as JSON, as it comes over the socket, with or without
// the key schema, which is [SchemaID]. Unknown and
// repeated keys, a second document, more than [MaxSize] bytes and everything
// that [Signal.Validate] refuses are errors. Texts are trimmed and made safe to
// show.
func Parse(data []byte) (Signal, error) {
	if len(data) > MaxSize {
		return Signal{}, fmt.Errorf("the signal has %d bytes; shorten it to at most %d", len(data), MaxSize)
	}
	if err := checkKeys(data); err != nil {
		return Signal{}, err
	}
	var sent struct {
		Schema string `json:"schema"`
	}
	var s Signal
	if err := errors.Join(json.Unmarshal(data, &sent), json.Unmarshal(data, &s)); err != nil {
		return Signal{}, notJSON(err)
	}
	if sent.Schema != "" && sent.Schema != SchemaID {
		return Signal{}, fmt.Errorf("the signal is of the schema %q; this looprun reads %s", shorten(sent.Schema), SchemaID)
	}
	s.tidy()
	if err := s.Validate(); err != nil {
		return Signal{}, err
	}
	return s, nil
}

func notJSON(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("the signal's %s wants a %s, not a %s", wrong.Field, kind(wrong.Type.Kind().String()), wrong.Value)
	}
	return fmt.Errorf("the signal is not one JSON object: %w", err)
}

// kind is a Go kind in words of JSON.
func kind(name string) string {
	switch name {
	case "int64":
		return "whole number"
	case "float64":
		return "number"
	case "slice":
		return "list"
	case "struct":
		return "object"
	}
	return name
}

// checkKeys looks at the keys as they are written: the decoder alone would take
// them in any case, and the last of two.
func checkKeys(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return notJSON(errors.Join(errors.New("it does not begin with {"), wrapEnd(err)))
	}
	known := []string{"schema", "name", "options_considered", "attempts_made", "usd", "tokens", "via"}
	for _, f := range slices.Concat(ids, messages) {
		known = append(known, f.key)
	}
	if err := keys(d, "", known, func(key string) error {
		if key != "options_considered" {
			return skip(d)
		}
		return consideredKeys(d)
	}); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the signal is followed by more text; send one JSON object on one line")
	}
	return nil
}

func consideredKeys(d *json.Decoder) error {
	var list []json.RawMessage
	if err := d.Decode(&list); err != nil {
		return notJSON(err)
	}
	for i, raw := range list {
		in := json.NewDecoder(bytes.NewReader(raw))
		if start, err := in.Token(); err != nil || start != json.Delim('{') {
			return fmt.Errorf("options_considered[%d] is not an object; write {\"option\": …, \"why_insufficient\": …}", i)
		}
		if err := keys(in, fmt.Sprintf("options_considered[%d] ", i), []string{"option", "why_insufficient"}, func(string) error { return skip(in) }); err != nil {
			return err
		}
	}
	return nil
}

// keys reads an object whose { was read, and gives each key's value to value.
func keys(d *json.Decoder, where string, known []string, value func(key string) error) error {
	var seen []string
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return notJSON(wrapEnd(err))
		}
		key, _ := token.(string)
		switch {
		case !slices.Contains(known, key):
			return fmt.Errorf("%sthe signal has the unknown key %q%s", where, shorten(key), hint(key, known))
		case slices.Contains(seen, key):
			return fmt.Errorf("%sthe signal has the key %q twice; remove one", where, key)
		}
		seen = append(seen, key)
		if err := value(key); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return notJSON(wrapEnd(err))
	}
	return nil
}

func skip(d *json.Decoder) error {
	var any json.RawMessage
	if err := d.Decode(&any); err != nil {
		return notJSON(wrapEnd(err))
	}
	return nil
}

// wrapEnd says in plain words that the text ends too early.
func wrapEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}

func shorten(text string) string { return clip(strings.ToValidUTF8(text, "\uFFFD"), 60) }
