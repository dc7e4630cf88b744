package core

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DefaultLimits returns the defaults of the command line: 10 iterations, 15 minutes, the same
// signature 3 times, 3 errors in a row.
func DefaultLimits() Limits {
	return Limits{Iterations: 10, Runtime: 15 * time.Minute, Loop: 3, Errors: 3}
}

// Often limits the same failure to fewer than Times of the last Of iterations, consecutive or
// not; see [LoopDetected]. The zero value means twice Limits.Loop, which is 6 of the last 10
// by default. [Off] in Times means no limit.
type Often struct {
	Times int `json:"times"`
	Of    int `json:"of"`
}

const mostOften = 50 // iterations that are looked back on

// ParseOften parses “6/10” or “off”.
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

// For returns o with the zero value replaced by the default for a loop limit of that many.
func (o Often) For(loop int) Often {
	if o == (Often{}) {
		o = Often{Times: 2 * loop, Of: min(mostOften, (10*loop+2)/3)}
	}
	return o
}

// Validate returns an error for every limit that is neither set nor off. If one of the main
// limits is missing, the error is [ErrNoGuards].
func (l Limits) Validate() error {
	var errs []error
	wrong := func(g Spec, why string) { errs = append(errs, fmt.Errorf("%s %s", "Limits."+g.Field, why)) }
	for _, g := range Specs() {
		text := g.Text(l)
		if text == "" && g.Stated {
			errs = append(errs, fmt.Errorf("%w: Limits.%s is neither stated nor looprun.Off", ErrNoGuards, g.Field))
		}
		if g.One != "" && text == "1" {
			wrong(g, "is 1: "+g.One+"; use 2 or more")
		}
		if why := g.limit.wrong(l); why != "" {
			wrong(g, why)
		}
	}
	return errors.Join(errs...)
}

// watched returns an error for every limit that is on but has no guard: a limit that somebody
// set must not be ignored.
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
	for _, of := range Specs() {
		if of.On(l) && !slices.ContainsFunc(guards, func(g Guard) bool { return g.ID() == of.ID }) {
			errs = append(errs, fmt.Errorf("%w: Limits.%s is stated, and no guard %s watches it; append your own guards to guards.Default(), or use looprun.Off", ErrNoGuards, of.Field, of.ID))
		}
	}
	return errors.Join(errs...)
}

// Caps limit how much answers can add to the limits. A zero field means no cap.
type Caps struct {
	Iterations int           `json:"iterations,omitempty"`
	Runtime    time.Duration `json:"runtime_ns,omitempty"`
	Cost       float64       `json:"cost,omitempty"`
	Tokens     int64         `json:"tokens,omitempty"`
}

// DefaultCaps returns the default caps: for iterations and runtime the larger of twice the
// limit and 50 iterations or 60 minutes, for cost and tokens twice the limit.
func DefaultCaps(l Limits) (c Caps) {
	for _, g := range specs {
		if x := g.extended(); x != nil {
			x.defaultCap(l, &c)
		}
	}
	return c
}

// Extend is what a continuing answer adds to a limit: an amount, or a percentage of the run's
// original limit. The zero value adds nothing.
type Extend struct {
	Iterations    int           `json:"iterations,omitempty"`
	Runtime       time.Duration `json:"runtime_ns,omitempty"`
	Cost          float64       `json:"cost,omitempty"`
	CostPercent   float64       `json:"cost_percent,omitempty"`
	Tokens        int64         `json:"tokens,omitempty"`
	TokensPercent float64       `json:"tokens_percent,omitempty"`
}

const offWord = "off"

// MarshalJSON writes a limit that is off as "off" and runtime as "15m0s".
func (l Limits) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for _, g := range Specs() {
		v := g.limit.json(l, g.Stated)
		if v == nil {
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		out = append(append(append(strconv.AppendQuote(out, g.Name), ':'), text...), ',')
	}
	return append(bytes.TrimSuffix(out, []byte{','}), '}'), nil
}

// UnmarshalJSON reads the output of MarshalJSON.
func (l *Limits) UnmarshalJSON(b []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(b, &values); err != nil {
		return err
	}
	*l = Limits{}
	var errs []error
	for _, g := range Specs() {
		raw, ok := values[g.Name]
		if !ok {
			continue
		}
		text := string(raw)
		if raw[0] == '"' {
			if err := json.Unmarshal(raw, &text); err != nil {
				return err
			}
		}
		if err := g.Put(l, text); err != nil {
			errs = append(errs, fmt.Errorf("limit %s cannot be read: %w", g.Name, err))
		}
	}
	return errors.Join(errs...)
}
