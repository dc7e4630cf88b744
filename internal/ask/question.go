package ask

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/termsafe"
)

// The values of the documents' schema fields.
const (
	QuestionSchema = "looprun.dev/question/v1"
	AnswerSchema   = "looprun.dev/answer/v1"
	ChoicesSchema  = "looprun.dev/choices/v1"
)

// The limits of a request.
const (
	MaxQuestions = 4  // questions in a request; [Batches] splits more
	MaxHeader    = 12 // code points of a header
	MinOptions   = 2  // of a select question
	MaxOptions   = 4
)

// The values of [Request.To], that is, who may answer. Empty means whoever the run is set up
// with.
const (
	ToUser                    = "user"
	ToAssistant               = "assistant"
	ToAssistantWithEscalation = "assistant_with_escalation"
)

// Request is the set of questions that a command asks in one round. The tags of this package's
// documents are their form: see [strictjson.Of].
type Request struct {
	// Type is "ask" in a message on the socket, otherwise empty.
	Type      string     `json:"type,omitempty" doc:"The type of the message, on the run's socket." is:"words=ask"`
	Schema    string     `json:"schema,omitempty" doc:"The version of the protocol." is:"words=looprun.dev/question/v1"`
	ID        string     `json:"id,omitempty" doc:"Names the request; the response has the same id."`
	Questions []Question `json:"questions" doc:"The questions." is:"required least=1 most=4"`
	To        string     `json:"to,omitempty" doc:"Who may answer. Left out: as the run is configured." is:"words=user|assistant|assistant_with_escalation"`
}

// Question is one decision.
type Question struct {
	ID          string    `json:"id,omitempty" doc:"Names the question in its answer. Left out: q1, q2 and so on by its place."`
	Header      string    `json:"header,omitempty" doc:"A word or two, at most 12 characters." is:"most=12"`
	Question    string    `json:"question" doc:"What is asked." is:"required filled"`
	Kind        core.Kind `json:"kind,omitempty" doc:"What answers it: an option, yes or no, or a text. Left out: select." is:"words=select|confirm|text"`
	Options     []Option  `json:"options,omitempty" doc:"What can be chosen: 2 to 4 for select, none for the other kinds." is:"most=4"`
	MultiSelect bool      `json:"multi_select,omitempty" doc:"Whether several options can be chosen."`
	// A text question always accepts text, whatever AllowText is.
	AllowText   *bool `json:"allow_text,omitempty" doc:"Whether a text is accepted instead of an option. Left out: true for select, false for confirm."`
	AllowCancel bool  `json:"allow_cancel,omitempty" doc:"Whether the question can be declined."`
	Exclusive   bool  `json:"exclusive,omitempty" doc:"Whether a person has to answer."`
	// Default holds the ids of several options one per line. Empty means there is none.
	Default string `json:"default,omitempty" doc:"The answer if nobody answers and the run is set to defaults: the id of an option, yes or no, or a text."`
	// Safe is empty if the exit code reports that nobody answered.
	Safe  string `json:"safe,omitempty" doc:"What the exit code of a confirm question says when nobody answers." is:"words=yes|no"`
	Again bool   `json:"again,omitempty" doc:"Whether it is asked although the same question, with the same id, was answered before."`
}

// Option is one answer to a select question.
type Option struct {
	ID          string `json:"id,omitempty" doc:"Names the option in the answer. Left out: made of the label."`
	Label       string `json:"label" doc:"What a person chooses. No two are the same." is:"required filled"`
	Description string `json:"description,omitempty" doc:"What it means."`
}

// Parse parses a request, fills in defaults, and validates it. The error is [Problems].
func Parse(data []byte) (Request, error) {
	var r Request
	ps := requestShape().Read(data, &r)
	r = r.WithDefaults()
	checkQuestions(r.Questions, "questions", &ps)
	if len(ps) > 0 {
		return Request{}, ps
	}
	return r, nil
}

// Validate checks a request built in Go, as [Parse] checks one that it parses. The error is
// [Problems].
func (r *Request) Validate() error {
	data, err := json.Marshal(r)
	if err == nil {
		_, err = Parse(data)
	}
	return err
}

// WithDefaults returns a copy with defaults filled in: the schema, the kinds, the ids of
// questions and options.
func (r Request) WithDefaults() Request {
	r.Schema = QuestionSchema
	r.Questions = withDefaults(r.Questions)
	return r
}

// TakesText reports whether a text may answer the question.
func (q Question) TakesText() bool {
	switch {
	case q.Kind == core.KindText:
		return true
	case q.AllowText != nil:
		return *q.AllowText
	}
	return q.Kind != core.KindConfirm
}

// Option returns the option with that id. A confirm question has yes and no.
func (q Question) Option(id string) (Option, bool) {
	for _, o := range q.choices() {
		if o.ID == id {
			return o, true
		}
	}
	return Option{}, false
}

// choices returns the options, including the implicit ones of a confirm question.
func (q Question) choices() []Option {
	if q.Kind == core.KindConfirm {
		return []Option{{ID: core.Yes, Label: "Yes"}, {ID: core.No, Label: "No"}}
	}
	return q.withDefaults().Options
}

func (q Question) ids() []string {
	return convert.Each(q.choices(), func(o Option) string { return o.ID })
}

func withDefaults(questions []Question) []Question {
	out := make([]Question, len(questions))
	for i, q := range questions {
		if q.ID == "" {
			q.ID = "q" + strconv.Itoa(i+1)
		}
		out[i] = q.withDefaults()
	}
	return out
}

func (q Question) withDefaults() Question {
	q.Kind = cmp.Or(q.Kind, core.KindSelect)
	q.Options = slices.Clone(q.Options)
	slugs := map[string]int{}
	for _, o := range q.Options {
		if o.ID == "" {
			slugs[slug(o.Label)]++
		} else {
			slugs[o.ID]++
		}
	}
	for i := range q.Options {
		o := &q.Options[i]
		if o.ID != "" {
			continue
		}
		// C and C++ have the same slug: in that case the labels are the ids.
		if o.ID = slug(o.Label); o.ID == "" || slugs[o.ID] > 1 {
			o.ID = termsafe.Line(norm.NFC.String(o.Label))
		}
	}
	return q
}

// slug turns a label into an id: its ASCII letters and digits, in lower case, with a dash for
// everything between them. It is empty if the label has other letters.
func slug(label string) string {
	var b strings.Builder
	dash := false
	for _, r := range label {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(unicode.ToLower(r))
		case unicode.IsLetter(r) || unicode.IsMark(r):
			return ""
		default:
			dash = true
		}
	}
	return b.String()
}

// normal returns a text in the form used for comparison: NFC, without surrounding blank space
// and invisible characters.
func normal(text string) string { return norm.NFC.String(termsafe.Line(text)) }
