package config

import "reflect"

// Commands returns all command lines that a run with these options can start, as written; the
// command of the run itself is [Options.Work]. It includes every [ShellLine] below Options,
// and every text whose tag mask marks it as a command, so a new field, map or list needs no
// entry here.
func (o *Options) Commands() []string { return commandsIn(reflect.ValueOf(o), "") }

func commandsIn(v reflect.Value, mask string) (lines []string) {
	switch v.Kind() {
	case reflect.String:
		if (v.Type() == reflect.TypeFor[ShellLine]() || mask == "command") && v.Len() > 0 {
			lines = append(lines, v.String())
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			lines = commandsIn(v.Elem(), mask)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			lines = append(lines, commandsIn(v.Field(i), v.Type().Field(i).Tag.Get("mask"))...)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			lines = append(lines, commandsIn(v.Index(i), mask)...)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			lines = append(append(lines, commandsIn(key, "")...), commandsIn(v.MapIndex(key), mask)...)
		}
	}
	return lines
}
