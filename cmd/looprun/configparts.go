package main

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/protocol/ladder"
)

// ladderRung is a rung as looprun.yaml has it.
type ladderRung struct {
	Rung     ladder.RungName   `yaml:"rung,required" json:"rung" doc:"Who tries on this rung; the last one is the person's."`
	Attempts int               `yaml:"attempts" json:"attempts,omitempty" doc:"Distinct approaches that may fail before the next rung."`
	Experts  map[string]string `yaml:"experts" json:"experts,omitempty" doc:"Shell line for each expert, by name, in the order in which they are asked."`
}

// ladderConfig is the key ladder of looprun.yaml.
type ladderConfig []ladderRung

// config is the ladder with its experts in the order of the file.
func (c ladderConfig) config(doc *strictyaml.Document, path ...any) ladder.Config {
	var out ladder.Config
	for i, r := range c {
		rung := ladder.Rung{Rung: r.Rung, Attempts: r.Attempts}
		names := slices.Collect(maps.Keys(r.Experts))
		at := func(name string) int {
			line, column := doc.KeyPos(append(slices.Clone(path), i, "experts", name)...)
			return line<<16 + column
		}
		slices.SortFunc(names, func(a, b string) int { return at(a) - at(b) })
		for _, name := range names {
			rung.Experts = append(rung.Experts, ladder.Expert{Name: name, Command: r.Experts[name]})
		}
		out = append(out, rung)
	}
	return out
}

// readParts reads the keys of a part of the file that are no flags.
func (l *layer) readParts(from reflect.Value, problems *strictyaml.Problems, path func(...any) []any) {
	doc := l.file.doc
	if l.signature, _ = from.FieldByName("Signature").Interface().(*signatureConfig); l.signature != nil {
		l.signature.locate(l.file.name, doc, path("signature")...)
		if _, err := l.signature.options(""); err != nil {
			*problems = append(*problems, patternProblems(err)...)
		}
		if _, both := l.values["rules"]; both {
			*problems = append(*problems, doc.Problem("rules and signature exclude each other", "keep one of them", path("rules")...))
		}
	}
	if c, _ := from.FieldByName("Ladder").Interface().(*ladderConfig); c != nil {
		l.ladder = c.config(doc, path("ladder")...)
		for i, r := range *c {
			if at := path("ladder", i, "attempts"); r.Attempts == 0 && doc.Has(at...) {
				*problems = append(*problems, doc.Problem("ladder: a rung without attempts would do nothing", "use 1 or more, or leave attempts out", at...))
			}
		}
		for _, p := range l.ladder.Validate() {
			*problems = append(*problems, doc.Problem("ladder: "+p.Text, p.Remedy, path(append([]any{"ladder"}, p.Path...)...)...))
		}
	}
	if hooks, _ := from.FieldByName("Hooks").Interface().(*map[string]string); hooks != nil {
		l.readHooks(*hooks, problems, path)
	}
}

// hookKeys are the hooks that there are.
var hookKeys = []string{"on_question", "on_trip", "on_end"}

// readHooks makes of the key hooks the keys that the flags have.
func (l *layer) readHooks(hooks map[string]string, problems *strictyaml.Problems, path func(...any) []any) {
	for _, name := range slices.Sorted(maps.Keys(hooks)) {
		key := "hook_" + name
		blank := new(shellLine).UnmarshalText([]byte(hooks[name]))
		_, twice := l.values[key]
		switch {
		case !slices.Contains(hookKeys, name):
			remedy := firstNonEmpty(nearest.DidYouMean(name, hookKeys), "there are "+strings.Join(hookKeys, ", "))
			*problems = append(*problems, l.file.doc.Problem(fmt.Sprintf("unknown hook %q", name), remedy, path("hooks", name)...))
		case twice:
			*problems = append(*problems, l.file.doc.Problem(fmt.Sprintf("the hook %s stands here and as %s", name, key), "keep one of them", path("hooks", name)...))
		case blank != nil:
			*problems = append(*problems, l.file.doc.Problem(fmt.Sprintf("the hook %s: %v", name, blank), "", path("hooks", name)...))
		default:
			l.values[key] = hooks[name]
			l.hooked = append(l.hooked, key)
		}
	}
}

// modes are detached modes: for all questions, and for kinds and single ones.
type modes struct {
	all string
	by  map[string]string
}

// detachedModes are the modes that there are.
var detachedModes = []string{"deny", "defaults", "auto", "defer"}

// UnmarshalText reads MODE, or a list of MODE and KEY=MODE.
func (m *modes) UnmarshalText(b []byte) error {
	*m = modes{}
	if strings.TrimSpace(string(b)) == "" {
		return nil
	}
	var errs []error
	for word := range strings.SplitSeq(string(b), ",") {
		key, mode, keyed := strings.Cut(strings.TrimSpace(word), "=")
		if !keyed {
			key, mode = "all", key
		}
		key, mode = strings.TrimSpace(key), strings.TrimSpace(mode)
		_, twice := m.by[key]
		switch {
		case !slices.Contains(detachedModes, mode):
			errs = append(errs, fmt.Errorf("%q is no detached mode; there are %s", mode, orNearest(mode, detachedModes)))
		case key == "":
			errs = append(errs, fmt.Errorf("%q names no kind and no question", word))
		case twice || key == "all" && m.all != "":
			errs = append(errs, fmt.Errorf("%s is given twice", key))
		case key == "all":
			m.all = mode
		default:
			if m.by == nil {
				m.by = map[string]string{}
			}
			m.by[key] = mode
		}
	}
	return errors.Join(errs...)
}

// orNearest are the known words, and which of them was probably meant.
func orNearest(word string, known []string) string {
	text := strings.Join(known, ", ")
	if near := nearest.Word(word, known); near != "" {
		text += "; did you mean " + near + "?"
	}
	return text
}

// MarshalText writes the modes as they are read.
func (m modes) MarshalText() ([]byte, error) {
	var words []string
	if m.all != "" {
		words = append(words, m.all)
	}
	for _, key := range slices.Sorted(maps.Keys(m.by)) {
		words = append(words, key+"="+m.by[key])
	}
	return []byte(strings.Join(words, ",")), nil
}

// IsZero says that no mode was given.
func (m modes) IsZero() bool { return m.all == "" && len(m.by) == 0 }

// has reports whether some question has the mode.
func (m modes) has(mode string) bool {
	return m.all == mode || slices.Contains(slices.Collect(maps.Values(m.by)), mode)
}
