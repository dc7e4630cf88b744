package ladder

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// story is what happened, one word an event:
//
//	a b c …   an iteration failed with that approach
//	+         an iteration improved
//	crypto:ok crypto:no   the expert was successful, unsuccessful
//	?         the command asked for an expert
//	!cause    the command named a cause
//	reset     a person answered
//
// Each iteration is asked about twice, as after a crash.
func tell(s *State, c Config, task, story string) {
	iteration := s.Task(task).LastIteration
	for word := range strings.FieldsSeq(story) {
		iteration++
		expert, how, isExpert := strings.Cut(word, ":")
		switch {
		case word == "+":
			s.Improved(task)
		case word == "?":
			s.Request(task, "")
		case word == "reset":
			s.Reset(task)
		case word[0] == '!':
			s.Mandatory(task, Cause(word[1:]))
		case isExpert:
			s.ExpertFinished(task, expert, how == "ok", "exit "+how, iteration)
		default:
			for range 2 {
				if a, ok := s.Failed(c, task, word, "approach "+word, "fails", "", iteration); ok {
					s.Record(a)
				}
			}
		}
	}
}

func TestLadder(t *testing.T) {
	two := withExperts(3, 3, crypto, protocol)
	four := withExperts(3, 3, crypto, protocol, storage, network)
	for name, tt := range map[string]struct {
		config Config
		story  string
		step   Step
		want   string // the expert, or a part of the reason
		counts string // self-solve/delegation/total
	}{
		"nothing happened":            {two, "", StepNone, "", "0/0/0"},
		"no ladder, no attempts":      {nil, "a b c d e f g h", StepNone, "", "0/0/0"},
		"no ladder, no experts":       {nil, "?", StepNone, "", "0/0/0"},
		"no ladder any more":          {nil, "crypto:no", StepNone, "", "0/1/1"},
		"no ladder, a cause":          {nil, "a !security_concern", StepMandatory, "a security concern after 0 failed attempts", "0/0/0"},
		"before the rung ends":        {two, "a b", StepNone, "", "2/0/2"},
		"the rung ends":               {two, "a b c", StepExpert, "crypto", "3/0/3"},
		"the same approach":           {two, "a a b b a b", StepNone, "", "2/0/2"},
		"improved is no failure":      {two, "a b + + +", StepNone, "", "2/0/2"},
		"improved on the rung's end":  {two, "a b c +", StepNone, "", "3/0/3"},
		"and failed again":            {two, "a b c + d", StepExpert, "crypto", "4/0/4"},
		"and failed as before":        {two, "a b c + a", StepNone, "", "3/0/3"},
		"guidance is to be judged":    {two, "a b c crypto:ok", StepNone, "", "3/0/3"},
		"guidance helped":             {two, "a b c crypto:ok +", StepNone, "", "3/0/3"},
		"guidance helped for a while": {two, "a b c crypto:ok + d", StepExpert, "protocol", "4/0/4"},
		"guidance failed":             {two, "a b c crypto:ok d", StepExpert, "protocol", "3/1/4"},
		"guidance was ignored":        {two, "a b c crypto:ok a", StepExpert, "protocol", "3/1/4"},
		"an unsuccessful expert":      {two, "a b c crypto:no", StepExpert, "protocol", "3/1/4"},
		"all experts are used up":     {two, "a b c crypto:no protocol:no", StepMandatory, "used up after 5 failed attempts (3 self-solve, 2 expert delegation), 2 of 2 experts asked", "3/2/5"},
		"the last is to be judged":    {two, "a b c crypto:no protocol:ok", StepNone, "", "3/1/4"},
		"the last helped":             {two, "a b c crypto:no protocol:ok +", StepNone, "", "3/1/4"},
		"the last helped for a while": {two, "a b c crypto:no protocol:ok + d", StepMandatory, "used up after 5", "4/1/5"},
		"the last failed":             {two, "a b c crypto:no protocol:ok d", StepMandatory, "used up after 5", "3/2/5"},
		"attempts of the rung":        {withExperts(3, 1, crypto, protocol), "a b c crypto:no", StepMandatory, "1 of 1 with experts", "3/1/4"},
		"two failures of experts":     {four, "? crypto:no protocol:no", StepExpert, "storage", "0/2/2"},
		"three failures of experts":   {four, "? crypto:no protocol:no storage:no", StepMandatory, "failed 3 times of at most 3", "0/3/3"},
		"three, one of them judged":   {four, "? crypto:no protocol:no storage:ok a", StepMandatory, "failed 3 times", "0/3/3"},
		"six in all":                  {four, "a b c crypto:no protocol:no storage:no", StepMandatory, "decide before attempt 7", "3/3/6"},
		"five alone":                  {alone(0), "a b c d e", StepNone, "", "5/0/5"},
		"six alone":                   {alone(0), "a b c d e f", StepMandatory, "6 failed attempts, so a person has to decide before attempt 7", "6/0/6"},
		"more than six are not made":  {alone(0), "a b c d e f g h", StepMandatory, "before attempt 7", "6/0/6"},
		"a short ladder":              {alone(2), "a b", StepMandatory, "used up after 2 failed attempts of 2", "2/0/2"},
		"one on a short ladder":       {alone(2), "a", StepNone, "", "1/0/1"},
		"one rung of one":             {alone(1), "a", StepMandatory, "1 failed attempt of 1", "1/0/1"},
		"six with improvements":       {withExperts(3, 3, crypto, protocol), "a b c + d + e + f", StepMandatory, "before attempt 7", "6/0/6"},
		"an expert on request":        {two, "a ?", StepExpert, "crypto", "1/0/1"},
		"the request was heard":       {two, "a ? crypto:ok +", StepNone, "", "1/0/1"},
		"heard, and it failed":        {two, "a ? crypto:ok b", StepNone, "", "1/1/2"},
		"a request goes on":           {two, "a ? crypto:no", StepExpert, "protocol", "1/1/2"},
		"nobody left to request":      {two, "a ? crypto:no protocol:no", StepNone, "", "1/2/3"},
		"own attempts after that":     {two, "? crypto:no protocol:no a b c", StepMandatory, "used up after 5", "3/2/5"},
		"no experts to request":       {alone(0), "a ?", StepNone, "", "1/0/1"},
		"request after the last":      {two, "? crypto:ok + ? protocol:ok + ?", StepNone, "", "0/0/0"},
		"circular dependency":         {two, "!circular_dependency", StepMandatory, "a circular dependency after 0 failed attempts", "0/0/0"},
		"security concern":            {two, "a !security_concern", StepMandatory, "a security concern after 1 failed attempt, so", "1/0/1"},
		"ambiguous criteria":          {two, "!ambiguous_criteria", StepMandatory, "ambiguous criteria", "0/0/0"},
		"clarification":               {two, "!clarification", StepMandatory, "a need for clarification", "0/0/0"},
		"a cause nobody knows":        {two, "!other", StepMandatory, "“other”", "0/0/0"},
		"two causes":                  {two, "!clarification !security_concern !clarification", StepMandatory, "named a need for clarification and a security concern after", "0/0/0"},
		"a cause stays":               {two, "!clarification a + ? crypto:ok +", StepMandatory, "clarification", "1/0/1"},
		"a cause beats an expert":     {two, "a b c !clarification", StepMandatory, "clarification", "3/0/3"},
		"reset after a cause":         {two, "!clarification reset", StepNone, "", "0/0/0"},
		"reset after six":             {alone(0), "a b c d e f reset", StepNone, "", "0/0/0"},
		"the next failure after it":   {alone(0), "a b c d e f reset a", StepNone, "", "1/0/1"},
		"six again after it":          {alone(0), "a b c d e f reset a b c d e f", StepMandatory, "before attempt 7", "6/0/6"},
		"experts again after it":      {two, "a b c crypto:no protocol:no reset a b c", StepExpert, "crypto", "3/0/3"},
		"guidance is over with it":    {two, "a b c crypto:ok reset a", StepNone, "", "1/0/1"},
		"a request is over with it":   {two, "? reset", StepNone, "", "0/0/0"},
		"an expert counts once":       {two, "? crypto:no crypto:no crypto:ok", StepExpert, "protocol", "0/1/1"},
		"a stranger counts too":       {two, "? nobody:no", StepExpert, "crypto", "0/1/1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &State{}
			tell(s, tt.config, "t", tt.story)
			step, expert, reason := s.Next(tt.config, "t")
			got := reason
			if step == StepExpert {
				got = expert.Name
			}
			if step != tt.step || !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
				t.Errorf("%s %q, want %s %q", step, got, tt.step, tt.want)
			}
			tr := s.Task("t")
			if counts := fmt.Sprintf("%d/%d/%d", tr.SelfSolve, tr.Delegation, tr.Total); counts != tt.counts {
				t.Errorf("counted %s, want %s", counts, tt.counts)
			}
			if made := s.Made("t"); len(made) != tr.Total {
				t.Errorf("%d attempts on record, %d counted", len(made), tr.Total)
			}
			if step == StepExpert && expert.Command == "" {
				t.Error("an expert without its command")
			}
		})
	}
}

// What is not known about an approach is no evidence for a new one.
func TestUnknownApproach(t *testing.T) {
	s, c := &State{}, withExperts(1, 1, crypto)
	if a, ok := s.Failed(c, "t", "", "", "fails", "", 1); ok {
		t.Errorf("an attempt without an approach: %v", a)
	}
	s.ExpertFinished("t", "crypto", true, "", 1)
	a, ok := s.Failed(c, "t", "", "", "fails", "", 2)
	if !ok || a.Type != ByExpert || a.Expert != "crypto" {
		t.Errorf("guidance that failed is an attempt of its expert: %v %v", a, ok)
	}
}

// Failed leaves the state as it is, and an iteration makes one attempt, also when
// it is asked about again after a person answered.
func TestFailedIsPure(t *testing.T) {
	s, c := &State{}, alone(0)
	tell(s, c, "t", "a b")
	before := roundTrip(t, s)
	a, ok := s.Failed(c, "t", "c", "third", "fails", "why", 3)
	if !ok || !reflect.DeepEqual(s, before) {
		t.Fatalf("Failed gave %v and made %+v of %+v", ok, s, before)
	}
	want := Attempt{Number: 3, Task: "t", Type: BySelf, Key: "c", Approach: "third", Outcome: "fails", WhyDifferent: "why", Iteration: 3}
	if a != want {
		t.Fatalf("got %+v, want %+v", a, want)
	}
	s.Record(a)
	if a, ok := s.Failed(c, "t", "d", "", "", "", 3); ok {
		t.Errorf("iteration 3 made a second attempt: %v", a)
	}
	s.Reset("t")
	if a, ok := s.Failed(c, "t", "c", "", "", "", 3); ok {
		t.Errorf("iteration 3 made an attempt after the reset: %v", a)
	}
	if a, ok := s.Failed(c, "t", "c", "", "", "", 4); !ok || a.Number != 1 {
		t.Errorf("iteration 4 made none: %v %v", a, ok)
	}
}

// After six the ladder makes no seventh, whoever asks.
func TestNoSeventh(t *testing.T) {
	s, c := &State{}, alone(0)
	tell(s, c, "t", "a b c d e")
	a, ok := s.Failed(c, "t", "f", "", "", "", 6)
	if !ok || a.Number != 6 {
		t.Fatalf("the sixth: %v %v", a, ok)
	}
	s.Record(a)
	if a, ok := s.Failed(c, "t", "g", "", "", "", 7); ok {
		t.Errorf("the seventh: %v", a)
	}
}

// Two copies of a state go separate ways.
func TestCopiesFork(t *testing.T) {
	c := withExperts(3, 3, crypto, protocol, storage, network)
	s := &State{}
	tell(s, c, "t", "crypto:no reset crypto:no reset crypto:ok + a b c d e")
	one, two := *s, *s
	deep := roundTrip(t, s)
	tell(&one, c, "t", "protocol:ok x !security_concern")
	tell(deep, c, "t", "protocol:ok x !security_concern")
	tell(&two, c, "t", "storage:ok y !circular_dependency")
	if !reflect.DeepEqual(&one, deep) {
		t.Errorf("what happened to one copy changed the other to\n%+v %+v, want\n%+v %+v", one.Task("t"), one.Attempts, deep.Task("t"), deep.Attempts)
	}
}

func TestRefuse(t *testing.T) {
	c := alone(0)
	for name, tt := range map[string]struct {
		story   string
		attempt Attempt
		refused bool
	}{
		"the next":             {"a", Attempt{Number: 2, Type: BySelf}, false},
		"the sixth":            {"a b c d e", Attempt{Number: 6, Type: BySelf}, false},
		"the seventh":          {"a b c d e f", Attempt{Number: 7, Type: BySelf}, true},
		"the same again":       {"a b", Attempt{Number: 2, Type: BySelf}, true},
		"one too far":          {"a", Attempt{Number: 3, Type: BySelf}, true},
		"no type":              {"a", Attempt{Number: 2}, true},
		"guidance that was":    {"crypto:ok", Attempt{Number: 1, Type: ByExpert, Expert: "crypto"}, false},
		"guidance of another":  {"crypto:ok", Attempt{Number: 1, Type: ByExpert, Expert: "protocol"}, true},
		"guidance that is not": {"a", Attempt{Number: 2, Type: ByExpert, Expert: "crypto"}, true},
		"guidance passed over": {"crypto:ok", Attempt{Number: 1, Type: BySelf}, true},
		"an expert of no name": {"a", Attempt{Number: 2, Type: ByExpert}, true},
	} {
		s := &State{}
		tell(s, c, "t", tt.story)
		before := roundTrip(t, s)
		tt.attempt.Task = "t"
		why := s.Refuse(tt.attempt)
		if (why != "") != tt.refused {
			t.Errorf("%s: refused with %q, want it refused: %v", name, why, tt.refused)
		}
		s.Record(tt.attempt)
		if changed := !reflect.DeepEqual(s, before); changed == tt.refused {
			t.Errorf("%s: recording it changed the state: %v", name, changed)
		}
	}
}

func TestReset(t *testing.T) {
	c := withExperts(3, 3, crypto, protocol)
	s := &State{}
	tell(s, c, "other", "a b ?")
	tell(s, c, "t", "a b c crypto:ok d protocol:no ? !security_concern")
	other := s.Task("other")
	s.Reset("t")
	want := Tracking{
		ExpertsHistory: []string{"crypto", "protocol"}, LastType: ByExpert, LastOutcome: "exit no",
		LastIteration: 6, Clarifications: 1,
	}
	if got := s.Task("t"); !reflect.DeepEqual(got, want) {
		t.Errorf("after the reset %+v, want %+v", got, want)
	}
	if got := s.Task("other"); !reflect.DeepEqual(got, other) {
		t.Errorf("the other task became %+v, was %+v", got, other)
	}
	if made := s.Made("t"); len(made) != 0 {
		t.Errorf("attempts of the question before: %v", made)
	}
	if len(s.Attempts) != 7 {
		t.Errorf("%d attempts on record, want all 7", len(s.Attempts))
	}
	s.Reset("t")
	if got := s.Task("t").Clarifications; got != 2 {
		t.Errorf("%d clarifications, want 2", got)
	}
}

func TestTasksAreIndependent(t *testing.T) {
	s, c := &State{}, alone(2)
	tell(s, c, "one", "a b")
	tell(s, c, "two", "a")
	if step, _, _ := s.Next(c, "one"); step != StepMandatory {
		t.Errorf("one: %s", step)
	}
	if step, _, _ := s.Next(c, "two"); step != StepNone {
		t.Errorf("two: %s", step)
	}
	if step, _, _ := s.Next(c, ""); step != StepNone {
		t.Errorf("a task of which nothing is known: %s", step)
	}
	if made := s.Made("two"); len(made) != 1 || made[0].Task != "two" {
		t.Errorf("two made %v", made)
	}
}

// Memory is bounded, and a flood of tasks gets nobody around a person.
func TestBounds(t *testing.T) {
	s, c := &State{}, alone(6)
	for i := range 400 {
		task := fmt.Sprint("task ", i)
		s.Request(task, "")
		for j := range 12 {
			s.Mandatory(task, Cause(fmt.Sprint("cause ", j)))
		}
		if a, ok := s.Failed(c, task, fmt.Sprint(i), "", "", "", i+1); ok {
			s.Record(a)
		}
	}
	for i := range 200 {
		s.ExpertFinished("task 1", fmt.Sprint("expert ", i), true, "", 0)
		s.Reset("task 1")
	}
	if len(s.Tasks) > tasksKept+1 || len(s.Attempts) > attemptsKept {
		t.Errorf("%d tasks and %d attempts are kept", len(s.Tasks), len(s.Attempts))
	}
	if n := len(s.Task("task 1").ExpertsHistory); n != historyKept {
		t.Errorf("%d experts are in the history", n)
	}
	if n := len(s.Task("task 2").Causes); n > causesKept {
		t.Errorf("%d causes are kept", n)
	}
	if got := s.Task("task 399").Total; got != MaxAttempts {
		t.Errorf("the tasks past the bound have %d attempts together", got)
	}
	if step, _, _ := s.Next(c, "a new task"); step != StepMandatory {
		t.Errorf("a new task past the bound: %s", step)
	}
}

// A damaged state is no reason to stop with a panic.
func TestNilTracking(t *testing.T) {
	s := &State{Tasks: map[string]*Tracking{"t": nil}}
	tell(s, alone(1), "t", "a")
	if step, _, _ := s.Next(alone(1), "t"); step != StepMandatory {
		t.Error(step)
	}
}

func TestUntried(t *testing.T) {
	c := withExperts(3, 2, crypto, protocol, storage)
	s := &State{}
	names := func() string {
		var list []string
		for _, e := range s.Untried(c, "t") {
			list = append(list, e.Name)
		}
		return strings.Join(list, " ")
	}
	for _, step := range []struct{ story, want string }{
		{"", "crypto protocol storage"},
		{"crypto:no", "protocol storage"},
		{"storage:ok +", "protocol"},
		{"protocol:no", ""},
		{"reset", "crypto protocol storage"},
		{"crypto:no protocol:no", ""}, // the attempts of the rung are used up
	} {
		tell(s, c, "t", step.story)
		if got := names(); got != step.want {
			t.Errorf("after %q %q are left, want %q", step.story, got, step.want)
		}
	}
	if s.Untried(alone(3), "t") != nil {
		t.Error("experts without a rung")
	}
	if tried := s.Task("t").ExpertsTried; !slices.Equal(tried, []string{"crypto", "protocol"}) {
		t.Errorf("tried: %v", tried)
	}
}
