package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/cost"
	"github.com/looprun/looprun/internal/waiting"
)

// Each agent is whole, its cost and its limits can be read, and nothing that looprun
// passes on lifts its permissions.
func TestAll(t *testing.T) {
	var own Agents
	for _, a := range own.All() {
		if a.Name == "" || len(a.Command) == 0 || a.Permit == "" || a.Login == "" {
			t.Errorf("%+v is not whole", a)
		}
		if got, ok := own.Find(a.Name); !ok || got.Name != a.Name {
			t.Errorf("%s is not found", a.Name)
		}
		if got, ok := own.Of([]string{"/usr/bin/" + a.Command[0], "x"}); !ok || got.Name != a.Name {
			t.Errorf("%s is not recognised", a.Command[0])
		}
		if a.CostFrom != "" {
			if _, err := cost.New(a.CostFrom); err != nil {
				t.Error(err)
			}
		}
		if _, err := waiting.Compile(a.WaitOn); err != nil {
			t.Error(err)
		}
		if _, err := waiting.CompileStop(a.StopOn); err != nil {
			t.Error(err)
		}
		for _, word := range a.Command {
			for _, lifts := range []string{"permission", "allow", "yolo", "approv", "force", "sandbox", "bypass", "dangerous", "trust", "auto"} {
				if strings.Contains(strings.ToLower(word), lifts) {
					t.Errorf("%s is started with %s", a.Name, word)
				}
			}
			if slices.Contains(strings.Fields(a.Permit), word) {
				t.Errorf("%s is started with %s, which is for people to pass on", a.Name, word)
			}
		}
	}
	for _, other := range [][]string{nil, {"make"}, {"claudette"}, {""}} {
		if a, ok := own.Of(other); ok {
			t.Errorf("%q is taken for %s", other, a.Name)
		}
	}
	if a, ok := own.Of([]string{"aider"}); !ok || a.Name != "aider" || a.Command != nil {
		t.Errorf("aider: %+v, %t", a, ok)
	}
}
