package templates

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/lazy"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/internal/termsafe"
)

// messagesFile is the file in a pack that contains the other texts.
const messagesFile = "messages.yaml"

// Message is a text of messages.yaml.
type Message struct {
	Key string `json:"key"`
	// Variables are the variables that it can mention.
	Variables []Variable `json:"variables,omitempty"`
}

// own are the variables of messages. A message can mention those that the built-in text
// mentions. One that a question has too, by the same name, means the same in both.
var own = []Variable{
	{Name: "Label", Type: TypeText, Description: "what the text is about, by its short name: an option, a command, the result of an iteration"},
	{Name: "Why", Type: TypeText, Description: "why: the exit code or the cause, or what is missing"},
	{Name: "Iteration", Type: TypeNumber, Description: "number of the iteration"},
	{Name: "First", Type: TypeNumber, Description: "number of the first of several equal ones in a row; 0 for one"},
	{Name: "Iterations", Type: TypeNumber, Description: "how many iterations there were; 0 when all are shown"},
	{Name: "Shown", Type: TypeNumber, Description: "how many iterations are shown"},
	{Name: "OutputLine", Type: TypeText, Description: "the line of its output that tells most; may be empty"},
	{Name: "Code", Type: TypeNumber, Description: "the exit code"},
	{Name: "Failing", Type: TypeNumber, Description: "how many checks fail"},
	{Name: "FailingOf", Type: TypeText, Description: "what fails in words, such as “2 of 5 tests fail”"},
	{Name: "Passing", Type: TypeNumber, Description: "how many checks pass"},
	{Name: "Total", Type: TypeNumber, Description: "how many checks there are; 0 when that is not known"},
	{Name: "Tests", Type: TypeBool, Description: "whether the output says that the checks are tests"},
	{Name: "Tasks", Type: TypeBool, Description: "whether the checks are tasks of a list, which fail while they are open"},
	{Name: "FailingChecks", Type: TypeList, Description: "names of failing checks, five at most"},
	{Name: "Dependencies", Type: TypeList, Description: "names of the tasks that come first"},
	{Name: "More", Type: TypeNumber, Description: "how many further names there are"},
	{Name: "Guard", Type: TypeText, Description: "id of the guard that asked"},
	{Name: "Cap", Type: TypeText, Description: "the cap that is reached, such as 50 iterations"},
	{Name: "Room", Type: TypeText, Description: "what the cap leaves, such as 3 iterations"},
	{Name: "Flag", Type: TypeText, Description: "the flag that sets the cap"},
	{Name: "Responder", Type: TypeText, Description: "who answered"},
	{Name: "Answer", Type: TypeText, Description: "the answer"},
	{Name: "Asked", Type: TypeText, Description: "what the command asked; empty when a guard did"},
	{Name: "Guidance", Type: TypeText, Description: "the guidance that came with it; may be empty"},
	{Name: "Signal", Type: TypeText, Description: "the signal, such as SIGSEGV"},
	{Name: "Option", Type: TypeText, Description: "an option that the command considered"},
	{Name: "Kind", Type: TypeText, Description: "the type of the evidence"},
	{Name: "Data", Type: TypeText, Description: "what was observed"},
	{Name: "Where", Type: TypeText, Description: "where it was observed; may be empty"},
	{Name: "Title", Type: TypeText, Description: "the title of the task"},
	{Name: "Scope", Type: TypeText, Description: "what the task is about; may be empty"},
	{Name: "Estimate", Type: TypeText, Description: "how long it takes; may be empty"},
}

// Messages returns the texts of messages.yaml, sorted by key, with the variables that each can
// mention.
func Messages() []Message {
	return convert.Each(slices.Sorted(maps.Keys(builtinTexts())), func(key string) Message { return Message{key, mentionable(key)} })
}

// mentionable returns the variables that a text can mention: the evidence all those of a
// question, any other text those that the built-in one mentions.
func mentionable(key string) (list []Variable) {
	if strings.HasPrefix(key, "detail_") && key != "detail_not_offered" {
		return Variables()
	}
	for _, v := range own {
		for _, name := range mention().FindAllStringSubmatch(builtinTexts()[key], -1) {
			if name[1] == v.Name && !slices.ContainsFunc(list, func(had Variable) bool { return had.Name == v.Name }) {
				list = append(list, v)
			}
		}
	}
	return list
}

// mention matches a variable in a text.
var mention = lazy.Regexp(`\.([A-Z]\w*)`)

// messages holds texts by key. Keys that are not in texts are looked up in below, and finally
// in the built-in pack.
type messages struct {
	texts map[string]string
	below *messages
}

// say returns the text with its values filled in; empty for a key without a text.
func (m *messages) say(key string, values facts) string {
	for ; m != nil; m = m.below {
		if src, ok := m.texts[key]; ok {
			text, _ := fillLine(src, values) // faultsIn has ruled errors out
			return text
		}
	}
	text, _ := fillLine(builtinTexts()[key], values)
	return text
}

// parseMessages parses a messages.yaml, which need not have all keys.
func parseMessages(name string, data []byte) (*messages, problem.List) {
	var texts map[string]string
	doc, err := strictyaml.Decode(name, data, &texts)
	r := report{strictyaml.Report{Document: doc, Problems: problem.Of(err)}}
	known := builtinTexts()
	m := &messages{texts: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if known[key] == "" {
			r.Key("unknown text "+termsafe.Quoted(key, 40), nearest.DidYouMean(key, slices.Sorted(maps.Keys(known))), key)
			continue
		}
		r.faults(faultsIn(texts[key], mentionable(key)), key)
		if texts[key] == "" && doc.Has(key) {
			r.Value(fmt.Sprintf("%q is empty", key), "give it a text, or remove the key", key)
		}
		m.texts[key] = texts[key]
	}
	return m, r.Problems
}
