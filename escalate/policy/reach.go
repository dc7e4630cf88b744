package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
)

// checkReach reports rules that can never match: for each guard that they could answer, an
// earlier rule answers first and ends the run. An earlier rule that continues or pauses hides
// nothing: its option may be missing, its budget spent, or its answer already given.
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
			j := slices.IndexFunc(p.Rules[:i], func(before Rule) bool { return before.settles(guard, &p.Rules[i], p.known) })
			if j < 0 {
				open = true
				break
			}
			line, _ := r.Pos("rules", j)
			if text := fmt.Sprintf("line %d", line); !slices.Contains(hiding, text) {
				hiding = append(hiding, text)
			}
		}
		if !open && answerable > 0 {
			r.Value("the rule can never match: "+strings.Join(hiding, ", ")+" answers first",
				"move it up, or give the earlier rule a condition", "rules", i, "guard")
		}
	}
}

// endings are the actions that end a run for good.
var endings = []core.Action{core.ActionAccept, core.ActionCancel, core.ActionReject}

// settles reports whether the rule answers every question of the guard that a later rule would
// answer, and so ends the run: its condition always holds, or is the same as the later rule's
// and does not fail on an unknown fact where the later one holds.
func (r *Rule) settles(guard core.GuardID, later *Rule, known Known) bool {
	if !r.covers(guard) || r.Verify != "" {
		return false
	}
	o, _, why := r.option(known.question(guard))
	l, _, _ := later.option(known.question(guard))
	held := o.Action.Stops() && !r.when.skip || !l.Action.Stops() || later.when.skip
	same := r.when.root != nil && r.when.text == later.when.text && held
	return why == "" && slices.Contains(endings, o.Action) && (same || r.when.holdsAlways(guard))
}
