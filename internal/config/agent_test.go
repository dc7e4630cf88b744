package config

import (
	"cmp"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/carrier"
)

// A row as looprun agents prints it stands in a looprun.yaml as it is, and says the same
// there: JSON is YAML.
func TestAgentsAsTheyArePrinted(t *testing.T) {
	for _, name := range agent.Agents(nil).Names() {
		known, _ := agent.Agents(nil).Find(name)
		own := agent.Agent{Command: []string{"x"}}
		for _, s := range carrier.KnownShapes() {
			if s.Agent == cmp.Or(known.CostFrom, name) { // as looprun agents prints it
				s.Agent = ""
				own.Transcript = append(own.Transcript, s)
			}
		}
		if len(own.Transcript) == 0 {
			t.Errorf("nothing is known of what %s prints", name)
		}
		row, err := json.Marshal(own)
		if err != nil {
			t.Fatal(err)
		}
		var keys map[string]any
		if err := json.Unmarshal(row, &keys); err != nil {
			t.Fatal(err)
		}
		delete(keys, "name") // which stands in front
		text, err := json.Marshal(map[string]any{"agents": map[string]any{"mine": keys}})
		if err != nil {
			t.Fatal(err)
		}
		f := &File{Source: Source{Name: Name, path: Name}, text: text}
		if err := f.decode(Keys()); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := f.layers[0].agents["mine"].Transcript; !reflect.DeepEqual(got, own.Transcript) {
			t.Errorf("%s: %+v\nwant %+v", name, got, own.Transcript)
		}
	}
}

// What --agent sets can be read as the flag reads it, and has the type of what the row
// has.
func TestWhatAgentSets(t *testing.T) {
	of := reflect.TypeFor[Options]()
	n := 0
	for _, field := range reflect.VisibleFields(of) {
		set, ok := field.Tag.Lookup("agent")
		if !ok {
			continue
		}
		n++
		if set == agentRow {
			if row, ok := reflect.TypeFor[agent.Agent]().FieldByName(field.Name); !ok || row.Type != field.Type {
				t.Errorf("%s: the row of an agent has no such field", field.Name)
			}
			continue
		}
		if _, err := table().byName[keyName(field)].parse(set); err != nil {
			t.Errorf("%s: %v", field.Name, err)
		}
	}
	if n < 5 {
		t.Errorf("--agent sets %d options", n)
	}
}
