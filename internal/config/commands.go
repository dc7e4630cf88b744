package config

import "reflect"

// Commands are all command lines that a run with these options can start, as they are
// written; the command of the run itself is [Options.Work]. Every [ShellLine] below
// Options counts, and every text whose tag mask says that it is a command: a new field, a
// map or a list of them needs no entry here.
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
