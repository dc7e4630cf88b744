package assistant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/nearest"
)

// Reply is what the command prints on its standard output, and nothing else.
type Reply struct {
	// Reason says why, in a sentence or two. It comes first, so that a model
	// thinks before it decides. Never blank; of a longer one the first 4 KiB
	// are kept.
	Reason string `json:"reason"`
	// Answer is a bool for a confirm question, the id of an option for a select
	// question, and a text that is not blank for a text question.
	Answer any `json:"answer"`
}

// Check reads what the command printed as the reply to this request. The error
// says what is wrong, in words that help the command to get it right.
func (r Request) Check(printed []byte) (Reply, error) {
	if len(printed) > outputLimit {
		return r.check(output{long: true})
	}
	return r.check(output{text: printed})
}

func (r Request) check(out output) (Reply, error) {
	switch {
	case out.long:
		return Reply{}, errors.New("more than 1 MiB was printed; print the reply only, and anything else to stderr")
	case !utf8.Valid(out.text):
		return Reply{}, errors.New("the output is not UTF-8")
	}
	members, err := readObject(out.text)
	if err != nil {
		return Reply{}, err
	}
	for _, key := range []string{"reason", "answer"} {
		if _, ok := members[key]; !ok {
			return Reply{}, fmt.Errorf("the key %q is missing", key)
		}
	}
	reason, ok := members["reason"].(string)
	if !ok {
		return Reply{}, errors.New(`"reason" has to be a text`)
	}
	if reason = clean(reason); reason == "" {
		return Reply{}, errors.New(`"reason" is blank; say why`)
	}
	answer, err := r.checkAnswer(members["answer"])
	if err != nil {
		return Reply{}, err
	}
	return Reply{Reason: cut(reason, reasonKept), Answer: answer}, nil
}

// readObject reads one JSON object and nothing else, with no key but those of a
// reply, spelled as they are, and none of them twice.
func readObject(text []byte) (map[string]any, error) {
	const want = `print one JSON object, {"reason": …, "answer": …}, and nothing else`
	d := json.NewDecoder(bytes.NewReader(text))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, fmt.Errorf("the output is not a JSON object; %s", want)
	}
	members := map[string]any{}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		switch _, twice := members[key]; {
		case err != nil || !ok:
			return nil, fmt.Errorf("the output is not valid JSON; %s", want)
		case twice:
			return nil, fmt.Errorf("the key %q is there twice", key)
		case key != "reason" && key != "answer":
			return nil, fmt.Errorf("the key %q is not allowed; %s", cut(clean(key), lineKept), want)
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("the output is not valid JSON; %s", want)
		}
		members[key] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("the JSON object does not end; %s", want)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("there is more after the JSON object; %s", want)
	}
	return members, nil
}

// checkAnswer returns the answer if it is one to this question.
func (r Request) checkAnswer(answer any) (any, error) {
	text, isText := answer.(string)
	switch r.Question.Kind {
	case looprun.KindConfirm:
		if _, ok := answer.(bool); !ok {
			return nil, errors.New(`"answer" has to be true or false`)
		}
		return answer, nil
	case looprun.KindText:
		if text = clean(text); !isText || text == "" {
			return nil, errors.New(`"answer" has to be a text that is not blank`)
		}
		return text, nil
	case looprun.KindSelect:
		return text, r.checkOption(text, isText)
	}
	return nil, fmt.Errorf("there is no answer to questions of the kind %q", r.Question.Kind)
}

// checkOption reports whether the text is the id of an option that was offered.
func (r Request) checkOption(id string, isText bool) error {
	ids := make([]string, len(r.Question.Options))
	for i, o := range r.Question.Options {
		ids[i] = o.ID
	}
	switch {
	case !isText:
		return fmt.Errorf(`"answer" has to be the id of an option: %s`, strings.Join(ids, ", "))
	case slices.Contains(ids, id):
		return nil
	}
	problem := fmt.Sprintf("there is no option %q to choose; the ids are %s", cut(clean(id), lineKept), strings.Join(ids, ", "))
	if near := nearest.Word(id, ids); near != "" {
		problem += fmt.Sprintf("; did you mean %q?", near)
	}
	return errors.New(problem)
}

// answer is the checked reply to a question of that kind as looprun records it.
func (r Reply) answer(kind looprun.Kind) looprun.Answer {
	a := looprun.Answer{Responder: looprun.RespondedByAssistant, Reason: r.Reason}
	switch v := r.Answer.(type) {
	case bool:
		a.Option = looprun.No
		if v {
			a.Option = looprun.Yes
		}
	case string:
		if a.Option = v; kind == looprun.KindText {
			a.Option, a.Text = "", &v
		}
	}
	return a
}
