// Package config is how a run is configured: its keys, which flags, -o, variables and
// looprun.yaml can give, and which of them counts. All that is known of a key is in the tags
// of its field in [Options].
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

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/protocol/ladder"
)

// FileFlags say which files are read, besides the system's.
type FileFlags struct {
	Config string `placeholder:"FILE|none" help:"Read this file in place of the looprun.yaml found." env:"LOOPRUN_CONFIG" group:"everywhere" blank:"no"`
	Trust  bool   `help:"Consent to the looprun.yaml of this directory." group:"everywhere"`
}

// Settings is what the command line, variables and files say of the keys.
type Settings struct {
	call   Call
	given  map[string]*given // by key
	files  []*File
	layers []layer // the first that has a key counts
	// whole is whether every key is wanted from the files; else those in some are.
	whole bool
	some  []string
	// byAgent are the keys that --agent gave their value.
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
	// Variables are those that the grammar reads besides the keys'.
	Variables func() []string
	// Inside are the variables of a run's command.
	Inside func() []string
}

// layer is the part of a file that has one rank: its keys, or what is below
// enforce.
type layer struct {
	file      *File
	under     []any // path of the part
	values    map[string]written
	signature *Signature
	ladder    ladder.Config
	agents    agent.Agents
	// assistants are those for some questions.
	assistants map[string]Assistant
	blocks     []inBlock  // keys that stand in a block
	has        []givenKey // all that the file has, in the order of the table
}

// givenKey is a key that a file has, and the tag trust of its field; one that is no [Key] has
// a name alone.
type givenKey struct {
	Key
	trust string
}

func (l *layer) enforced() bool { return len(l.under) > 0 }

// at is where a key stands.
func (l *layer) at(key string) string {
	line, _ := l.file.doc.KeyPos(l.path(key)...)
	return fmt.Sprintf("%s:%d", l.file.Name, line)
}

// path leads to a key in the file.
func (l *layer) path(key string) []any {
	path := slices.Clone(l.under)
	for _, in := range l.blocks {
		if in.key == key {
			return append(path, in.block, in.name)
		}
	}
	return append(path, key)
}

// Read reads what is given and the files that the command needs. Most need none.
func Read(of Call) (*Settings, error) {
	c := &Settings{call: of}
	showing := of.Command == "config show"
	c.whole = showing || of.Command == "run"
	showing = showing || of.Command == "agents" // which uses nothing of it
	c.some = c.someKeys()
	if err := errors.Join(c.read(), c.stray()); err != nil {
		return c, err
	}
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

// bare reports whether looprun was called without a word and no file names a command: it
// will only show its help.
func (c *Settings) bare() bool {
	return len(c.call.Args) == 0 && c.find("shell") == nil && c.find("agent") == nil
}

// SayFiles says which files a run was configured by. A file that was merely found
// cannot keep that quiet.
func (c *Settings) SayFiles() {
	if c.call.Command != "run" || len(c.files) == 0 || c.bare() {
		return
	}
	l := c.source(c.key("quiet"))
	if byFile := l != nil && l.file.found; c.call.Say.Flags.Quiet && !byFile {
		return
	}
	var names []string
	for _, f := range c.files {
		names = append(names, f.Name)
	}
	c.call.Say.Tell(console.News, map[string]any{"files": names}, "configuration: %s", strings.Join(names, ", "))
}

// someKeys are the keys that count for a command which starts no run: where runs
// are kept, and which templates are in use. A run that is resumed has its own of all but
// notify, which is not kept.
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

// wants reports whether the command takes the key from a file.
func (c *Settings) wants(key string) bool { return c.whole || slices.Contains(c.some, key) }

// add ranks the layers of files that come in falling rank: what is enforced
// beats everything.
func (c *Settings) add(files []*File) {
	c.files = files
	for _, enforced := range []bool{true, false} {
		for _, f := range files {
			for _, l := range f.layers {
				if l.enforced() == enforced {
					c.layers = append(c.layers, l)
				}
			}
		}
	}
}

// find is the layer whose value for the key counts.
func (c *Settings) find(key string) *layer {
	for i, l := range c.layers {
		if _, ok := l.values[key]; ok {
			return &c.layers[i]
		}
	}
	return nil
}

// key is the key of that name.
func (c *Settings) key(name string) Key { return table().byName[name] }

// by is the flag or the variable that gives the key, empty for none.
func (c *Settings) by(k Key) string {
	of := c.given[k.Name]
	if of == nil || of.variable && c.yields(k) {
		return ""
	}
	return of.by
}

// yields reports whether a preset on the command line sets the key, and not its variable.
// Whether somebody is asked is no part of that: what says nobody counts.
func (c *Settings) yields(k Key) bool {
	p, ok := c.preset(k)
	return ok && !k.IsBool() && !c.given[p.Name].variable
}

// Has reports whether the command line or a variable gives the key of that flag.
func (c *Settings) Has(flag string) bool { return c.by(table().byFlag[flag]) != "" }

// byVariable reports whether a variable gives the key.
func (c *Settings) byVariable(k Key) bool { return c.by(k) != "" && c.given[k.Name].variable }

// Fill gives the fields of a command that hold keys their values: what is enforced, what is
// given, what a file says, or the default.
func (c *Settings) Fill(command any) {
	of := reflect.ValueOf(command).Elem()
	EachField(of.Type(), func(f reflect.StructField) {
		if k, ok := table().byName[keyName(f)]; ok && f.Type == k.field.Type {
			of.FieldByIndex(f.Index).Set(c.value(k))
		}
	})
}

// value is the value of a key that counts.
func (c *Settings) value(k Key) reflect.Value {
	if l := c.source(k); l != nil && k.Name != exitCodesKey && c.wants(k.Name) {
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

// source is the layer that gives the key its value; nil where the command
// line, the environment or the default does.
func (c *Settings) source(k Key) *layer {
	l := c.find(k.Name)
	if l == nil || l.enforced() {
		return l
	}
	if _, set := c.preset(k); set || c.by(k) != "" || k.Name == "shell" && (c.call.HasCommand || c.Has("agent")) {
		return nil
	}
	if of := k.tag("of"); of != "" && c.source(c.key(of)) != l {
		return nil
	}
	return l
}

// presets are the keys that set this one too: given on the command line they beat a file's
// value for it.
func (k Key) presets() []Key {
	var list []Key
	for name := range strings.SplitSeq(k.tag("preset"), ",") {
		if p, ok := table().byName[name]; ok {
			list = append(list, p)
		}
	}
	return list
}

// preset is the one of them that was given and sets the key.
func (c *Settings) preset(k Key) (Key, bool) {
	for _, p := range k.presets() {
		if c.by(p) != "" && !c.given[p.Name].value.IsZero() {
			return p, true
		}
	}
	return Key{}, false
}

// presetOrigin is what set the preset that gives a key its value: a flag, a
// variable or file:line; empty without one.
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

// overridden refuses flags and variables that differ from what is enforced.
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
		if by := c.by(c.key("rules")); l.signature != nil && by != "" {
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

// onePolicy refuses policies from several places: the rules that forbid could be in the
// one that is dropped or answers later. A policy that is enforced has no rival.
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
	return Usage(fmt.Sprintf("%s name different policies, and none goes before the other", strings.Join(by, " and ")), "give them in one place, in the order in which they answer: --policy A --policy B")
}

// differs reports whether what is given of a key differs from what is enforced.
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

// beaten warns of keys of other files that an enforced one makes void.
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

// Apply gives the options what is no key, and what an agent needs.
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

// stray warns of variables that look like a key's and are none: they would be
// ignored without a word.
func (c *Settings) stray() error {
	if os.Getenv("LOOPRUN") != "" || c.call.Variables == nil { // inside of a run there are variables for its command
		return nil
	}
	ours := slices.DeleteFunc(os.Environ(), func(v string) bool { return !strings.HasPrefix(v, "LOOPRUN_") })
	if len(ours) > 0 {
		for _, line := range strayVariables(ours, slices.Concat(keyVariables(), c.call.Variables()), c.call.Inside()) {
			c.call.Say.Warn("%s", line)
		}
	}
	return nil
}

// keyVariables are the variables of the keys, and that of consent.
func keyVariables() []string {
	names := []string{TrustVariable}
	for _, k := range Keys() {
		if name := k.Variable(); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// FlagOf is the name of a field's flag.
func FlagOf(f reflect.StructField) string { return cmp.Or(f.Tag.Get("name"), FlagName(f.Name)) }

// FlagName is the flag of a field of that name, whose tag gives it no other.
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

// Variable is the variable of a flag.
func Variable(flag string) string {
	return "LOOPRUN_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// strayVariables says what each variable of looprun's that nobody reads was probably
// meant to be.
func strayVariables(environ, known, inside []string) []string {
	var lines []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if !unknownVariable(v, known) || slices.Contains(inside, name) { // left over from a run
			continue
		}
		if near := nearest.Word(strings.TrimPrefix(name, "LOOPRUN_"), withoutPrefix(known)); near != "" {
			lines = append(lines, fmt.Sprintf("the variable %s is not used; did you mean LOOPRUN_%s?", name, near))
		}
	}
	slices.Sort(lines)
	return lines
}

// unknownVariable reports whether NAME=VALUE is no flag's variable.
func unknownVariable(v string, known []string) bool {
	name, _, _ := strings.Cut(v, "=")
	return !slices.Contains(known, name)
}

func withoutPrefix(names []string) []string {
	short := make([]string, len(names))
	for i, n := range names {
		short[i] = strings.TrimPrefix(n, "LOOPRUN_")
	}
	return short
}

// Forget drops from flags what a variable says as it did when the run began:
// that is not given anew, and would undo what answers have added to a limit.
func Forget[T any](flags, began *T, config *Settings) {
	f, b := reflect.ValueOf(flags).Elem(), reflect.ValueOf(began).Elem()
	for i := range f.NumField() {
		if k, ok := table().byName[keyName(f.Type().Field(i))]; ok && config.byVariable(k) && reflect.DeepEqual(f.Field(i).Interface(), b.Field(i).Interface()) {
			f.Field(i).SetZero()
		}
	}
}

// Files say which files were read.
func (c *Settings) Files() FileFlags { return c.call.Files }
