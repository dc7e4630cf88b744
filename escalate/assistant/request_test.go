package assistant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/looprun/looprun/core"
)

func example(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// The request in testdata is what the documentation shows; it is made again
// with LOOPRUN_UPDATE=1.
func TestExampleRequest(t *testing.T) {
	q := trip()
	q.Given = []core.Given{{Option: "accept", Responder: core.RespondedByAssistant}}
	req, err := NewRequest(q, stuck())
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("LOOPRUN_UPDATE") != "" {
		text, err := json.MarshalIndent(req, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("testdata", "request.json"), append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := example(t, "request.json")
	got := decoded[Request](t, text)
	var compact bytes.Buffer
	if err := json.Compact(&compact, got.ReplySchema); err != nil {
		t.Fatal(err)
	}
	got.ReplySchema = compact.Bytes()
	if want := decoded[Request](t, encoded(t, req)); !reflect.DeepEqual(got, want) {
		t.Errorf("testdata/request.json is\n%+v, want\n%+v", got, want)
	}
	conforms(t, RequestSchema(), text)
	reply := example(t, "reply.json")
	conforms(t, got.ReplySchema, reply)
	conforms(t, ReplySchema(), reply)
	decoded[Reply](t, reply)
	if checked, err := got.Check(reply); err != nil || checked.Answer != "cancel" {
		t.Errorf("%+v %v", checked, err)
	}
}

func encoded(t *testing.T, req Request) []byte {
	t.Helper()
	text, err := req.encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What cannot be answered is not offered, in the list and in the schema.
func TestOffered(t *testing.T) {
	given := func(responder string) func(*core.Question, *core.State) {
		return func(q *core.Question, _ *core.State) {
			q.Given = []core.Given{{Option: "continue", Responder: responder}}
		}
	}
	for name, c := range map[string]struct {
		change func(*core.Question, *core.State)
		want   string
	}{
		"all but review":      {func(*core.Question, *core.State) {}, "continue accept cancel"},
		"given by it":         {given(core.RespondedByAssistant), "accept cancel"},
		"given by the policy": {given(core.RespondedByPolicy), "continue accept cancel"},
		"without effect": {func(q *core.Question, s *core.State) {
			q.Options[0].Extend = core.Extend{}
		}, "accept cancel"},
		"runs a command": {func(q *core.Question, s *core.State) {
			q.Options[0] = core.Option{ID: "look", Action: core.ActionRun, Command: "ls"}
		}, "look accept cancel"},
	} {
		q, s := trip(), stuck()
		c.change(&q, s)
		req, err := NewRequest(q, s)
		if err != nil {
			t.Fatal(name, err)
		}
		var ids []string
		for _, o := range req.Question.Options {
			ids = append(ids, o.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if shape := decoded[replyDocument](t, req.ReplySchema); !slices.Equal(shape.Properties.Answer.Enum, ids) {
			t.Errorf("%s: the schema has %v", name, shape.Properties.Answer.Enum)
		}
		if reply, err := req.Check([]byte(valid)); (err == nil) != slices.Contains(ids, "continue") {
			t.Errorf("%s: %+v %v", name, reply, err)
		}
	}
}

// Nothing that a program printed reaches the command with control characters.
func TestRequestIsClean(t *testing.T) {
	const dirty = "a\x1b[31mred\x1b[0m\u202ereversed\x07\u009b2Jgone\x00"
	q, s := trip(), stuck()
	q.Header, q.Text, q.Details = dirty, dirty, []string{dirty}
	q.Options[0].Label, q.Options[0].Description = dirty, dirty
	q.Given = []core.Given{{Option: dirty, Responder: "policy", Rule: dirty}}
	s.Name, s.Command, s.Check, s.Trip.Reason = dirty, []string{dirty}, []string{dirty}, dirty
	s.Last.Excerpt, s.Last.Signature.Label, s.Errors[0].Excerpt = dirty, dirty, dirty
	s.Errors[0].Signature.Label, s.Decisions[0].Reason, s.Decisions[0].Option = dirty, dirty, dirty
	s.Answered = []core.Answered{{Asked: &core.Question{Text: dirty}, Answer: core.Answer{Option: dirty, Reason: dirty}}}
	req, err := NewRequest(q, s)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(encoded(t, req), &v); err != nil {
		t.Fatal(err)
	}
	texts(v, func(text string) {
		if i := strings.IndexFunc(text, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf) && r != '\n' }); i >= 0 {
			t.Errorf("%q", text)
		}
	})
}

// An assistant that is asked for the same thing in other words sees that it refused it, and no
// secret that was answered.
func TestEarlierAsksAreTold(t *testing.T) {
	s := stuck()
	at := s.Decisions[0].Time
	s.Answered = []core.Answered{
		{QuestionID: "loop_detected-1", Time: at},
		{Time: at.Add(-time.Minute), Iteration: 1, Asked: &core.Question{Text: "Drop the column?"}, Answer: core.Answer{Option: core.No, Responder: core.RespondedByAssistant, Reason: "It is in use."}},
		{Time: at.Add(time.Minute), Asked: &core.Question{Text: "The password?"}, Masked: true, Answer: core.Answer{Option: "hunter2"}},
	}
	req, err := NewRequest(trip(), s)
	if err != nil {
		t.Fatal(err)
	}
	want := Decision{Iteration: 1, Question: "Drop the column?", Option: core.No, Responder: core.RespondedByAssistant, Reason: "It is in use."}
	if d := req.Context.Decisions; len(d) != 1+len(s.Decisions) || d[0] != want {
		t.Errorf("%+v", d)
	}
}

func texts(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			texts(e, f)
		}
	case map[string]any:
		for _, e := range v {
			texts(e, f)
		}
	}
}

// A request does not grow with the run, and leaves its state as it was.
func TestRequestIsBounded(t *testing.T) {
	s := stuck()
	s.Last.Excerpt = strings.Repeat("ä", 1<<16)
	for range 50 {
		s.Errors, s.Decisions = append(s.Errors, *s.Last), append(s.Decisions, s.Decisions[0])
		s.Answered = append(s.Answered, core.Answered{Asked: &core.Question{Text: strings.Repeat("ä", 1<<16)}, Answer: core.Answer{Option: strings.Repeat("ö", 1<<16)}})
	}
	before := fmt.Sprintf("%+v", s)
	req, err := NewRequest(trip(), s)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(encoded(t, req)); n > 32<<10 {
		t.Errorf("%d bytes", n)
	}
	if len(req.Context.Errors) != 3 || len(req.Context.Decisions) != 10 || !strings.HasSuffix(req.Context.LastOutput, "ä") {
		t.Errorf("%+v", req.Context)
	}
	if before != fmt.Sprintf("%+v", s) {
		t.Error("the state has changed")
	}
}

func TestReasonComesFirst(t *testing.T) {
	for _, kind := range []core.Kind{core.KindSelect, core.KindConfirm, core.KindText} {
		req, err := NewRequest(asked(kind), nil)
		if err != nil {
			t.Fatal(err)
		}
		schema := string(req.ReplySchema)
		if r, a := strings.Index(schema, `"reason":{`), strings.Index(schema, `"answer":{`); r < 0 || a < r {
			t.Errorf("%s: %s", kind, schema)
		}
		if want := map[core.Kind]string{core.KindConfirm: "boolean"}[kind]; want != "" && !strings.Contains(schema, want) {
			t.Errorf("%s: %s", kind, schema)
		}
		conforms(t, RequestSchema(), encoded(t, req))
	}
}

// Whatever is printed: what counts as a reply is one valid JSON object.
func FuzzReply(f *testing.F) {
	for _, text := range []string{valid, `{"reason":"r","answer":"accept",}`, `{"reason" "r"}`, "{}", "", `{"reason":"r","answer":"cancel"}{}`} {
		f.Add([]byte(text))
	}
	req, err := NewRequest(trip(), stuck())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		reply, err := req.Check(text)
		if err != nil {
			return
		}
		if id, ok := reply.Answer.(string); !json.Valid(text) || reply.Reason == "" || !ok || !slices.Contains([]string{"continue", "accept", "cancel"}, id) {
			t.Errorf("%q: %+v", text, reply)
		}
	})
}
