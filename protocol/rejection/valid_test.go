package rejection

import (
	"slices"
	"testing"
)

// valid is a valid rejection of the type, with nothing that its rules do not need.
func valid(reason Reason) Rejection {
	r := Rejection{
		Task: "Upload the nightly report", Agent: "fixer", ReasonType: reason, Summary: "The report cannot be uploaded.",
		Attempted:      []string{"Ran upload.sh with the token from the vault: 403", "Renewed the token and ran it again: 403"},
		BlockingFactor: "The storage bucket refuses every write",
		Suggested:      "Write the report to the local disk",
	}
	switch reason {
	case Blocker:
		r.Evidence = []Evidence{{Type: "api_response", Data: "403 AccessDenied", Source: "PUT /reports"}}
	case ScopeCreep:
		r.OriginalScope = "Upload one file"
		r.Growth = 2
		r.Alternatives = []Task{{Title: "Upload one file"}, {Title: "Retry failed uploads", Dependencies: []string{"Upload one file"}}}
	case MissingDependency:
		r.BlockingFactor = "The upload depends on TASK-12"
		r.Detail = "It is required because only that task creates the bucket."
	case Infeasible:
		r.Evidence = []Evidence{{Type: "document", Data: "Reports are kept for 7 days"}, {Type: "document", Data: "Reports are never kept"}}
		r.Detail = "The two rules of retention are in conflict."
		r.Suggested = "Keep the reports for 7 days and delete them after that"
	case UnclearRequirements:
		r.Detail = "Nightly can be interpreted as UTC or as local time. Which one is meant?"
	}
	return r
}

func ids(issues []Issue) []string {
	list := []string{}
	for _, i := range issues {
		list = append(list, i.Rule)
	}
	return list
}

func TestValid(t *testing.T) {
	for _, reason := range Reasons() {
		if issues := valid(reason).Validate(); len(issues) != 0 {
			t.Errorf("%s: %v", reason, issues)
		}
	}
}

// Everything that is wrong is said at once, in the order of the protocol.
func TestAllIssuesInOrder(t *testing.T) {
	general := []string{"effort.count", "effort.concrete", "alternative.missing", "blocking.missing"}
	for reason, special := range map[Reason][]string{
		"":                  {"reason.unknown"},
		Blocker:             {"blocker.evidence"},
		ScopeCreep:          {"scope.original", "scope.growth", "scope.tasks"},
		MissingDependency:   {"dependency.id", "dependency.required"},
		Infeasible:          {"infeasible.evidence", "infeasible.conflict", "infeasible.alternative"},
		UnclearRequirements: {"unclear.question", "unclear.interpreted"},
	} {
		if got, want := ids(Rejection{ReasonType: reason}.Validate()), slices.Concat(general, special); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", reason, got, want)
		}
	}
	r := Rejection{
		ReasonType: Blocker, Attempted: []string{"Checked it"}, Suggested: "Ask the user", BlockingFactor: "Too hard",
		Evidence: []Evidence{{Type: "opinion", Data: "x"}},
	}
	want := []string{"effort.count", "effort.concrete", "alternative.short", "alternative.vague", "blocking.short", "blocking.vague", "blocker.evidence_type"}
	if got := ids(r.Validate()); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// An issue names the key to change, what is wrong and what to do.
func TestIssueText(t *testing.T) {
	known := []string{"reason_type", "reason_detail", "what_attempted", "blocking_factor", "evidence", "suggested_alternative", "alternative_tasks", "task_original_scope", "scope_growth_factor"}
	seen := map[string]bool{}
	for _, rule := range rules() {
		if seen[rule.id] || !slices.Contains(known, rule.field) {
			t.Errorf("%s of %s", rule.id, rule.field)
		}
		seen[rule.id] = true
	}
	r := valid(Blocker)
	r.ReasonType, r.Attempted, r.BlockingFactor = "BLOKER", []string{"ran it", " "}, "I am not sure, and it is too complex"
	var got []string
	for _, i := range r.Validate() {
		got = append(got, i.String())
	}
	want := []string{
		"what_attempted: it lists 1 of at least 2 attempts, because blank or repeated ones do not count; make another attempt at the task, and describe the action and its result",
		"blocking_factor: it says “too complex” and “not sure”, which is an impression; name the fact that stops the work",
		`reason_type: “BLOKER” is not a type; did you mean "BLOCKER"?`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestNormalize(t *testing.T) {
	const s = "\u00a0 \t x y \r\n"
	r := Rejection{
		Task: s, Agent: s, ReasonType: s, Summary: s, Detail: s, Attempted: []string{s, " "}, BlockingFactor: s,
		Evidence: []Evidence{{s, s, s}, {}}, Suggested: s, Alternatives: []Task{{s, s, []string{s, ""}, s}, {}}, OriginalScope: s, Growth: 3,
	}
	const w = "x y"
	want := Rejection{
		Task: w, Agent: w, ReasonType: w, Summary: w, Detail: w, Attempted: []string{w, ""}, BlockingFactor: w,
		Evidence: []Evidence{{w, w, w}, {}}, Suggested: w, Alternatives: []Task{{w, w, []string{w, ""}, w}, {}}, OriginalScope: w, Growth: 3,
	}
	if got := r.Normalize(); !equal(got, want) {
		t.Errorf("got  %#v\nwant %#v", got, want)
	}
	if r.Attempted[0] != s || r.Evidence[0].Type != s || r.Alternatives[0].Dependencies[0] != s {
		t.Error("Normalize changed what it was called on")
	}
}
