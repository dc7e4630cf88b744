package templates

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// messagesFile is the file in a pack that contains the other texts.
const messagesFile = "messages.yaml"

// Message is a text of messages.yaml.
type Message struct {
	Key string `json:"key"`
	// Variables are the variables that it can mention.
	Variables []Variable `json:"variables,omitempty"`
}

// own returns variables that only some messages have, given as "Name:type".
func own(names ...string) []Variable {
	var list []Variable
	for _, n := range names {
		name, kind, _ := strings.Cut(n, ":")
		list = append(list, Variable{Name: name, Type: VariableType(kind), Description: messageVariables[name]})
	}
	return list
}

var messageVariables = map[string]string{
	"Label":   "what the last iteration came to, or the label of an option",
	"Why":     "why: the exit code or the cause, or what is missing",
	"Number":  "number of the iteration",
	"First":   "number of the first of several equal ones in a row; 0 for one",
	"Output":  "the line of its output that tells most; may be empty",
	"Code":    "the exit code",
	"Failing": "how many checks fail",
	"Passed":  "how many checks pass",
	"Total":   "how many checks there are; 0 when that is not known",
	"Tests":   "whether the output says that the checks are tests",
	"Tasks":   "whether the checks are tasks of a list, which fail while they are open",
	"Names":   "names of failing checks, five at most, or of the tasks that come first",
	"More":    "how many further names there are",
	"Guard":   "id of the guard that stopped the run",
	"Cap":     "the cap that is reached, such as 50 iterations",
	"Room":    "what the cap leaves, such as 3 iterations",
	"Flag":    "the flag that sets the cap",

	"Who":    "who answered",
	"Answer": "the answer",
	"Asked":  "what the command asked; empty when a guard did",
	"Words":  "the guidance that came with it; may be empty",
	"Signal": "the signal, such as SIGSEGV",

	"Option":   "an option that the command considered",
	"Kind":     "the type of the evidence",
	"Data":     "what was observed",
	"Where":    "where it was observed; may be empty",
	"Title":    "the title of the task",
	"Scope":    "what the task is about; may be empty",
	"Estimate": "how long it takes; may be empty",
}

// Messages returns the texts of messages.yaml, sorted by key, with the variables that each can
// mention.
func Messages() []Message {
	all := messageKinds()
	list := make([]Message, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		list = append(list, Message{key, all[key]})
	}
	return list
}

// messageKinds returns the variables that each text can mention, by key.
func messageKinds() map[string][]Variable {
	kinds := map[string][]Variable{
		"detail_not_offered": own("Label:text", "Why:text"),
		"error_line":         own("First:number", "Number:number", "Label:text", "Why:text", "Output:text"),
		"error_exit":         own("Code:number"),
		"summary_failing":    own("Failing:number", "Total:number", "Names:list", "More:number", "Tests:bool", "Tasks:bool"),
		"summary_label":      own("Label:text"),
		"state_passing":      own("Passed:number", "Total:number", "Tests:bool", "Tasks:bool"),
		"default_note":       own("Label:text"),
		"accepted_warning":   own("Guard:text"),

		"failing_of":  own("Failing:number", "Total:number", "Tests:bool", "Tasks:bool"),
		"before_line": own("Number:number", "Who:text", "Answer:text", "Asked:text", "Words:text"),
		"who_words":   own("Label:text"),
		"who_check":   own("Label:text"),

		"considered_line": own("Option:text", "Why:text"),
		"evidence_line":   own("Kind:text", "Data:text", "Where:text"),
		"subtask_line":    own("Title:text", "Scope:text", "Estimate:text", "Names:list"),
		"list_more":       own("More:number"),
	}
	maps.Copy(kinds, map[string][]Variable{
		core.NoteCapped: own("Cap:text", "Flag:text"), core.NoteRoom: own("Room:text", "Flag:text"),
		core.NoteKnown: nil, core.NoteNotGiven: own("Label:text", "Why:text"), core.NoteFindings: nil,
		core.NoteBest: own("Number:number", "Failing:text"), core.LabelBest: own("Number:number", "Failing:text"),
	})
	for _, key := range []string{"place", "failing", "silent", "output", "errors", "words", "tripped", "waiting", "counts", "far"} {
		kinds["detail_"+key] = Variables()
	}
	for _, how := range core.Hows() {
		kinds["how_"+string(how)] = own("Signal:text")
	}
	for _, part := range toldParts {
		kinds[part.key] = Variables()
	}
	for _, key := range needs {
		kinds["why_"+key] = nil
	}
	for _, cause := range signal.Causes() {
		kinds["cause_"+cause] = nil
	}
	for _, reason := range rejection.Reasons() {
		kinds["suggested_"+strings.ToLower(string(reason))] = nil
	}
	for _, key := range []string{"summary_none", "summary_done", "summary_unknown", "state_unknown", "review_label", "review_description", "exclusive_note"} {
		kinds[key] = nil
	}
	return kinds
}

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
	kinds := messageKinds()
	m := &messages{texts: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		variables, ok := kinds[key]
		if !ok {
			r.key("unknown text "+termsafe.Quoted(key, 40), nearest.DidYouMean(key, slices.Sorted(maps.Keys(kinds))), key)
			continue
		}
		r.faults(faultsIn(texts[key], variables), key)
		if texts[key] == "" && doc.Has(key) {
			r.value(fmt.Sprintf("%q is empty", key), "give it a text, or remove the key", key)
		}
		m.texts[key] = texts[key]
	}
	return m, r.problems
}
