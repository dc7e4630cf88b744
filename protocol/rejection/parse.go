package rejection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/nearest"
)

// Parse reads the JSON document strictly: an unknown key, a key that stands
// twice, a value of another type, text after the document, invalid UTF-8 and
// more than [MaxSize] bytes are errors, each with its place, and all of them
// together. A null is the same as a key that is left out. Which keys are needed
// is for [Rejection.Validate] to say.
func Parse(document []byte) (Rejection, error) {
	if len(document) > MaxSize {
		return Rejection{}, fmt.Errorf("the rejection is larger than %d KiB; shorten its texts and name where the rest is", MaxSize>>10)
	}
	document = bytes.TrimPrefix(document, []byte("\ufeff"))
	if len(bytes.TrimSpace(document)) == 0 {
		return Rejection{}, errors.New("the rejection is empty; give a JSON object")
	}
	if !utf8.Valid(document) {
		return Rejection{}, errors.New("the rejection is not valid UTF-8; write it in that encoding")
	}
	dec := json.NewDecoder(bytes.NewReader(document))
	var whole json.RawMessage
	if err := dec.Decode(&whole); err != nil {
		return Rejection{}, syntax(document, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Rejection{}, fmt.Errorf("line %d: there is more after the rejection; give one JSON object", line(document, dec.InputOffset()))
	}
	var d decoder
	r := d.rejection(whole)
	if err := errors.Join(d.problems...); err != nil {
		return Rejection{}, err
	}
	return r, nil
}

func syntax(document []byte, err error) error {
	if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("line %d: the rejection is not JSON: %w", line(document, wrong.Offset), err)
	}
	return fmt.Errorf("line %d: the rejection is not JSON: it ends too early", line(document, int64(len(document))))
}

func line(document []byte, offset int64) int {
	return 1 + bytes.Count(document[:min(offset, int64(len(document)))], []byte("\n"))
}

// decoder collects what is wrong. It is given syntactically valid JSON only.
type decoder struct{ problems []error }

func (d *decoder) problem(format string, args ...any) {
	d.problems = append(d.problems, fmt.Errorf(format, args...))
}

func (d *decoder) rejection(raw json.RawMessage) Rejection {
	var r Rejection
	var reason, id string
	d.object("", raw, []member{
		{"schema", d.text(&id)},
		{"task", d.text(&r.Task)},
		{"agent", d.text(&r.Agent)},
		{"reason_type", d.text(&reason)},
		{"reason_summary", d.text(&r.Summary)},
		{"reason_detail", d.text(&r.Detail)},
		{"what_attempted", list(d, &r.Attempted, d.text)},
		{"blocking_factor", d.text(&r.BlockingFactor)},
		{"evidence", list(d, &r.Evidence, d.evidence)},
		{"suggested_alternative", d.text(&r.Suggested)},
		{"alternative_tasks", list(d, &r.Alternatives, d.task)},
		{"task_original_scope", d.text(&r.OriginalScope)},
		{"scope_growth_factor", d.number(&r.Growth)},
	})
	r.ReasonType = Reason(reason)
	if id != "" && id != SchemaID {
		d.problem("schema is %q; this looprun reads %s", short(id, 60), SchemaID)
	}
	return r
}

func (d *decoder) evidence(e *Evidence) value {
	return func(path string, raw json.RawMessage) {
		d.object(path, raw, []member{{"type", d.text(&e.Type)}, {"data", d.text(&e.Data)}, {"source", d.text(&e.Source)}})
	}
}

func (d *decoder) task(t *Task) value {
	return func(path string, raw json.RawMessage) {
		d.object(path, raw, []member{
			{"title", d.text(&t.Title)},
			{"scope", d.text(&t.Scope)},
			{"dependencies", list(d, &t.Dependencies, d.text)},
			{"estimate", d.text(&t.Estimate)},
		})
	}
}

// value takes the JSON that stands at a path.
type value func(path string, raw json.RawMessage)

// member is a key that an object may have.
type member struct {
	key  string
	take value
}

func (d *decoder) object(path string, raw json.RawMessage, members []member) {
	where, prefix := path, path+"."
	if path == "" {
		where, prefix = "the rejection", ""
	}
	if raw[0] != '{' {
		d.problem("%s is %s; give an object", where, kind(raw))
		return
	}
	keys := make([]string, len(members))
	for i, m := range members {
		keys[i] = m.key
	}
	seen := map[string]bool{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, _ = dec.Token()
	for dec.More() {
		token, _ := dec.Token()
		key, _ := token.(string)
		var v json.RawMessage
		_ = dec.Decode(&v)
		i := slices.Index(keys, key)
		switch {
		case i < 0:
			d.problem("%s has no key %q%s", where, short(key, 60), remedy(nearest.DidYouMean(key, keys)))
		case seen[key]:
			d.problem("%s%s stands twice; give it once", prefix, key)
		case !isNull(v):
			members[i].take(prefix+key, v)
		}
		seen[key] = i >= 0
	}
}

func remedy(text string) string {
	if text == "" {
		return "; take it out"
	}
	return "; " + text
}

func (d *decoder) text(s *string) value {
	return func(path string, raw json.RawMessage) {
		if raw[0] != '"' {
			d.problem("%s is %s; give a text", path, kind(raw))
			return
		}
		_ = json.Unmarshal(raw, s)
	}
}

func (d *decoder) number(n *float64) value {
	return func(path string, raw json.RawMessage) {
		if err := json.Unmarshal(raw, n); err != nil {
			*n = 0
			d.problem("%s is %s; give a number, such as 2.5", path, kind(raw))
		}
	}
}

func list[T any](d *decoder, items *[]T, each func(*T) value) value {
	return func(path string, raw json.RawMessage) {
		if raw[0] != '[' {
			d.problem("%s is %s; give a list", path, kind(raw))
			return
		}
		var parts []json.RawMessage
		_ = json.Unmarshal(raw, &parts)
		*items = make([]T, len(parts))
		for i, part := range parts {
			if at := fmt.Sprintf("%s[%d]", path, i); isNull(part) {
				d.problem("%s is null; give a value, or take it out", at)
			} else {
				each(&(*items)[i])(at, part)
			}
		}
	}
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

func kind(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "the number " + short(string(raw), 20)
}
