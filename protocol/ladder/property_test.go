package ladder

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/looprun/looprun/internal/rounds"
)

var configs = []Config{
	nil, alone(0), alone(1), alone(4),
	withExperts(3, 3, crypto, protocol), withExperts(1, 2, crypto, protocol, storage),
	withExperts(0, 0, crypto, protocol, storage, network), withExperts(5, 1, crypto),
}

// model is what one task has to be like, kept in the plainest way: the list of
// its failures and of its experts since the last answer.
type model struct {
	failures []string // "self" or the name of an expert
	experts  []string
	keys     map[string]bool
	causes   int
	answers  int
	failing  bool // a failure was the last that happened
}

// TestObedientRuns drives whole runs as a loop does: it asks for the next step
// before each iteration and does what it says.
func TestObedientRuns(t *testing.T) {
	mandatory, asked := 0, 0
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := configs[r.IntN(len(configs))]
		tasks := []string{"one", "two", ""}[:1+r.IntN(3)]
		s := &State{}
		models := map[string]*model{}
		for _, task := range tasks {
			models[task] = &model{keys: map[string]bool{}}
		}
		guided := map[string]string{}
		for iteration := 1; iteration <= 60; iteration++ {
			task := tasks[r.IntN(len(tasks))]
			m := models[task]
			fail := func(format string, args ...any) {
				t.Helper()
				t.Fatalf("seed %d, iteration %d of %q: %s\n%+v\n%+v", seed, iteration, task, fmt.Sprintf(format, args...), s.Task(task), *m)
			}
			s = checkCopies(t, s, c, task)
			step, expert, reason := s.Next(c, task)
			if must := m.needsPerson(c) || guided[task] == "" && m.usedUp(c); must != (step == StepMandatory) {
				fail("%s, a person has to decide: %v", step, must)
			}
			switch step {
			case StepMandatory:
				if reason == "" {
					fail("no reason")
				}
				mandatory++
				s.Reset(task)
				*m = model{keys: map[string]bool{}, answers: m.answers + 1}
				guided[task] = ""
				if next, _, _ := s.Next(c, task); next != StepNone {
					fail("after the answer %s", next)
				}
				continue
			case StepExpert:
				if slices.Contains(m.experts, expert.Name) {
					fail("%s is asked a second time", expert.Name)
				}
				if first := firstUntried(c, m.experts); first != expert.Name {
					fail("%s is asked before %s", expert.Name, first)
				}
				asked++
				m.experts = append(m.experts, expert.Name)
				ok := r.IntN(2) == 0
				s.ExpertFinished(task, expert.Name, ok, "outcome", iteration-1)
				if ok {
					guided[task] = expert.Name
				} else {
					m.failures, m.failing = append(m.failures, expert.Name), true
				}
				continue
			}
			switch r.IntN(12) {
			case 0:
				s.Request(task, "")
			case 1:
				if r.IntN(4) == 0 {
					s.Mandatory(task, Causes()[r.IntN(len(Causes()))])
					m.causes++
				}
			}
			if r.IntN(4) == 0 {
				s.Improved(task)
				guided[task], m.failing = "", false
				continue
			}
			key := fmt.Sprint("k", r.IntN(9))
			a, ok := s.Failed(c, task, key, "approach", "outcome", "why", iteration)
			want := len(c) > 0 && (guided[task] != "" || !m.keys[key])
			if ok != want {
				fail("the attempt %v: %v, want %v", a, ok, want)
			}
			if !ok {
				continue
			}
			if why := s.Refuse(a); why != "" {
				fail("the attempt %v is refused: %s", a, why)
			}
			s.Record(a)
			m.keys[key], m.failing = true, true
			if g := guided[task]; g != "" {
				m.failures = append(m.failures, g)
			} else {
				m.failures = append(m.failures, "self")
			}
			guided[task] = ""
			m.check(fail, s.Task(task))
		}
		for task, m := range models {
			m.check(func(format string, args ...any) {
				t.Helper()
				t.Fatalf("seed %d, at the end of %q: %s", seed, task, fmt.Sprintf(format, args...))
			}, s.Task(task))
		}
	}
	if mandatory < 200 || asked < 200 {
		t.Errorf("the runs saw %d questions and %d experts: they prove too little", mandatory, asked)
	}
}

// needsPerson holds the rules that no configuration changes.
func (m *model) needsPerson(c Config) bool {
	return m.causes > 0 || len(c) > 0 && (len(m.failures) >= 6 || m.byExperts() >= 3)
}

// usedUp reports whether nothing is left on the rungs below the person.
func (m *model) usedUp(c Config) bool {
	own := len(m.failures) - m.byExperts()
	noExpert := m.byExperts() >= c.attempts(Experts) || firstUntried(c, m.experts) == ""
	return len(c) > 0 && m.failing && own >= c.attempts(SelfSolve) && noExpert
}

func (m *model) byExperts() int {
	return len(m.failures) - len(slices.DeleteFunc(slices.Clone(m.failures), func(f string) bool { return f != "self" }))
}

func (m *model) check(fail func(string, ...any), got Tracking) {
	want := Tracking{
		Delegation: m.byExperts(), SelfSolve: len(m.failures) - m.byExperts(), Total: len(m.failures),
		Clarifications: m.answers,
	}
	if got.SelfSolve != want.SelfSolve || got.Delegation != want.Delegation || got.Total != want.Total || got.Clarifications != want.Clarifications {
		fail("counted %+v, want %+v", got, want)
	}
	if got.Total > 6 || got.Delegation > 3 {
		fail("nobody asked a person in time: %+v", got)
	}
	if !slices.Equal(got.ExpertsTried, m.experts) {
		fail("tried are %v, want %v", got.ExpertsTried, m.experts)
	}
}

func firstUntried(c Config, tried []string) string {
	for _, r := range c {
		for _, e := range r.Experts {
			if !slices.Contains(tried, e.Name) {
				return e.Name
			}
		}
	}
	return ""
}

// checkCopies writes the state and reads it back: nothing changes by that. It
// returns what was read, so that the run goes on with it.
func checkCopies(t *testing.T, s *State, c Config, task string) *State {
	t.Helper()
	back := roundTrip(t, s)
	if !reflect.DeepEqual(back, s) {
		t.Fatalf("reads back as\n%+v, was\n%+v", back, s)
	}
	step, expert, reason := s.Next(c, task)
	step2, expert2, reason2 := back.Next(c, task)
	if step != step2 || expert != expert2 || reason != reason2 {
		t.Fatalf("the next step was %s %s %q, read back %s %s %q", step, expert.Name, reason, step2, expert2.Name, reason2)
	}
	return back
}

// TestAnyEvents folds events in any order, also such as no loop would write. The
// bounds hold all the same, other tasks do not change, nor do copies of the
// state, and a person stays asked until one has answered.
func TestAnyEvents(t *testing.T) {
	tasks := []string{"", "one", "t\xff\x1b[2J", " one "}
	experts := []string{"crypto", "protocol", "nobody", "\x00", ""}
	for seed := range uint64(rounds.Of(80)) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := configs[1+r.IntN(len(configs)-1)]
		s := &State{}
		for range 80 {
			task := tasks[r.IntN(len(tasks))]
			shallow, deep := *s, roundTrip(t, s)
			before, _, _ := s.Next(c, task)
			reset := false
			event := ""
			switch r.IntN(9) {
			case 0, 1, 2:
				a, ok := s.Failed(c, task, fmt.Sprint(r.IntN(12)), "a\nb", "o", "w", r.IntN(90))
				if event = "failed"; ok {
					s.Record(a)
				}
			case 3:
				event = "any attempt"
				s.Record(Attempt{
					Number: r.IntN(9), Task: task, Type: []AttemptType{BySelf, ByExpert, "x"}[r.IntN(3)],
					Expert: experts[r.IntN(len(experts))], Key: fmt.Sprint(r.IntN(12)),
				})
			case 4:
				event = "improved"
				s.Improved(task)
			case 5, 6:
				event = "expert"
				s.ExpertFinished(task, experts[r.IntN(len(experts))], r.IntN(2) == 0, "o", r.IntN(90))
			case 7:
				event = "request"
				s.Request(task, "")
			case 8:
				switch r.IntN(3) {
				case 0:
					event = "cause"
					s.Mandatory(task, Causes()[r.IntN(len(Causes()))])
				case 1:
					event, reset = "reset", true
					s.Reset(task)
				}
			}
			tr := s.Task(task)
			switch {
			case tr.Total > 6 || tr.Total != tr.SelfSolve+tr.Delegation:
				t.Fatalf("seed %d, %s: counted %+v", seed, event, tr)
			case !distinct(tr.ExpertsTried):
				t.Fatalf("seed %d, %s: tried twice: %v", seed, event, tr.ExpertsTried)
			case !reflect.DeepEqual(&shallow, deep):
				t.Fatalf("seed %d, %s: a copy changed to\n%+v, was\n%+v", seed, event, shallow, deep)
			}
			for name := range deep.Tasks {
				if name != deep.slot(task) && !reflect.DeepEqual(deep.Task(name), s.Task(name)) {
					t.Fatalf("seed %d, %s of %q changed %q", seed, event, task, name)
				}
			}
			after, _, _ := checkCopies(t, s, c, task).Next(c, task)
			hard := len(tr.Causes) > 0 || tr.Total >= 6 || tr.Delegation >= 3
			if before == StepMandatory && hard && !reset && after != StepMandatory {
				t.Fatalf("seed %d: %s made %s of a question that waits for a person", seed, event, after)
			}
			if hard && after != StepMandatory {
				t.Fatalf("seed %d: %s after %s: %+v", seed, after, event, tr)
			}
		}
	}
}

func distinct(list []string) bool {
	sorted := slices.Sorted(slices.Values(list))
	return len(slices.Compact(sorted)) == len(list)
}
