package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/escalate/assistant"
	"github.com/looprun/looprun/escalate/hooks"
	"github.com/looprun/looprun/internal/console"
)

func runModel(t *testing.T) *kong.Application {
	t.Helper()
	var of struct {
		Options
		console.Flags
		FileFlags
	}
	parser, err := kong.New(&of)
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

func runKeys(t *testing.T) []Key {
	t.Helper()
	return Keys(runModel(t))
}

// Every flag of run that is not about one call only has a key.
func TestEveryOptionHasAKey(t *testing.T) {
	var have []string
	for _, k := range runKeys(t) {
		have = append(have, k.Name)
		if keyOf(flagOf(k.Name)) != k.Name || flagOf(k.Name) != k.Flag.Name {
			t.Errorf("%s is not the key of --%s", k.Name, k.Flag.Name)
		}
	}
	for _, f := range runModel(t).Flags {
		if !slices.Contains([]string{"help", "config", "trust"}, f.Name) && !slices.Contains(have, keyOf(f.Name)) {
			t.Errorf("--%s has no key", f.Name)
		}
	}
}

// A flag that takes a shell line is of the type that refuses an empty one.
func TestShellLinesAreNotBlank(t *testing.T) {
	lines := 0
	for _, k := range runKeys(t) {
		if k.Flag.PlaceHolder != "LINE" {
			continue
		}
		if lines++; k.Flag.Target.Type() != reflect.TypeFor[ShellLine]() {
			t.Errorf("%s is a %s, not a shellLine", k.Name, k.Flag.Target.Type())
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
	parser, err := kong.New(new(struct{ Options }))
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, k := range runKeys(t) {
		have = append(have, k.Name)
	}
	set := map[string]int{}
	var none Options
	ctx, err := kong.Trace(parser, nil)
	if err == nil {
		_, err = ctx.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	computed := none.computed()
	for key, normal := range map[string]string{
		"max_delay": engine.MaxDelay.String(), "assistant_timeout": assistant.DefaultTimeout.String(), "hook_timeout": hooks.DefaultTimeout.String(),
	} {
		computed[key] = normal
	}
	checked := 0
	for _, k := range runKeys(t) {
		for preset := range strings.SplitSeq(k.Flag.Tag.Get("preset"), ",") {
			if set[preset]++; preset != "" && !slices.Contains(have, preset) {
				t.Errorf("%s: there is no preset %s", k.Name, preset)
			}
		}
		normal, want := k.Flag.Tag.Get("normal"), computed[k.Name]
		if normal == "" || want == "" {
			continue
		}
		checked++
		a, errA := k.parse(normal)
		b, errB := k.parse(want)
		if errA != nil || errB != nil || !reflect.DeepEqual(a.Interface(), b.Interface()) {
			t.Errorf("%s: normal is %s, and a run without flags has %s (%v, %v)", k.Name, normal, want, errA, errB)
		}
	}
	if set["wait"] != 6 || set["retry"] != 4 || set["ask"] != 1 || checked < 9 {
		t.Errorf("the presets set %v; %d defaults were compared", set, checked)
	}
}

func TestConfigSchema(t *testing.T) {
	var out bytes.Buffer
	keys := runKeys(t)
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

// The variables that are known without a description of run are those of its flags.
func TestVariablesOfRun(t *testing.T) {
	var got, want []string
	got = append(got, runVariables()...)
	for _, k := range optionKeys() {
		if k.Flag.Tag.Get("group") != "everywhere" && k.Flag.Tag.Get("env") != "-" {
			want = append(want, "LOOPRUN_"+strings.ToUpper(strings.ReplaceAll(k.Flag.Name, "-", "_")))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
