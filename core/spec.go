package core

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/looprun/looprun/internal/plural"
)

// The built-in guards, in the order in which they ask.
const (
	Weakened          GuardID = "weakened" // asks before all others, where the judge has passed
	MaxIterations     GuardID = "max_iterations"
	MaxRuntime        GuardID = "max_runtime"
	LoopDetected      GuardID = "loop_detected"
	ConsecutiveErrors GuardID = "consecutive_errors"
	MaxCost           GuardID = "max_cost"
	MaxTokens         GuardID = "max_tokens"
	NoProgress        GuardID = "no_progress"
	WorkspaceCycle    GuardID = "workspace_cycle"
	TurnLoop          GuardID = "turn_loop"
)

// Off turns a limit off. The zero value never does: a forgotten limit must not mean “no
// limit”.
const Off = -1

// Limits defines when the guards trip. Each of Iterations, Runtime, Loop and Errors must be
// set or be [Off]; the others but Weakened are off when zero.
type Limits struct {
	Iterations int           // iterations that may be run
	Runtime    time.Duration // active time: questions and pauses do not count
	Loop       int           // the same signature, or a cycle, so many times (2 or more)
	Errors     int           // iterations in a row that ended as an error
	Cost       float64       // reported cost in USD
	Tokens     int64         // reported tokens
	// IdleIterations is the number of consecutive iterations that may leave both the signature
	// and the work tree unchanged.
	IdleIterations int
	// WorkspaceCycles is how often the work tree may return to an earlier state.
	WorkspaceCycles int
	// TurnLoop is how often in a row a coding agent may make the same calls with the same
	// results, or repeat the same text, within one turn (2 or more).
	TurnLoop int
	// Weakened decides what happens if the judge passes but checked less than before. Empty
	// means that the guard trips if a check judges a coding agent, and warns otherwise.
	Weakened Weakening
}

// Spec is everything that looprun knows about a guard besides its Check. The recorded limits,
// the flags that set them, caps, exit codes, schemas, and the keys of templates are derived
// from it.
type Spec struct {
	ID       GuardID
	ExitCode int    // of a run that it stopped and nobody answered for
	Key      string // of looprun.yaml, for its limit; empty: it has none
	Name     string // of its limit in recorded limits
	Field    string // of [Limits]
	About    string // what the limit means, for schemas
	Stated   bool   // the limit has to be stated or [Off]
	Measured bool   // nothing counts against the limit unless somebody measures it
	One      string // why a limit of 1 is refused; empty: it is not
	Streak   bool   // its streak ends when the work goes on with another task, words or approach

	limit limit
	reset func(*State) // clears its counter
}

// specs lists the guards in the order in which they ask.
var specs = []Spec{
	{
		ID: Weakened, ExitCode: 116, Key: "weakened", Name: "weakened", Field: "Weakened", limit: weakening{},
		About: "What happens if a pass ran fewer checks than before.",
		reset: func(s *State) { s.Passed = false },
	},
	{ID: Rejection, ExitCode: 115},
	{ID: Blocked, ExitCode: 115},
	{ID: Clarification, ExitCode: 115},
	{ID: LadderExhausted, ExitCode: 115, reset: func(s *State) {
		if !s.Restarted {
			s.Ladder.Reset(s.LadderTask())
			s.Restarted = true
		}
	}},
	{
		ID: MaxIterations, ExitCode: 110, Key: "max_iterations", Name: "iterations", Field: "Iterations", Stated: true,
		About: "Iterations that may be run.",
		limit: counted[int]{
			of: func(l *Limits) *int { return &l.Iterations }, parse: strconv.Atoi, noun: "iteration",
			unit: "iterations", caps: func(c *Caps) *int { return &c.Iterations }, least: 50, trips: true,
			spent: func(s *State) int { return s.Iterations },
			extra: func(e Extend, _ Limits) int { return e.Iterations },
		},
	},
	{
		ID: MaxRuntime, ExitCode: 124, Key: "max_runtime", Name: "runtime", Field: "Runtime", Stated: true,
		About: "Active time, such as 15m0s.",
		limit: counted[time.Duration]{
			of: func(l *Limits) *time.Duration { return &l.Runtime }, parse: time.ParseDuration,
			unit: "runtime", caps: func(c *Caps) *time.Duration { return &c.Runtime }, least: time.Hour, trips: true,
			spent: func(s *State) time.Duration { return s.Elapsed },
			extra: func(e Extend, _ Limits) time.Duration { return e.Runtime },
		},
	},
	{
		ID: LoopDetected, ExitCode: 111, Key: "loop_threshold", Name: "loop", Field: "Loop", Stated: true, Streak: true,
		About: "How often the same signature, or a cycle of them, may repeat.", One: "every failure would be a loop",
		limit: counted[int]{of: func(l *Limits) *int { return &l.Loop }, parse: strconv.Atoi},
		reset: (*State).streaksEnd,
	},
	{
		ID: ConsecutiveErrors, ExitCode: 112, Key: "max_errors", Name: "errors", Field: "Errors", Stated: true, Streak: true,
		About: "Errors in a row.",
		limit: counted[int]{of: func(l *Limits) *int { return &l.Errors }, parse: strconv.Atoi},
		reset: func(s *State) { s.ErrorRun, s.ErrorHashes, s.KnownRun = 0, nil, 0 },
	},
	{
		ID: MaxCost, ExitCode: 113, Key: "max_cost", Name: "cost", Field: "Cost", Measured: true,
		About: "Reported cost in USD.",
		limit: counted[float64]{
			of: func(l *Limits) *float64 { return &l.Cost }, parse: func(t string) (float64, error) { return strconv.ParseFloat(t, 64) },
			unit: "cost", caps: func(c *Caps) *float64 { return &c.Cost },
			spent: func(s *State) float64 { return s.Cost },
			extra: func(e Extend, begun Limits) float64 {
				cost, _ := e.Spending(begun)
				return cost
			},
		},
	},
	{
		ID: MaxTokens, ExitCode: 113, Key: "max_tokens", Name: "tokens", Field: "Tokens", Measured: true,
		About: "Reported tokens.",
		limit: counted[int64]{
			of: func(l *Limits) *int64 { return &l.Tokens }, parse: func(t string) (int64, error) { return strconv.ParseInt(t, 10, 64) }, noun: "token",
			unit: "tokens", caps: func(c *Caps) *int64 { return &c.Tokens },
			spent: func(s *State) int64 { return s.Tokens },
			extra: func(e Extend, begun Limits) int64 {
				_, tokens := e.Spending(begun)
				return tokens
			},
		},
	},
	{
		ID: NoProgress, ExitCode: 114, Key: "max_idle_iterations", Name: "idle_iterations", Field: "IdleIterations", Measured: true, Streak: true,
		About: "Iterations without any change.",
		limit: counted[int]{of: func(l *Limits) *int { return &l.IdleIterations }, parse: strconv.Atoi},
		reset: func(s *State) { s.Idle = 0 },
	},
	{
		ID: WorkspaceCycle, ExitCode: 114, Key: "detect_workspace_cycles", Name: "workspace_cycles", Field: "WorkspaceCycles", Measured: true, Streak: true,
		About: "How often the work tree may come back to a state it had left.",
		limit: counted[int]{of: func(l *Limits) *int { return &l.WorkspaceCycles }, parse: strconv.Atoi},
		reset: func(s *State) {
			s.Trees = last(s.Trees, 1)
			for i := range s.Trees {
				s.Trees[i].Returns = 0
			}
		},
	},
	{
		ID: TurnLoop, ExitCode: 114, Key: "turn_loop", Name: "turn_loop", Field: "TurnLoop",
		About: "How often in a row an agent may do the same within one turn.", One: "every call of a tool would be a loop",
		limit: counted[int]{of: func(l *Limits) *int { return &l.TurnLoop }, parse: strconv.Atoi},
		reset: func(s *State) { s.Repeated = nil },
	},
}

// Specs returns all guards that have a limit, in the order in which they ask.
func Specs() []Spec {
	return slices.DeleteFunc(slices.Clone(specs), func(g Spec) bool { return g.limit == nil })
}

// Spec returns the guard's Spec, or the zero Spec if the guard is unknown.
func (id GuardID) Spec() Spec {
	if i := slices.IndexFunc(specs, func(g Spec) bool { return g.ID == id }); i >= 0 {
		return specs[i]
	}
	return Spec{}
}

// On reports whether the limit is set and not off.
func (g Spec) On(l Limits) bool { return g.limit != nil && g.limit.on(l) }

// Text returns the limit for people: 10, 15m, $2.50, off; empty if it is not set.
func (g Spec) Text(l Limits) string {
	if g.limit == nil {
		return ""
	}
	return g.limit.text(l)
}

// Phrase returns the limit as part of a sentence: 1 iteration, 15m, $2.50. The limit must be
// one that answers can extend.
func (g Spec) Phrase(l Limits) string { return g.extended().sentence(l) }

// Put parses a text and sets the limit to it: a number, a duration, a word, or off.
func (g Spec) Put(l *Limits, text string) error { return g.limit.put(l, text) }

// Words returns all values of a limit that is not a number, and nil for a number.
func (g Spec) Words() []string {
	if w, ok := g.limit.(weakening); ok {
		return w.words()
	}
	return nil
}

// Unit returns the key of [Extend] by which an answer extends the limit. Empty means that
// answers do not extend the limit but clear its counter.
func (g Spec) Unit() string {
	if x := g.extended(); x != nil {
		return x.key()
	}
	return ""
}

// PutCap parses a text and sets the limit's cap to it, as Put does for the limit.
func (g Spec) PutCap(c *Caps, text string) error { return g.extended().putCap(c, text) }

// TakeCap copies the limit's cap from other caps.
func (g Spec) TakeCap(c *Caps, from Caps) { g.extended().takeCap(c, from) }

// CapText returns the limit's cap in the form of Text; empty if it is not set.
func (g Spec) CapText(c Caps) string { return g.extended().capText(c) }

// Above reports whether the limit is above its cap.
func (g Spec) Above(l Limits, c Caps) bool { return g.extended().above(l, c) }

// extended returns the limit if answers can extend it, else nil.
func (g Spec) extended() extendable {
	if x, ok := g.limit.(extendable); ok && x.key() != "" {
		return x
	}
	return nil
}

// limit gives access to one of a run's limits, whatever its type.
type limit interface {
	on(Limits) bool
	text(Limits) string
	put(*Limits, string) error
	json(l Limits, zero bool) any // nil: nothing is written; zero: a limit of zero is
	wrong(Limits) string
}

// extendable is a limit that answers can extend.
type extendable interface {
	key() string
	sentence(Limits) string
	raised(from, to Limits) bool
	lifted(*State, Limits) bool
	extend(s *State, l *Limits, e Extend)
	defaultCap(Limits, *Caps)
	putCap(*Caps, string) error
	takeCap(*Caps, Caps)
	capText(Caps) string
	above(Limits, Caps) bool
	full(*State) (ceiling string, ok bool)
	room(*State, Extend) (left string, ok bool)
}

// counted is a limit that is an amount. The fields from unit on are only for limits that
// answers can extend.
type counted[T amount] struct {
	of    func(*Limits) *T
	parse func(string) (T, error)
	noun  string // of one; empty: the amount is written with its unit

	unit  string
	caps  func(*Caps) *T
	least T    // the smallest default cap
	trips bool // what is spent trips when it is as much as the limit, not only when it is more
	spent func(*State) T
	extra func(e Extend, begun Limits) T
}

func (c counted[T]) on(l Limits) bool         { return *c.of(&l) > 0 }
func (c counted[T]) text(l Limits) string     { return amountText(*c.of(&l)) }
func (c counted[T]) key() string              { return c.unit }
func (c counted[T]) sentence(l Limits) string { return c.phrase(*c.of(&l)) }

func amountText[T amount](v T) string {
	switch d := any(v).(type) {
	case time.Duration:
		if v > 0 {
			if d >= time.Second {
				d = d.Round(time.Second)
			}
			return plural.Duration(d)
		}
	case float64:
		if v > 0 {
			return fmt.Sprintf("$%.2f", d)
		}
	}
	switch {
	case v < 0:
		return offWord
	case v == 0:
		return ""
	}
	return fmt.Sprint(v)
}

// phrase returns an amount as part of a sentence: 1 iteration, 15m, $2.50.
func (c counted[T]) phrase(v T) string {
	if c.noun != "" {
		return plural.Count(int(v), c.noun)
	}
	return amountText(v)
}

func (c counted[T]) read(to *T, text string) error {
	if text == offWord {
		*to = Off
		return nil
	}
	v, err := c.parse(text)
	if err == nil {
		*to = v
	}
	return err
}

func (c counted[T]) put(l *Limits, text string) error { return c.read(c.of(l), text) }

func (c counted[T]) json(l Limits, zero bool) any {
	v := *c.of(&l)
	switch d, ok := any(v).(time.Duration); {
	case v < 0:
		return offWord
	case v == 0 && !zero:
		return nil
	case ok:
		return d.String()
	}
	return v
}

func (c counted[T]) wrong(l Limits) string {
	if *c.of(&l) < Off {
		return "is negative; use looprun.Off to turn it off"
	}
	return ""
}

func (c counted[T]) raised(from, to Limits) bool { return *c.of(&to) > *c.of(&from) }

// lifted reports whether the amount spent leaves room below the limit.
func (c counted[T]) lifted(s *State, l Limits) bool {
	spent, limit := c.spent(s), *c.of(&l)
	return spent < limit || !c.trips && spent == limit
}

// extend sets the limit to the amount spent plus the extension. The limit never decreases and
// is never extended past its cap; a limit that is off stays off.
func (c counted[T]) extend(s *State, l *Limits, e Extend) {
	limit, extra, ceiling := c.of(l), c.extra(e, s.Initial), *c.caps(&s.Caps)
	if *limit <= 0 || extra <= 0 {
		return
	}
	extended := plus(c.spent(s), extra)
	if ceiling > 0 {
		extended = min(extended, ceiling)
	}
	*limit = max(*limit, extended)
}

func (c counted[T]) defaultCap(l Limits, to *Caps) {
	*c.caps(to) = max(c.least, plus(*c.of(&l), *c.of(&l)))
}

func (c counted[T]) putCap(to *Caps, text string) error { return c.read(c.caps(to), text) }
func (c counted[T]) takeCap(to *Caps, from Caps)        { *c.caps(to) = *c.caps(&from) }
func (c counted[T]) capText(of Caps) string             { return amountText(*c.caps(&of)) }

func (c counted[T]) above(l Limits, caps Caps) bool {
	ceiling := *c.caps(&caps)
	return ceiling > 0 && *c.of(&l) > ceiling
}

// full reports whether answers cannot extend the limit any further, because the limit or the
// amount spent has reached the cap. It also returns the cap as a phrase.
func (c counted[T]) full(s *State) (string, bool) {
	ceiling := *c.caps(&s.Caps)
	return c.phrase(ceiling), ceiling > 0 && max(*c.of(&s.Limits), c.spent(s)) >= ceiling
}

// room returns how much the extension really adds, and reports whether the cap makes it less
// than promised.
func (c counted[T]) room(s *State, e Extend) (string, bool) {
	l, extra := s.Limits, c.extra(e, s.Initial)
	c.extend(s, &l, e)
	left := *c.of(&l) - c.spent(s)
	return c.phrase(left), extra > 0 && *c.of(&l) < plus(c.spent(s), extra)
}

// weakening is [Limits.Weakened], whose value is one of three words.
type weakening struct{}

func (weakening) words() []string {
	return []string{string(WeakenedTrips), string(WeakenedWarns), string(WeakenedOff)}
}
func (weakening) on(l Limits) bool     { return l.Weakened == WeakenedTrips }
func (weakening) text(l Limits) string { return string(l.Weakened) }

func (weakening) put(l *Limits, text string) (err error) {
	l.Weakened, err = ParseWeakening(text)
	return err
}

func (weakening) json(l Limits, _ bool) any {
	if l.Weakened == "" {
		return nil
	}
	return l.Weakened
}

func (weakening) wrong(l Limits) string {
	if _, err := ParseWeakening(string(l.Weakened)); l.Weakened != "" && err != nil {
		return err.Error()
	}
	return ""
}

// amount is a type in which limits are counted.
type amount interface {
	int | int64 | float64 | time.Duration
}

// plus adds two amounts. An amount that is off counts as 0, and the sum saturates.
func plus[T amount](a, b T) T {
	a, b = max(0, a), max(0, b)
	if sum := a + b; sum >= a && !math.IsInf(float64(sum), 0) {
		return sum
	}
	return most[T]()
}

// Spending returns by how much the limits on cost and tokens are extended in a run that began
// with the given limits.
func (e Extend) Spending(begun Limits) (cost float64, tokens int64) {
	return plus(e.Cost, share(begun.Cost, e.CostPercent)), plus(e.Tokens, share(begun.Tokens, e.TokensPercent))
}

func most[T amount]() T {
	var t T
	switch p := any(&t).(type) {
	case *int:
		*p = math.MaxInt
	case *int64:
		*p = math.MaxInt64
	case *time.Duration:
		*p = math.MaxInt64
	case *float64:
		*p = math.MaxFloat64
	}
	return t
}

// share returns the given percentage of an amount.
func share[T int64 | float64](of T, percent float64) T {
	part := float64(max(0, of)) * max(0, percent) / 100
	if part >= float64(most[T]()) {
		return most[T]()
	}
	return T(part)
}
