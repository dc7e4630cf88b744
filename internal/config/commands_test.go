package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// marker fills every place below a value that holds a command line, and lists the lines.
type marker struct{ lines []string }

func (m *marker) fill(v reflect.Value, tag reflect.StructTag, path string) {
	if !v.CanSet() || strings.Count(path, ".") > 8 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.Type().Name(), "Line") || strings.HasSuffix(path, ".Command") || tag.Get("mask") == "command" {
			m.lines = append(m.lines, "run "+path)
			v.SetString("run " + path)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(v.Elem(), tag, path)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			m.fill(v.Field(i), f.Tag, path+"."+f.Name)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			m.fill(v.Index(i), tag, fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		m.fill(value, tag, path+"[key]")
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	}
}

// A list of allowed commands is only as good as this one.
func TestCommandsAreAllThatOptionsCanRun(t *testing.T) {
	var o Options
	m := marker{}
	m.fill(reflect.ValueOf(&o).Elem(), "", "Options")
	if len(m.lines) < 9 { // the shell, the check, three hooks, debug, the assistant, one of a map, two experts
		t.Fatalf("the test found only %q", m.lines)
	}
	got := o.Commands()
	for _, line := range m.lines {
		if !slices.Contains(got, line) {
			t.Errorf("Commands misses %q", line)
		}
	}
}

type someLines struct{ Below ShellLine }

// Each way in which a field can hold a command line is followed.
func TestCommandsFollowEveryKindOfField(t *testing.T) {
	type pointed struct{ Deep *someLines }
	for name, of := range map[string]any{
		"a map":               &struct{ M map[string]someLines }{},
		"a map of pointers":   &struct{ M map[string]*ShellLine }{},
		"a slice":             &struct{ S []someLines }{},
		"a slice of lines":    &struct{ S []ShellLine }{},
		"a pointer":           &struct{ P *pointed }{},
		"an embedded struct":  &struct{ someLines }{someLines{"run it"}},
		"an unexported field": &struct{ hidden []ShellLine }{[]ShellLine{"run it"}},
	} {
		m := marker{}
		m.fill(reflect.ValueOf(of).Elem(), "", "T")
		if m.lines == nil {
			m.lines = []string{"run it"}
		}
		got := commandsIn(reflect.ValueOf(of), "")
		for _, line := range m.lines {
			if !slices.Contains(got, line) {
				t.Errorf("%s: Commands misses %q, and has %q", name, line, got)
			}
		}
	}
}
