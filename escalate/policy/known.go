package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
)

// EveryGuard is how a rule says that it is for every guard of looprun's own. It covers
// none of [core.ProtocolIDs], nor the guards of a program: what the command itself has
// said, and what whoever wrote the rule may not know of, is answered by a rule that names
// it.
const EveryGuard core.GuardID = "*"

// Known are the questions, from the templates as they were loaded, with the options that
// they can have: templates.Set.Known gives them, also for guards of a program. The entry of [EveryGuard] holds for looprun's own guards that have
// none of their own. What is neither a guard of looprun's nor one of
// [core.ProtocolIDs] has to be entered to be named in a rule.
type Known map[core.GuardID]core.Question

// guards lists what a rule can name: looprun's own guards in the order in which
// they ask, what the command can say, then the others.
func (k Known) guards() []core.GuardID {
	ids := slices.Concat(core.GuardIDs(), core.ProtocolIDs())
	for _, id := range slices.Sorted(maps.Keys(k)) {
		if id != EveryGuard && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// question is what a guard's question is like; that of [EveryGuard] where it has none of
// its own.
func (k Known) question(id core.GuardID) core.Question {
	q, own := k[id]
	if !own && slices.Contains(core.GuardIDs(), id) {
		q = k[EveryGuard]
	}
	q.Guard, q.Kind, q.Mandatory = id, core.KindSelect, id.Mandatory()
	return q
}

// answers lists what can be answered to any of the guards: the ids of their
// options, but for those that only a person can take, and what a policy may
// answer unlisted.
func (k Known) answers(guards []core.GuardID) []string {
	var ids []string
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, guard := range guards {
		for _, o := range k.question(guard).Options {
			if o.Action != core.ActionReview {
				add(o.ID)
			}
		}
		for _, a := range unlistedAnswers {
			if isGuard(guard) {
				add(string(a))
			}
		}
	}
	return ids
}

// unlistedAnswers are what a policy may answer to a guard's question whether
// the question lists it or not.
var unlistedAnswers = []core.Action{core.ActionAccept, core.ActionPause, core.ActionCancel}

func isUnlisted(answer string) bool {
	return slices.Contains(unlistedAnswers, core.Action(answer))
}

// isGuard reports whether a question with that id is the question of a guard,
// and not about what the command has said.
func isGuard(id core.GuardID) bool { return id != "" && !slices.Contains(core.ProtocolIDs(), id) }

func join(ids []core.GuardID) string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, string(id))
	}
	return strings.Join(texts, ", ")
}
