package looprun

import (
	"encoding/json"
	"reflect"
)

// masked takes what the mask takes out of every text of the event. The event
// that was given stays as it is: its parts can be shared.
func masked(d Data, mask func(string) string) Data {
	switch d.(type) {
	case IterationStarted, RunAlive, CostReported, WaitFinished: // no text from outside
		return d
	}
	v, changed := maskValue(reflect.ValueOf(d), mask)
	if !changed {
		return d
	}
	out, _ := v.Interface().(Data) // the type is the same
	return out
}

// maskValue returns the value, or a changed copy of it.
func maskValue(v reflect.Value, mask func(string) string) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.String:
		text := mask(v.String())
		if text == v.String() {
			return v, false
		}
		return reflect.ValueOf(text).Convert(v.Type()), true
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		elem, changed := maskValue(v.Elem(), mask)
		if !changed {
			return v, false
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(elem)
		return out, true
	case reflect.Struct:
		return maskStruct(v, mask)
	case reflect.Slice:
		return maskSlice(v, mask)
	case reflect.Map:
		return maskMap(v, mask)
	}
	return v, false
}

func maskStruct(v reflect.Value, mask func(string) string) (reflect.Value, bool) {
	var out reflect.Value
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		field, changed := maskValue(v.Field(i), mask)
		if !changed {
			continue
		}
		if !out.IsValid() {
			out = reflect.New(v.Type()).Elem()
			out.Set(v)
		}
		out.Field(i).Set(field)
	}
	if !out.IsValid() {
		return v, false
	}
	return out, true
}

func maskSlice(v reflect.Value, mask func(string) string) (reflect.Value, bool) {
	if raw, ok := v.Interface().(json.RawMessage); ok {
		text := json.RawMessage(mask(string(raw)))
		if string(text) == string(raw) || !json.Valid(text) {
			return v, false // who records a configuration masks what is in it
		}
		return reflect.ValueOf(text), true
	}
	var out reflect.Value
	for i := range v.Len() {
		elem, changed := maskValue(v.Index(i), mask)
		if !changed {
			continue
		}
		if !out.IsValid() {
			out = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(out, v)
		}
		out.Index(i).Set(elem)
	}
	if !out.IsValid() {
		return v, false
	}
	return out, true
}

func maskMap(v reflect.Value, mask func(string) string) (reflect.Value, bool) {
	var out reflect.Value
	for _, key := range v.MapKeys() {
		elem, changed := maskValue(v.MapIndex(key), mask)
		if !changed {
			continue
		}
		if !out.IsValid() {
			out = reflect.MakeMap(v.Type())
			for _, k := range v.MapKeys() {
				out.SetMapIndex(k, v.MapIndex(k))
			}
		}
		out.SetMapIndex(key, elem)
	}
	if !out.IsValid() {
		return v, false
	}
	return out, true
}
