package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Off turns a limit off. The zero value never does: a limit nobody thought of
// must not read as “no limit”.
const Off = -1

// Limits say when the guards trip. Each of Iterations, Runtime, Loop and
// Errors has to be stated or be [Off]; the others are off when zero.
type Limits struct {
	Iterations int           // iterations that may be run
	Runtime    time.Duration // active time: questions and pauses do not count
	Loop       int           // the same signature, or a cycle, so many times (2 or more)
	Errors     int           // iterations in a row that ended as an error
	Cost       float64       // reported cost in USD
	Tokens     int64         // reported tokens
	// IdleIterations is how many iterations may change neither the signature
	// nor the work tree.
	IdleIterations int
	// WorkspaceCycles is how often the work tree may come back to a state it
	// had left.
	WorkspaceCycles int
	// TurnLoop is how often in a row a coding agent may make the same calls with the same
	// results, or say the same, within one turn (2 or more).
	TurnLoop int
	// Weakened says what happens where the judge passes and less was checked than before;
	// empty: it trips where a check judges a coding agent, and warns elsewhere.
	Weakened Weakening
}

// DefaultLimits are those of the command line: 10 iterations, 15 minutes, the
// same signature 3 times, 3 errors in a row.
func DefaultLimits() Limits {
	return Limits{Iterations: 10, Runtime: 15 * time.Minute, Loop: 3, Errors: 3}
}

// Often says that the same failure may come in fewer than Times of the last Of
// iterations, in a row or not; see [LoopDetected]. The zero value is twice Limits.Loop,
// 6 of the last 10 for the default. Times is [Off] where it may come as often as it likes.
type Often struct {
	Times int `json:"times"`
	Of    int `json:"of"`
}

const mostOften = 50 // iterations that are looked back on

// ParseOften reads “6/10” or “off”.
func ParseOften(text string) (Often, error) {
	text = strings.TrimSpace(text)
	if text == "off" {
		return Often{Times: Off}, nil
	}
	times, of, ok := strings.Cut(text, "/")
	k, err1 := strconv.Atoi(times)
	n, err2 := strconv.Atoi(of)
	if !ok || err1 != nil || err2 != nil || k < 2 || n < k || n > mostOften {
		return Often{}, fmt.Errorf("%q is not K/N such as 6/10, with K from 2 to N and N up to %d; write off to turn it off", text, mostOften)
	}
	return Often{Times: k, Of: n}, nil
}

// For is o where the same failure may come loop times in a row: the zero value made
// what it stands for.
func (o Often) For(loop int) Often {
	if o == (Often{}) {
		o = Often{Times: 2 * loop, Of: min(mostOften, (10*loop+2)/3)}
	}
	return o
}

// Validate reports every limit that is neither stated nor off. Limits of which
// a main one is missing give [ErrNoGuards].
func (l Limits) Validate() error {
	var errs []error
	missing := func(name string) {
		errs = append(errs, fmt.Errorf("%w: %s is neither stated nor looprun.Off", ErrNoGuards, name))
	}
	check := func(name string, zero, negative bool) {
		switch {
		case zero:
			missing(name)
		case negative:
			errs = append(errs, fmt.Errorf("%s is negative; use looprun.Off to turn it off", name))
		}
	}
	check("Limits.Iterations", l.Iterations == 0, l.Iterations < Off)
	check("Limits.Runtime", l.Runtime == 0, l.Runtime < Off)
	check("Limits.Loop", l.Loop == 0, l.Loop < Off)
	check("Limits.Errors", l.Errors == 0, l.Errors < Off)
	if l.Loop == 1 {
		errs = append(errs, errors.New("Limits.Loop is 1: every iteration would be a loop; use 2 or more"))
	}
	if _, err := ParseWeakening(string(l.Weakened)); l.Weakened != "" && err != nil {
		errs = append(errs, fmt.Errorf("Limits.Weakened: %w", err))
	}
	if l.TurnLoop == 1 {
		errs = append(errs, errors.New("Limits.TurnLoop is 1: every call of a tool would be a loop; use 2 or more"))
	}
	return errors.Join(errs...)
}

// watched reports every limit that is on and that no guard watches: a limit that somebody
// stated must not read as no limit.
func (l Limits) watched(guards []Guard) error {
	var errs []error
	for i, g := range guards {
		if g == nil {
			errs = append(errs, fmt.Errorf("guard %d is nil", i+1))
		}
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	for _, of := range []struct {
		name  string
		on    bool
		guard GuardID
	}{
		{"Iterations", l.Iterations > 0, MaxIterations},
		{"Runtime", l.Runtime > 0, MaxRuntime},
		{"Loop", l.Loop > 0, LoopDetected},
		{"Errors", l.Errors > 0, ConsecutiveErrors},
		{"Cost", l.Cost > 0, MaxCost},
		{"Tokens", l.Tokens > 0, MaxTokens},
		{"IdleIterations", l.IdleIterations > 0, NoProgress},
		{"WorkspaceCycles", l.WorkspaceCycles > 0, WorkspaceCycle},
		{"TurnLoop", l.TurnLoop > 0, TurnLoop},
		{"Weakened", l.Weakened == WeakenedTrips, Weakened},
	} {
		if of.on && !slices.ContainsFunc(guards, func(g Guard) bool { return g.ID() == of.guard }) {
			errs = append(errs, fmt.Errorf("%w: Limits.%s is stated, and no guard %s watches it; append your own guards to guards.Default(), or use looprun.Off", ErrNoGuards, of.name, of.guard))
		}
	}
	return errors.Join(errs...)
}

// Caps bound what answers can add to the limits. A zero field has no cap.
type Caps struct {
	Iterations int           `json:"iterations,omitempty"`
	Runtime    time.Duration `json:"runtime_ns,omitempty"`
	Cost       float64       `json:"cost,omitempty"`
	Tokens     int64         `json:"tokens,omitempty"`
}

// DefaultCaps are the larger of 50 iterations and 60 minutes and twice the
// limits; twice the limit for cost and tokens.
func DefaultCaps(l Limits) Caps {
	return Caps{
		Iterations: max(50, plus(l.Iterations, l.Iterations)),
		Runtime:    max(time.Hour, plus(l.Runtime, l.Runtime)),
		Cost:       plus(l.Cost, l.Cost),
		Tokens:     plus(l.Tokens, l.Tokens),
	}
}

// amount is what limits are counted in.
type amount interface {
	int | int64 | float64 | time.Duration
}

// plus is the sum of two amounts: what is off adds nothing, and where the sum is more
// than the type can hold it is the most that it can.
func plus[T amount](a, b T) T {
	a, b = max(0, a), max(0, b)
	if sum := a + b; sum >= a && !math.IsInf(float64(sum), 0) {
		return sum
	}
	return most[T]()
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

// share is that many percent of an amount.
func share[T int64 | float64](of T, percent float64) T {
	part := float64(max(0, of)) * max(0, percent) / 100
	if part >= float64(most[T]()) {
		return most[T]()
	}
	return T(part)
}

// Extend is what a continuing answer adds to a limit: an amount, or a
// percentage of the limit that the run began with. The zero value adds nothing.
type Extend struct {
	Iterations    int           `json:"iterations,omitempty"`
	Runtime       time.Duration `json:"runtime_ns,omitempty"`
	Cost          float64       `json:"cost,omitempty"`
	CostPercent   float64       `json:"cost_percent,omitempty"`
	Tokens        int64         `json:"tokens,omitempty"`
	TokensPercent float64       `json:"tokens_percent,omitempty"`
}

// limitsJSON is how limits are written: “off” in words, time as a duration.
type limitsJSON struct {
	Iterations      any `json:"iterations"`
	Runtime         any `json:"runtime"`
	Loop            any `json:"loop"`
	Errors          any `json:"errors"`
	Cost            any `json:"cost,omitempty"`
	Tokens          any `json:"tokens,omitempty"`
	IdleIterations  any `json:"idle_iterations,omitempty"`
	WorkspaceCycles any `json:"workspace_cycles,omitempty"`
	TurnLoop        any `json:"turn_loop,omitempty"`

	Weakened Weakening `json:"weakened,omitempty"`
}

const offWord = "off"

func number[T int | int64 | float64](v T, zero any) any {
	switch {
	case v < 0:
		return offWord
	case v == 0:
		return zero
	}
	return v
}

// MarshalJSON writes a limit that is off as "off" and runtime as "15m0s".
func (l Limits) MarshalJSON() ([]byte, error) {
	runtime := any(l.Runtime.String())
	if l.Runtime < 0 {
		runtime = offWord
	}
	return json.Marshal(limitsJSON{
		Iterations: number(l.Iterations, 0), Runtime: runtime,
		Loop: number(l.Loop, 0), Errors: number(l.Errors, 0),
		Cost: number(l.Cost, nil), Tokens: number(l.Tokens, nil),
		IdleIterations:  number(l.IdleIterations, nil),
		WorkspaceCycles: number(l.WorkspaceCycles, nil),
		TurnLoop:        number(l.TurnLoop, nil),
		Weakened:        l.Weakened,
	})
}

type limitField struct{ text string }

func (f *limitField) UnmarshalJSON(b []byte) error {
	f.text = string(b)
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &f.text)
	}
	return nil
}

func parseLimit[T int | int64 | float64](name string, f limitField, to *T, parse func(string) (T, error), errs *[]error) {
	switch f.text {
	case "":
		return
	case offWord:
		*to = Off
		return
	}
	v, err := parse(f.text)
	if err != nil {
		*errs = append(*errs, fmt.Errorf("limit %s: %q is not a number", name, f.text))
		return
	}
	*to = v
}

// UnmarshalJSON reads what MarshalJSON writes.
func (l *Limits) UnmarshalJSON(b []byte) error {
	var j struct {
		Iterations      limitField `json:"iterations"`
		Runtime         limitField `json:"runtime"`
		Loop            limitField `json:"loop"`
		Errors          limitField `json:"errors"`
		Cost            limitField `json:"cost"`
		Tokens          limitField `json:"tokens"`
		IdleIterations  limitField `json:"idle_iterations"`
		WorkspaceCycles limitField `json:"workspace_cycles"`
		TurnLoop        limitField `json:"turn_loop"`
		Weakened        Weakening  `json:"weakened"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*l = Limits{Weakened: j.Weakened}
	var errs []error
	tokens := func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }
	usd := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	parseLimit("iterations", j.Iterations, &l.Iterations, strconv.Atoi, &errs)
	parseLimit("loop", j.Loop, &l.Loop, strconv.Atoi, &errs)
	parseLimit("errors", j.Errors, &l.Errors, strconv.Atoi, &errs)
	parseLimit("cost", j.Cost, &l.Cost, usd, &errs)
	parseLimit("tokens", j.Tokens, &l.Tokens, tokens, &errs)
	parseLimit("idle_iterations", j.IdleIterations, &l.IdleIterations, strconv.Atoi, &errs)
	parseLimit("workspace_cycles", j.WorkspaceCycles, &l.WorkspaceCycles, strconv.Atoi, &errs)
	parseLimit("turn_loop", j.TurnLoop, &l.TurnLoop, strconv.Atoi, &errs)
	switch t := j.Runtime.text; t {
	case "":
	case offWord:
		l.Runtime = Off
	default:
		d, err := time.ParseDuration(t)
		if err != nil {
			errs = append(errs, fmt.Errorf("limit runtime: %w", err))
		}
		l.Runtime = d
	}
	return errors.Join(errs...)
}
