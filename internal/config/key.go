package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/protocol/ladder"
)

// Key is a key of looprun.yaml and the flag of run that it stands for.
type Key struct {
	Name string
	Flag *kong.Flag
}

// exitCodesKey is called as in a policy: it holds several.
const exitCodesKey = "exit_codes"

// keepFlag stands for the key keep, which on a command line would not say of what.
const keepFlag = "keep-runs"

func keyOf(flag string) string {
	switch flag {
	case "exit-code":
		return exitCodesKey
	case keepFlag:
		return "keep"
	}
	return strings.ReplaceAll(flag, "-", "_")
}

func flagOf(key string) string {
	switch key {
	case exitCodesKey:
		return "exit-code"
	case "keep":
		return keepFlag
	}
	return strings.ReplaceAll(key, "_", "-")
}

// keyOfField is the key of a field of [Options].
func keyOfField(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return key
}

// Keys are the keys of looprun.yaml, in the order of the flags of run. A
// flag that says something about one call only has the tag key:"-".
func Keys(app *kong.Application) []Key {
	flags := app.Flags
	for _, n := range app.Children {
		if n.Name == "run" {
			flags = append(slices.Clone(n.Flags), flags...)
		}
	}
	return keysOf(flags, app)
}

func keysOf(flags []*kong.Flag, app *kong.Application) []Key {
	var keys []Key
	for _, f := range flags {
		if f != app.HelpFlag && f.Tag.Get("key") != "-" {
			keys = append(keys, Key{keyOf(f.Name), f})
		}
	}
	return keys
}

// keys are those of a command that takes the flags of run.
func (c *Settings) keys() []Key {
	var flags []*kong.Flag
	for _, p := range slices.Backward(c.Ctx.Path) {
		flags = append(flags, p.Flags...)
	}
	return keysOf(flags, c.Ctx.Model)
}

// optionKeys are the same, without the commands around them. It takes time: where there
// is no file, nobody asks.
var optionKeys = sync.OnceValue(func() []Key {
	var of struct {
		Options
		console.Flags
	}
	parser, err := kong.New(&of, kong.KindMapper(reflect.String, kong.MapperFunc(AsGiven)))
	if err != nil {
		panic(err) // the tags are wrong, which every test sees
	}
	return Keys(parser.Model)
})

// keyProblem is what is wrong with a value, or with what is below it.
type keyProblem struct {
	text, remedy string
	below        []any
}

// read makes of a value as it is written what the flag's parser takes, with
// paths made absolute, and says what that parser would say.
func (k Key) read(raw any, dir string) (any, []keyProblem) {
	if k.Name == exitCodesKey {
		return k.readExitCodes(raw)
	}
	value, want := k.token(raw)
	if want == "" {
		want = k.strictly(value)
	}
	if want != "" {
		return nil, []keyProblem{{text: fmt.Sprintf("%s wants %s", k.Name, want)}}
	}
	parsed, err := k.parse(value)
	if err != nil {
		return nil, []keyProblem{{text: fmt.Sprintf("%s: %v", k.Name, err)}}
	}
	if wrong := k.outside(parsed); len(wrong) > 0 {
		return nil, wrong
	}
	return k.absolute(value, dir), nil
}

// strictly says what a file has to have where a flag or a variable may be less
// exact: there yes is true, and nothing is as if it was not given.
func (k Key) strictly(value any) (want string) {
	text, isText := value.(string)
	switch {
	case k.Flag.IsBool() && text != "true" && text != "false":
		return "true or false"
	case isText && slices.ContainsFunc(k.numbers(text), strictyaml.AmbiguousNumber):
		return fmt.Sprintf("a plain decimal number, not %q; %s", text, strictyaml.WriteDecimal)
	case isText && strings.TrimSpace(text) == "" && (k.Flag.Enum != "" || k.isWords() || k.Flag.Tag.Get("of") != ""):
		return "a word; leave the key out for none"
	}
	return ""
}

// numbers are what has to be a number in a value; nothing of a text.
func (k Key) numbers(text string) []string {
	t := k.Flag.Target.Type()
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case t.Kind() == reflect.String:
		return nil
	case k.isCodes():
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '-' || r == ' ' })
	}
	return []string{strings.TrimSpace(text)}
}

// outside are the words that are none of those that the flag knows.
func (k Key) outside(v reflect.Value) []keyProblem {
	if k.Flag.Enum == "" {
		return nil
	}
	words := []string{v.String()}
	if list, ok := v.Interface().([]string); ok {
		words = list
	}
	var wrong []keyProblem
	for _, word := range words {
		if known := k.Known(); !slices.Contains(known, word) {
			wrong = append(wrong, keyProblem{text: fmt.Sprintf("%s: %q is not known", k.Name, word), remedy: nearest.DidYouMean(word, known)})
		}
	}
	return wrong
}

// Known are the words of a flag that takes nothing else.
func (k Key) Known() []string {
	return slices.DeleteFunc(k.Flag.EnumSlice(), func(v string) bool { return v == "" })
}

// token is the value in the form that the flag's parser takes; want says what
// is expected where it has none.
func (k Key) token(raw any) (value any, want string) {
	if by, ok := raw.(map[string]any); ok && k.isWords() {
		var words []string
		for _, key := range slices.Sorted(maps.Keys(by)) {
			words = append(words, fmt.Sprintf("%s=%v", key, by[key]))
		}
		raw = strings.Join(words, ",")
	}
	list, isList := raw.([]any)
	var words []string
	for _, item := range list {
		word, ok := item.(string)
		if !ok {
			return nil, "a list of single values"
		}
		words = append(words, word)
	}
	_, isText := raw.(string)
	switch {
	case k.Flag.IsSlice() && isText && k.Flag.Tag.Sep != -1:
		return raw, ""
	case k.Flag.IsSlice() && isText:
		return []any{raw}, ""
	case k.Flag.IsSlice() && isList:
		return list, ""
	case k.Flag.IsSlice():
		return nil, "a list"
	case k.isCodes() && isList:
		return strings.Join(words, ","), ""
	case !isText:
		return nil, "a single value"
	}
	return raw, ""
}

// isWords reports whether the value is a list of KEY=VALUE, in YAML a map.
func (k Key) isWords() bool {
	t := k.Flag.Target.Type()
	return t == reflect.TypeFor[Modes]() || t == reflect.TypeFor[Keep]()
}

func (k Key) isCodes() bool { return k.Flag.Target.Type() == reflect.TypeFor[Codes]() }

// parse reads a value as the flag does.
func (k Key) parse(value any) (reflect.Value, error) {
	target := reflect.New(k.Flag.Target.Type()).Elem()
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
	}
	scan := kong.Scan().PushTyped(value, kong.FlagValueToken)
	return target, k.Flag.Mapper.Decode(&kong.DecodeContext{Value: k.Flag.Value, Scan: scan}, target)
}

// absolute makes paths absolute. In a file they are relative to it: who wrote it
// does not know from where looprun is called.
func (k Key) absolute(value any, dir string) any {
	if k.Flag.Tag.Get("value") != "path" {
		return value
	}
	if list, ok := value.([]any); ok {
		for i, item := range list {
			list[i] = k.absolute(item, dir)
		}
		return list
	}
	text, _ := value.(string)
	if text == "" || filepath.IsAbs(text) || slices.Contains(strings.Split(k.Flag.Tag.Get("words"), ","), text) {
		return value
	}
	return filepath.Join(dir, text)
}

func (k Key) readExitCodes(raw any) (any, []keyProblem) {
	given, ok := raw.(map[string]any)
	if !ok {
		return nil, []keyProblem{{text: fmt.Sprintf("%q wants keys with values", k.Name), remedy: "write it as {accepted: 0}"}}
	}
	codes := map[string]int{}
	var wrong []keyProblem
	for _, key := range slices.Sorted(maps.Keys(given)) {
		text, _ := given[key].(string)
		code, err := strconv.Atoi(text)
		if err != nil || strictyaml.AmbiguousNumber(text) {
			wrong = append(wrong, keyProblem{text: fmt.Sprintf("%q wants an exit code from 0 to 255", key), remedy: "write a plain decimal number", below: []any{key}})
			continue
		}
		if why := wrongExitCode(key, code); why != "" {
			wrong = append(wrong, keyProblem{text: fmt.Sprintf("%s: %d: %s", key, code, why), below: []any{key}})
		}
		codes[key] = code
	}
	return codes, wrong
}

// shownValue is a value of a file on one line.
func shownValue(value any) string {
	switch v := value.(type) {
	case []any:
		words := make([]string, len(v))
		for i, item := range v {
			words[i] = shownValue(item)
		}
		return strings.Join(words, ", ")
	case map[string]int:
		var words []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			words = append(words, fmt.Sprintf("%s: %d", key, v[key]))
		}
		return "{" + strings.Join(words, ", ") + "}"
	}
	text := fmt.Sprint(value)
	if strings.ContainsAny(text, "\r\n\t") {
		return strconv.Quote(text)
	}
	return text
}

// ladderRung is a rung as looprun.yaml has it.
type ladderRung struct {
	Rung     ladder.RungName   `yaml:"rung,required" json:"rung" doc:"Who tries on this rung; the last one is the person's."`
	Attempts int               `yaml:"attempts" json:"attempts,omitempty" doc:"Distinct approaches that may fail before the next rung."`
	Experts  map[string]string `yaml:"experts" json:"experts,omitempty" doc:"Shell line for each expert, by name, in the order in which they are asked."`
}

// ladderConfig is the key ladder of looprun.yaml.
type ladderConfig []ladderRung

// config is the ladder with its experts in the order of the file.
func (c ladderConfig) config(doc *strictyaml.Document, path ...any) ladder.Config {
	var out ladder.Config
	for i, r := range c {
		rung := ladder.Rung{Rung: r.Rung, Attempts: r.Attempts}
		names := slices.Collect(maps.Keys(r.Experts))
		at := func(name string) int {
			line, column := doc.KeyPos(append(slices.Clone(path), i, "experts", name)...)
			return line<<16 + column
		}
		slices.SortStableFunc(names, func(a, b string) int { return at(a) - at(b) })
		for _, name := range names {
			rung.Experts = append(rung.Experts, ladder.Expert{Name: name, Command: r.Experts[name]})
		}
		out = append(out, rung)
	}
	return out
}

// readParts reads the keys of a part of the file that are no flags.
func (l *layer) readParts(keys []Key, from reflect.Value, problems *strictyaml.Problems, path func(...any) []any) {
	doc := l.file.doc
	if l.signature, _ = from.FieldByName("Signature").Interface().(*Signature); l.signature != nil {
		l.signature.locate(l.file.Name, doc, path("signature")...)
		if _, err := l.signature.Options(""); err != nil {
			*problems = append(*problems, patternProblems(err)...)
		}
		if _, both := l.values["rules"]; both {
			*problems = append(*problems, doc.Problem("rules and signature exclude each other", "keep one of them", path("rules")...))
		}
	}
	if c, _ := from.FieldByName("Ladder").Interface().(*ladderConfig); c != nil {
		l.ladder = c.config(doc, path("ladder")...)
		for i, r := range *c {
			if at := path("ladder", i, "attempts"); r.Attempts == 0 && doc.Has(at...) {
				*problems = append(*problems, doc.Problem("ladder: a rung without attempts would do nothing", "use 1 or more, or leave attempts out", at...))
			}
		}
		for _, p := range l.ladder.Validate() {
			*problems = append(*problems, doc.Problem("ladder: "+p.Text, p.Remedy, path(append([]any{"ladder"}, p.Path...)...)...))
		}
	}
	if own, _ := from.FieldByName("Agents").Interface().(*agent.Agents); own != nil {
		l.readAgents(*own, problems, path)
	}
	if own, _ := from.FieldByName("Assistants").Interface().(*map[string]Assistant); own != nil {
		l.readAssistants(*own, problems, path)
	}
	if hooks, _ := from.FieldByName("Hooks").Interface().(*map[string]string); hooks != nil {
		given := map[string]any{}
		for name, line := range *hooks {
			given[name] = line
		}
		l.unfold(hooksBlock, keys, given, problems, path)
	}
}

// block is a key of looprun.yaml that holds what several flags say: those whose keys
// begin with its prefix, by what follows it.
type block struct {
	name, prefix string
	one          string // how one of them is called, with %s for its name
	whole        string // the name in it of the flag that is called as the block, which is required
}

var (
	hooksBlock     = block{name: "hooks", prefix: "hook_on_", one: "hook %s"}
	assistantBlock = block{name: assistantKey, prefix: assistantKey + "_", one: "key %s of assistant", whole: "command"}
)

// keys are those that the block can hold, by their names in it.
func (b block) keys(all []Key) (names []string, of []Key) {
	for _, k := range all {
		name, ok := strings.CutPrefix(k.Name, b.prefix)
		switch {
		case k.Name == b.name && b.whole != "":
			name = b.whole
		case !ok:
			continue
		case b.whole == "": // on_ is in the names
			name = "on_" + name
		}
		names, of = append(names, name), append(of, k)
	}
	return names, of
}

// inBlock is a key that stands in a block, and its name there.
type inBlock struct{ key, block, name string }

// unfold makes of a block the keys that the flags have.
func (l *layer) unfold(b block, all []Key, given map[string]any, problems *strictyaml.Problems, path func(...any) []any) {
	if b.whole != "" && given[b.whole] == nil {
		*problems = append(*problems, l.file.doc.Problem(fmt.Sprintf("the key %q of %s is missing", b.whole, b.name), "", path(b.name)...))
	}
	names, keys := b.keys(all)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		wrong := func(text, remedy string, below ...any) {
			*problems = append(*problems, l.file.doc.Problem(text, remedy, path(append([]any{b.name, name}, below...)...)...))
		}
		i := slices.Index(names, name)
		if i < 0 {
			wrong(fmt.Sprintf("unknown "+b.one, strconv.Quote(name)), cmp.Or(nearest.DidYouMean(name, names), "use one of "+strings.Join(names, ", ")))
			continue
		}
		k := keys[i]
		if k.Name != b.name && l.file.doc.Has(path(k.Name)...) {
			wrong(fmt.Sprintf("the "+b.one+" stands here and as %s", name, k.Name), "keep one of them")
			continue
		}
		within := k
		within.Name = "the " + fmt.Sprintf(b.one, name) // as what is wrong with its value calls it
		value, why := within.read(given[name], filepath.Dir(l.file.path))
		for _, w := range why {
			wrong(w.text, w.remedy, w.below...)
		}
		if len(why) == 0 {
			l.values[k.Name] = value
			l.blocks = append(l.blocks, inBlock{k.Name, b.name, name})
		}
	}
}

// Modes are detached modes: for all questions, and for kinds and single ones.
type Modes struct {
	all string
	by  map[string]string
}

// DetachedModes are the modes that there are.
var DetachedModes = []string{"deny", "defaults", "auto", "defer"}

// UnmarshalText reads MODE, or a list of MODE and KEY=MODE.
func (m *Modes) UnmarshalText(b []byte) error {
	*m = Modes{}
	if strings.TrimSpace(string(b)) == "" {
		return nil
	}
	var errs []error
	for word := range strings.SplitSeq(string(b), ",") {
		key, mode, keyed := strings.Cut(strings.TrimSpace(word), "=")
		if !keyed {
			key, mode = "all", key
		}
		key, mode = strings.TrimSpace(key), strings.TrimSpace(mode)
		_, twice := m.by[key]
		switch {
		case !slices.Contains(DetachedModes, mode):
			errs = append(errs, fmt.Errorf("%q is not a detached mode; use one of %s", mode, OrNearest(mode, DetachedModes)))
		case key == "":
			errs = append(errs, fmt.Errorf("%q names no kind and no question", word))
		case twice || key == "all" && m.all != "":
			errs = append(errs, fmt.Errorf("%s is given twice", key))
		case key == "all":
			m.all = mode
		default:
			if m.by == nil {
				m.by = map[string]string{}
			}
			m.by[key] = mode
		}
	}
	return errors.Join(errs...)
}

// misspelt says which key is not the id of a question but a guard or a kind with a
// slip in it; nil where there is none.
func (m Modes) misspelt() error {
	known := []string{string(core.KindConfirm), string(core.KindSelect), string(core.KindText), "all"}
	for _, id := range slices.Concat(core.GuardIDs(), core.ProtocolIDs()) {
		known = append(known, string(id))
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(m.by)) {
		like := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return len(key) < 3 || !strings.Contains(name, key) })
		if near := nearest.Word(key, known); near != "" && len(like) == 0 {
			like = []string{near}
		}
		if len(like) > 0 && !slices.Contains(known, key) {
			errs = append(errs, Usagef("%s %s=%s: %q is no guard and no kind; did you mean %s? A question needs an id that is less like one",
				Flag("detached"), key, m.by[key], key, strings.Join(like, " or ")))
		}
	}
	return errors.Join(errs...)
}

// OrNearest are the known words, and which of them was probably meant.
func OrNearest(word string, known []string) string {
	text := strings.Join(known, ", ")
	if near := nearest.Word(word, known); near != "" {
		text += "; did you mean " + near + "?"
	}
	return text
}

// Mode is that of the first key which has one, or of all questions; empty for none.
func (m Modes) Mode(keys ...string) string {
	for _, key := range keys {
		if mode := m.by[key]; mode != "" {
			return mode
		}
	}
	return m.all
}

// MarshalText writes the modes as they are read.
func (m Modes) MarshalText() ([]byte, error) {
	var words []string
	if m.all != "" {
		words = append(words, m.all)
	}
	for _, key := range slices.Sorted(maps.Keys(m.by)) {
		words = append(words, key+"="+m.by[key])
	}
	return []byte(strings.Join(words, ",")), nil
}

// IsZero says that no mode was given.
func (m Modes) IsZero() bool { return m.all == "" && len(m.by) == 0 }

// has reports whether some question has the mode.
func (m Modes) has(mode string) bool {
	return m.all == mode || slices.Contains(slices.Collect(maps.Values(m.by)), mode)
}
