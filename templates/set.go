package templates

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/problem"
)

// Set is the templates of a run: one for each guard, and one for all others. It
// makes the questions, as [core.Questions]. Make one with [Load]; it does not
// change afterwards and can be used by several goroutines.
type Set struct {
	templates map[core.GuardID]*Template
	texts     *messages
	debug     bool
}

var _ core.Questions = (*Set)(nil)

// Load reads the folders over the built-in templates. For each guard the first
// folder that has a template for it is taken, whole; for each other text the
// first messages.yaml that has it. Without folders it gives the built-in ones.
//
// The error holds everything that is wrong with any file in any folder, each
// with file, line and column.
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

// WithDebug returns a set that knows whether there is a debug command, for
// options that require one. A set is made without.
func (s *Set) WithDebug(configured bool) *Set {
	with := *s
	with.debug = configured
	return &with
}

// Template is the template that asks for the guard: its own, or that of
// [AnyGuard].
func (s *Set) Template(guard core.GuardID) *Template {
	if t, ok := s.templates[guard]; ok {
		return t
	}
	return s.templates[AnyGuard]
}

// Templates lists all: those of guards in the order in which they ask, those
// about what the command said, and that of [AnyGuard].
func (s *Set) Templates() []*Template {
	list := make([]*Template, 0, len(s.templates))
	for _, t := range s.templates {
		list = append(list, t)
	}
	ids := guardIDs()
	rank := func(t *Template) int { return slices.Index(ids, string(t.Guard)) }
	slices.SortFunc(list, func(a, b *Template) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// Known are the questions with all options that rules of policies can name: of looprun's
// own guards, and of others, whose questions are that of [AnyGuard] where no template is for
// them.
func (s *Set) Known(others ...core.GuardID) map[core.GuardID]core.Question {
	known := map[core.GuardID]core.Question{}
	for _, t := range s.Templates() {
		q := core.Question{Guard: t.Guard, Exclusive: t.Exclusive, Never: t.Never}
		for _, o := range t.Options {
			q.Options = append(q.Options, o.Option)
		}
		known[t.Guard] = q
	}
	for _, id := range others {
		if _, ok := known[id]; !ok {
			known[id] = known[AnyGuard]
		}
	}
	return known
}

// Review is the option that a person is offered on every question.
func (s *Set) Review() core.Option {
	return core.Option{
		ID: string(core.ActionReview), Action: core.ActionReview,
		Label: s.texts.say("review_label", nil), Description: s.texts.say("review_description", nil),
	}
}

// AcceptedWarning is what is printed when a partial result was accepted.
func (s *Set) AcceptedWarning(guard core.GuardID) string {
	return s.texts.say("accepted_warning", facts{"Guard": string(guard)})
}

// Summary says how far the work is, in the words of the set.
func (s *Set) Summary(state *core.State) string {
	text, _ := (&source{state: state, texts: s.texts}).summary().(string)
	return text
}
