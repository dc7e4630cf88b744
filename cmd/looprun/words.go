package main

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
)

// setFlag is the flag that sets any key: -o KEY=VALUE.
const setFlag = "set"

// line is the command line up to --, parsed against the grammar. The keys are extracted,
// however they are written, and kong gets the rest in the order command, flags, arguments.
// Kong's errors exist only in English, so everything that a person may mistype is detected
// here, before kong sees it.
type line struct {
	own     []string // as it was typed
	command []string // what is after --; nil: there is no --
	node    *kong.Node
	held    []config.Key // those of the command
	given   config.Given
	flags   []string // those that are no keys, each with its value
	args    []string
	early   []early // what came before the command
	agent   bool    // the words are a task
	helps   bool
	version bool
	value   string              // the flag whose value the last word was; empty: it was none
	waits   string              // the name of the flag whose value is missing at the end
	seen    map[string][]string // the values that were given to each flag, by its name
}

// early is a flag before the command, and the key that it sets; empty if none.
type early struct{ by, key string }

// readLine parses the words of a command line. If its error is not nil, node is the command as
// far as it was found.
func readLine(model *kong.Application, own, command []string) (*line, error) {
	l := &line{own: own, command: command, seen: map[string][]string{}}
	l.enter(model.Node)
	l.agent = slices.ContainsFunc(own, func(w string) bool {
		return w == "--agent" || strings.HasPrefix(w, "--agent=") || strings.HasPrefix(w, "-oagent=") || strings.HasPrefix(w, "agent=")
	})
	var wrong error // the first thing that is; the rest may say how it is to be reported
	for i := 0; i < len(own); {
		n, err := l.take(i)
		wrong = cmp.Or(wrong, err)
		i += max(n, 1)
	}
	if wrong == nil {
		wrong = l.complete()
	}
	return l, wrong
}

// enter makes node the command that the following words are for.
func (l *line) enter(node *kong.Node) {
	l.node = node
	if node.Parent == nil { // flags of run need no command before them
		node = node.DefaultCmd
	}
	l.held = config.Held(node.Target.Type())
}

// take parses the i-th word, and returns how many words it used, including its value.
func (l *line) take(i int) (int, error) {
	word, value := l.own[i], l.value
	l.value = ""
	switch {
	case strings.HasPrefix(word, "--"):
		return l.long(i)
	case strings.HasPrefix(word, "-") && len(word) > 1:
		return l.short(i)
	case len(l.args) == 0 && l.below(word) != nil && (i == 0 || !l.agent || l.node.Parent != nil || word == "run"):
		return 1, l.choose(l.below(word))
	case len(l.node.Children) > 0 && l.node.Parent != nil:
		l.args = append(l.args, word)
		return 0, noCommand(word, l.node)
	case l.loops() && !l.agent:
		return 0, l.misplaced(i, value)
	case l.passes() >= 0 && len(l.args) >= l.passes():
		l.args = append(l.args, l.own[i:]...)
		return len(l.own) - i, nil
	}
	l.args = append(l.args, word)
	return 1, nil
}

// loops reports whether the command is run, named or not.
func (l *line) loops() bool { return l.node.Parent == nil || l.node.Path() == "run" }

// below returns the subcommand with that name, or nil.
func (l *line) below(word string) *kong.Node {
	for _, child := range l.node.Children {
		if child.Name == word {
			return child
		}
	}
	return nil
}

// choose enters a command. Flags before it must be its own.
func (l *line) choose(node *kong.Node) error {
	l.enter(node)
	for _, e := range l.early {
		of := slices.ContainsFunc(l.held, func(k config.Key) bool { return k.Name == e.key })
		if !of && l.kongs(e.by) == nil && !strings.HasPrefix(e.by, "-o ") {
			return config.Usage(fmt.Sprintf("%s is a flag of run; put it before %s", e.by, node.Path()), "see looprun "+node.Path()+" --help")
		}
	}
	return nil
}

func (l *line) holds(k config.Key) bool {
	return slices.ContainsFunc(l.held, func(of config.Key) bool { return of.Name == k.Name })
}

// kongs returns the flag with that spelling that is not a key, or nil.
func (l *line) kongs(spelled string) *kong.Flag {
	for _, f := range flagsFor(l.node) {
		if isKey(f) {
			continue
		}
		if "--"+f.Name == spelled || f.Short != 0 && "-"+string(f.Short) == spelled {
			return f
		}
	}
	return nil
}

// flagsFor returns the flags that can follow the words of a command.
func flagsFor(node *kong.Node) []*kong.Flag {
	var flags []*kong.Flag
	if node.Parent == nil && node.DefaultCmd != nil {
		flags = append(flags, node.DefaultCmd.Flags...)
	}
	for n := node; n != nil; n = n.Parent {
		flags = append(flags, n.Flags...)
	}
	return flags
}

// isKey reports whether the flag stands for a key.
func isKey(f *kong.Flag) bool { return f.Tag.Get("trust") != "" || f.Tag.Get("key") != "" }

// passes returns the number of arguments before those that are passed on unchanged, or -1 if
// none are.
func (l *line) passes() int {
	return slices.IndexFunc(l.node.Positional, func(p *kong.Positional) bool { return p.Passthrough })
}

// long parses a flag with more than one letter.
func (l *line) long(i int) (int, error) {
	name, value, joined := strings.Cut(l.own[i], "=")
	k, denied, ok := config.Spelled(name[2:])
	l.note(name, k)
	if f := l.kongs(name); f != nil {
		if f.IsBool() {
			return 1, l.set(f, name, value, joined)
		}
		n, value, err := l.valueOf(i, f.Name, name, value, joined)
		if err != nil {
			return 0, err
		}
		return n, l.set(f, name, value, true)
	}
	if !ok || !l.holds(k) {
		return l.unknown(i, name)
	}
	return l.key(i, k, denied, name, value, joined)
}

// note records a flag before the command.
func (l *line) note(by string, k config.Key) {
	if l.node.Parent == nil {
		l.early = append(l.early, early{by, k.Name})
	}
}

// key parses a key that is written as a flag.
func (l *line) key(i int, k config.Key, denied bool, by, value string, joined bool) (int, error) {
	if !k.IsBool() {
		n, value, err := l.valueOf(i, k.Flag(), by, value, joined)
		if err != nil {
			return 0, err
		}
		if err := l.keepsRuns(k, by, value); err != nil {
			return 0, err
		}
		l.seen[k.Flag()] = append(l.seen[k.Flag()], value)
		return n, l.given.Add(k, by, value)
	}
	if !joined {
		value = "true"
	}
	if denied {
		value = denial(value)
	}
	l.seen[k.Flag()] = append(l.seen[k.Flag()], value)
	return 1, l.given.Add(k, by, value)
}

// denial returns the value that a boolean key gets from its negated form.
func denial(value string) string {
	switch strings.ToLower(value) {
	case "true", "yes", "1":
		return "false"
	case "false", "no", "0":
		return "true"
	}
	return value
}

// valueOf returns the value of a flag: the text joined to it, or the next word.
func (l *line) valueOf(i int, flag, name, value string, joined bool) (int, string, error) {
	if joined {
		return 1, value, nil
	}
	if i+1 >= len(l.own) {
		l.waits = flag
		return 0, "", config.Usage(name+" has no value", "write one after it")
	}
	value = l.own[i+1]
	if strings.HasPrefix(value, "-") && len(value) > 1 {
		to := "="
		if !strings.HasPrefix(name, "--") {
			to = ""
		}
		return 0, "", config.Usage(fmt.Sprintf("%s: %q looks like a flag", name, value), fmt.Sprintf("write %s%s%q if it is the value", name, to, value))
	}
	l.value = name
	return 2, value, nil
}

// set handles a flag that is not a key.
func (l *line) set(f *kong.Flag, by, value string, joined bool) error {
	l.seen[f.Name] = append(l.seen[f.Name], value)
	switch {
	case f.Name == "help":
		l.helps = true
		return nil
	case f.Name == "version":
		l.version = true
		return nil
	case f.Name == setFlag:
		return l.option(value)
	case joined:
		if err := wrongValue(f.Value, value); err != nil {
			return config.Usage(fmt.Sprintf("%s: %v", by, err), "")
		}
		l.flags = append(l.flags, "--"+f.Name+"="+value)
	default:
		l.flags = append(l.flags, "--"+f.Name)
	}
	return nil
}

// wrongValue returns why a flag or an argument that is not a key cannot have the value, where
// kong's error would be only in English.
func wrongValue(v *kong.Value, text string) error {
	words := []string{text}
	if v.IsSlice() && v.Tag.Sep > 0 {
		words = strings.Split(text, string(v.Tag.Sep))
	}
	known := slices.DeleteFunc(v.EnumSlice(), func(w string) bool { return w == "" })
	for _, word := range words {
		if err := config.KnownWord(word, known); v.Enum != "" && err != nil {
			return err
		}
	}
	if !v.IsSlice() && v.Tag.Get("blank") == "no" && strings.TrimSpace(text) == "" || !v.IsSlice() && v.Name == "run" && strings.TrimSpace(text) == "" {
		return config.SaysNothing(text)
	}
	switch {
	case isInt(v):
		return config.WholeNumber(text)
	case v.Target.Kind() == reflect.Uint16:
		if _, err := strconv.ParseUint(text, 10, 16); err != nil {
			return fmt.Errorf("%q is not a port; write a number from 0 to 65535", text)
		}
	}
	return nil
}

// option parses KEY=VALUE.
func (l *line) option(text string) error {
	name, value, ok := strings.Cut(text, "=")
	k, denied, known := config.Spelled(name)
	by := "-o " + name
	switch {
	case !known:
		return config.Usage(fmt.Sprintf("-o %s: %q is not a key that -o can set", text, name), cmp.Or(config.NearestKey(name), "looprun help keys lists them"))
	case !ok && !k.IsBool():
		return config.Usage(by+" has no value", fmt.Sprintf("write -o %s=%s; see looprun help keys %[1]s", name, k.Placeholder()))
	case !ok:
		value = "true"
	}
	if l.node.Path() == "resume" && !l.holds(k) {
		return config.Usage(fmt.Sprintf("%s: a run keeps its %s", by, k.Name), "leave it out, or start a new run")
	}
	if denied {
		value = denial(value)
	}
	l.note(by, k)
	l.seen[k.Flag()] = append(l.seen[k.Flag()], value)
	return l.given.Add(k, by, value)
}

// short parses one-letter flags, of which a word can contain several.
func (l *line) short(i int) (int, error) {
	word := l.own[i][1:]
	for at, letter := range word {
		by := "-" + string(letter)
		rest := word[at+utf8.RuneLen(letter):]
		if f := l.kongs(by); f != nil {
			l.note(by, config.Key{})
			if f.IsBool() {
				if err := l.set(f, by, "", false); err != nil {
					return 0, err
				}
				continue
			}
			n, value, err := l.valueOf(i, f.Name, by, rest, rest != "")
			if err != nil {
				return 0, err
			}
			return n, l.set(f, by, value, true)
		}
		at := slices.IndexFunc(l.held, func(k config.Key) bool { return k.Short() == letter })
		if at < 0 {
			return l.unknown(i, by)
		}
		k := l.held[at]
		l.note(by, k)
		if !k.IsBool() {
			return l.key(i, k, false, by, strings.TrimPrefix(rest, "="), rest != "")
		}
		if _, err := l.key(i, k, false, by, "", false); err != nil {
			return 0, err
		}
	}
	return 1, nil
}

// unknown passes an unknown flag on if the command passes words on, and otherwise suggests
// what was probably meant.
func (l *line) unknown(i int, name string) (int, error) {
	if l.passes() >= 0 && len(l.args) >= l.passes() {
		l.args = append(l.args, l.own[i:]...)
		return len(l.own) - i, nil
	}
	after := ""
	if takesCommand(l.node) || l.node.Parent == nil {
		after = "; a flag of the command itself goes after --"
	}
	if s, ok := synonyms[name]; ok && l.loops() {
		return 0, config.Usage("unknown flag "+name, s.why+"write "+l.instead(i, name, s.flag)+after)
	}
	known := convert.Each(flagsFor(l.node), func(f *kong.Flag) string { return f.Name })
	known = append(known, convert.Each(l.held, config.Key.Flag)...)
	remedy := strings.TrimSpace("looprun "+l.node.Path()) + " --help lists the flags"
	if l.node.Parent == nil {
		remedy = "looprun run --help lists the flags"
	}
	word := strings.TrimLeft(name, "-")
	if near := nearest.Word(word, known); near != "" {
		remedy = "did you mean --" + near + "?"
	} else if k, _, ok := config.Spelled(word); ok && strings.HasPrefix(name, "--") {
		remedy = name + " is a flag of run" + map[bool]string{true: ", and a run keeps its " + k.Name}[l.node.Path() == "resume"]
	}
	return 0, config.Usage("unknown flag "+name, remedy+after)
}

// complete reports missing and excess arguments.
func (l *line) complete() error {
	node := l.node
	if l.helps || l.version || len(node.Children) > 0 && node.Parent != nil || l.passes() >= 0 {
		return nil
	}
	most, least := len(node.Positional), 0
	for i, arg := range node.Positional {
		if arg.Required {
			least++
		}
		if arg.IsCumulative() {
			most = max(len(l.args), most)
		}
		if i < len(l.args) {
			if err := wrongValue(arg, l.args[i]); err != nil {
				return config.Usage(fmt.Sprintf("%s: %v", arg.Name, err), "")
			}
		}
	}
	switch {
	case len(l.args) > most && node.Parent != nil && node.Path() != "run":
		return config.Usage(fmt.Sprintf("%q is one word too many", l.args[most]), "see looprun "+node.Path()+" --help")
	case len(l.args) < least:
		missing, remedy := strings.ToUpper(node.Positional[len(l.args)].Name), "write looprun "+node.Path()
		for _, arg := range node.Positional[:least] {
			remedy += " " + strings.ToUpper(arg.Name)
		}
		if missing == "RUN" {
			remedy += ", with an id from looprun list or with latest"
		}
		return config.Usage(missing+" is missing", remedy)
	}
	return nil
}

// words returns the words for kong.
func (l *line) words() []string {
	words := strings.Fields(l.node.Path())
	if l.node.Parent == nil {
		words = []string{"run"}
	}
	words = append(words, l.flags...)
	if len(l.args) > 0 && l.passes() < 0 {
		words = append(words, "--")
	}
	return append(words, l.args...)
}

// noCommand returns the error for a word where one of the commands below node is expected.
func noCommand(word string, node *kong.Node) error {
	known := convert.Each(node.Children, func(c *kong.Node) string { return c.Name })
	remedy := "use one of " + strings.Join(known, ", ")
	if near := nearest.Word(word, known); near != "" {
		remedy = fmt.Sprintf("did you mean looprun %s %s?", node.Path(), near)
	}
	return config.Usage(fmt.Sprintf("%q is not a command of looprun %s", word, node.Path()), remedy)
}
