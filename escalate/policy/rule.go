package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/nearest"
)

// maxReason is the maximum length of a reason in characters.
const maxReason = 500

// Rule is one rule of a policy.
type Rule struct {
	// Guards are the guards that it applies to; [EveryGuard] alone for all of them.
	Guards []core.GuardID
	// When is the condition; empty if the rule always holds.
	When string
	// Answer is an option id, or accept, pause or cancel.
	Answer string
	// Reason is the reason, on one line.
	Reason string
	// Verify is the shell command that must exit with 0; empty for none.
	Verify string
	// VerifyTimeout is how long Verify may take; zero means [DefaultVerifyTimeout].
	VerifyTimeout time.Duration
	// Guidance reaches the next iterations in the way that a person's words do; empty means
	// none. Notify means that the run's services are notified of the answer.
	Guidance string
	Notify   bool
	// Where is the rule's location in the file, FILE:LINE.
	Where string

	when         condition
	file         string
	line, column int
}

// covers reports whether the rule applies to that question.
func (r *Rule) covers(id core.GuardID) bool {
	if slices.Contains(r.Guards, EveryGuard) {
		return slices.Contains(core.GuardIDs(), id)
	}
	return slices.Contains(r.Guards, id)
}

// answersMandatory reports whether the rule may answer a question that must be put to a
// person. A rule may do so if it names [core.LadderExhausted], in addition to any other guard
// that asks.
func (r *Rule) answersMandatory() bool { return slices.Contains(r.Guards, core.LadderExhausted) }

// scope lists the guards that the rule applies to.
func (r *Rule) scope() []core.GuardID {
	if slices.Contains(r.Guards, EveryGuard) {
		return core.GuardIDs()
	}
	return r.Guards
}

// single reports whether the rule names exactly one guard.
func (r *Rule) single() bool { return len(r.Guards) == 1 && r.Guards[0] != EveryGuard }

// option returns the rule's answer to the question. why is why the rule cannot answer it, and
// unlisted means that the answer is not among the question's options.
func (r *Rule) option(q core.Question) (o core.Option, unlisted bool, why string) {
	o, ok := q.Option(r.Answer)
	guard, options := q.Guard, q.Options
	switch {
	case q.Exclusive:
		return o, false, fmt.Sprintf("only a person may answer the question about %s", guard)
	case ok && o.Action == core.ActionReview:
		return o, false, fmt.Sprintf("%s shows the history to a person, and a policy is none", r.Answer)
	case ok && o.Misnamed(guard) != "":
		return o, false, fmt.Sprintf("the option %s does not do what its name says: %s", o.ID, o.Action)
	case ok && guard.Mandatory() && !r.answersMandatory():
		return o, false, fmt.Sprintf("the question about %s is for a person, unless the rule names ladder_exhausted too", guard)
	case ok:
		return o, false, ""
	case len(options) == 0 && !isGuard(guard):
		return o, false, fmt.Sprintf("no template asks about %s, so that nothing can be answered to it", guard)
	case !isUnlisted(r.Answer) || !isGuard(guard):
		return o, false, fmt.Sprintf("%s is not among its options: %s", r.Answer, strings.Join(q.OptionIDs(), ", "))
	case r.Answer == string(core.ActionAccept) && r.Verify == "":
		return o, false, "accept is not among its options, and such an accept needs a verify command"
	}
	return core.Option{ID: r.Answer, Label: r.Answer, Action: core.Action(r.Answer)}, true, ""
}

// read reads and checks one rule of the file.
func (f ruleFile) read(r *report, file string, known Known, i int) Rule {
	at := func(key string) []any { return []any{"rules", i, key} }
	line, column := r.Pos("rules", i)
	rule := Rule{
		Guards: f.Guard.ids, When: f.When, Answer: f.Answer, Verify: strings.TrimSpace(f.Verify), VerifyTimeout: f.Limit,
		Reason: strings.Join(strings.Fields(f.Reason), " "),
		Where:  fmt.Sprintf("%s:%d", file, line), Guidance: strings.TrimSpace(f.Words), Notify: f.Notify,
		file: file, line: line, column: column,
	}
	good := f.Guard.check(r, known, at("guard"))
	if r.Has(at("verify")...) && rule.Verify == "" {
		r.Value(`"verify" is empty`, "write a shell command, or remove the key", at("verify")...)
	}
	r.positive(f.Limit > 0, "leave it out for that of the file", at("verify_timeout")...)
	if r.Has(at("verify_timeout")...) && !r.Has(at("verify")...) {
		r.Value(`"verify_timeout" without "verify"`, "add the command, or remove the time", at("verify_timeout")...)
	}
	if r.Has(at("reason")...) {
		checkReason(r, rule.Reason, at("reason"))
	}
	if good && r.Has(at("answer")...) {
		rule.checkAnswer(r, known, at("answer"))
		if r.Has(at("guidance")...) && (rule.Guidance == "" || !rule.can(known, core.Action.Continues)) {
			r.Value(fmt.Sprintf("guidance reaches no iteration: the rule answers %s", quote(f.Answer)), "remove it, or choose an answer that continues", at("guidance")...)
		}
	}
	if good && f.When == "" && rule.Verify == "" && rule.can(known, func(a core.Action) bool { return a == core.ActionDone }) {
		r.Value("the rule takes every pass that checks less than before for done", "add a condition or a verify command that shows that it is correct", at("answer")...)
	}
	if r.Has(at("when")...) {
		if !good {
			rule.Guards = nil // conditions are then checked for themselves
		}
		rule.when = compile(r, f.When, rule.scope(), known, at("when"))
	}
	if r.Has(at("unknown")...) {
		rule.when.skip = true
		f.checkDoubt(r, &rule, known, at("unknown"))
	}
	return rule
}

// checkDoubt checks the key unknown, which only affects rules that forbid.
func (f ruleFile) checkDoubt(r *report, rule *Rule, known Known, path []any) {
	switch {
	case f.Doubt != "skip":
		r.Value("unknown value "+quote(f.Doubt), "write skip, or remove the key for a rule that holds then", path...)
	case f.When == "":
		r.Value(`"unknown" without "when"`, "add a condition, or remove the key", path...)
	case !rule.can(known, core.Action.Stops):
		r.Value(fmt.Sprintf("a rule that answers %s never matches unknown facts anyway", quote(f.Answer)), "remove the key", path...)
	}
}

// can reports whether the rule can give an answer of that kind.
func (r *Rule) can(known Known, kind func(core.Action) bool) bool {
	return slices.ContainsFunc(r.scope(), func(id core.GuardID) bool {
		o, _, why := r.option(known.question(id))
		return why == "" && kind(o.Action)
	})
}

func checkReason(r *report, reason string, path []any) {
	odd := func(c rune) bool { return !unicode.IsGraphic(c) }
	switch n := utf8.RuneCountInString(reason); {
	case n == 0:
		r.Value(`"reason" is empty`, "say why this is the right answer: the journal and the result show it", path...)
	case n > maxReason:
		r.Value(fmt.Sprintf(`"reason" has %d characters`, n), fmt.Sprintf("shorten it to at most %d", maxReason), path...)
	case strings.IndexFunc(reason, odd) >= 0:
		r.Value(`"reason" holds a control character`, "remove it", path...)
	}
}

// check reports unknown guards; it returns true if all are known.
func (l guardList) check(r *report, known Known, path []any) bool {
	if len(l.ids) == 0 {
		if l.listed { // else it is reported already
			r.Value("the list of guards is empty", `name a guard, or write "*" for every guard`, path...)
		}
		return false
	}
	guards := known.guards()
	good := true
	fault := func(j int, text, remedy string) {
		good = false
		if l.listed {
			path = append(path[:3:3], j)
		}
		r.Value(text, remedy, path...)
	}
	for j, id := range l.ids {
		switch {
		case id == EveryGuard && l.listed:
			fault(j, `"*" in a list of guards`, `write guard: "*" for every guard`)
		case id == EveryGuard:
		case !slices.Contains(guards, id):
			fault(j, "unknown guard "+quote(string(id)), nearest.DidYouMean(id, guards))
		case slices.Contains(l.ids[:j], id):
			fault(j, "the guard "+quote(string(id))+" is in the list twice", "remove one of them")
		}
	}
	return good
}

// checkAnswer reports an answer that none of the questions accepts. A rule for one guard must
// name an option of that question; other rules skip questions without it.
func (r *Rule) checkAnswer(to *report, known Known, path []any) {
	if r.Answer == string(core.ActionReview) {
		to.Value("a policy cannot answer review, which shows the history to a person", "remove the rule, or answer something else", path...)
		return
	}
	guards := r.scope()
	first, found, offered := "", false, false
	for _, guard := range guards {
		q := known.question(guard)
		_, _, why := r.option(q)
		if why == "" {
			return
		}
		_, listed := q.Option(r.Answer)
		offered = offered || listed
		found = found || listed || (isUnlisted(r.Answer) && isGuard(guard))
		if first == "" || listed {
			first = why
		}
	}
	switch {
	case found && !offered && r.Answer == string(core.ActionAccept):
		to.Value("accept is not among the options of "+join(guards), "add a verify command that shows that the result is usable", path...)
	case found || len(known.answers(guards)) == 0:
		to.Value(first, "", path...)
	default:
		answers := known.answers(guards)
		text := fmt.Sprintf("%s has no option %s", r.Guards[0], quote(r.Answer))
		if !r.single() {
			text = "none of these guards has an option " + quote(r.Answer)
		}
		to.Value(text, nearest.DidYouMean(r.Answer, answers), path...)
	}
}
