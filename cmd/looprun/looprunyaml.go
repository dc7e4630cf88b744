package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/strictyaml"
)

// configName is the file that is looked for upwards to the git root.
const configName = "looprun.yaml"

// fileConfig resolves flags of run from looprun.yaml. Flags beat environment
// variables beat the file beats defaults.
type fileConfig struct {
	named  string // by --config or LOOPRUN_CONFIG; empty: it is searched for
	trusts bool   // --trust was given
	model  *kong.Application

	loaded bool
	err    error
	file   string // empty: there is none
	doc    *strictyaml.Document
	values map[string]reflect.Value // by flag name
	used   map[string]bool
	// signature is the key of that name.
	signature *signatureConfig
}

// keyOf is the key of a flag in the file.
func keyOf(flag string) string {
	if flag == "exit-code" {
		return "exit_codes"
	}
	return strings.ReplaceAll(flag, "-", "_")
}

// notKeys are flags that a file cannot set: they are about one call.
var notKeys = []string{"help", "config", "trust", "dry-run", "rules"}

// relativeTo are the flags whose values are files, relative to the file.
var relativeTo = []string{"policy", "templates", "stdin", "result", "state-dir"}

// Validate implements [kong.Resolver].
func (f *fileConfig) Validate(*kong.Application) error { return nil }

// Resolve implements [kong.Resolver]: the file is read when the first flag of
// run asks for its value.
func (f *fileConfig) Resolve(_ *kong.Context, parent *kong.Path, flag *kong.Flag) (any, error) {
	if parent.Command == nil || parent.Command.Name != "run" {
		return nil, nil //nolint:nilnil // no value, as kong wants it
	}
	if !f.loaded {
		f.loaded = true
		f.err = f.load()
	}
	if f.err != nil {
		return nil, f.err
	}
	v, ok := f.values[flag.Name]
	if !ok || slices.ContainsFunc(flag.Envs, func(e string) bool { _, set := os.LookupEnv(e); return set }) {
		return nil, nil //nolint:nilnil // no value, as kong wants it
	}
	f.used[flag.Name] = true
	return f.value(flag.Name, v), nil
}

// value is what kong reads: text, a list, or KEY=VALUE pairs.
func (f *fileConfig) value(flag string, v reflect.Value) any {
	switch v.Kind() {
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = f.path(flag, v.Index(i).String())
		}
		return list
	case reflect.Map:
		var pairs []string
		for _, k := range v.MapKeys() {
			pairs = append(pairs, k.String()+"="+v.MapIndex(k).String())
		}
		slices.Sort(pairs)
		return strings.Join(pairs, ";")
	}
	return f.path(flag, v.String())
}

func (f *fileConfig) path(flag, text string) string {
	if !slices.Contains(relativeTo, flag) || filepath.IsAbs(text) || flag == "stdin" && (text == "none" || text == "-") {
		return text
	}
	return filepath.Join(filepath.Dir(f.file), text)
}

// load finds the file and reads it whole.
func (f *fileConfig) load() error {
	switch f.named {
	case "none":
		return nil
	case "":
		f.file = findUpwards(workingDir(), configName)
	default:
		f.file = f.named
	}
	if f.file == "" {
		return nil
	}
	text, err := os.ReadFile(f.file)
	if err != nil {
		return &usageError{"--config: " + err.Error(), "name a file that can be read, or none"}
	}
	if err := f.decode(text); err != nil {
		return fmt.Errorf("the configuration cannot be used, and nothing was run:\n%w", err)
	}
	if f.named != "" {
		return nil
	}
	return f.trusted(text)
}

// findUpwards is the nearest file of that name from dir upwards to the git root.
func findUpwards(dir, name string) string {
	for ; dir != ""; dir = filepath.Dir(dir) {
		if file := filepath.Join(dir, name); isFile(file) {
			return file
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// decode reads the keys strictly: there is one for each flag of run, and
// signature.
func (f *fileConfig) decode(text []byte) error {
	var names []string
	fields := []reflect.StructField{{
		Name: "Signature", Type: reflect.TypeFor[*signatureConfig](), Tag: `yaml:"signature"`,
	}}
	for _, flag := range runFlags(f.model) {
		if slices.Contains(notKeys, flag.Name) {
			continue
		}
		kind := reflect.TypeFor[string]()
		switch flag.Target.Kind() {
		case reflect.Slice:
			kind = reflect.TypeFor[[]string]()
		case reflect.Map:
			kind = reflect.TypeFor[map[string]string]()
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%d", len(names)), Type: kind, Tag: reflect.StructTag(`yaml:"` + keyOf(flag.Name) + `"`),
		})
		names = append(names, flag.Name)
	}
	into := reflect.New(reflect.StructOf(fields))
	var err error
	if f.doc, err = strictyaml.Decode(f.file, text, into.Interface()); err != nil {
		return err
	}
	f.values, f.used = map[string]reflect.Value{}, map[string]bool{}
	for i, name := range names {
		if f.doc.Has(keyOf(name)) {
			f.values[name] = into.Elem().Field(i + 1)
		}
	}
	f.signature, _ = into.Elem().Field(0).Interface().(*signatureConfig)
	if f.signature != nil {
		f.signature.locate(f.file, f.doc, "signature")
		_, err = f.signature.options("")
	}
	return err
}

// runFlags are the flags of the command run.
func runFlags(model *kong.Application) []*kong.Flag {
	for _, n := range model.Children {
		if n.Name == "run" {
			return n.Flags
		}
	}
	return nil
}

// where puts the place in the file before an error about a value from it.
func (f *fileConfig) where(err error) error {
	rest, ok := strings.CutPrefix(err.Error(), "--")
	flag, _, _ := strings.Cut(rest, ":")
	flag, _, _ = strings.Cut(flag, "=")
	if !ok || !f.used[flag] {
		return err
	}
	line, col := f.doc.Pos(keyOf(flag))
	return fmt.Errorf("%s:%d:%d: %w", f.file, line, col, errors.New(rest))
}
