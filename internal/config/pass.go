package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/looprun/looprun/internal/nearest"
)

// Passed are the options that were given on the command line, as flags for another run.
// Those in except are left out.
func (c *Settings) Passed(o *Options, except ...string) ([]string, error) {
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var values map[string]any
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, err
	}
	if o.Rules != "" {
		values["rules"] = o.Rules // which is not kept
	}
	values["exit_codes"] = values["exit_code"]
	var flags []string
	for _, k := range optionKeys() {
		f := c.flag(k.Flag.Name)
		if f == nil || c.given(f) != "--"+f.Name || slices.Contains(except, f.Name) {
			continue
		}
		flags = append(flags, asFlags(k.Flag.Name, values[k.Name])...)
	}
	return flags, nil
}

// FlagsFor are the keys of a looprun.yaml with their values as flags for a run. Relative
// paths are as dir has them, but for those of the work itself.
func FlagsFor(options map[string]any, dir string) ([]string, error) {
	keys := optionKeys()
	var flags, names []string
	for _, k := range keys {
		names = append(names, k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, Usage(fmt.Sprintf("options: %q is not a key of looprun.yaml that a flag stands for", name), nearest.DidYouMean(name, names))
		}
		value, wrong := keys[i].read(options[name], dir)
		if len(wrong) > 0 {
			return nil, Usage("options: "+wrong[0].text, wrong[0].remedy)
		}
		if name == "tasks" {
			value = options[name]
		}
		flags = append(flags, asFlags(keys[i].Flag.Name, value)...)
	}
	return flags, nil
}

// asFlags are the flags that give the value.
func asFlags(name string, value any) []string {
	flag := "--" + name + "="
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.Invalid:
		return nil
	case reflect.Slice:
		var flags []string
		for i := range v.Len() {
			flags = append(flags, asFlags(name, v.Index(i).Interface())...)
		}
		return flags
	case reflect.Map:
		var flags []string
		for _, key := range v.MapKeys() {
			flags = append(flags, flag+fmt.Sprintf("%v=%v", key, v.MapIndex(key)))
		}
		slices.Sort(flags)
		return flags
	case reflect.Float64:
		return []string{flag + strconv.FormatFloat(v.Float(), 'f', -1, 64)}
	}
	return []string{flag + fmt.Sprint(value)}
}
