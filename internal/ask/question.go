package ask

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/termsafe"
)

// The schema fields of the documents.
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

// Who may answer, as [Request.To] says it. Empty: whoever the run is set up with.
const (
	ToUser                    = "user"
	ToAssistant               = "assistant"
	ToAssistantWithEscalation = "assistant_with_escalation"
)

// Request is what a command asks, in one round.
type Request struct {
	// Type is "ask" in a message on the socket, else empty.
	Type      string     `json:"type,omitempty"`
	Schema    string     `json:"schema,omitempty"` // [QuestionSchema], or empty
	ID        string     `json:"id,omitempty"`     // the response has the same
	Questions []Question `json:"questions"`        // 1 to 4
	To        string     `json:"to,omitempty"`
}

// Question is one decision.
type Question struct {
	// ID names the question in its answer. Empty: q1, q2 and so on by its place.
	ID       string    `json:"id,omitempty"`
	Header   string    `json:"header,omitempty"` // at most 12 code points
	Question string    `json:"question"`
	Kind     core.Kind `json:"kind,omitempty"` // empty: select
	// Options are 2 to 4 for select, none for the other kinds.
	Options     []Option `json:"options,omitempty"`
	MultiSelect bool     `json:"multi_select,omitempty"` // several options can be chosen
	// AllowText lets a text answer the question in place of an option; nil: true
	// for select, false for confirm. A text question always takes text.
	AllowText   *bool `json:"allow_text,omitempty"`
	AllowCancel bool  `json:"allow_cancel,omitempty"` // the question can be declined
	Exclusive   bool  `json:"exclusive,omitempty"`    // a person has to answer
	// Default is what counts where nobody answers and the run is set to defaults:
	// the id of an option, yes or no, or a text. Empty: there is none.
	Default string `json:"default,omitempty"`
	// Safe is what the exit code of a confirm question says when nobody answers:
	// yes or no. Empty: that nobody answered.
	Safe string `json:"safe,omitempty"`
	// Again asks although the same question, with the same ID, was answered before.
	Again bool `json:"again,omitempty"`
}

// Option is one answer to a select question.
type Option struct {
	// ID names the option in the answer. Empty: made of the label.
	ID          string `json:"id,omitempty"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Parse reads a request, fills in what may be left out, and checks it. The error
// is [Problems].
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

// Validate checks a request that was made in Go, as [Parse] does with one that
// was read. The error is [Problems].
func (r *Request) Validate() error {
	data, err := json.Marshal(r)
	if err == nil {
		_, err = Parse(data)
	}
	return err
}

// WithDefaults is a copy with what may be left out filled in: the schema, the
// kinds, the ids of questions and options.
func (r Request) WithDefaults() Request {
	r.Schema = QuestionSchema
	r.Questions = withDefaults(r.Questions)
	return r
}

// TakesText reports whether a text answers the question.
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

// choices are the options, with those that a confirm question has unsaid.
func (q Question) choices() []Option {
	if q.Kind == core.KindConfirm {
		return []Option{{ID: core.Yes, Label: "Yes"}, {ID: core.No, Label: "No"}}
	}
	return q.withDefaults().Options
}

func (q Question) ids() []string {
	var ids []string
	for _, o := range q.choices() {
		ids = append(ids, o.ID)
	}
	return ids
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
	if q.Kind == "" {
		q.Kind = core.KindSelect
	}
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
		// C and C++ have the same slug: then the labels are the ids.
		if o.ID = slug(o.Label); o.ID == "" || slugs[o.ID] > 1 {
			o.ID = termsafe.Line(norm.NFC.String(o.Label))
		}
	}
	return q
}

// slug is a label as an id: its ASCII letters and digits, in lower case, with a
// dash for everything between. It is empty when the label has other letters.
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

// normal is a text as it is compared: NFC, without blank space around it and
// without what cannot be seen.
func normal(text string) string { return norm.NFC.String(termsafe.Line(text)) }
