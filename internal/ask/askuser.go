package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/strictjson"
)

// exported is the form that other programs' interfaces accept.
type exported struct {
	Questions []exportedQuestion `json:"questions"`
}

type exportedQuestion struct {
	Question    string           `json:"question"`
	Header      string           `json:"header"`
	MultiSelect bool             `json:"multiSelect"`
	Options     []exportedOption `json:"options"`
}

type exportedOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
}

// AskUserQuestion writes questions in the form that other programs' interfaces accept: at most
// four questions, four options each, headers of twelve code points. leftOut names what does
// not fit, as "ID" for a question and "ID: LABEL" for an option. A confirm question has the
// options Yes and No. A text question has none, so it is left out: an option that is made up
// could come back as its answer. The questions themselves may exceed the limits.
// data is nil if no question fits.
func AskUserQuestion(questions []Question) (data []byte, leftOut []string) {
	var out exported
	for _, q := range withDefaults(questions) {
		if len(out.Questions) == MaxQuestions || q.Kind == core.KindText {
			leftOut = append(leftOut, q.ID)
			continue
		}
		header := []rune(q.Header)
		e := exportedQuestion{
			Question: q.Question, Header: strings.TrimSpace(string(header[:min(len(header), MaxHeader)])),
			MultiSelect: q.MultiSelect, Options: []exportedOption{},
		}
		for j, o := range q.choices() {
			if j >= MaxOptions {
				leftOut = append(leftOut, q.ID+": "+o.Label)
				continue
			}
			e.Options = append(e.Options, exportedOption{o.Label, o.Description})
		}
		out.Questions = append(out.Questions, e)
	}
	if out.Questions == nil {
		return nil, leftOut
	}
	data, _ = json.MarshalIndent(out, "", "  ") // texts always encode
	return append(data, '\n'), leftOut
}

// ParseAnswers parses the reply of such an interface: an object with a value for each
// question, keyed by its text or its id, at the top level or under "answers". A value is the
// label or the id of an option, a list of them for multi-select (or a text with commas between
// them), true or false for a confirm question, null to cancel, or a text, each where the
// question accepts it. ParseAnswers checks the answers and returns them in the order of their
// questions, without those that have no value. The error is [Problems].
func ParseAnswers(data []byte, questions []Question) ([]Answer, error) {
	questions = withDefaults(questions)
	var ps Problems
	members := answerMembers(data, questions, &ps)
	values := make([]*strictjson.Member, len(questions))
	for _, m := range members {
		i, problem := keyed(questions, m.Key)
		switch {
		case problem != "":
			ps.Add(strictjson.Join("", m.Key), problem, remedyForKey(m.Key, questions))
		case values[i] != nil:
			ps.Add(strictjson.Join("", m.Key), "the question "+excerpt(questions[i].ID)+" is answered twice", "leave one of them out")
		default:
			values[i] = &m
		}
	}
	var answers []Answer
	for i, q := range questions {
		if values[i] == nil {
			continue
		}
		a, err := q.answerFrom(values[i].Value)
		if err == nil {
			err = CheckAnswer(q, a)
		}
		if err != nil {
			ps.Add(strictjson.Join("", values[i].Key), err.Error(), "")
		}
		answers = append(answers, a)
	}
	if len(ps) == 0 && len(answers) == 0 {
		ps.Add("", "the document has no answer", `write {"QUESTION OR ID": "ANSWER"}`)
	}
	if len(ps) > 0 {
		return nil, ps
	}
	return answers, nil
}

// answerMembers returns the values by question. A program may return the questions along with
// the answers.
func answerMembers(data []byte, questions []Question, ps *Problems) []strictjson.Member {
	if *ps = strictjson.Readable(data); len(*ps) > 0 {
		return nil
	}
	members, ok := strictjson.Members(data)
	if !ok {
		ps.Add("", "the answers have to be an object", `write {"QUESTION OR ID": "ANSWER"}`)
		return nil
	}
	for _, m := range members {
		if m.Key != "answers" || slices.ContainsFunc(questions, func(q Question) bool { return q.ID == m.Key }) {
			continue
		}
		for _, other := range members {
			if other.Key != "answers" && other.Key != "questions" {
				ps.Add(strictjson.Join("", other.Key), "the key is not known beside answers", "put it under answers")
			}
		}
		inner, ok := strictjson.Members(m.Value)
		if !ok {
			ps.Add("answers", "it has to be an object", `write {"QUESTION OR ID": "ANSWER"}`)
		}
		return inner
	}
	return members
}

// keyed returns the question that a key names, by id or by text.
func keyed(questions []Question, key string) (int, string) {
	found := -1
	for i, q := range questions {
		if q.ID != key && normal(q.Question) != normal(key) {
			continue
		}
		if found >= 0 {
			return 0, fmt.Sprintf("it names both questions %s and %s", excerpt(questions[found].ID), excerpt(q.ID))
		}
		found = i
	}
	if found < 0 {
		return 0, "there is no such question"
	}
	return found, ""
}

func remedyForKey(key string, questions []Question) string {
	names := convert.Each(questions, func(q Question) string { return q.ID })
	names = append(names, convert.Each(questions, func(q Question) string { return q.Question })...)
	if near := nearest.Word(key, names); near != "" {
		return "did you mean " + excerpt(near) + "?"
	}
	return "the ids are " + strings.Join(names[:len(questions)], ", ")
}

// answerFrom converts a value into an answer; CheckAnswer decides whether it is valid.
func (q Question) answerFrom(raw json.RawMessage) (Answer, error) {
	a := Answer{ID: q.ID}
	var value any
	_ = json.Unmarshal(raw, &value) // it is valid JSON
	switch v := value.(type) {
	case nil:
		a.Cancelled = true
		return a, nil
	case bool:
		if q.Kind != core.KindConfirm {
			return a, fmt.Errorf("only a confirm question is answered by %t; %s", v, q.wanted())
		}
		if a.Selected = One(core.No); v {
			a.Selected = One(core.Yes)
		}
		return a, nil
	case string:
		return q.answerFromText(v)
	case []any:
		var ids []string
		for _, e := range v {
			text, isText := e.(string)
			id, err := q.optionFor(text)
			switch {
			case err != nil:
				return a, err
			case !isText || id == "":
				return a, fmt.Errorf("the list has something else than options; %s", q.wanted())
			}
			ids = append(ids, id)
		}
		a.Selected = Several(ids...)
		return a, nil
	}
	return a, fmt.Errorf("a number or an object is not an answer; %s", q.wanted())
}

func (q Question) answerFromText(text string) (Answer, error) {
	a := Answer{ID: q.ID}
	id, err := q.optionFor(text)
	switch {
	case err != nil:
		return a, err
	case id != "" && q.MultiSelect:
		a.Selected = Several(id)
	case id != "":
		a.Selected = One(id)
	case q.MultiSelect && q.allOptions(text) != nil:
		a.Selected = Several(q.allOptions(text)...)
	case q.TakesText():
		a.Text = &text
	default:
		names := convert.Each(q.choices(), func(o Option) string { return o.Label })
		return a, fmt.Errorf("there is no option %s; %s", excerpt(text), nearest.DidYouMean(text, names))
	}
	return a, nil
}

// allOptions returns the options that a comma-separated text names, or nil if any part is
// something else.
func (q Question) allOptions(text string) []string {
	var ids []string
	for part := range strings.SplitSeq(text, ",") {
		id, err := q.optionFor(part)
		if err != nil || id == "" {
			return nil
		}
		ids = append(ids, id)
	}
	return ids
}

// optionFor returns the id of the option that a text names by id or label, or an empty string.
// A label may differ in case; the first rule that finds exactly one option decides.
func (q Question) optionFor(text string) (string, error) {
	want := normal(text)
	for _, same := range []func(Option) bool{
		func(o Option) bool { return o.ID == text || normal(o.Label) == want },
		func(o Option) bool { return strings.EqualFold(normal(o.Label), want) || strings.EqualFold(o.ID, want) },
	} {
		var ids []string
		for _, o := range q.choices() {
			if same(o) {
				ids = append(ids, o.ID)
			}
		}
		switch len(ids) {
		case 0:
		case 1:
			return ids[0], nil
		default:
			return "", fmt.Errorf("%s can mean %s", excerpt(text), strings.Join(ids, " or "))
		}
	}
	return "", nil
}
