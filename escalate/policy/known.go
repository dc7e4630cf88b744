package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun"
)

// EveryGuard is how a rule says that it is for every guard of looprun's own. It covers
// none of [looprun.ProtocolIDs], nor the guards of a program: what the command itself has
// said, and what whoever wrote the rule may not know of, is answered by a rule that names
// it.
const EveryGuard looprun.GuardID = "*"

// Known are the options of each question, from the templates as they were
// loaded: templates.Set.Options gives them, also for guards of a program. The entry of [EveryGuard] holds for looprun's own guards that have
// none of their own. What is neither a guard of looprun's nor one of
// [looprun.ProtocolIDs] has to be entered to be named in a rule.
type Known map[looprun.GuardID][]looprun.Option

// guards lists what a rule can name: looprun's own guards in the order in which
// they ask, what the command can say, then the others.
func (k Known) guards() []looprun.GuardID {
	ids := slices.Concat(looprun.GuardIDs(), looprun.ProtocolIDs())
	for _, id := range slices.Sorted(maps.Keys(k)) {
		if id != EveryGuard && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (k Known) options(id looprun.GuardID) []looprun.Option {
	return k[k.entry(id)]
}

// entry is where it stands what a guard's question is like: under the guard, or
// under [EveryGuard] where that has none of its own.
func (k Known) entry(id looprun.GuardID) looprun.GuardID {
	if _, own := k[id]; !own && slices.Contains(looprun.GuardIDs(), id) {
		return EveryGuard
	}
	return id
}

func (k Known) option(guard looprun.GuardID, id string) (looprun.Option, bool) {
	q := looprun.Question{Options: k.options(guard)}
	return q.Option(id)
}

// answers lists what can be answered to any of the guards: the ids of their
// options, but for those that only a person can take, and what a policy may
// answer unlisted.
func (k Known) answers(guards []looprun.GuardID) []string {
	var ids []string
	add := func(id string) {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, guard := range guards {
		for _, o := range k.options(guard) {
			if o.Action != looprun.ActionReview {
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
var unlistedAnswers = []looprun.Action{looprun.ActionAccept, looprun.ActionPause, looprun.ActionCancel}

func isUnlisted(answer string) bool {
	return slices.Contains(unlistedAnswers, looprun.Action(answer))
}

// isGuard reports whether a question with that id is the question of a guard,
// and not about what the command has said.
func isGuard(id looprun.GuardID) bool { return id != "" && !slices.Contains(looprun.ProtocolIDs(), id) }

func join(ids []looprun.GuardID) string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, string(id))
	}
	return strings.Join(texts, ", ")
}
