package guards_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards"
)

// The table of guards in core and the list of those that are asked say the same, in the
// same order, and every limit has a row.
func TestEveryGuardHasItsRow(t *testing.T) {
	var asked []core.GuardID
	for _, g := range guards.Default() {
		if asked = append(asked, g.ID()); g.ID().Spec().ID != g.ID() {
			t.Errorf("%s has no row", g.ID())
		}
	}
	protocol := core.ProtocolIDs()
	limits := slices.DeleteFunc(slices.Clone(asked), func(id core.GuardID) bool { return slices.Contains(protocol, id) })
	if !slices.Equal(limits, core.GuardIDs()) || len(asked) != len(limits)+len(protocol) {
		t.Errorf("asked are %v; the rows are %v and %v", asked, core.GuardIDs(), protocol)
	}
	fields := map[string]bool{}
	for _, g := range core.Specs() {
		fields[g.Field] = true
	}
	for f := range reflect.TypeFor[core.Limits]().Fields() {
		if !fields[f.Name] {
			t.Errorf("Limits.%s has no row", f.Name)
		}
	}
}
