package rejection

import (
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/termsafe"
)

func TestSuggest(t *testing.T) {
	want := map[Reason]Decision{
		Blocker: Defer, MissingDependency: Defer, UnclearRequirements: Defer, ScopeCreep: Decompose, Infeasible: Reformulate,
		"": Defer, "OTHER": Defer, " SCOPE_CREEP\n": Decompose,
	}
	said := map[string]bool{}
	for reason, decision := range want {
		got, why := Rejection{ReasonType: reason}.Suggest()
		if got != decision || !slices.Contains(Decisions(), got) || !strings.HasSuffix(why, ".") {
			t.Errorf("%q: %s, %q", reason, got, why)
		}
		said[why] = true
	}
	if len(said) != 6 {
		t.Errorf("the reasons do not say different things: %v", said)
	}
}

func TestRationale(t *testing.T) {
	r := valid(ScopeCreep)
	r.Alternatives[0].Dependencies = []string{"Retry failed uploads"}
	r.Alternatives[1].Dependencies = nil
	for d, want := range map[Decision]string{
		Override:    "The task can be done after all: choose this if “The storage bucket refuses every write” can be overcome with guidance that the 2 attempts so far did not have.",
		Accept:      "The reason holds and the task is not worth more: choose this if nobody is going to change “The storage bucket refuses every write”.",
		Defer:       "The task is right, but too early: choose this if somebody will resolve “The storage bucket refuses every write”, so that the run can continue then.",
		Decompose:   "The task is too much for one: choose this if the 2 alternative tasks cover what is wanted, beginning with “Retry failed uploads”.",
		Reformulate: "Another task would do: choose this if “Write the report to the local disk” is good enough.",
		"other":     "",
	} {
		if got := Rationale(d, r); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", d, got, want)
		}
	}
	if got, want := Rationale(Decompose, Rejection{}), "The task is too much for one: the rejection lists no tasks, so they have to be given with the decision."; got != want {
		t.Error(got)
	}
	if got, want := Rationale(Reformulate, Rejection{Suggested: " "}), "Another task would do: the rejection suggests none, so it has to be given with the decision."; got != want {
		t.Error(got)
	}
}

// What a command wrote is data: shown on one line, without control characters,
// and cut.
func TestDecisionTextsAreSafe(t *testing.T) {
	bad := "a\x1b]0;pwned\x07\n\u202eb" + strings.Repeat("界", 5000)
	r := Rejection{Task: bad, Summary: bad, BlockingFactor: bad, Suggested: bad, Alternatives: []Task{{Title: bad}}}
	for _, d := range Decisions() {
		if got := Rationale(d, r); got != termsafe.Line(got) || len([]rune(got)) > 400 {
			t.Errorf("%s: %q", d, got)
		}
	}
	if got := r.BlockerTask(); got != termsafe.Line(got) {
		t.Errorf("%q", got)
	}
	if got := r.Reformulated(); got != termsafe.Text(got) || !strings.HasPrefix(got, "a\nb界") {
		t.Errorf("%q", got)
	}
}

func TestBlockerTask(t *testing.T) {
	r := valid(Blocker)
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, "Resolve what blocks “Upload the nightly report”: The storage bucket refuses every write"},
		{func() { r.ReasonType = MissingDependency }, "Provide what is missing for “Upload the nightly report”: The storage bucket refuses every write"},
		{func() { r.ReasonType = UnclearRequirements }, "Clarify the requirements of “Upload the nightly report”: The storage bucket refuses every write"},
		{func() { r.BlockingFactor = "" }, "Clarify the requirements of “Upload the nightly report”: The report cannot be uploaded."},
		{func() { r.Task = " " }, "Clarify the requirements of the task: The report cannot be uploaded."},
		{func() { r = Rejection{} }, "Resolve what blocks the task"},
	} {
		c.change()
		if got := r.BlockerTask(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestSubtasks(t *testing.T) {
	task := func(title string, on ...string) Task { return Task{Title: title, Dependencies: on} }
	for _, c := range []struct {
		name    string
		tasks   []Task
		order   string
		problem string
	}{
		{"none", nil, "", ""},
		{"without dependencies", []Task{task("c"), task("a"), task("b")}, "c a b", ""},
		{"reversed", []Task{task("c", "b"), task("b", "a"), task("a")}, "a b c", ""},
		{"stable", []Task{task("d", "b"), task("c"), task("b"), task("a")}, "c b d a", ""},
		{"diamond", []Task{task("d", "b", "c"), task("b", "a"), task("c", "a"), task("a")}, "a b c d", ""},
		{"case and white space", []Task{task(" B  b", "\tA a."), task("a A")}, "a A,B  b", ""},
		{"twice the same", []Task{task("b", "a", "a"), task("a")}, "a b", ""},
		{"unknown", []Task{task("b", "a", "x"), task("a")}, "b a", "the task “b” depends on “x”, which is none of the alternative tasks; the order they were given in is kept"},
		{"blank", []Task{task("b", " "), task("")}, "b ", "the task “b” depends on “”, which is none of the alternative tasks; the order they were given in is kept"},
		{"ambiguous", []Task{task("b", "a"), task("a"), task("A")}, "b a A", "the task “b” depends on “a”, which 2 tasks are called; the order they were given in is kept"},
		{"itself", []Task{task("b", "b"), task("a")}, "b a", "these tasks depend on each other in a circle or on one that does: “b”; the order they were given in is kept"},
		{"circle", []Task{task("c", "b"), task("a", "b"), task("b", "a"), task("x")}, "c a b x", "these tasks depend on each other in a circle or on one that does: “c”, “a”, “b”; the order they were given in is kept"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Rejection{Alternatives: c.tasks}.Subtasks()
			var names []string
			for _, task := range got {
				names = append(names, task.Title)
			}
			sep := " "
			if strings.Contains(c.order, ",") {
				sep = ","
			}
			problem := ""
			if err != nil {
				problem = err.Error()
			}
			if strings.Join(names, sep) != c.order || problem != c.problem {
				t.Errorf("got  %q %s\nwant %q %s", names, problem, c.order, c.problem)
			}
		})
	}
}
