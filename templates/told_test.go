package templates

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// toldBy is a run in which the command said all that it can say, and what it said
// as the question has it.
func toldBy(t *testing.T, guard core.GuardID, change func(*core.State)) core.Question {
	t.Helper()
	s, trip := Sample(guard)
	change(s)
	q, err := load(t).Question(s, trip)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestRejectionQuestion(t *testing.T) {
	for _, reason := range rejection.Reasons() {
		q := toldBy(t, core.Rejection, func(s *core.State) { s.Rejected.Rejection.ReasonType = reason })
		decision, _ := rejection.Rejection{ReasonType: reason}.Suggest()
		if want := fmt.Sprintf("Suggested decision: %s", decision); !strings.Contains(q.Text, want) {
			t.Errorf("%s: %q does not say %q", reason, q.Text, want)
		}
		if _, ok := q.Option(string(decision)); !ok {
			t.Errorf("%s: %s is suggested and not offered", reason, decision)
		}
		why := func(d string) bool { return strings.HasPrefix(d, "Why "+string(decision)+": ") && len(d) > 40 }
		if !slices.ContainsFunc(q.Details, why) {
			t.Errorf("%s: nothing says why: %v", reason, q.Details)
		}
		if q.Default != "" {
			t.Errorf("%s: %s is taken when nobody is there", reason, q.Default)
		}
		for _, d := range rejection.Decisions() {
			if _, ok := q.Option(string(d)); !ok {
				t.Errorf("%s: the decision %s is not offered", reason, d)
			}
		}
	}
	q := toldBy(t, core.Rejection, func(*core.State) {})
	o, _ := q.Option("decompose")
	if want := "- Session store: keep sessions in the database (2 days)\n- Login: use the session store, after Session store"; !strings.HasSuffix(o.Guidance, want) {
		t.Errorf("decompose says %q, want the tasks in their order", o.Guidance)
	}
	o, _ = q.Option("override")
	if want := "obstacle: Sessions do not survive a restart of the service"; !strings.Contains(o.Guidance, want) {
		t.Errorf("override says %q, want %q", o.Guidance, want)
	}
}

// What the rejection does not give cannot be chosen, and the question says so.
func TestRejectionWithout(t *testing.T) {
	for id, change := range map[string]func(*rejection.Rejection){
		"decompose":   func(r *rejection.Rejection) { r.Alternatives = nil },
		"reformulate": func(r *rejection.Rejection) { r.Suggested = " . " },
	} {
		q := toldBy(t, core.Rejection, func(s *core.State) { change(&s.Rejected.Rejection) })
		if _, ok := q.Option(id); ok || len(q.Options) != 5 {
			t.Errorf("%s is offered: %v", id, q.OptionIDs())
		}
		said := func(d string) bool { return strings.Contains(d, "is not offered: the rejection") }
		if !slices.ContainsFunc(q.Details, said) {
			t.Errorf("%s is left out without a word: %v", id, q.Details)
		}
	}
}

// A question shows what it is about and nothing that belongs to another.
func TestToldBelongsToItsQuestion(t *testing.T) {
	both := func(s *core.State) {
		s.Rejected = &core.RejectionSubmitted{Rejection: sampleRejection()}
		s.Signal = new(sampleSignal(core.Clarification))
		sampleLadder(s)
	}
	const rejected, asked, attempt = "Blocking factor:", "Options considered:", "ATTEMPT 1: Self-Solve"
	for guard, want := range map[core.GuardID][]string{
		core.Rejection:       {rejected, attempt},
		core.Blocked:         {asked, attempt},
		core.Clarification:   {asked, attempt},
		core.LadderExhausted: {asked, attempt},
		core.MaxIterations:   nil,
	} {
		details := strings.Join(toldBy(t, guard, both).Details, "\n")
		for _, text := range []string{rejected, asked, attempt} {
			if got := strings.Contains(details, text); got != slices.Contains(want, text) {
				t.Errorf("%s shows %q: %v\n%s", guard, text, got, details)
			}
		}
	}
}

func TestCauses(t *testing.T) {
	for _, cause := range signal.Causes() {
		q := toldBy(t, core.Clarification, func(s *core.State) { s.Signal.Cause = cause })
		if want := " because of " + strings.ReplaceAll(cause, "_", " "); !strings.Contains(strings.ReplaceAll(q.Text, " a ", " "), want) {
			t.Errorf("%q does not say %q", q.Text, want)
		}
		if details := strings.Join(q.Details, "\n"); strings.Contains(details, "Cause:") {
			t.Errorf("the cause is said twice:\n%s", details)
		}
	}
	q := toldBy(t, core.Clarification, func(s *core.State) { s.Signal.Cause = "" })
	if strings.Contains(q.Text, "because") {
		t.Errorf("a cause that was not named: %q", q.Text)
	}
}

// What the command says is data: it is cleaned, bounded, and no template.
func TestToldIsData(t *testing.T) {
	const hostile = "a\x1b[2J\x1b]0;x\x07\r\nb {{.Guard}} \u202e\xff"
	long := strings.Repeat("word ", 300)
	for _, text := range []string{hostile, long} {
		many := slices.Repeat([]string{text}, 9)
		for _, guard := range core.ProtocolIDs() {
			q := toldBy(t, guard, func(s *core.State) {
				s.Task = text
				s.Rejected = &core.RejectionSubmitted{Rejection: rejection.Rejection{
					Task: text, Agent: text, ReasonType: rejection.Reason(text), Summary: text, Detail: text, BlockingFactor: text,
					Attempted: many, Suggested: text, Evidence: slices.Repeat([]rejection.Evidence{{Type: text, Data: text, Source: text}}, 9),
					Alternatives: slices.Repeat([]rejection.Task{{Title: text, Scope: text, Estimate: text, Dependencies: many}}, 9),
				}}
				s.Signal = &signal.Signal{
					Task: text, Agent: text, Text: text, Cause: text, Question: text, Context: text, WouldHelp: text,
					Attempts: many, Considered: slices.Repeat([]signal.Considered{{Option: text, Why: text}}, 9),
				}
			})
			all := append(slices.Clone(q.Details), q.Text)
			for _, o := range q.Options {
				all = append(all, o.Description)
				if strings.ContainsAny(o.Guidance, "\x1b\r\u202e") || len(o.Guidance) > guidanceLimit+10 {
					t.Errorf("%s %s: %q", guard, o.ID, o.Guidance)
				}
			}
			for _, line := range all {
				if strings.ContainsAny(line, "\x1b\r\n\u202e") || strings.Contains(line, "{{.Guard}} \xff") || len(line) > textLimit+10 {
					t.Errorf("%s shows %d bytes: %.200q", guard, len(line), line)
				}
			}
			if n := len(q.Details); n > 60 {
				t.Errorf("%s has %d details", guard, n)
			}
			if text == hostile && !strings.Contains(strings.Join(all, "\n"), "ab {{.Guard}}") && !strings.Contains(strings.Join(all, "\n"), "a b {{.Guard}}") {
				t.Errorf("%s does not show what was said: %q", guard, all)
			}
		}
	}
}

func TestLongLists(t *testing.T) {
	details := func(n int) string {
		return strings.Join(toldBy(t, core.Rejection, func(s *core.State) {
			s.Rejected.Rejection.Attempted = nil
			for i := range n {
				s.Rejected.Rejection.Attempted = append(s.Rejected.Rejection.Attempted, fmt.Sprintf("attempt no. %d", i+1))
			}
		}).Details, "\n")
	}
	if d := details(6); !strings.Contains(d, "attempt no. 6") || strings.Contains(d, "more") {
		t.Errorf("six are shown as\n%s", d)
	}
	if d := details(8); !strings.Contains(d, "attempt no. 6\n  and 2 more\n") || strings.Contains(d, "attempt no. 7") {
		t.Errorf("eight are shown as\n%s", d)
	}
	if d := details(0); strings.Contains(d, "What was attempted") {
		t.Errorf("none are shown as\n%s", d)
	}
}

// The actions that a rejection alone allows, on both sides.
func TestProtocolTemplatesAreChecked(t *testing.T) {
	for name, c := range map[string]struct{ guard, id, action, problem string }{
		"accept rejects the task":          {"rejection", "accept", "reject", ""},
		"accept as elsewhere":              {"rejection", "accept", "accept", `the option "accept" has the action accept; give it the action reject`},
		"a partial result":                 {"rejection", "partial", "accept", ""},
		"override goes on":                 {"rejection", "override", "continue", ""},
		"override that pauses":             {"rejection", "override", "pause", `the option "override" has the action pause; give it the action continue`},
		"defer pauses":                     {"rejection", "defer", "pause", ""},
		"defer that goes on":               {"rejection", "defer", "continue", `the option "defer" has the action continue; give it the action pause`},
		"defer elsewhere":                  {"blocked", "defer", "continue", ""},
		"reject by its name":               {"rejection", "reject", "reject", ""},
		"decompose":                        {"rejection", "decompose", "decompose", ""},
		"reformulate":                      {"rejection", "reformulate", "reformulate", ""},
		"reject where nothing is rejected": {"blocked", "reject", "reject", "the action reject is for rejections only"},
		"decompose elsewhere":              {"max_cost", "decompose", "decompose", "the action decompose is for rejections only"},
		"reformulate anywhere":             {`"*"`, "reformulate", "reformulate", "the action reformulate is for rejections only"},
		"accept elsewhere":                 {"ladder_exhausted", "accept", "accept", ""},
		"accept that rejects elsewhere":    {"clarification", "accept", "reject", `the option "accept" has the action reject; give it the action accept`},
		"extending no limit":               {"clarification", "go", "continue\n    extend: {iterations: 5}", "clarification is not a limit that can be extended"},
	} {
		dir := t.TempDir()
		file := fmt.Sprintf("guard: %s\nheader: H\nquestion: q\noptions:\n  - id: %s\n    label: A\n    action: %s\n  - id: cancel\n    label: C\n    action: cancel\n", c.guard, c.id, c.action)
		if err := os.WriteFile(filepath.Join(dir, "t.yaml"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(dir)
		if got := fmt.Sprint(err); (err == nil) != (c.problem == "") || c.problem != "" && !strings.Contains(got, c.problem) {
			t.Errorf("%s: %v, want %q", name, err, c.problem)
		}
	}
}
