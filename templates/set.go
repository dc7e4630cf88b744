package templates

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/problem"
)

// Set holds the templates of a run: one for each guard, and one for all others. It makes the
// questions, as [core.Questions]. Create one with [Load]; it is immutable and safe for
// concurrent use.
type Set struct {
	templates map[core.GuardID]*Template
	texts     *messages
	debug     bool
	ci        core.CI
	packs     []Checked
}

var _ core.Questions = (*Set)(nil)

// Load reads the folders, which take precedence over the built-in templates. For each guard,
// the template comes whole from the first folder that has one; for each other text, from the
// first messages.yaml that has it. Without folders, Load returns the built-in templates.
//
// The error contains everything that is wrong with any file in any folder, each with file,
// line and column.
func Load(dirs ...string) (*Set, error) {
	builtin, err := builtinTemplates()
	if err != nil {
		return nil, fmt.Errorf("built-in templates: %w", err)
	}
	set := &Set{templates: map[core.GuardID]*Template{}}
	packs := make([]*pack, len(dirs))
	var problems problem.List
	for i, dir := range dirs {
		var found problem.List
		packs[i], found = readPack(dir)
		problems = append(problems, found...)
		set.packs = append(set.packs, Checked{dir, packs[i].about, packs[i].strays})
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	set.add(builtin)
	for _, p := range slices.Backward(packs) {
		set.add(p.templates)
		if p.messages != nil {
			set.texts = &messages{texts: p.messages.texts, below: set.texts}
		}
	}
	return set, nil
}

func (s *Set) add(list []*Template) {
	for _, t := range list {
		s.templates[t.Guard] = t
	}
}

// Packs returns the folders that the set was read from.
func (s *Set) Packs() []Checked { return s.packs }

// WithDebug returns a copy of the set that knows whether there is a debug command, for options
// that require one. A new set assumes there is none.
func (s *Set) WithDebug(configured bool) *Set {
	with := *s
	with.debug = configured
	return &with
}

// WithCI returns a copy of the set for questions of that CI job, or of that branch. A new set
// knows neither.
func (s *Set) WithCI(ci core.CI) *Set {
	with := *s
	with.ci = ci
	return &with
}

// Template returns the template for the guard: its own, or that of [AnyGuard].
func (s *Set) Template(guard core.GuardID) *Template {
	if t, ok := s.templates[guard]; ok {
		return t
	}
	return s.templates[AnyGuard]
}

// Templates returns all templates: those of guards in the order in which they ask, those about
// the command's messages, and that of [AnyGuard].
func (s *Set) Templates() []*Template {
	ids := guardIDs()
	rank := func(t *Template) int { return slices.Index(ids, t.Guard) }
	return slices.SortedFunc(maps.Values(s.templates), func(a, b *Template) int { return cmp.Compare(rank(a), rank(b)) })
}

// Known returns the questions with all the options that policy rules can name: those of
// looprun's own guards, and of others. Another guard has the question of [AnyGuard] if it has
// no template.
func (s *Set) Known(others ...core.GuardID) map[core.GuardID]core.Question {
	known := map[core.GuardID]core.Question{}
	for _, t := range s.Templates() {
		options := convert.Each(t.Options, func(o Option) core.Option { return o.Option })
		known[t.Guard] = core.Question{Guard: t.Guard, Exclusive: t.Exclusive, Never: t.Never, Options: options}
	}
	for _, id := range others {
		if _, ok := known[id]; !ok {
			known[id] = known[AnyGuard]
		}
	}
	return known
}

// Asks reports whether a text of the set's folders mentions the variable.
func (s *Set) Asks(variable string) bool {
	for _, t := range s.templates {
		if strings.Contains(string(t.source), "."+variable) {
			return true
		}
	}
	for m := s.texts; m != nil; m = m.below {
		for _, text := range m.texts {
			if strings.Contains(text, "."+variable) {
				return true
			}
		}
	}
	return false
}

// AcceptedWarning returns the warning to print when a partial result was accepted.
func (s *Set) AcceptedWarning(guard core.GuardID) string {
	return s.texts.say("accepted_warning", facts{"Guard": string(guard)})
}

// Summary returns the progress of the work, in the words of the set.
func (s *Set) Summary(state *core.State) string {
	return (&source{state: state, texts: s.texts}).summary()
}

// Builtin returns the built-in texts, such as those of the prompt. A key that they do not have
// gives an empty text.
func Builtin() core.Texts { return (*messages)(nil) }
