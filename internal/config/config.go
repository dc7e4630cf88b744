// Package config is the configuration of a run: its keys, which can be set by flags, -o,
// variables and looprun.yaml, and which of these takes precedence. Everything known about a
// key is in the tags of its field in [Options].
package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/protocol/ladder"
)

// FileFlags selects which files are read, in addition to the system's.
type FileFlags struct {
	Config string `placeholder:"FILE|none" help:"Read this file in place of the looprun.yaml found." env:"LOOPRUN_CONFIG" group:"everywhere" blank:"no"`
	Trust  bool   `help:"Consent to the looprun.yaml of this directory." group:"everywhere"`
}

// Settings holds the values that the command line, variables and files give the keys.
type Settings struct {
	call   Call
	given  map[string]*given // by key
	files  []*File
	layers []layer // the first that has a key counts
	// whole means that every key is needed from the files; otherwise only those in some are.
	whole bool
	some  []string
	// byAgent holds the keys whose values --agent set.
	byAgent map[string]bool
}

// Call is how looprun was called.
type Call struct {
	Command    string // the words of the command, such as config show
	Holds      []Key  // the keys that it takes
	Given      Given  // the keys on the command line
	Files      FileFlags
	Args       []string // all of them
	HasCommand bool     // a command was given, which beats the key shell
	Stdin      *os.File
	Stderr     *os.File
	Say        *console.Messages
	// Variables returns the variables that the grammar reads, other than those of keys.
	Variables func() []string
	// Inside returns the variables of a run's command.
	Inside func() []string
}

// layer is the part of a file that has one rank: its own keys, or those below enforce.
type layer struct {
	file      *File
	under     []any // path of the part
	values    map[string]written
	signature *Signature
	ladder    ladder.Config
	agents    agent.Agents
	// assistants holds the assistants for some questions.
	assistants map[string]Assistant
	blocks     []inBlock  // keys that stand in a block
	has        []givenKey // all that the file has, in the order of the table
}

// givenKey is a key that a file contains, and the tag trust of its field; one that is not a
// [Key] has only a name.
type givenKey struct {
	Key
	trust string
}

func (l *layer) enforced() bool { return len(l.under) > 0 }

// at returns the position of a key, for messages.
func (l *layer) at(key string) string {
	line, _ := l.file.doc.KeyPos(l.path(key)...)
	return fmt.Sprintf("%s:%d", l.file.Name, line)
}

// path returns the path to a key in the file.
func (l *layer) path(key string) []any {
	path := slices.Clone(l.under)
	for _, in := range l.blocks {
		if in.key == key {
			return append(path, in.block, in.name)
		}
	}
	return append(path, key)
}

// Read reads what is given and the files that the command needs. Most commands need none.
func Read(of Call) (*Settings, error) {
	c := &Settings{call: of}
	showing := of.Command == "config show"
	c.whole = showing || of.Command == "run"
	showing = showing || of.Command == "agents" // which uses nothing of it
	c.some = c.someKeys()
	if err := c.read(); err != nil {
		return c, err
	}
	c.stray()
	if !c.whole && len(c.some) == 0 {
		return c, nil
	}
	files, err := load(of.Files.Config)
	if err == nil {
		c.add(files)
		err = errors.Join(c.overridden(), c.onePolicy())
	}
	if err == nil && !showing && !c.bare() {
		err = c.consent()
	}
	if err == nil && len(files) > 0 {
		c.beaten()
	}
	return c, err
}

// bare reports whether looprun was called without arguments and no file names a command, so
// that it will only show its help.
func (c *Settings) bare() bool {
	return len(c.call.Args) == 0 && c.find("shell") == nil && c.find("agent") == nil
}

// SayFiles prints which files configured the run. A file that was merely found cannot silence
// that.
func (c *Settings) SayFiles() {
	if c.call.Command != "run" || len(c.files) == 0 || c.bare() {
		return
	}
	l := c.source(c.key("quiet"))
	if byFile := l != nil && l.file.found; c.call.Say.Flags.Quiet && !byFile {
		return
	}
	names := convert.Each(c.files, func(f *File) string { return f.Name })
	c.call.Say.Tell(console.News, map[string]any{"files": names}, "configuration: %s", strings.Join(names, ", "))
}

// someKeys returns the keys that matter for a command that starts no run: where runs are kept,
// and which templates are in use. A resumed run has its own values for all keys but notify,
// which is not recorded.
func (c *Settings) someKeys() []string {
	var keys []string
	for _, k := range c.call.Holds {
		if k.Name == "state_dir" || k.Name == "templates" && c.call.Command != "resume" || k.Name == "notify" && c.call.Command == "resume" {
			keys = append(keys, k.Name)
		}
	}
	if c.call.Command == "agents" {
		keys = append(keys, "agents")
	}
	return keys
}

// wants reports whether the command uses the key's value from a file.
func (c *Settings) wants(key string) bool { return c.whole || slices.Contains(c.some, key) }

// add ranks the layers of files given in descending rank: enforced values take precedence over
// everything.
func (c *Settings) add(files []*File) {
	c.files = files
	for _, enforced := range []bool{true, false} {
		for _, f := range files {
			c.layers = append(c.layers, convert.Where(f.layers, func(l layer) bool { return l.enforced() == enforced })...)
		}
	}
}

// find returns the layer whose value for the key takes effect.
func (c *Settings) find(key string) *layer {
	for i, l := range c.layers {
		if _, ok := l.values[key]; ok {
			return &c.layers[i]
		}
	}
	return nil
}

// key returns the key with that name.
func (c *Settings) key(name string) Key { return table().byName[name] }

// by returns the flag or the variable that sets the key; empty if none does.
func (c *Settings) by(k Key) string {
	of := c.given[k.Name]
	if of == nil || of.variable && c.yields(k) {
		return ""
	}
	return of.by
}

// yields reports whether the key's variable gives way to a preset on the command line that
// sets the key. Keys that are true or false, such as whether to ask, never give way.
func (c *Settings) yields(k Key) bool {
	p, ok := c.preset(k)
	return ok && !k.IsBool() && !c.given[p.Name].variable
}

// Has reports whether the command line or a variable sets the key of that flag.
func (c *Settings) Has(flag string) bool { return c.by(table().byFlag[flag]) != "" }

// byVariable reports whether a variable sets the key.
func (c *Settings) byVariable(k Key) bool { return c.by(k) != "" && c.given[k.Name].variable }

// Fill sets the fields of a command that hold keys: to the enforced value, the given value, a
// file's value, or the default.
func (c *Settings) Fill(command any) {
	of := reflect.ValueOf(command).Elem()
	EachField(of.Type(), func(f reflect.StructField) {
		if k, ok := table().byName[keyName(f)]; ok && f.Type == k.field.Type {
			of.FieldByIndex(f.Index).Set(c.value(k))
		}
	})
}

// value returns the effective value of a key.
func (c *Settings) value(k Key) reflect.Value {
	if l := c.source(k); l != nil && k.Name != exitCodesKey && c.wants(k.Name) {
		if !l.enforced() && c.adds(k) {
			return reflect.AppendSlice(c.given[k.Name].value, l.values[k.Name].value)
		}
		return l.values[k.Name].value
	}
	if c.by(k) != "" {
		return c.given[k.Name].value
	}
	if normal := k.tag("default"); normal != "" {
		w, _ := k.parse(normal) // a test sees that it can be read
		return w.value
	}
	return reflect.Zero(k.field.Type)
}

// adds reports whether the key's variable comes before the values of a file, and replaces none.
func (c *Settings) adds(k Key) bool {
	return k.tag("adds") == "variable" && c.given[k.Name] != nil && c.given[k.Name].variable
}

// source returns the layer that gives the key its value; nil if the command line, the
// environment or the default does.
func (c *Settings) source(k Key) *layer {
	l := c.find(k.Name)
	if l == nil || l.enforced() {
		return l
	}
	if _, set := c.preset(k); set || c.by(k) != "" && !c.adds(k) || k.Name == "shell" && (c.call.HasCommand || c.Has("agent")) {
		return nil
	}
	if of := k.tag("of"); of != "" && c.source(c.key(of)) != l {
		return nil
	}
	return l
}

// presets returns the keys that also set this one: given on the command line, they take
// precedence over a file's value for it.
func (k Key) presets() []Key {
	var list []Key
	for name := range strings.SplitSeq(k.tag("preset"), ",") {
		if p, ok := table().byName[name]; ok {
			list = append(list, p)
		}
	}
	return list
}

// preset returns the given preset that sets the key.
func (c *Settings) preset(k Key) (Key, bool) {
	for _, p := range k.presets() {
		if c.by(p) != "" && !c.given[p.Name].value.IsZero() {
			return p, true
		}
	}
	return Key{}, false
}

// presetOrigin returns what set the preset that gives a key its value: a flag, a variable or
// file:line; empty if there is none.
func (c *Settings) presetOrigin(k Key) string {
	if p, ok := c.preset(k); ok {
		return c.by(p)
	}
	for _, p := range k.presets() {
		if l := c.source(p); l != nil && !l.values[p.Name].value.IsZero() {
			return l.at(p.Name)
		}
	}
	return ""
}

// overridden returns an error for flags and variables that differ from an enforced value.
func (c *Settings) overridden() error {
	var errs []error
	for _, l := range c.layers {
		if !l.enforced() {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(l.values)) {
			k := c.key(key)
			if by := c.by(k); by != "" && c.differs(k, l.values[key]) {
				errs = append(errs, Usage(fmt.Sprintf("%s cannot change %s: %s enforces %s", by, key, l.at(key), l.values[key].text()), "leave it out"))
			}
		}
		if by := c.by(c.key("signature_rules")); l.signature != nil && by != "" {
			errs = append(errs, Usage(fmt.Sprintf("%s cannot change signature: %s enforces it", by, l.at("signature")), "leave it out"))
		}
	}
	if c.whole && c.call.HasCommand {
		if l := c.find("shell"); l != nil && l.enforced() {
			errs = append(errs, Usage(fmt.Sprintf("a command cannot be given: %s enforces shell: %s", l.at("shell"), l.values["shell"].text()), "leave it out"))
		}
	}
	return errors.Join(errs...)
}

// onePolicy returns an error if policies come from several places, because the rules that
// forbid could be in a policy that is dropped or that answers later. An enforced policy has no
// rival.
func (c *Settings) onePolicy() error {
	var by, files []string
	add := func(where string, named ...string) {
		all := ""
		for _, file := range named {
			if abs, err := filepath.Abs(file); err == nil {
				all += abs + "\n"
			}
		}
		by, files = append(by, where), append(files, all)
	}
	k := c.key("policy")
	if of := c.given[k.Name]; of != nil {
		add(of.by, of.texts...)
		if file := os.Getenv(k.Variable()); file != "" && !of.variable {
			add(k.Variable(), k.split(file)...)
		}
	}
	for _, l := range c.layers {
		file, ok := l.values[k.Name]
		switch {
		case !ok || !c.wants(k.Name):
			continue
		case l.enforced():
			return nil
		}
		add(l.at(k.Name), file.texts...)
	}
	if len(slices.Compact(files)) < 2 {
		return nil
	}
	return Usage(fmt.Sprintf("%s name different policies, and none takes precedence", strings.Join(by, " and ")), "give them in one place, in the order in which they answer: --policy A --policy B")
}

// differs reports whether the given value of a key differs from the enforced one.
func (c *Settings) differs(k Key, enforced written) bool {
	now := c.given[k.Name].value.Interface()
	if codes, ok := enforced.value.Interface().(map[string]int); ok {
		given, _ := now.(map[string]int)
		return slices.ContainsFunc(slices.Collect(maps.Keys(codes)), func(key string) bool {
			code, ok := given[key]
			return ok && code != codes[key]
		})
	}
	return !reflect.DeepEqual(now, enforced.value.Interface())
}

// beaten warns about keys of other files that an enforced value overrides.
func (c *Settings) beaten() {
	for _, l := range c.layers {
		for _, key := range slices.Sorted(maps.Keys(l.values)) {
			top := c.find(key)
			if c.whole && !l.enforced() && top.enforced() && key != exitCodesKey && !reflect.DeepEqual(top.values[key].value.Interface(), l.values[key].value.Interface()) {
				c.call.Say.Warn("%s: %s is not used: %s enforces %s", l.at(key), key, top.at(key), top.values[key].text())
			}
		}
	}
}

// Apply sets the options that are not keys, and those that an agent needs.
func (c *Settings) Apply(o *Options) {
	for _, l := range slices.Backward(c.layers) {
		if l.signature != nil {
			o.Signature = l.signature
		}
		if l.ladder != nil {
			o.Ladder = l.ladder
		}
		if l.assistants != nil {
			o.Assistants = l.assistants
		}
		codes, _ := l.values[exitCodesKey]
		to := &o.ConfigExitCodes
		if l.enforced() {
			to = &o.ExitCode
		}
		if codes.value.IsValid() && *to == nil && codes.value.Len() > 0 {
			*to = map[string]int{}
		}
		if codes.value.IsValid() {
			maps.Copy(*to, codes.value.Interface().(map[string]int))
		}
	}
	o.Agents = c.Agents()
	c.setUpAgent(o)
}

// stray warns about variables that look like a key's but are not: they would be ignored
// silently.
func (c *Settings) stray() {
	if os.Getenv("LOOPRUN") != "" || c.call.Variables == nil { // inside of a run there are variables for its command
		return
	}
	keys := sync.OnceValue(keyVariables)
	others := slices.DeleteFunc(os.Environ(), func(v string) bool { return !strings.HasPrefix(v, "LOOPRUN_") || !unknownVariable(v, keys()) })
	if len(others) > 0 { // else the model of the command line is not needed
		for _, line := range strayVariables(others, slices.Concat(keys(), c.call.Variables()), c.call.Inside()) {
			c.call.Say.Warn("%s", line)
		}
	}
}

// keyVariables returns the variables of the keys, and the one for consent.
func keyVariables() []string {
	names := []string{TrustVariable}
	for _, k := range Keys() {
		if name := k.Variable(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// FlagOf returns the name of a field's flag.
func FlagOf(f reflect.StructField) string { return cmp.Or(f.Tag.Get("name"), FlagName(f.Name)) }

// FlagName returns the flag of a field with that name, unless its tag sets another.
func FlagName(field string) string {
	var name []byte
	for i := range len(field) {
		if at := field[i]; i > 0 && at < 'a' && field[i-1] >= 'a' {
			name = append(name, '-')
		}
		name = append(name, field[i])
	}
	return strings.ToLower(string(name))
}

// Variable returns the variable of a flag.
func Variable(flag string) string {
	return "LOOPRUN_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// strayVariables suggests, for each LOOPRUN_ variable that nothing reads, what was probably
// meant.
func strayVariables(environ, known, inside []string) []string {
	var lines []string
	short := convert.Each(known, func(name string) string { return strings.TrimPrefix(name, "LOOPRUN_") })
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if !unknownVariable(v, known) || slices.Contains(inside, name) { // left over from a run
			continue
		}
		if near := nearest.Word(strings.TrimPrefix(name, "LOOPRUN_"), short); near != "" {
			lines = append(lines, fmt.Sprintf("the variable %s is not used; did you mean LOOPRUN_%s?", name, near))
		}
	}
	slices.Sort(lines)
	return lines
}

// unknownVariable reports whether NAME=VALUE is not the variable of any flag.
func unknownVariable(v string, known []string) bool {
	name, _, _ := strings.Cut(v, "=")
	return !slices.Contains(known, name)
}

// Forget removes from flags the values that come from a variable and are the same as when the
// run began: they are not new, and would undo what answers have added to a limit.
func Forget[T any](flags, began *T, config *Settings) {
	f, b := reflect.ValueOf(flags).Elem(), reflect.ValueOf(began).Elem()
	for i := range f.NumField() {
		if k, ok := table().byName[keyName(f.Type().Field(i))]; ok && config.byVariable(k) && reflect.DeepEqual(f.Field(i).Interface(), b.Field(i).Interface()) {
			f.Field(i).SetZero()
		}
	}
}

// Files returns the flags that select the files.
func (c *Settings) Files() FileFlags { return c.call.Files }
