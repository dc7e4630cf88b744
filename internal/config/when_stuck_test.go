package config

import (
	"slices"
	"testing"

	"github.com/looprun/looprun/core"
)

// when_stuck is for the guards that count a streak, and for no limit.
func TestGuardsOfWhenStuck(t *testing.T) {
	var want []string
	for _, g := range core.Specs() {
		if g.Streak {
			want = append(want, string(g.ID))
		}
	}
	for _, k := range Keys() {
		if k.Name == "when_stuck_guards" && !slices.Equal(k.Words(), want) {
			t.Errorf("it takes %v, want %v", k.Words(), want)
		}
	}
}
