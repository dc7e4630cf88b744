package assistant

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

// valid is a reply that would be an answer to the trip, if it came in order.
const valid = `{"reason": "It gets better.", "answer": "continue"}`

func TestAnswers(t *testing.T) {
	by := core.Answer{Responder: core.RespondedByAssistant, Reason: "Because."}
	with := func(option, text string) core.Answer {
		a := by
		a.Option = option
		if option == "" {
			a.Text = &text
		}
		return a
	}
	long := trip()
	long.Details = []string{strings.Repeat("evidence ", 100_000)}
	for name, c := range map[string]struct {
		q    core.Question
		part string
		want core.Answer
	}{
		"a trip":          {trip(), `say {"reason": "Because.", "answer": "accept"}`, with("accept", "")},
		"space around it": {trip(), "say \n {\"answer\": \"accept\",\r\n \"reason\": \" Because.\\u001b[31m\\n\"} \n", with("accept", "")},
		"cancel":          {trip(), `say {"reason": "Because.", "answer": "cancel"}`, with("cancel", "")},
		"select":          {asked(core.KindSelect), `say {"reason": "Because.", "answer": "blue"}`, with("blue", "")},
		"yes":             {asked(core.KindConfirm), `say {"reason": "Because.", "answer": true}`, with(core.Yes, "")},
		"no":              {asked(core.KindConfirm), `say {"reason": "Because.", "answer": false}`, with(core.No, "")},
		"text":            {asked(core.KindText), `say {"reason": "Because.", "answer": "accept"}`, with("", "accept")},
		"before reading":  {long, `blurt {"reason": "Because.", "answer": "accept"}`, with("accept", "")},
		"stdin closed":    {long, `closed {"reason": "Because.", "answer": "accept"}`, with("accept", "")},
		"a long request":  {long, `say {"reason": "Because.", "answer": "accept"}`, with("accept", "")},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.part)
			a, err := New(f.Options).Respond(t.Context(), c.q, stuck())
			if err != nil || !reflect.DeepEqual(a, c.want) || f.runs(t) != 1 {
				t.Errorf("%+v %v after %d runs, want %+v", a, err, f.runs(t), c.want)
			}
			if a.Person {
				t.Error("it is no person")
			}
			if c.q.Kind == core.KindSelect {
				if _, err := c.q.Resolve(a); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// None of these is an answer, and each ends after so many runs.
func TestFailsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		part  string
		runs  int
		words string
	}{
		"garbage":              {"say yes, go on", 2, "not valid JSON"},
		"a list":               {`say ["Because.", "continue"]`, 2, "has to be an object, not a list"},
		"half an object":       {`say {"reason": "r", "answer": "continue"`, 2, "it ends too early"},
		"a trailing comma":     {`say {"reason": "r", "answer": "continue",}`, 2, "not valid JSON"},
		"text before":          {"say Sure! " + valid, 2, "not valid JSON"},
		"text after":           {"say " + valid + " Good luck!", 2, "more after its end"},
		"a fence":              {"say ```json\n" + valid + "\n```", 2, "not valid JSON"},
		"twice":                {"say " + valid + "\n" + valid, 2, "more after"},
		"a key twice":          {`say {"reason": "r", "answer": "cancel", "answer": "continue"}`, 2, "answer: the key is there twice"},
		"another key":          {`say {"reason": "r", "answer": "continue", "confidence": 1}`, 2, "confidence: the key is not known"},
		"keys in capitals":     {`say {"Reason": "r", "Answer": "continue"}`, 2, `Reason: the key is not known; did you mean "reason"?`},
		"no reason":            {`say {"answer": "continue"}`, 2, "reason: it is missing"},
		"no answer":            {`say {"reason": "r"}`, 2, "answer: it is missing"},
		"blank reason":         {`say {"reason": " \t\n\u200b\u001b[31m", "answer": "continue"}`, 2, "reason: it is blank"},
		"reason of null":       {`say {"reason": null, "answer": "continue"}`, 2, "reason: it has to be a text, not null"},
		"answer of null":       {`say {"reason": "r", "answer": null}`, 2, "answer: it has to be a text, not null; use one of continue, accept, cancel"},
		"an answer of true":    {`say {"reason": "r", "answer": true}`, 2, "answer: it has to be a text, not true; use one of continue, accept, cancel"},
		"an id unknown":        {`say {"reason": "r", "answer": "contnue"}`, 2, `did you mean "continue"?`},
		"an id in capitals":    {`say {"reason": "r", "answer": "CONTINUE"}`, 2, `"CONTINUE" is not known here`},
		"review":               {`say {"reason": "r", "answer": "review"}`, 2, `"review" is not known here; use one of continue, accept, cancel`},
		"a bad escape":         {"say " + strings.Replace(valid, "It", "\\x20", 1), 2, "not valid JSON"},
		"more than 1 MiB":      {"flood " + valid, 2, "more than 1 MiB"},
		"nothing":              {"say ", 4, "printed nothing"},
		"blank":                {"say \n \n", 4, "printed nothing"},
		"exit code 3":          {"exit 3 " + valid, 4, "exited with 3: no luck"},
		"exit code 126":        {"exit 126 " + valid, 1, "exited with 126"},
		"exit code 127":        {"exit 127 " + valid, 1, "exited with 127"},
		"killed":               {"kill " + valid, 4, "exited with 137"},
		"a reply at the limit": {"late " + valid, 1, "took longer than"},
		"ignores SIGTERM":      {"stubborn " + valid, 1, "took longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.part)
			if c.words == "took longer than" {
				f.Timeout = time.Second
			}
			a, err := New(f.Options).Respond(t.Context(), trip(), stuck())
			if err == nil || !reflect.DeepEqual(a, core.Answer{Responder: core.RespondedByAssistant}) {
				t.Fatalf("%+v %v", a, err)
			}
			if errors.Is(err, core.ErrNoAnswer) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%q does not say %q", err, c.words)
			}
			if n := f.runs(t); n != c.runs {
				t.Errorf("it ran %d times, want %d", n, c.runs)
			}
		})
	}
}

func TestTypesByKind(t *testing.T) {
	for name, c := range map[string]struct {
		kind  core.Kind
		reply string
	}{
		"confirm with a text": {core.KindConfirm, `{"reason": "r", "answer": "true"}`},
		"confirm with null":   {core.KindConfirm, `{"reason": "r", "answer": null}`},
		"confirm with 1":      {core.KindConfirm, `{"reason": "r", "answer": 1}`},
		"text with true":      {core.KindText, `{"reason": "r", "answer": true}`},
		"blank text":          {core.KindText, `{"reason": "r", "answer": " \u200b\n"}`},
		"text with null":      {core.KindText, `{"reason": "r", "answer": null}`},
		"not UTF-8":           {core.KindText, "{\"reason\": \"r\", \"answer\": \"a\xff\"}"},
		"too long":            {core.KindText, `{"reason": "r", "answer": "a"}` + strings.Repeat(" ", 1<<20)},
	} {
		req, err := NewRequest(asked(c.kind), nil)
		if err != nil {
			t.Fatal(err)
		}
		if reply, err := req.Check([]byte(c.reply)); err == nil {
			t.Errorf("%s: %+v", name, reply)
		}
	}
}

// What was wrong is said once, and the second reply may be right.
func TestCorrection(t *testing.T) {
	f := newFake(t, `say {"reason": "r", "answer": "contine"}`, "say "+valid)
	a, err := New(f.Options).Respond(t.Context(), trip(), stuck())
	if err != nil || a.Option != "continue" || f.runs(t) != 2 {
		t.Fatalf("%+v %v after %d runs", a, err, f.runs(t))
	}
	first, second := f.request(t, 0), f.request(t, 1)
	if first.Problem != "" || first.PreviousReply != "" {
		t.Errorf("the first request has %q and %q", first.Problem, first.PreviousReply)
	}
	if second.PreviousReply != `{"reason": "r", "answer": "contine"}` || !strings.Contains(second.Problem, `did you mean "continue"?`) {
		t.Errorf("the second has %q and %q", second.Problem, second.PreviousReply)
	}
}

// A failure that passes is no wrong reply: both are got over.
func TestTransientFailures(t *testing.T) {
	f := newFake(t, "exit 1 "+valid, "say ", "say garbage", "exit 75", "say "+valid)
	a, err := New(f.Options).Respond(t.Context(), trip(), stuck())
	if err != nil || a.Option != "continue" || f.runs(t) != 5 {
		t.Fatalf("%+v %v after %d runs", a, err, f.runs(t))
	}
	if f.request(t, 1).Problem != "" || f.request(t, 4).Problem == "" {
		t.Error("the problem is told after the wrong reply only")
	}
	none := newFake(t, "exit 1", "say "+valid)
	none.Delays = []time.Duration{}
	if a, err := New(none.Options).Respond(t.Context(), trip(), stuck()); err == nil || none.runs(t) != 1 {
		t.Errorf("%+v %v after %d runs", a, err, none.runs(t))
	}
}

func TestDefaultsOfOptions(t *testing.T) {
	r := newResponder(Options{Timeout: -1})
	if r.Timeout != time.Minute || r.KillAfter != time.Second || len(r.Delays) != 3 || r.Delays[0] != time.Second || r.Delays[2] != 4*time.Second {
		t.Errorf("%+v", r.Options)
	}
}

// These questions are not put to the command.
func TestNotAsked(t *testing.T) {
	change := func(f func(*core.Question)) core.Question {
		q := trip()
		f(&q)
		return q
	}
	by := func(id string) core.Given {
		return core.Given{Option: id, Responder: core.RespondedByAssistant}
	}
	confirm := asked(core.KindConfirm)
	confirm.Given = []core.Given{by(core.Yes)}
	for name, c := range map[string]struct {
		q core.Question
		o func(*Options)
	}{
		"exclusive":       {change(func(q *core.Question) { q.Exclusive = true }), nil},
		"mandatory":       {change(func(q *core.Question) { q.Mandatory = true }), nil},
		"for a person":    {change(func(q *core.Question) { q.To = "user" }), nil},
		"several options": {change(func(q *core.Question) { q.Multi = true }), nil},
		"exclusive ask":   {change(func(q *core.Question) { *q = asked(core.KindConfirm); q.Exclusive = true }), nil},
		"mandatory ask":   {change(func(q *core.Question) { *q = asked(core.KindText); q.Mandatory = true }), nil},
		"an ask for one":  {change(func(q *core.Question) { *q = asked(core.KindConfirm); q.To = "user" }), nil},
		"several asked":   {change(func(q *core.Question) { *q = asked(core.KindSelect); q.Multi = true }), nil},
		"no command":      {trip(), func(o *Options) { o.Command = " " }},
		"another kind":    {trip(), func(o *Options) { o.OnlyKinds = []core.Kind{core.KindConfirm} }},
		"no trips":        {trip(), func(o *Options) { o.OnlyFrom = []Source{FromAsk} }},
		"trips only":      {asked(core.KindConfirm), func(o *Options) { o.OnlyFrom = []Source{FromGuards} }},
		"unknown kind":    {change(func(q *core.Question) { q.Kind = "guess" }), nil},
		"no options":      {change(func(q *core.Question) { q.Options = nil }), nil},
		"only review":     {change(func(q *core.Question) { q.Options = q.Options[2:3] }), nil},
		"ids twice":       {change(func(q *core.Question) { q.Options[1].ID = "continue" }), nil},
		"an id with ESC":  {change(func(q *core.Question) { q.Options = q.Options[:1]; q.Options[0].ID = "a\x1b[1m" }), nil},
		"all given":       {change(func(q *core.Question) { q.Given = []core.Given{by("continue"), by("accept"), by("cancel")} }), nil},
		"confirmed":       {confirm, nil},
		"confirm options": {core.Question{Kind: core.KindConfirm, Options: trip().Options}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, "say "+valid)
			if c.o != nil {
				c.o(&f.Options)
			}
			a, err := New(f.Options).Respond(t.Context(), c.q, stuck())
			if !errors.Is(err, core.ErrNoAnswer) || a.Option != "" || f.runs(t) != 0 {
				t.Errorf("%+v %v after %d runs", a, err, f.runs(t))
			}
		})
	}
}

// Questions that are a person's have no request either, and the reason is said.
func TestNoRequestForAPersonsQuestions(t *testing.T) {
	for why, change := range map[string]func(*core.Question){
		"a person's alone": func(q *core.Question) { q.Exclusive = true },
		"is a person's":    func(q *core.Question) { q.Mandatory = true },
		"is for a person":  func(q *core.Question) { q.To = "user" },
		"several options":  func(q *core.Question) { q.Multi = true },
	} {
		q := trip()
		change(&q)
		if _, err := NewRequest(q, stuck()); !errors.Is(err, core.ErrNoAnswer) || !strings.Contains(err.Error(), why) {
			t.Errorf("%v does not say %q", err, why)
		}
	}
}

// When the context ends, so does the command, and its reply does not count.
func TestContextEnds(t *testing.T) {
	cause := errors.New("enough")
	for _, part := range []string{"late " + valid, "stubborn " + valid} {
		ctx, cancel := context.WithCancelCause(t.Context())
		f := newFake(t, part)
		f.Stderr = func([]byte) { cancel(cause) }
		if a, err := New(f.Options).Respond(ctx, trip(), stuck()); !errors.Is(err, cause) || a.Option != "" {
			t.Errorf("%s: %+v %v", part, a, err)
		}
		if a, err := New(f.Options).Respond(ctx, trip(), stuck()); !errors.Is(err, cause) || f.runs(t) != 1 {
			t.Errorf("%+v %v", a, err)
		}
	}
}

// The end of the context is not waited for between two runs.
func TestContextEndsWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFake(t, "exit 1")
	f.Delays, f.Stderr = []time.Duration{time.Hour}, func([]byte) { cancel() }
	if _, err := New(f.Options).Respond(ctx, trip(), stuck()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
