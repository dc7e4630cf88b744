package config

import (
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/protocol/ladder"
)

// Key is one option, however it is set: as a key of looprun.yaml, as -o KEY=VALUE, as a long
// flag or as a variable. The tags of its field describe it completely.
type Key struct {
	Name  string
	field reflect.StructField
}

// exitCodesKey has the same name as in a policy: it holds several codes.
const exitCodesKey = "exit_codes"

// keyTable holds the keys in the order of their fields.
type keyTable struct {
	keys   []Key
	byName map[string]Key
	byFlag map[string]Key
}

var table = sync.OnceValue(func() keyTable {
	t := keyTable{byName: map[string]Key{}, byFlag: map[string]Key{}}
	for _, of := range []reflect.Type{reflect.TypeFor[Options](), reflect.TypeFor[console.Flags]()} {
		EachField(of, func(f reflect.StructField) {
			if name := keyName(f); name != "" {
				k := Key{name, f}
				t.keys = append(t.keys, k)
				t.byName[name], t.byFlag[k.Flag()] = k, k
			}
		})
	}
	return t
})

// Keys returns all keys that have a flag.
func Keys() []Key { return table().keys }

// keyName returns the name of the key that sets a field; empty if none does. A field with the
// tag trust defines a key; a command's field with the tag key uses one.
func keyName(f reflect.StructField) string {
	switch name := f.Tag.Get("key"); {
	case name == "-":
		return ""
	case name != "":
		return name
	case f.Tag.Get("trust") != "":
		return strings.ReplaceAll(FlagOf(f), "-", "_")
	}
	return ""
}

// Held returns the keys that a command accepts: those of its struct's fields, and those of
// looprun's own messages.
func Held(command reflect.Type) []Key {
	var held []Key
	for _, of := range []reflect.Type{command, reflect.TypeFor[console.Flags]()} {
		EachField(of, func(f reflect.StructField) {
			if k, ok := table().byName[keyName(f)]; ok {
				held = append(held, k)
			}
		})
	}
	return held
}

// Spelled returns the key that a word on a command line means: its name, with - or _, or the
// name of its flag. denied reports whether the word negates a boolean key: precheck for
// no_precheck, no-checkpoint for checkpoint.
func Spelled(word string) (k Key, denied, ok bool) {
	if k, ok = table().byFlag[word]; ok {
		return k, false, true
	}
	name := strings.ReplaceAll(word, "-", "_")
	if k, ok = table().byName[name]; ok {
		return k, false, true
	}
	opposite, negated := strings.CutPrefix(name, "no_")
	if !negated {
		opposite = "no_" + name
	}
	k, ok = table().byName[opposite]
	return k, true, ok && k.IsBool()
}

// tag returns a tag of the key's field.
func (k Key) tag(name string) string { return k.field.Tag.Get(name) }

// kind returns the type of one value; a pointer type means that the value may be missing.
func (k Key) kind() reflect.Type {
	if t := k.field.Type; t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return k.field.Type
}

// Type returns the type of the key's value.
func (k Key) Type() reflect.Type { return k.field.Type }

// Flag returns the key's long flag, without the hyphens.
func (k Key) Flag() string { return FlagOf(k.field) }

// Short returns the letter of the key's flag; zero if it has none.
func (k Key) Short() rune {
	for _, r := range k.tag("short") {
		return r
	}
	return 0
}

// Help returns the description of the key, in sentences.
func (k Key) Help() string { return k.tag("help") }

// Variable returns the environment variable that sets the key; empty if there is none.
func (k Key) Variable() string {
	if k.tag("variable") == "none" {
		return ""
	}
	return Variable(k.Flag())
}

// Rare reports whether the help omits the key's flag.
func (k Key) Rare() bool { return k.tag("kong") == "-" }

// IsBool reports whether the key is true or false.
func (k Key) IsBool() bool { return k.kind().Kind() == reflect.Bool }

// Repeats reports whether the key can have several values.
func (k Key) Repeats() bool {
	return k.kind().Kind() == reflect.Slice || k.kind().Kind() == reflect.Map
}

// Listed reports whether one text can hold several values, separated by commas.
func (k Key) Listed() bool { return k.kind().Kind() == reflect.Slice && k.tag("sep") != "none" }

// Words returns all allowed values of a key; nil if it accepts others.
func (k Key) Words() []string {
	if enum := k.tag("enum"); enum != "" {
		return slices.DeleteFunc(strings.Split(enum, ","), func(v string) bool { return v == "" })
	}
	return nil
}

// Placeholder returns the placeholder for the value in a help text.
func (k Key) Placeholder() string {
	return cmp.Or(k.tag("placeholder"), strings.Join(k.Words(), "|"), "true|false")
}

// Default returns the default value; empty if there is none.
func (k Key) Default() string {
	if normal := cmp.Or(k.tag("default"), k.tag("normal")); normal != "" || !k.IsBool() {
		return normal
	}
	return "false"
}

// Example returns a valid value of the key.
func (k Key) Example() string {
	if text := k.tag("example"); text != "" {
		return text
	}
	if words := k.Words(); len(words) > 0 {
		return words[len(words)-1]
	}
	if text := kinds()[k.kind()].example; text != "" {
		return text
	}
	return map[string]string{
		"LINE": "./notify.sh", "FILE": "notes.md", "DIR": "folder", "TEXT": "some words", "GLOB": "tests/**",
		"REGEX": "rate limit", "URL": "https://example.com/hook", "KEY=N": "cancelled=1", "PART=N": "runs=20",
	}[k.tag("placeholder")]
}

// written is a value as the user wrote it, and its parsed form.
type written struct {
	value reflect.Value // of the type of the key's field
	// texts holds the value in command line form; there are several if the key has several
	// values.
	texts []string
}

// text returns the value on one line.
func (w written) text() string {
	if codes, ok := w.value.Interface().(map[string]int); ok {
		return codesText(codes)
	}
	return oneLine(strings.Join(w.texts, ", "))
}

// oneLine returns a text on one line.
func oneLine(text string) string {
	if strings.ContainsAny(text, "\r\n\t") {
		return strconv.Quote(text)
	}
	return text
}

// codesText formats exit codes as in YAML.
func codesText(codes map[string]int) string {
	words := convert.Each(slices.Sorted(maps.Keys(codes)), func(key string) string { return fmt.Sprintf("%s: %d", key, codes[key]) })
	return "{" + strings.Join(words, ", ") + "}"
}

// valueProblem describes what is wrong with a value, or with a part of it.
type valueProblem struct {
	text, remedy string
	below        []any
}

func (p *valueProblem) Error() string {
	if p.remedy == "" {
		return p.text
	}
	return p.text + "; " + p.remedy
}

// parse parses a value from a command line or a variable. Several texts are allowed for a key
// with several values.
func (k Key) parse(texts ...string) (written, error) {
	w := written{reflect.New(k.field.Type).Elem(), texts}
	to := w.value
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	for _, text := range texts {
		if err := k.decode(to, text); err != nil {
			return written{}, err
		}
	}
	return w, nil
}

func (k Key) decode(to reflect.Value, text string) error {
	if by, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return by.UnmarshalText([]byte(text))
	}
	switch to.Kind() {
	case reflect.Bool:
		return k.decodeBool(to, text)
	case reflect.Int:
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return notWhole(text, err)
		}
		to.SetInt(int64(n))
	case reflect.Map:
		for pair := range strings.SplitSeq(text, ";") {
			name, number, _ := strings.Cut(pair, "=")
			n, err := strconv.Atoi(number)
			if err != nil {
				return &valueProblem{text: fmt.Sprintf("%q is not a whole number", number), remedy: "write KEY=N, such as cancelled=1"}
			}
			if to.IsNil() {
				to.Set(reflect.MakeMap(to.Type()))
			}
			to.SetMapIndex(reflect.ValueOf(name), reflect.ValueOf(n))
		}
	case reflect.Slice:
		words := []string{text}
		if k.Listed() {
			words = strings.Split(text, ",")
		}
		for _, word := range words {
			if k.tag("blank") == "no" && strings.TrimSpace(word) == "" {
				return SaysNothing(word)
			}
			if err := k.known(word); err != nil {
				return err
			}
			to.Set(reflect.Append(to, reflect.ValueOf(word).Convert(to.Type().Elem())))
		}
	default:
		if k.tag("blank") == "no" && strings.TrimSpace(text) == "" {
			return SaysNothing(text)
		}
		to.SetString(text)
		return k.known(text)
	}
	return nil
}

func (k Key) decodeBool(to reflect.Value, text string) error {
	switch strings.ToLower(text) {
	case "true", "yes", "1":
		to.SetBool(true)
	case "false", "no", "0":
		to.SetBool(false)
	default:
		return &valueProblem{text: fmt.Sprintf("%q is not true or false", text)}
	}
	return nil
}

// SaysNothing returns the error for a blank text that cannot be intended.
func SaysNothing(text string) error {
	return &valueProblem{text: fmt.Sprintf("%q has no effect", text), remedy: "a variable in it may be unset; write a value, or leave it out"}
}

// notWhole describes why a text is not a whole number in range.
func notWhole(text string, err error) error {
	why := "is not a whole number"
	if errors.Is(err, strconv.ErrRange) {
		why = "is too large a number"
	}
	return &valueProblem{text: fmt.Sprintf("%q %s", text, why), remedy: "write one such as 3"}
}

// WholeNumber returns an error if a text is not a whole number.
func WholeNumber(text string) error {
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		return notWhole(text, err)
	}
	return nil
}

// known returns an error for a word that the key does not accept.
func (k Key) known(word string) error { return KnownWord(word, k.Words()) }

// KnownWord returns an error for a word that is not among the known ones; nil known accepts
// any.
func KnownWord(word string, known []string) error {
	if len(known) == 0 || slices.Contains(known, word) {
		return nil
	}
	return &valueProblem{text: fmt.Sprintf("%q is not known", word), remedy: nearest.OneOf(word, known)}
}

// read parses a value from a file. It makes paths absolute: in a file they are relative to the
// file, since its author does not know where looprun will be called.
func (k Key) read(raw any, dir string) (written, []valueProblem) {
	if k.Name == exitCodesKey {
		return k.readExitCodes(raw)
	}
	texts, want := k.texts(raw)
	for _, text := range texts {
		want = cmp.Or(want, k.strictly(text))
	}
	if want != "" {
		return written{}, []valueProblem{{text: fmt.Sprintf("%s wants %s", k.Name, want)}}
	}
	for i, text := range texts {
		texts[i] = k.absolute(text, dir)
	}
	w, err := k.parse(texts...)
	if p, ok := errors.AsType[*valueProblem](err); ok {
		return w, []valueProblem{{text: k.Name + ": " + p.text, remedy: p.remedy}}
	} else if err != nil {
		return w, []valueProblem{{text: fmt.Sprintf("%s: %v", k.Name, err)}}
	}
	return w, nil
}

// owned is a value that only the user or the system may set: no other file may, whoever has
// consented to it.
type owned interface {
	// mayOnlyOwn returns why; empty if this value may be set by any file.
	mayOnlyOwn() string
}

// notOwn returns why a file that is not the user's own may not hold the value.
func (w written) notOwn() string {
	if of, ok := w.value.Interface().(owned); ok {
		return of.mayOnlyOwn()
	}
	return ""
}

// strictly returns what a file must contain where a flag or a variable may be less exact: for
// those, yes means true, and an empty value counts as not given.
func (k Key) strictly(text string) (want string) {
	switch {
	case k.IsBool() && text != "true" && text != "false":
		return "true or false"
	case slices.ContainsFunc(k.numbers(text), strictyaml.AmbiguousNumber):
		return fmt.Sprintf("a plain decimal number, not %q; %s", text, strictyaml.WriteDecimal)
	case strings.TrimSpace(text) == "" && (k.Words() != nil || k.isWords() || k.tag("of") != ""):
		return "a word; leave the key out for none"
	}
	return ""
}

// numbers returns the parts of a value that must be numbers; none for a text.
func (k Key) numbers(text string) []string {
	t := k.kind()
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	switch {
	case k.isCodes():
		return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '-' || r == ' ' })
	case t.Kind() == reflect.String, t.Kind() == reflect.Struct:
		return nil
	}
	return []string{strings.TrimSpace(text)}
}

// texts returns the value in command line form; want describes what is expected if there is no
// such form.
func (k Key) texts(raw any) (texts []string, want string) {
	if by, ok := raw.(map[string]any); ok && k.isWords() {
		words := convert.Each(slices.Sorted(maps.Keys(by)), func(key string) string { return fmt.Sprintf("%s=%v", key, by[key]) })
		return []string{strings.Join(words, ",")}, ""
	}
	switch value := raw.(type) { // YAML is read as texts; programs and JSON have numbers too
	case string:
		return []string{value}, ""
	case bool, int, int64:
		return []string{fmt.Sprint(value)}, ""
	case float64:
		return []string{strconv.FormatFloat(value, 'f', -1, 64)}, ""
	}
	list, ok := raw.([]any)
	switch {
	case !ok && k.Repeats():
		return nil, "a list"
	case !ok || !k.Repeats() && !k.isCodes():
		return nil, "a single value"
	}
	for _, item := range list {
		word, ok := item.(string)
		if keys, given := item.(map[string]any); given && k.kind() == reflect.TypeFor[Services]() {
			keys = maps.Clone(keys)
			for key, value := range keys {
				if value == "true" || value == "false" { // read as texts, as all of YAML
					keys[key] = value == "true"
				}
			}
			of, err := json.Marshal(keys)
			word, ok = string(of), err == nil
		}
		if !ok {
			return nil, "a list of single values"
		}
		texts = append(texts, word)
	}
	if k.isCodes() {
		return []string{strings.Join(texts, ",")}, ""
	}
	return texts, ""
}

// isWords reports whether the value is a list of KEY=VALUE, a map in YAML.
func (k Key) isWords() bool {
	return k.kind() == reflect.TypeFor[Modes]() || k.kind() == reflect.TypeFor[Keep]()
}

func (k Key) isCodes() bool { return k.kind() == reflect.TypeFor[Codes]() }

// absolute makes a path absolute.
func (k Key) absolute(text, dir string) string {
	if k.tag("value") != "path" || strings.TrimSpace(text) == "" || filepath.IsAbs(text) || slices.Contains(strings.Split(k.tag("words"), ","), text) {
		return text
	}
	return filepath.Join(dir, text)
}

func (k Key) readExitCodes(raw any) (written, []valueProblem) {
	given, ok := raw.(map[string]any)
	if !ok {
		return written{}, []valueProblem{{text: fmt.Sprintf("%q wants keys with values", k.Name), remedy: "write it as {accepted: 0}"}}
	}
	w := written{value: reflect.ValueOf(map[string]int{})}
	var wrong []valueProblem
	for _, key := range slices.Sorted(maps.Keys(given)) {
		text, _ := given[key].(string)
		code, err := strconv.Atoi(text)
		if err != nil || strictyaml.AmbiguousNumber(text) {
			wrong = append(wrong, valueProblem{text: fmt.Sprintf("%q wants an exit code from 0 to 255", key), remedy: "write a plain decimal number", below: []any{key}})
			continue
		}
		if why := wrongExitCode(key, code); why != "" {
			wrong = append(wrong, valueProblem{text: fmt.Sprintf("%s: %d: %s", key, code, why), below: []any{key}})
		}
		w.value.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(code))
		w.texts = append(w.texts, key+"="+text)
	}
	return w, wrong
}

// ladderRung is a rung in the form of looprun.yaml.
type ladderRung struct {
	Rung     ladder.RungName   `yaml:"rung,required" json:"rung" doc:"Who tries on this rung; the last one is the person's."`
	Attempts int               `yaml:"attempts" json:"attempts,omitempty" also:"minimum=1" doc:"Distinct approaches that may fail before the next rung."`
	Experts  map[string]string `yaml:"experts" json:"experts,omitempty" doc:"Shell line for each expert, by name, in the order in which they are asked."`
}

// ladderConfig is the key ladder of looprun.yaml.
type ladderConfig []ladderRung

// config returns the ladder with its experts in the order of the file.
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

// readParts reads the keys in a part of the file that are not flags.
func (l *layer) readParts(keys []Key, from reflect.Value, problems *problem.List, path func(...any) []any) {
	doc := l.file.doc
	if l.signature, _ = from.FieldByName("Signature").Interface().(*Signature); l.signature != nil {
		l.signature.locate(l.file.Name, doc, path("signature")...)
		if _, err := l.signature.Options(""); err != nil {
			*problems = append(*problems, patternProblems(err)...)
		}
		if _, both := l.values["signature_rules"]; both {
			*problems = append(*problems, doc.Problem("signature_rules and signature exclude each other", "keep one of them", path("signature_rules")...))
		}
	}
	if c, _ := from.FieldByName("Ladder").Interface().(*ladderConfig); c != nil {
		l.ladder = c.config(doc, path("ladder")...)
		for i, r := range *c {
			if at := path("ladder", i, "attempts"); r.Attempts == 0 && doc.Has(at...) {
				*problems = append(*problems, doc.Problem("ladder: a rung needs attempts", "use 1 or more, or leave attempts out", at...))
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

// block is a key of looprun.yaml that groups several flags: those whose keys begin with its
// prefix, named by the rest of the key.
type block struct {
	name, prefix string
	one          string // how one of them is called, with %s for its name
	whole        string // the name in it of the flag that is called as the block, which is required
}

var (
	hooksBlock = block{name: "hooks", prefix: "hook_on_", one: "hook %s"}
	// wholeBlocks are of the keys that can also be one shell line.
	wholeBlocks = []block{
		{name: "assistant", prefix: "assistant_", one: "key %s of assistant", whole: "command"},
		{name: "when_stuck", prefix: "when_stuck_", one: "key %s of when_stuck", whole: "command"},
	}
)

// keys returns the keys that the block can contain, and their names in it.
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

// inBlock is a key inside a block, and its name there.
type inBlock struct{ key, block, name string }

// unfold turns a block into the keys of its flags.
func (l *layer) unfold(b block, all []Key, given map[string]any, problems *problem.List, path func(...any) []any) {
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
			wrong(fmt.Sprintf("unknown "+b.one, strconv.Quote(name)), nearest.OneOf(name, names))
			continue
		}
		k := keys[i]
		if k.Name != b.name && l.file.doc.Has(path(k.Name)...) {
			wrong(fmt.Sprintf("the "+b.one+" is set here and as %s", name, k.Name), "keep one of them")
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

// Modes holds detached modes: for all questions, and for kinds and single ones.
type Modes struct {
	all string
	by  map[string]string
}

// DetachedModes lists the valid modes.
var DetachedModes = []string{"deny", "defaults", "auto", "defer"}

// UnmarshalText parses MODE, or a list of MODE and KEY=MODE.
func (m *Modes) UnmarshalText(b []byte) error {
	*m = Modes{}
	if strings.TrimSpace(string(b)) == "" {
		return SaysNothing(string(b))
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

// misspelt returns an error for keys that are probably not the id of a question but a misspelt
// guard or kind; nil if there are none.
func (m Modes) misspelt() error {
	known := []string{string(core.KindConfirm), string(core.KindSelect), string(core.KindText), "all"}
	known = slices.Concat(known, convert.Strings(core.GuardIDs()), convert.Strings(core.ProtocolIDs()))
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(m.by)) {
		like := slices.DeleteFunc(slices.Clone(known), func(name string) bool { return len(key) < 3 || !strings.Contains(name, key) })
		if near := nearest.Word(key, known); near != "" && len(like) == 0 {
			like = []string{near}
		}
		if len(like) > 0 && !slices.Contains(known, key) {
			errs = append(errs, Usagef("%s %s=%s: %q is neither a guard nor a kind; did you mean %s? Choose an id for the question that is less similar",
				Flag("detached"), key, m.by[key], key, strings.Join(like, " or ")))
		}
	}
	return errors.Join(errs...)
}

// OrNearest lists the known words, and suggests the one that was probably meant.
func OrNearest(word string, known []string) string {
	text := strings.Join(known, ", ")
	if near := nearest.Word(word, known); near != "" {
		text += "; did you mean " + near + "?"
	}
	return text
}

// Mode returns the mode of the first key that has one, or else the mode for all questions;
// empty if there is none.
func (m Modes) Mode(keys ...string) string {
	for _, key := range keys {
		if mode := m.by[key]; mode != "" {
			return mode
		}
	}
	return m.all
}

// MarshalText writes the form that UnmarshalText parses.
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

// IsZero reports whether no mode was given.
func (m Modes) IsZero() bool { return m.all == "" && len(m.by) == 0 }

// has reports whether some question has the mode.
func (m Modes) has(mode string) bool {
	return m.all == mode || slices.Contains(slices.Collect(maps.Values(m.by)), mode)
}
