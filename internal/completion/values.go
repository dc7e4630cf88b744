package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Kind is what a flag or an argument names, where only the program knows it.
type Kind string

// The kinds.
const (
	// Runs are the ids of runs.
	Runs Kind = "runs"
	// Answers are what looprun answer takes: a run that waits, or an option.
	Answers Kind = "answers"
	// Options are the ids of the options of a question that waits.
	Options Kind = "options"
	// Questions are the ids of questions that wait.
	Questions Kind = "questions"
	// Guards are ids of guards, and so of templates.
	Guards Kind = "guards"
	// Agents are the coding agents that can be set up.
	Agents Kind = "agents"
	// Topics are what looprun help takes.
	Topics Kind = "topics"
	// ExitCodes are the keys of --exit-code.
	ExitCodes Kind = "exit_codes"
	// Modes are the detached modes, and ModeKeys what else than everything one
	// of them can be for: KEY=MODE.
	Modes    Kind = "modes"
	ModeKeys Kind = "mode_keys"
)

// wanted is what a value can be.
type wanted struct {
	mode  Mode
	kinds []Kind
	words []string
	// keyed, when set, is what stands before = in the items of a list, all but
	// the first of which have it.
	keyed Kind
}

// wants reads what a value is from the tag complete (files, dirs or a [Kind]),
// else from what stands for it in the help: RUN, FILE|none.
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

// value are the candidates for a value; before is what stands before it in the
// same word.
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
