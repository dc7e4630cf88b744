package hooks

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/looprun/looprun/core"
)

// TestSchema describes the documents as they are: the same keys, all required,
// and every value that its lists of values allow.
func TestSchema(t *testing.T) {
	var s struct {
		ID         string   `json:"$id"`
		Required   []string `json:"required"`
		Properties map[string]struct {
			Enum       []string                  `json:"enum"`
			Required   []string                  `json:"required"`
			Properties map[string]map[string]any `json:"properties"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(DocumentSchema(), &s); err != nil || s.ID != "https://"+Schema {
		t.Fatalf("%q, %v", s.ID, err)
	}
	h := &Hooks{OnQuestion: "x", OnTrip: "x", OnEnd: "x"}
	hooks, types := map[string]bool{}, map[string]bool{}
	for _, e := range []core.Event{asked, tripped, over, event(8, core.RunPaused{Reason: "checkpoint"})} {
		j, ok, err := h.job(e, state(e))
		if err != nil || !ok {
			t.Fatalf("%s: %v", e.Data.Type(), err)
		}
		var d map[string]any
		if err := json.Unmarshal(j.document, &d); err != nil {
			t.Fatal(err)
		}
		if len(d) != len(s.Required) || len(d) != len(s.Properties) {
			t.Errorf("%d keys, %d required, %d described", len(d), len(s.Required), len(s.Properties))
		}
		for _, key := range s.Required {
			if _, there := d[key]; !there {
				t.Errorf("%s is missing", key)
			}
		}
		what, _ := d["event"].(map[string]any)
		for _, key := range s.Properties["event"].Required {
			if _, there := what[key]; !there {
				t.Errorf("the event has no %s", key)
			}
		}
		hook, _ := d["hook"].(string)
		kind, _ := what["type"].(string)
		hooks[hook], types[kind] = true, true
		allowed, _ := s.Properties["event"].Properties["type"]["enum"].([]any)
		if !slices.Contains(s.Properties["hook"].Enum, hook) || !slices.Contains(allowed, any(kind)) {
			t.Errorf("%s for %s is not described", hook, kind)
		}
	}
	if len(hooks) != len(s.Properties["hook"].Enum) || len(types) != 4 {
		t.Errorf("%v %v", hooks, types)
	}
}
