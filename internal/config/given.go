package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Given has what the command line says of keys, in its own spelling. The zero value says
// nothing.
type Given struct {
	byKey map[string]*given
}

// given is what the command line or a variable says of one key.
type given struct {
	key      Key
	by       string // as it is written: --check, -c, -o check, or the variable
	variable bool
	written
}

// Add takes a value of a key as it is written after by. A key that has one value is refused a
// second one, but where both are the same flag of the help: there the last one counts, so that
// a line can be added to.
func (g *Given) Add(k Key, by, text string) error {
	if g.byKey == nil {
		g.byKey = map[string]*given{}
	}
	of := g.byKey[k.Name]
	switch {
	case of == nil:
		g.byKey[k.Name] = &given{key: k, by: by, written: written{texts: []string{text}}}
	case !k.Repeats() && (of.by != by || k.Rare() || strings.HasPrefix(by, "-o ")):
		both := by + " is given twice"
		if of.by != by {
			both = of.by + " and " + by + " are the same key"
		}
		return Usage(both, "leave one of them out")
	default:
		of.texts = append(of.texts, text)
	}
	return nil
}

// Text is the value of a key as the command line or its variable has it; empty for none.
func (g *Given) Text(name string) string {
	if of := g.byKey[name]; of != nil {
		return of.texts[len(of.texts)-1]
	}
	if k, ok := table().byName[name]; ok && k.Variable() != "" {
		return os.Getenv(k.Variable())
	}
	return ""
}

// Has reports whether the command line has the key.
func (g *Given) Has(name string) bool { return g.byKey[name] != nil }

// keys are those that the command line has, in the order of the table.
func (g *Given) keys() []*given {
	var list []*given
	for _, k := range Keys() {
		if of := g.byKey[k.Name]; of != nil {
			list = append(list, of)
		}
	}
	return list
}

// Words are the keys as a command line for another looprun has them, without those in except.
func (g *Given) Words(except ...string) []string {
	var words []string
	for _, of := range g.keys() {
		if !slices.Contains(except, of.key.Name) {
			words = append(words, of.words(of.key)...)
		}
	}
	return words
}

// Only are those of one key.
func (g *Given) Only(name string) []string {
	if of := g.byKey[name]; of != nil {
		return of.words(of.key)
	}
	return nil
}

// words give the key its value on a command line.
func (w written) words(k Key) []string {
	var words []string
	for _, text := range w.texts {
		if k.Rare() {
			words = append(words, "-o", k.Name+"="+text)
		} else { // a flag after it beats it
			words = append(words, "--"+k.Flag()+"="+text)
		}
	}
	return words
}

// Over are the values but for those that the command line beats, which those in except are not.
func (g *Given) Over(v Values, except ...string) Values {
	left := maps.Clone(v)
	maps.DeleteFunc(left, func(name string, _ any) bool {
		return g.Has(name) && !g.byKey[name].key.Repeats() && !slices.Contains(except, name)
	})
	return left
}

// Parse reads the values, and says what is wrong with them in their own spelling.
func (g *Given) Parse() error {
	var errs []error
	for _, of := range g.keys() {
		texts := of.texts
		if !of.key.Repeats() {
			texts = texts[len(texts)-1:]
		}
		w, err := of.key.parse(texts...)
		if of.value = w.value; err != nil {
			errs = append(errs, Usage(fmt.Sprintf("%s: %v", of.by, err), ""))
		}
	}
	return errors.Join(errs...)
}

// split parts the paths in a variable as PATH has them, where the key takes several.
func (k Key) split(text string) []string {
	if list := filepath.SplitList(text); k.Repeats() && k.tag("value") == "path" && k.tag("consent") != "name" && len(list) > 0 {
		return list
	}
	return []string{text}
}

// read parses what is given, and what variables say of the other keys that the command takes.
func (c *Settings) read() error {
	errs := []error{c.call.Given.Parse()}
	c.given = map[string]*given{}
	maps.Copy(c.given, c.call.Given.byKey)
	for _, k := range c.call.Holds {
		name := k.Variable()
		text, ok := os.LookupEnv(name)
		if !ok || name == "" || c.given[k.Name] != nil {
			continue
		}
		w, err := k.parse(k.split(text)...)
		if err != nil {
			errs = append(errs, Usage(fmt.Sprintf("%s: %v (from the variable %s)", Flag(k.Flag()), err, name), ""))
		}
		c.given[k.Name] = &given{key: k, by: name, variable: true, written: w}
	}
	return errors.Join(errs...)
}
