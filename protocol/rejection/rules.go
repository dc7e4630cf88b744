package rejection

// Issue is one rule that a rejection breaks.
type Issue struct {
	// Rule is a stable id, such as effort.count.
	Rule string `json:"rule"`
	// Field is the key in the document that must change.
	Field   string `json:"field"`
	Problem string `json:"problem"`
	Remedy  string `json:"remedy"`
}

// String returns the issue on one line.
func (i Issue) String() string { return i.Field + ": " + i.Problem + "; " + i.Remedy }

// rule checks whether a normalized rejection breaks it. A rule that does not apply to the
// reason counts as kept.
type rule struct {
	id, field string
	reason    Reason // the type it is for; empty: all
	check     func(Rejection) (problem, remedy string)
}

// rules returns all rules in the order in which issues are reported. A missing text is not
// also reported as too short, but a rule of its type is still reported, so that one correction
// is enough.
func rules() []rule {
	return []rule{
		{"effort.count", "what_attempted", "", checkEffortCount},
		{"effort.concrete", "what_attempted", "", checkEffortConcrete},
		{"alternative.missing", "suggested_alternative", "", missing(Rejection.suggested, "say what could be done in place of the task, in at least 20 characters")},
		{"alternative.short", "suggested_alternative", "", shorter(Rejection.suggested, minAlternative, "say what exactly could be done")},
		{"alternative.vague", "suggested_alternative", "", checkAlternativeVague},
		{"blocking.missing", "blocking_factor", "", missing(Rejection.blockingFactor, "name the one thing that stops the work, in at least 15 characters")},
		{"blocking.short", "blocking_factor", "", shorter(Rejection.blockingFactor, minBlockingFactor, "name the one thing that stops the work")},
		{"blocking.vague", "blocking_factor", "", checkBlockingVague},
		{"reason.unknown", "reason_type", "", checkReason},
		{"blocker.evidence", "evidence", Blocker, checkBlockerEvidence},
		{"blocker.evidence_type", "evidence", Blocker, checkBlockerEvidenceType},
		{"scope.original", "task_original_scope", ScopeCreep, missing(func(r Rejection) string { return r.OriginalScope }, "say what the task was when it began")},
		{"scope.growth", "scope_growth_factor", ScopeCreep, checkGrowth},
		{"scope.tasks", "alternative_tasks", ScopeCreep, checkScopeTasks},
		{"dependency.id", "blocking_factor", MissingDependency, checkDependencyID},
		{"dependency.required", "reason_detail", MissingDependency, mentions("required because", "say why the dependency is needed, as in “it is required because …”")},
		{"infeasible.evidence", "evidence", Infeasible, checkInfeasibleEvidence},
		{"infeasible.conflict", "reason_detail", Infeasible, mentions("conflict", "say what is in conflict with what, with that word", "conflicts", "conflicted", "conflicting")},
		{"infeasible.alternative", "suggested_alternative", Infeasible, checkFeasible},
		{"unclear.question", "reason_detail", UnclearRequirements, checkQuestion},
		{"unclear.interpreted", "reason_detail", UnclearRequirements, mentions("interpreted as", "say how the requirement can be read, as in “it can be interpreted as … or as …”")},
	}
}

// Validate returns an issue for every rule that the rejection breaks, in the order of the
// protocol (part D): effort, alternative, blocking factor, type. A valid rejection has none.
// The result is the same before and after [Rejection.Normalize].
func (r Rejection) Validate() []Issue {
	r = r.Normalize()
	var issues []Issue
	for _, rule := range rules() {
		if rule.reason != "" && rule.reason != r.ReasonType {
			continue
		}
		if problem, remedy := rule.check(r); problem != "" {
			issues = append(issues, Issue{Rule: rule.id, Field: rule.field, Problem: problem, Remedy: remedy})
		}
	}
	return issues
}
