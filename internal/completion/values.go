package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// wanted describes the possible values.
type wanted struct {
	mode  Mode
	finds []find
	words []string
	// key, if set, finds the keys before = in a list's items; all items but the first have
	// one.
	key find
}

// wants determines what a value is from the tag complete, or else from its placeholder in the
// help: RUN, FILE|none.
func (p *place) wants(v *kong.Value, placeholder string) wanted {
	w := wanted{mode: Words}
	if v.Enum != "" {
		w.words = slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
		return w
	}
	if tag := v.Tag.Get("complete"); tag != "" {
		placeholder = tag
	}
	w.key = p.lookup["key of "+placeholder]
	for word := range strings.SplitSeq(placeholder, "|") {
		name := word
		if word == "ID" || word == "NAME" { // of many things: the flag says of which
			name = v.Name + " " + word
		}
		switch {
		case p.lookup[name] != nil:
			w.finds = append(w.finds, p.lookup[name])
		case slices.Contains([]string{"FILE", "FILES", "FILE=CODE", "PATHS", "PATH", string(Files)}, word):
			w.mode = Files
		case word == "DIR" || word == "FOLDER" || word == string(Dirs):
			w.mode = Dirs
		case word != "" && word == strings.ToLower(word):
			w.words = append(w.words, word)
		}
	}
	return w
}

// value returns the candidates for a value; before is the text before it in the same word.
func (p *place) value(v *kong.Value, placeholder, before string) Reply {
	if placeholder == setting {
		return p.setting(before)
	}
	w := p.wants(v, placeholder)
	r := Reply{Mode: w.mode, Prefix: before}
	if v.IsSlice() && v.Tag.Sep > 0 && w.words != nil {
		if i := strings.LastIndexByte(p.Word, byte(v.Tag.Sep)); i >= 0 {
			for given := range strings.SplitSeq(p.Word[:i], string(v.Tag.Sep)) {
				w.words = slices.DeleteFunc(w.words, func(s string) bool { return s == given })
			}
			r.Prefix += p.Word[:i+1]
		}
	}
	if i := strings.LastIndexAny(p.Word, ",="); w.key != nil && i >= 0 {
		if r.Prefix += p.Word[:i+1]; p.Word[i] == ',' {
			w.finds = []find{w.key}
		}
	}
	for _, word := range w.words {
		r.Candidates = append(r.Candidates, Candidate{Value: word})
	}
	for _, find := range w.finds {
		r.Candidates = append(r.Candidates, find(p.Place)...)
	}
	return r
}
