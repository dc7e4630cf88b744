package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Kind is what a flag or an argument names, if only the program knows the possible values.
type Kind string

// The kinds.
const (
	// Runs stands for the ids of runs.
	Runs Kind = "runs"
	// Answers stands for the arguments of looprun answer: a run that waits, or an option.
	Answers Kind = "answers"
	// Options stands for the ids of a waiting question's options.
	Options Kind = "options"
	// Questions stands for the ids of waiting questions.
	Questions Kind = "questions"
	// Guards stands for the ids of guards, and so of templates.
	Guards Kind = "guards"
	// Agents stands for the coding agents that can be set up.
	Agents Kind = "agents"
	// Topics stands for the topics of looprun help.
	Topics Kind = "topics"
	// ExitCodes stands for the keys of --exit-code.
	ExitCodes Kind = "exit_codes"
	// Modes stands for the detached modes, and ModeKeys for the keys of KEY=MODE, which limit
	// a mode to some questions.
	Modes    Kind = "modes"
	ModeKeys Kind = "mode_keys"
)

// wanted describes the possible values.
type wanted struct {
	mode  Mode
	kinds []Kind
	words []string
	// keyed, if set, is the kind of the keys before = in a list's items; all items but the
	// first have one.
	keyed Kind
}

// wants determines what a value is from the tag complete (files, dirs or a [Kind]), or else
// from its placeholder in the help: RUN, FILE|none.
func wants(v *kong.Value, placeholder string) wanted {
	w := wanted{mode: Words}
	if v.Enum != "" {
		w.words = slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
		return w
	}
	if tag := v.Tag.Get("complete"); tag != "" {
		placeholder = tag
	}
	for word := range strings.SplitSeq(placeholder, "|") {
		switch word {
		case "FILE", "FILES", "FILE=CODE", "PATHS", "PATH", string(Files):
			w.mode = Files
		case "DIR", "FOLDER", string(Dirs):
			w.mode = Dirs
		case "RUN":
			w.kinds = append(w.kinds, Runs)
		case "RUN OPTION":
			w.kinds = append(w.kinds, Answers)
		case "NAME":
			if v.Name == "agent" {
				w.kinds = append(w.kinds, Agents)
			}
		case "GUARD":
			w.kinds = append(w.kinds, Guards)
		case "KEY=N":
			w.kinds = append(w.kinds, ExitCodes)
		case "MODE[,KEY=MODE]":
			w.kinds, w.keyed = append(w.kinds, Modes), ModeKeys
		case "ID":
			if kind := Kind(v.Name + "s"); kind == Guards || kind == Options || kind == Questions {
				w.kinds = append(w.kinds, kind)
			}
		case string(Runs), string(Answers), string(Options), string(Questions), string(Guards), string(ExitCodes), string(Topics):
			w.kinds = append(w.kinds, Kind(word))
		default:
			if word != "" && word == strings.ToLower(word) {
				w.words = append(w.words, word)
			}
		}
	}
	return w
}

// value returns the candidates for a value; before is the text before it in the same word.
func (p *place) value(v *kong.Value, placeholder, before string) Reply {
	if placeholder == setting {
		return p.setting(before)
	}
	w := wants(v, placeholder)
	r := Reply{Mode: w.mode, Prefix: before}
	if v.IsSlice() && v.Tag.Sep > 0 && w.words != nil {
		if i := strings.LastIndexByte(p.Word, byte(v.Tag.Sep)); i >= 0 {
			for given := range strings.SplitSeq(p.Word[:i], string(v.Tag.Sep)) {
				w.words = slices.DeleteFunc(w.words, func(s string) bool { return s == given })
			}
			r.Prefix += p.Word[:i+1]
		}
	}
	if i := strings.LastIndexAny(p.Word, ",="); w.keyed != "" && i >= 0 {
		if r.Prefix += p.Word[:i+1]; p.Word[i] == ',' {
			w.kinds = []Kind{w.keyed}
		}
	}
	for _, word := range w.words {
		r.Candidates = append(r.Candidates, Candidate{Value: word})
	}
	for _, kind := range w.kinds {
		if p.lookup != nil {
			r.Candidates = append(r.Candidates, p.lookup(kind, p.Place)...)
		}
	}
	return r
}
