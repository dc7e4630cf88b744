package guards

import (
	"fmt"

	"github.com/looprun/looprun/core"
)

// Cost trips when the reported cost exceeds the limit. A run that reports no cost never trips
// it.
type Cost struct{}

// ID returns max_cost.
func (Cost) ID() core.GuardID { return core.MaxCost }

// Check trips if more was spent than Limits.Cost.
func (Cost) Check(s *core.State) *core.Trip {
	if s.Limits.Cost <= 0 || s.Cost <= s.Limits.Cost {
		return nil
	}
	return &core.Trip{
		Guard: core.MaxCost, Iteration: s.Iterations,
		Reason: fmt.Sprintf("$%.2f was spent; the limit is $%.2f", s.Cost, s.Limits.Cost),
	}
}

// Tokens trips when the reported tokens exceed the limit.
type Tokens struct{}

// ID returns max_tokens.
func (Tokens) ID() core.GuardID { return core.MaxTokens }

// Check trips if more tokens were used than Limits.Tokens.
func (Tokens) Check(s *core.State) *core.Trip {
	if s.Limits.Tokens <= 0 || s.Tokens <= s.Limits.Tokens {
		return nil
	}
	return &core.Trip{
		Guard: core.MaxTokens, Iteration: s.Iterations,
		Reason: fmt.Sprintf("%d tokens were used; the limit is %d", s.Tokens, s.Limits.Tokens),
	}
}
