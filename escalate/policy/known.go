package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
)

// EveryGuard makes a rule apply to every guard of looprun's own. It covers neither
// [core.ProtocolIDs] nor the guards of a program: questions about the command's own messages,
// and guards that the author of the rule may not know, need a rule that names them.
const EveryGuard core.GuardID = "*"

// Known maps guards to their questions, from the templates as loaded, with the options that
// they can have. templates.Set.Known returns it, also for a program's own guards. The entry of
// [EveryGuard] applies to looprun's own guards that have no entry. A rule can name any other
// guard only if it has an entry or is one of [core.ProtocolIDs].
type Known map[core.GuardID]core.Question

// guards lists the ids that a rule can name: looprun's own guards in the order in which they
// ask, then the command's messages, then the rest.
func (k Known) guards() []core.GuardID {
	ids := slices.Concat(core.GuardIDs(), core.ProtocolIDs())
	for _, id := range slices.Sorted(maps.Keys(k)) {
		if id != EveryGuard && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// question returns the form of a guard's question. A guard of looprun's without an entry has
// the question of [EveryGuard].
func (k Known) question(id core.GuardID) core.Question {
	q, own := k[id]
	if !own && slices.Contains(core.GuardIDs(), id) {
		q = k[EveryGuard]
	}
	q.Guard, q.Kind, q.Mandatory = id, core.KindSelect, id.Mandatory()
	return q
}

// answers lists the possible answers to any of the guards: the ids of their options, except
// those that only a person can choose, and the answers that a policy may give unlisted.
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

// unlistedAnswers are the actions with which a policy may answer a guard's question even if
// the question does not list them.
var unlistedAnswers = []core.Action{core.ActionAccept, core.ActionPause, core.ActionCancel}

func isUnlisted(answer string) bool {
	return slices.Contains(unlistedAnswers, core.Action(answer))
}

// isGuard reports whether the id is that of a guard, and not of a question about the command's
// messages.
func isGuard(id core.GuardID) bool { return id != "" && !slices.Contains(core.ProtocolIDs(), id) }

func join(ids []core.GuardID) string {
	return strings.Join(convert.Strings(ids), ", ")
}
