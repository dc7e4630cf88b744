package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// unasked are the keys that a looprun.yaml which was merely found may set without
// anybody's consent, and how far. A key belongs here when it can only lower a limit
// or change how things look.
var unasked = map[string]string{
	"quiet": "safe", "verbose": "safe", "color": "safe", "log_format": "safe", "progress": "safe", "show": "safe", "check_output": "safe", "name": "safe", "prompt": "safe",

	"max_iterations": "upto=50", "cap_iterations": "upto=50", "max_runtime": "upto=60m", "cap_runtime": "upto=60m",
	"loop_threshold": "upto=3", "max_errors": "upto=3",

	"max_cost": "lower", "max_cost_per_day": "lower", "max_tokens": "lower", "max_idle_iterations": "lower", "detect_workspace_cycles": "lower", "turn_loop": "lower",
	"iteration_timeout": "lower", "idle_timeout": "lower",
}

// Every key says what may be done with it unasked, and only those above may do
// anything.
func TestEveryKeySaysWhatIsTrusted(t *testing.T) {
	of := shape(Keys())
	seen := map[string]bool{}
	for i := range of.NumField() {
		key, trust := of.Field(i).Tag.Get("yaml"), of.Field(i).Tag.Get("trust")
		if key == "enforce" {
			continue
		}
		seen[key] = true
		switch want, ok := unasked[key]; {
		case trust == "":
			t.Errorf("the field of %s has no tag trust; it asks, which is to be said", key)
		case !ok && trust != trustAsk:
			t.Errorf("%s: trust is %q, and it is not in the list of what is used unasked", key, trust)
		case ok && trust != want:
			t.Errorf("%s: trust is %q, want %q", key, trust, want)
		}
	}
	for key := range unasked {
		if !seen[key] {
			t.Errorf("there is no key %s", key)
		}
	}
}

// The bounds of the tags are the built-in ones.
func TestBoundsAreTheBuiltInOnes(t *testing.T) {
	limits := core.DefaultLimits()
	caps := core.DefaultCaps(limits)
	want := map[string]float64{
		"max_iterations": float64(caps.Iterations), "cap_iterations": float64(caps.Iterations),
		"max_runtime": float64(caps.Runtime), "cap_runtime": float64(caps.Runtime),
		"loop_threshold": float64(limits.Loop), "max_errors": float64(limits.Errors),
	}
	for _, k := range Keys() {
		text, bounded := strings.CutPrefix(k.tag("trust"), trustUpto)
		bound, limited := want[k.Name]
		w, _ := k.parse(text)
		if n, ok := w.size(); bounded != limited || bounded && (!ok || n != bound) {
			t.Errorf("%s: the bound is %q, want %v", k.Name, text, bound)
		}
	}
}

// An option of which nobody has said anything asks, and so does a word that is
// none, or a limit of a type that nobody can compare.
func TestWhatNobodyTaggedAsks(t *testing.T) {
	var of struct {
		Untagged string
		Misspelt string     `trust:"save"`
		Empty    string     `trust:""`
		Number   int        `trust:"upto=5"`
		Words    []string   `trust:"lower"`
		Bound    string     `trust:"upto="`
		None     CountLimit `trust:"upto="`
		Mistaken CountLimit `trust:"upto=many"`
	}
	EachField(reflect.TypeOf(of), func(f reflect.StructField) {
		k := Key{f.Name, f}
		for _, own := range []string{"", "4", "9"} {
			if _, asks := (givenKey{k, k.tag("trust")}).asks(asWritten(k, "4"), asWritten(k, own)); !asks {
				t.Errorf("%s does not ask beside %v", k.Name, own)
			}
		}
	})
	if _, asks := (givenKey{Key{Name: "part"}, trustLower}).asks(written{}, written{}); !asks {
		t.Error("a key that is no flag does not ask")
	}
}

// asWritten is a value of a key; of no text there is none.
func asWritten(k Key, text string) written {
	if text == "" {
		return written{}
	}
	w, _ := k.parse(text)
	return w
}

// A limit asks when it is above what is built in and above what the user has.
func TestLimitsUnasked(t *testing.T) {
	keys := map[string]givenKey{}
	for _, k := range Keys() {
		keys[k.Name] = givenKey{k, k.tag("trust")}
	}
	for _, c := range []struct {
		key        string
		value, own string
		why        string // empty: it does not ask
	}{
		{"max_iterations", "1", "", ""},
		{"max_iterations", "50", "", ""},
		{"max_iterations", "51", "", "above 50"},
		{"max_iterations", "off", "", "above 50"},
		{"max_iterations", "50", "5", ""},
		{"max_iterations", "200", "200", ""},
		{"max_iterations", "201", "200", "above 200"},
		{"max_iterations", "off", "200", "above 200"},
		{"max_iterations", "off", "off", ""},
		{"max_runtime", "60m", "", ""},
		{"max_runtime", "1h0m0.001s", "", "above 60m"},
		{"loop_threshold", "2", "", ""},
		{"loop_threshold", "4", "", "above 3"},
		{"max_errors", "off", "", "above 3"},
		{"cap_iterations", "51", "", "above 50"},
		{"cap_runtime", "off", "", "above 60m"},
		{"max_cost", "1000", "", ""},
		{"max_cost", "off", "", ""},
		{"max_cost", "5", "5", ""},
		{"max_cost", "5.01", "5", "above 5"},
		{"max_cost", "off", "5", "above 5"},
		{"max_tokens", "2M", "500k", "above 500k"},
		{"max_tokens", "400k", "500k", ""},
		{"iteration_timeout", "9999h", "", ""},
		{"iteration_timeout", "9999h", "5m", "above 5m"},
		{"iteration_timeout", "0s", "5m", "above 5m"},
		{"idle_timeout", "4m", "5m", ""},
	} {
		why, asks := keys[c.key].asks(asWritten(keys[c.key].Key, c.value), asWritten(keys[c.key].Key, c.own))
		if asks != (c.why != "") || why != c.why {
			t.Errorf("%s: %v beside %v: asks is %v, %q, want %q", c.key, c.value, c.own, asks, why, c.why)
		}
	}
}
