package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/looprun/looprun/internal/nearest"
)

// Defaults are the options of a run where nothing says more.
func Defaults() *Options {
	var o Options
	new(Settings).Fill(&o)
	return &o
}

// Values are the values of keys as somebody wrote them in a YAML file, which is in the folder
// that relative paths start from.
type Values map[string]any

// read reads each value as looprun.yaml does, in the order of the keys' names.
func (v Values) read(dir string, take func(Key, written)) error {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		k, ok := table().byName[name]
		if !ok {
			var names []string
			for _, k := range Keys() {
				names = append(names, k.Name)
			}
			return Usage(fmt.Sprintf("options: %q is not a key of looprun.yaml that a flag stands for", name), nearest.DidYouMean(name, names))
		}
		w, wrong := k.read(v[name], dir)
		if len(wrong) > 0 {
			return Usage("options: "+wrong[0].text, wrong[0].remedy)
		}
		take(k, w)
	}
	return nil
}

// Set gives the options the values.
func (o *Options) Set(v Values, dir string) error {
	return v.read(dir, func(k Key, w written) {
		if f := reflect.ValueOf(o).Elem().FieldByName(k.field.Name); f.IsValid() && f.Type() == k.field.Type {
			f.Set(w.value)
		}
	})
}

// Words are the values as the command line of a run has them. The list of tasks is part of the
// work, so its path stays relative.
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
