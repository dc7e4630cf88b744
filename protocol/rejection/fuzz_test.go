package rejection

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// FuzzParse: a document is refused with a reason, or it is a rejection that
// reads the same when it is written and read again.
func FuzzParse(f *testing.F) {
	for _, reason := range Reasons() {
		data, err := json.Marshal(valid(reason))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{`{"task": null}`, `{"evidence": [{"x": 1}]}`, `{} {}`, `{"task":"a","task":"b"}`, `[`, "\ufeff{}", `{"scope_growth_factor": 1e999}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		r, err := Parse(document)
		if err != nil {
			if !equal(r, Rejection{}) || err.Error() == "" {
				t.Errorf("%+v with %q", r, err)
			}
			return
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(data)
		if len(data) <= MaxSize && (err != nil || !reflect.DeepEqual(again.Validate(), r.Validate())) {
			t.Errorf("%+v, then %+v %v", r, again, err)
		}
	})
}

// FuzzValidate: it never panics, is the same again and after Normalize, and
// Normalize is done after once. What follows a decision never panics either.
func FuzzValidate(f *testing.F) {
	for _, reason := range Reasons() {
		r := valid(reason)
		f.Add(string(reason), r.Attempted[0], r.BlockingFactor, r.Suggested, r.Detail, "error_log", "data", "a", "b", 2.0)
	}
	f.Add("x", "", "depends on `", "ask the user to", "?", "", "\x00", "a", "a", -1.0)
	f.Fuzz(func(t *testing.T, reason, attempt, factor, alternative, detail, kind, data, title, on string, growth float64) {
		r := Rejection{
			ReasonType: Reason(reason), Attempted: []string{attempt, data}, BlockingFactor: factor, Suggested: alternative, Detail: detail,
			Evidence:     []Evidence{{Type: kind, Data: data}, {Data: detail}},
			Alternatives: []Task{{Title: title, Dependencies: []string{on}}, {Title: on}}, OriginalScope: data, Growth: growth,
		}
		issues := r.Validate()
		once := r.Normalize()
		if !reflect.DeepEqual(issues, r.Validate()) || !reflect.DeepEqual(issues, once.Validate()) {
			t.Errorf("the issues of %+v change", r)
		}
		if twice := once.Normalize(); !math.IsNaN(growth) && !equal(once, twice) {
			t.Errorf("%+v, then %+v", once, twice)
		}
		for _, i := range issues {
			if i.Rule == "" || i.Field == "" || i.Problem == "" || i.Remedy == "" {
				t.Errorf("%+v says too little", i)
			}
		}
		if tasks, _ := r.Subtasks(); len(tasks) != len(r.Alternatives) {
			t.Errorf("%d of %d tasks", len(tasks), len(r.Alternatives))
		}
		for _, d := range Decisions() {
			_ = Rationale(d, r)
		}
		_, _, _ = r.BlockerTask(), r.Reformulated(), BuildGraph([]Record{{Rejection: r, Valid: true}}).DOT()
	})
}

// FuzzPhrase: a phrase is found exactly where a regular expression with word
// boundaries of Unicode finds it.
func FuzzPhrase(f *testing.F) {
	const outside = `[^\p{L}\p{M}\p{N}\p{Pc}]`
	patterns := map[string]*regexp.Regexp{}
	for _, phrase := range append([]string{"conflict", "not sure", "looked at"}, vagueAttempts...) {
		patterns[phrase] = regexp.MustCompile(`(?is)(^|` + outside + `)` + strings.ReplaceAll(phrase, " ", `[\s\v\p{Z}\x{85}]+`) + `($|` + outside + `)`)
		f.Add(phrase, "un", "ed")
		f.Add(strings.ToUpper(phrase), "-", "\u0301")
		f.Add(strings.ReplaceAll(phrase, " ", "\u00a0\n"), "“", "_")
	}
	f.Add("loo\u212aed\u2028at", "\u200b", "")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		text := strings.ToValidUTF8(b+a+c, "?")
		visible := strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) {
				return -1
			}
			return r
		}, text)
		for phrase, pattern := range patterns {
			if got, want := holds(text, phrase), pattern.MatchString(visible); got != want {
				t.Errorf("%q in %q: %v, want %v", phrase, text, got, want)
			}
		}
	})
}
