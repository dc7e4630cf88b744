package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/escalate/assistant"
	"github.com/looprun/looprun/escalate/hooks"
	"github.com/looprun/looprun/internal/console"
)

// Every field of Options is a key, but those that hold what no flag can say, and each is
// found by its name, its flag and what denies it.
func TestEveryOptionIsAKey(t *testing.T) {
	blocks := []string{"Signature", "Ladder", "Agents", "Assistants", "ConfigExitCodes"}
	fields := 0
	EachField(reflect.TypeFor[Options](), func(f reflect.StructField) {
		fields++
		name := keyName(f)
		if (name == "") != slices.Contains(blocks, f.Name) {
			t.Errorf("the field %s is the key %q", f.Name, name)
		}
		if f.Tag.Get("kong") != "-" && name == "" {
			t.Errorf("kong makes a flag of %s, which is no key", f.Name)
		}
	})
	for _, k := range Keys() {
		for _, word := range []string{k.Name, k.Flag(), strings.ReplaceAll(k.Name, "_", "-")} {
			if got, denied, ok := Spelled(word); !ok || denied || got.Name != k.Name {
				t.Errorf("%s is %s, %v, %v", word, got.Name, denied, ok)
			}
		}
		if normal := k.tag("default"); normal != "" {
			if _, err := k.parse(normal); err != nil {
				t.Errorf("%s: the default cannot be read: %v", k.Name, err)
			}
		}
	}
	if fields < 80 {
		t.Errorf("there are %d fields", fields)
	}
}

// A flag that takes a shell line is of the type that refuses an empty one.
func TestShellLinesAreNotBlank(t *testing.T) {
	lines := 0
	for _, k := range Keys() {
		if k.Placeholder() != "LINE" {
			continue
		}
		if lines++; k.Type() != reflect.TypeFor[ShellLine]() {
			t.Errorf("%s is a %s, not a shellLine", k.Name, k.Type())
		}
	}
	if lines < 7 {
		t.Errorf("there are %d shell lines", lines)
	}
}

// A preset is a flag, and sets keys. What holds where nothing says more is what a
// run without flags has.
func TestTagsOfOptionsAreTrue(t *testing.T) {
	t.Setenv("CI", "") // in CI, whoever looks after the command has less time to end
	var have []string
	for _, k := range Keys() {
		have = append(have, k.Name)
	}
	set := map[string]int{}
	var none Options
	computed := none.computed()
	for key, normal := range map[string]string{
		"max_delay": engine.MaxDelay.String(), "assistant_timeout": assistant.DefaultTimeout.String(), "hook_timeout": hooks.DefaultTimeout.String(),
	} {
		computed[key] = normal
	}
	checked := 0
	for _, k := range Keys() {
		for preset := range strings.SplitSeq(k.tag("preset"), ",") {
			if set[preset]++; preset != "" && !slices.Contains(have, preset) {
				t.Errorf("%s: there is no preset %s", k.Name, preset)
			}
		}
		normal, want := k.tag("normal"), computed[k.Name]
		if normal == "" || want == "" {
			continue
		}
		checked++
		a, errA := k.parse(normal)
		b, errB := k.parse(want)
		if errA != nil || errB != nil || !reflect.DeepEqual(a.value.Interface(), b.value.Interface()) {
			t.Errorf("%s: normal is %s, and a run without flags has %s (%v, %v)", k.Name, normal, want, errA, errB)
		}
	}
	if set["wait"] != 6 || set["retry"] != 4 || set["ask"] != 1 || checked < 9 {
		t.Errorf("the presets set %v; %d defaults were compared", set, checked)
	}
}

func TestConfigSchema(t *testing.T) {
	var out bytes.Buffer
	keys := Keys()
	if err := WriteSchema(&out); err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Schema     string `json:"$schema"`
		Properties map[string]struct {
			Type        any            `json:"type"`
			AnyOf       []any          `json:"anyOf"`
			Enum        []string       `json:"enum"`
			Description string         `json:"description"`
			Properties  map[string]any `json:"properties"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(out.Bytes(), &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Schema != "https://json-schema.org/draft/2020-12/schema" {
		t.Errorf("$schema is %q", schema.Schema)
	}
	want := []string{"signature", "ladder", "agents", "assistants", "hooks", "enforce"}
	for _, k := range keys {
		want = append(want, k.Name)
	}
	if got := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("properties are %v", got)
	}
	for name, p := range schema.Properties {
		if p.Description == "" || p.Type == nil && p.AnyOf == nil && p.Enum == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if got := schema.Properties["backoff"].Enum; !slices.Equal(got, []string{"fixed", "exponential"}) {
		t.Errorf("backoff is one of %v", got)
	}
	if got := slices.Sorted(maps.Keys(schema.Properties["signature"].Properties)); !slices.Equal(got, []string{"extract", "ignore", "mask", "reports"}) {
		t.Errorf("signature has %v", got)
	}
}

// The variables of keys are known without the model of the command line, which costs as much
// as all else that a start does.
func TestAKeysVariableIsNotStray(t *testing.T) {
	t.Setenv("LOOPRUN", "")
	t.Setenv("LOOPRUN_STATE_DIR", "runs")
	t.Setenv(TrustVariable, "x")
	asked := 0
	c := &Settings{call: Call{Variables: func() []string { asked++; return nil }, Inside: func() []string { return nil }, Say: &console.Messages{}}}
	if c.stray(); asked != 0 {
		t.Error("the model was built")
	}
	t.Setenv("LOOPRUN_OF_MINE", "x")
	if c.stray(); asked != 1 {
		t.Errorf("the model was asked %d times about an unknown variable", asked)
	}
}

func TestStrayVariables(t *testing.T) {
	known := []string{"LOOPRUN_MAX_ITERATIONS", "LOOPRUN_CHECK"}
	got := strayVariables([]string{
		"LOOPRUN_MAX_ITERATIONS=3", "LOOPRUN_MAX_ITERATION=3", "LOOPRUN_chekc=x", "LOOPRUN_OF_MINE=x",
	}, known, []string{"LOOPRUN_OF_MINE"})
	want := []string{
		"the variable LOOPRUN_MAX_ITERATION is not used; did you mean LOOPRUN_MAX_ITERATIONS?",
		"the variable LOOPRUN_chekc is not used; did you mean LOOPRUN_CHECK?",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}
