package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Defaults returns the options of a run with no configuration.
func Defaults() *Options {
	var o Options
	new(Settings).Fill(&o)
	return &o
}

// Values holds the values of keys as written in a YAML file, whose folder is the base of
// relative paths.
type Values map[string]any

// read parses each value as in looprun.yaml, in the order of the keys' names.
func (v Values) read(dir string, take func(Key, written)) error {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		k, ok := table().byName[name]
		if !ok {
			return Usage(fmt.Sprintf("options: %q is not a key of looprun.yaml that has a flag", name), NearestKey(name))
		}
		w, wrong := k.read(v[name], dir)
		if len(wrong) > 0 {
			return Usage("options: "+wrong[0].text, wrong[0].remedy)
		}
		if why := w.notOwn(); why != "" {
			return Usage("options: "+name+": "+why, "remove it here")
		}
		take(k, w)
	}
	return nil
}

// Set applies the values to the options.
func (o *Options) Set(v Values, dir string) error {
	return v.read(dir, func(k Key, w written) {
		if f := reflect.ValueOf(o).Elem().FieldByName(k.field.Name); f.IsValid() && f.Type() == k.field.Type {
			f.Set(w.value)
		}
	})
}

// Words returns the values as arguments of a run. The list of tasks is part of the work, so
// its path stays relative.
func (v Values) Words(dir string) ([]string, error) {
	var words []string
	err := v.read(dir, func(k Key, w written) {
		if text, ok := v[k.Name].(string); ok && k.Name == "tasks" {
			w.texts = []string{text}
		}
		words = append(words, w.words(k)...)
	})
	return words, err
}
