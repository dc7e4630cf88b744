package ask

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// longestID is the maximum length of an id, in code points: ids are printed, typed and stored
// in the journal.
const longestID = 100

// checkQuestions checks what the JSON shape cannot express. Anything that already has a
// problem is not reported twice.
func checkQuestions(questions []Question, path string, ps *Problems) {
	ids := map[string]int{}
	for i, q := range questions {
		at := fmt.Sprintf("%s[%d]", path, i)
		if ps.Has(at) {
			continue
		}
		checkID(q.ID, at+".id", ps)
		if q.ID == core.AgentAsks {
			ps.Add(at+".id", excerpt(q.ID)+" is looprun's own, for what an agent asks when its turn ends", "choose another id")
		}
		if first, twice := ids[q.ID]; twice {
			ps.Add(at+".id", fmt.Sprintf("%s is the id of %s[%d] too", excerpt(q.ID), path, first), "give each question an id of its own")
		} else {
			ids[q.ID] = i
		}
		q.check(at, ps)
	}
}

func (q Question) check(at string, ps *Problems) {
	if ps.Has(at + ".kind") {
		return // what else is right depends on it
	}
	switch n := len(q.Options); {
	case ps.Has(at + ".options"):
	case q.Kind != core.KindSelect && n > 0:
		ps.Add(at+".options", fmt.Sprintf("a question of the kind %s has no options", q.Kind), "leave them out, or make the kind select")
	case q.Kind == core.KindSelect && n < MinOptions:
		ps.Add(at+".options", "it has "+plural.Count(n, "option"), fmt.Sprintf("give %d to %d, or make the kind confirm or text", MinOptions, MaxOptions))
	}
	if q.Kind == core.KindSelect {
		q.checkOptions(at, ps)
	}
	if q.MultiSelect && q.Kind != core.KindSelect {
		ps.Add(at+".multi_select", fmt.Sprintf("several options cannot be chosen of the kind %s", q.Kind), "leave it out, or make the kind select")
	}
	if q.AllowText != nil && !*q.AllowText && q.Kind == core.KindText {
		ps.Add(at+".allow_text", "a question of the kind text takes text", "leave it out, or make the kind select or confirm")
	}
	if q.Safe != "" && q.Kind != core.KindConfirm {
		ps.Add(at+".safe", "only a question of the kind confirm has it", "leave it out")
	}
	q.checkDefault(at+".default", ps)
}

func (q Question) checkDefault(at string, ps *Problems) {
	if q.Default == "" || q.Kind == core.KindText || ps.Has(at) {
		return
	}
	chosen := []string{q.Default}
	if q.MultiSelect {
		chosen = strings.Split(q.Default, "\n")
	}
	for i, id := range chosen {
		if slices.Contains(chosen[:i], id) {
			ps.Add(at, excerpt(id)+" is there twice", "name each option once")
		}
		q.checkDefaultID(id, at, ps)
	}
}

func (q Question) checkDefaultID(id, at string, ps *Problems) {
	ids := q.ids()
	if slices.Contains(ids, id) {
		return
	}
	for _, o := range q.choices() {
		if normal(o.Label) == normal(id) {
			ps.Add(at, excerpt(id)+" is a label", "write the id of the option, "+o.ID)
			return
		}
	}
	ps.Add(at, excerpt(id)+" is no option", nearest.DidYouMean(id, ids))
}

// checkOptions requires ids and labels that distinguish the options, including a label that
// could be taken for another option's id.
func (q Question) checkOptions(at string, ps *Problems) {
	for i, o := range q.Options {
		here := fmt.Sprintf("%s.options[%d]", at, i)
		if ps.Has(here) || ps.Has(here+".label") || o.Label == "" {
			continue
		}
		checkID(o.ID, here+".id", ps)
		for j, p := range q.Options[:i] {
			there := fmt.Sprintf("options[%d]", j)
			switch {
			case normal(o.Label) == normal(p.Label):
				ps.Add(here+".label", fmt.Sprintf("%s is the label of %s too", excerpt(o.Label), there), "give each option a label of its own")
			case o.ID == p.ID:
				ps.Add(here+".id", fmt.Sprintf("%s is the id of %s too", excerpt(o.ID), there), "give each option an id of its own")
			case normal(o.Label) == normal(p.ID):
				ps.Add(here+".label", fmt.Sprintf("%s is the id of %s", excerpt(o.Label), there), "choose another id there")
			case normal(o.ID) == normal(p.Label):
				ps.Add(here+".id", fmt.Sprintf("%s is the label of %s", excerpt(o.ID), there), "choose another id")
			}
		}
	}
}

// checkID requires an id that can be printed and typed on one line.
func checkID(id, at string, ps *Problems) {
	switch {
	case ps.Has(at):
	case termsafe.Line(id) != id || strings.ContainsRune(id, utf8.RuneError):
		ps.Add(at, excerpt(id)+" has blank space around it or characters that cannot be seen", "use letters, digits and dashes")
	case utf8.RuneCountInString(id) > longestID:
		ps.Add(at, fmt.Sprintf("the id has more than %d characters", longestID), "write a short one")
	}
}
