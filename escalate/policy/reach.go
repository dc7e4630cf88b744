package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
)

// checkReach reports rules that never come to their turn: for each guard that
// they could answer, an earlier rule always answers and ends the run. An
// earlier rule that goes on or pauses hides nothing: its option may be missing,
// its budget spent, or its answer given already.
func checkReach(r *report, p *Policy) {
	for i := range p.Rules {
		var hiding []string
		open := false
		answerable := 0
		for _, guard := range p.Rules[i].scope() {
			if _, _, why := p.Rules[i].option(p.known.question(guard)); why != "" {
				continue
			}
			answerable++
			j := slices.IndexFunc(p.Rules[:i], func(before Rule) bool { return before.settles(guard, p.known) })
			if j < 0 {
				open = true
				break
			}
			line, _ := r.doc.Pos("rules", j)
			if text := fmt.Sprintf("line %d", line); !slices.Contains(hiding, text) {
				hiding = append(hiding, text)
			}
		}
		if !open && answerable > 0 {
			r.value("the rule can never match: "+strings.Join(hiding, ", ")+" always answers first",
				"move it up, or give the earlier rule a condition", "rules", i, "guard")
		}
	}
}

// endings are the actions that end a run for good.
var endings = []core.Action{core.ActionAccept, core.ActionCancel, core.ActionReject}

// settles reports whether the rule answers every question of the guard, so that
// the run ends.
func (r *Rule) settles(guard core.GuardID, known Known) bool {
	if !r.covers(guard) || r.Verify != "" || !r.when.holdsAlways(guard) {
		return false
	}
	o, _, why := r.option(known.question(guard))
	return why == "" && slices.Contains(endings, o.Action)
}
