package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// problems are those of an error, which has to have some.
func problems(t *testing.T, err error) Problems {
	t.Helper()
	var ps Problems
	if !errors.As(err, &ps) || len(ps) == 0 {
		t.Fatalf("%v has no problems", err)
	}
	return ps
}

// wrong checks that there is exactly one problem, with this place and words.
func wrong(t *testing.T, err error, path string, words ...string) {
	t.Helper()
	ps := problems(t, err)
	if len(ps) != 1 || ps[0].Path != path {
		t.Errorf("problems:\n%v\nwant one at %q", ps, path)
		return
	}
	for _, w := range words {
		if !strings.Contains(ps[0].Error(), w) {
			t.Errorf("%q does not say %q", ps[0].Error(), w)
		}
	}
}

// question is the JSON of a request with one select question, with changes.
func question(changes string) []byte {
	var q map[string]any
	if err := json.Unmarshal([]byte(`{"id":"db","header":"Database","question":"Which database?","options":[{"id":"pg","label":"Postgres"},{"id":"my","label":"MySQL"}]}`), &q); err != nil {
		panic(err)
	}
	var change map[string]any
	if err := json.Unmarshal([]byte(changes), &change); err != nil {
		panic(fmt.Sprint(changes, err))
	}
	for key, v := range change {
		if q[key] = v; v == "-" {
			delete(q, key)
		}
	}
	data, err := json.Marshal(map[string]any{"questions": []any{q}})
	if err != nil {
		panic(err)
	}
	return data
}

func parse(t *testing.T, data []byte) Request {
	t.Helper()
	r, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func pointer[T any](v T) *T { return &v }
