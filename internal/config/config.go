// Package config is how a run is configured: the flags of looprun run, looprun.yaml,
// and which of them counts. All that is to be known of an option stands in the tags
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

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/protocol/ladder"
)

// FileFlags say which files are read, besides the system's.
type FileFlags struct {
	Config string `placeholder:"FILE|none" help:"Read this file in place of the nearest looprun.yaml; none reads neither that nor your own." key:"-" group:"everywhere" blank:"no"`
	Trust  bool   `help:"Consent to what the looprun.yaml of this directory can do." env:"-" key:"-" group:"everywhere"`
}

// Settings is what the files say. It gives flags their values where
// neither the command line nor the environment does.
type Settings struct {
	call   Call
	Ctx    *kong.Context
	files  []*File
	layers []layer // the first that has a key counts
	// whole is whether every key is wanted; else those in some are.
	whole bool
	some  []string
	// byAgent are the keys that --agent gave their value.
	byAgent map[string]bool
}

// Call is how looprun was called.
type Call struct {
	Args       []string // all of them
	HasCommand bool     // a command was given, which beats the key shell
	Stdin      *os.File
	Stderr     *os.File
	Say        *console.Messages
	// Whole describes all commands: the context may be of looprun run alone.
	Whole func() (*kong.Application, error)
	// Inside are the variables of a run's command.
	Inside func() []string
	// Part says that the context has not all flags, which a file may name.
	Part bool
}

// ErrPart is why nothing was read: there is a file, and the context has not all flags.
var ErrPart = errors.New("there is a configuration file")

// layer is the part of a file that has one rank: its keys, or what stands below
// enforce.
type layer struct {
	file      *File
	under     []any // path of the part
	values    map[string]any
	signature *Signature
	ladder    ladder.Config
	agents    agent.Agents
	// assistants are those for some questions.
	assistants map[string]Assistant
	blocks     []inBlock  // keys that stand in a block
	given      []givenKey // all that the file has, in the order of the flags
}

// givenKey is a key that a file has, and the tag trust of its field; the flag is
// nil for a key that is none.
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

// FileError is an error about files, which is printed as it is.
type FileError struct{ error }

// Unwrap is the error.
func (e *FileError) Unwrap() error { return e.error }

// Read reads the files that the selected command needs. Most need none.
func Read(ctx *kong.Context, of Call) (*Settings, error) {
	c := &Settings{Ctx: ctx, call: of}
	node := ctx.Selected()
	if node == nil {
		return c, nil
	}
	showing := node.Parent != nil && node.Parent.Name == "config" && node.Name == "show"
	c.whole = showing || node.Name == "run"
	showing = showing || node.Name == "agents" // which uses nothing of it
	if c.some = someKeys(node); !c.whole && len(c.some) == 0 {
		return c, nil
	}
	keys := optionKeys
	switch {
	case of.Part:
		keys = nil
	case c.whole:
		keys = c.keys
	}
	files, err := load(c.Text("config"), keys)
	if errors.Is(err, ErrPart) {
		return nil, err
	}
	if err == nil {
		c.add(files)
		err = errors.Join(c.overridden(), c.onePolicy())
	}
	if err == nil && !showing {
		err = c.consent()
	}
	if err != nil {
		return c, &FileError{err}
	}
	c.stray()
	if len(files) > 0 {
		c.beaten()
		ctx.AddResolver(c)
	}
	return c, nil
}

// SayFiles says which files a run was configured by. A file that was merely found
// cannot keep that quiet.
func (c *Settings) SayFiles() {
	if node := c.Ctx.Selected(); node == nil || node.Name != "run" || len(c.files) == 0 {
		return
	}
	l := c.source(c.flag("quiet"))
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
func someKeys(node *kong.Node) []string {
	var keys []string
	for _, f := range node.Flags {
		if f.Name == "state-dir" || f.Name == "templates" && node.Name != "resume" || f.Name == "notify" && node.Name == "resume" {
			keys = append(keys, keyOf(f.Name))
		}
	}
	if node.Name == "agents" {
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

// flag is the flag of that name of the command that was called.
func (c *Settings) flag(name string) *kong.Flag {
	for _, p := range c.Ctx.Path {
		for _, f := range p.Flags {
			if f.Name == name {
				return f
			}
		}
	}
	return nil
}

// Text is a flag's value before the files are read.
func (c *Settings) Text(name string) string {
	f := c.flag(name)
	if f == nil {
		return ""
	}
	return fmt.Sprint(c.Ctx.FlagValue(f))
}

// given is the flag or the variable that set the flag's value, empty for none.
func (c *Settings) given(f *kong.Flag) string {
	for _, p := range c.Ctx.Path {
		if p.Flag == f && !p.Resolved {
			return "--" + f.Name
		}
	}
	if c.yields(f) {
		return ""
	}
	for _, name := range f.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return name
		}
	}
	return ""
}

// yields reports whether a preset on the command line sets the flag, and not its variable.
// Whether somebody is asked is no part of that: what says nobody counts.
func (c *Settings) yields(f *kong.Flag) bool {
	p := c.preset(f.Tag.Get("preset"))
	return p != nil && !f.IsBool() && c.given(p) == "--"+p.Name
}

// Has reports whether the flag of that name was given, or its variable.
func (c *Settings) Has(name string) bool {
	f := c.flag(name)
	return f != nil && c.given(f) != ""
}

// byVariable reports whether it was a variable that set the flag of that name.
func (c *Settings) byVariable(name string) bool {
	f := c.flag(name)
	return f != nil && !slices.Contains([]string{"", "--" + name}, c.given(f))
}

// Validate is part of [kong.Resolver]; files are checked when they are read.
func (c *Settings) Validate(*kong.Application) error { return nil }

// Resolve is the value of a flag that the command line did not set.
func (c *Settings) Resolve(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
	key := keyOf(f.Name)
	if l := c.source(f); l != nil && key != exitCodesKey && c.wants(key) {
		return l.values[key], nil
	}
	return nil, nil
}

// source is the layer that gives the flag its value; nil where the command
// line, the environment or the default does.
func (c *Settings) source(f *kong.Flag) *layer {
	key := keyOf(f.Name)
	l := c.find(key)
	switch {
	case l == nil || l.enforced():
		return l
	case c.given(f) != "" || key == "shell" && (c.call.HasCommand || c.Has("agent")) || c.preset(f.Tag.Get("preset")) != nil:
		return nil
	}
	if of := f.Tag.Get("of"); of != "" && c.source(c.flag(of)) != l {
		return nil
	}
	return l
}

// presets are the flags that the tag preset of another one names, which set it too: given
// on the command line they beat a file's value for it.
func (c *Settings) presets(tag string) []*kong.Flag {
	var list []*kong.Flag
	for name := range strings.SplitSeq(tag, ",") {
		if p := c.flag(name); p != nil {
			list = append(list, p)
		}
	}
	return list
}

// preset is the one of them that was given and sets the flag.
func (c *Settings) preset(tag string) *kong.Flag {
	for _, f := range c.presets(tag) {
		if c.given(f) != "" && !reflect.ValueOf(c.Ctx.FlagValue(f)).IsZero() {
			return f
		}
	}
	return nil
}

// presetOrigin is what set the preset that gives a flag its value: a flag, a
// variable or file:line; empty without one.
func (c *Settings) presetOrigin(tag string) string {
	if f := c.preset(tag); f != nil {
		return c.given(f)
	}
	for _, f := range c.presets(tag) {
		if l := c.source(f); l != nil && !reflect.ValueOf(c.Ctx.FlagValue(f)).IsZero() {
			return l.at(f.Name)
		}
	}
	return ""
}

// overridden refuses flags and variables that differ from what is enforced.
func (c *Settings) overridden() error {
	var errs []error
	for _, l := range c.layers {
		for _, key := range slices.Sorted(maps.Keys(l.values)) {
			f := c.flag(flagOf(key))
			if f == nil || !l.enforced() {
				continue
			}
			if by := c.given(f); by != "" && c.differs(f, l.values[key]) {
				errs = append(errs, Usage(fmt.Sprintf("%s cannot change %s: %s enforces %s", by, key, l.at(key), shownValue(l.values[key])), "leave it out"))
			}
		}
		if f := c.flag("rules"); f != nil && l.enforced() && l.signature != nil && c.given(f) != "" {
			errs = append(errs, Usage(fmt.Sprintf("%s cannot change signature: %s enforces it", c.given(f), l.at("signature")), "leave it out"))
		}
	}
	if c.flag("shell") != nil && c.call.HasCommand {
		if l := c.find("shell"); l != nil && l.enforced() {
			errs = append(errs, Usage(fmt.Sprintf("a command cannot be given: %s enforces shell: %s", l.at("shell"), shownValue(l.values["shell"])), "leave it out"))
		}
	}
	return errors.Join(errs...)
}

// onePolicy refuses to choose between two policies: the rules that forbid could be in the
// one that is dropped. A policy that is enforced has no rival.
func (c *Settings) onePolicy() error {
	f := c.flag("policy")
	if f == nil {
		return nil
	}
	var by, files []string
	add := func(where, file string) {
		if abs, err := filepath.Abs(file); err == nil {
			file = abs
		}
		by, files = append(by, where), append(files, file)
	}
	for _, p := range c.Ctx.Path {
		if p.Flag != f || p.Resolved {
			continue
		}
		if len(by) > 0 {
			return Usage("--policy is given twice, and only one policy can answer", "leave one of them out")
		}
		add("--policy", fmt.Sprint(c.Ctx.FlagValue(f)))
	}
	for _, name := range f.Envs {
		if file := os.Getenv(name); file != "" {
			add(name, file)
		}
	}
	for _, l := range c.layers {
		file, ok := l.values["policy"].(string)
		switch {
		case !ok || !c.wants("policy"):
			continue
		case l.enforced():
			return nil
		}
		add(l.at("policy"), file)
	}
	if len(slices.Compact(files)) < 2 {
		return nil
	}
	return Usage(fmt.Sprintf("%s name different policies, and only one can answer", strings.Join(by, " and ")), "leave one of them out")
}

func (c *Settings) differs(f *kong.Flag, raw any) bool {
	now := c.Ctx.FlagValue(f)
	if codes, ok := raw.(map[string]int); ok {
		given, _ := now.(map[string]int)
		return slices.ContainsFunc(slices.Collect(maps.Keys(codes)), func(key string) bool {
			code, ok := given[key]
			return ok && code != codes[key]
		})
	}
	v, err := Key{Flag: f}.parse(raw)
	return err != nil || !reflect.DeepEqual(now, v.Interface())
}

// beaten warns of keys of other files that an enforced one makes void.
func (c *Settings) beaten() {
	for _, l := range c.layers {
		for _, key := range slices.Sorted(maps.Keys(l.values)) {
			if top := c.find(key); c.whole && !l.enforced() && top.enforced() && key != exitCodesKey && !reflect.DeepEqual(top.values[key], l.values[key]) {
				c.call.Say.Warn("%s: %s is not used: %s enforces %s", l.at(key), key, top.at(key), shownValue(top.values[key]))
			}
		}
	}
}

// Apply sets what is no flag, or is put together from several files.
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
		codes, _ := l.values[exitCodesKey].(map[string]int)
		to := &o.ConfigExitCodes
		if l.enforced() {
			to = &o.ExitCode
		}
		if *to == nil && len(codes) > 0 {
			*to = map[string]int{}
		}
		maps.Copy(*to, codes)
	}
	of := reflect.ValueOf(o).Elem()
	EachField(of.Type(), func(field reflect.StructField) {
		if f := c.flag(FlagOf(field)); f != nil && c.yields(f) && c.given(f) == "" && c.source(f) == nil {
			of.FieldByIndex(field.Index).SetZero()
		}
	})
	o.Agents = c.Agents()
	c.setUpAgent(o)
}

// stray warns of variables that look like a flag's and are none: they would be
// ignored without a word.
func (c *Settings) stray() {
	if os.Getenv("LOOPRUN") != "" { // inside of a run there are variables for its command
		return
	}
	ours := slices.DeleteFunc(os.Environ(), func(v string) bool { return !strings.HasPrefix(v, "LOOPRUN_") })
	if len(ours) == 0 {
		return
	}
	known := append(runVariables(), knownVariables(c.Ctx.Model.Node)...)
	if !slices.ContainsFunc(ours, func(v string) bool { return unknownVariable(v, known) }) {
		return
	}
	whole, err := c.call.Whole()
	if err != nil {
		return
	}
	for _, line := range strayVariables(ours, knownVariables(whole.Node), c.call.Inside()) {
		c.call.Say.Warn("%s", line)
	}
}

// runVariables are those of the flags of run, which is described for no other command.
func runVariables() []string {
	var names []string
	EachField(reflect.TypeFor[Options](), func(f reflect.StructField) {
		if f.Tag.Get("kong") == "-" || f.Tag.Get("env") == "-" {
			return
		}
		names = append(names, Variable(FlagOf(f)))
	})
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

func knownVariables(n *kong.Node) []string {
	known := []string{TrustVariable}
	for _, f := range n.Flags {
		known = append(known, f.Envs...)
	}
	for _, child := range n.Children {
		known = append(known, knownVariables(child)...)
	}
	return known
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
		if config.byVariable(flagOf(keyOfField(f.Type().Field(i)))) && reflect.DeepEqual(f.Field(i).Interface(), b.Field(i).Interface()) {
			f.Field(i).SetZero()
		}
	}
}
