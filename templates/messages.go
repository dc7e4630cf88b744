package templates

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

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

// own are the variables that only messages have. A message can mention those that the built-in
// text mentions.
var own = []Variable{
	{"Label", TypeText, "what the last iteration came to, the label of an option, or what is named"},
	{"Why", TypeText, "why: the exit code or the cause, or what is missing"},
	{"Number", TypeNumber, "number of the iteration, or of the iterations shown"},
	{"First", TypeNumber, "number of the first of several equal ones in a row; 0 for one"},
	{"Output", TypeText, "the line of its output that tells most; may be empty"},
	{"Code", TypeNumber, "the exit code"},
	{"Failing", TypeNumber, "how many checks fail"},
	{"FailingOf", TypeText, "what fails in words, such as “2 of 5 tests fail”"},
	{"Passed", TypeNumber, "how many checks pass"},
	{"Total", TypeNumber, "how many there are; 0 when that is not known"},
	{"Tests", TypeBool, "whether the output says that the checks are tests"},
	{"Tasks", TypeBool, "whether the checks are tasks of a list, which fail while they are open"},
	{"Names", TypeList, "names of failing checks, five at most, or of the tasks that come first"},
	{"More", TypeNumber, "how many further names there are"},
	{"Guard", TypeText, "id of the guard that asked"},
	{"Cap", TypeText, "the cap that is reached, such as 50 iterations"},
	{"Room", TypeText, "what the cap leaves, such as 3 iterations"},
	{"Flag", TypeText, "the flag that sets the cap"},
	{"Who", TypeText, "who answered"},
	{"Answer", TypeText, "the answer"},
	{"Asked", TypeText, "what the command asked; empty when a guard did"},
	{"Words", TypeText, "the guidance that came with it; may be empty"},
	{"Signal", TypeText, "the signal, such as SIGSEGV"},
	{"Option", TypeText, "an option that the command considered"},
	{"Kind", TypeText, "the type of the evidence"},
	{"Data", TypeText, "what was observed"},
	{"Where", TypeText, "where it was observed; may be empty"},
	{"Title", TypeText, "the title of the task"},
	{"Scope", TypeText, "what the task is about; may be empty"},
	{"Estimate", TypeText, "how long it takes; may be empty"},
}

// Messages returns the texts of messages.yaml, sorted by key, with the variables that each can
// mention.
func Messages() []Message {
	var list []Message
	for _, key := range slices.Sorted(maps.Keys(builtinTexts())) {
		list = append(list, Message{key, mentionable(key)})
	}
	return list
}

// mentionable returns the variables that a text can mention: the evidence all those of a
// question, any other text those that the built-in one mentions.
func mentionable(key string) (list []Variable) {
	if strings.HasPrefix(key, "detail_") && key != "detail_not_offered" {
		return Variables()
	}
	for _, v := range own {
		for _, name := range mention().FindAllStringSubmatch(builtinTexts()[key], -1) {
			if name[1] == v.Name && !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
	}
	return list
}

// mention matches a variable in a text.
var mention = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.([A-Z]\w*)`) })

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
	r := report{doc: doc, problems: problem.Of(err)}
	known := builtinTexts()
	m := &messages{texts: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		if known[key] == "" {
			r.key("unknown text "+termsafe.Quoted(key, 40), nearest.DidYouMean(key, slices.Sorted(maps.Keys(known))), key)
			continue
		}
		r.faults(faultsIn(texts[key], mentionable(key)), key)
		if texts[key] == "" && doc.Has(key) {
			r.value(fmt.Sprintf("%q is empty", key), "give it a text, or remove the key", key)
		}
		m.texts[key] = texts[key]
	}
	return m, r.problems
}
