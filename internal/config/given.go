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

// Given holds the keys set on the command line, in their original spelling. The zero value
// sets none.
type Given struct {
	byKey map[string]*given
}

// given is the value that the command line or a variable gives one key.
type given struct {
	key      Key
	by       string // as it is written: --check, -c, -o check, or the variable
	variable bool
	written
}

// Add adds a value of a key, written after by. A second value for a key with a single value is
// an error, unless both come from the same flag shown in the help: then the last one counts,
// so that a command line can be extended.
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

// Text returns the value of a key on the command line or in its variable; empty if there is
// none.
func (g *Given) Text(name string) string {
	if of := g.byKey[name]; of != nil {
		return of.texts[len(of.texts)-1]
	}
	if k, ok := table().byName[name]; ok && k.Variable() != "" {
		return os.Getenv(k.Variable())
	}
	return ""
}

// Has reports whether the command line sets the key.
func (g *Given) Has(name string) bool { return g.byKey[name] != nil }

// keys returns the keys set on the command line, in the order of the table.
func (g *Given) keys() []*given {
	var list []*given
	for _, k := range Keys() {
		if of := g.byKey[k.Name]; of != nil {
			list = append(list, of)
		}
	}
	return list
}

// Words returns the keys as arguments for another looprun, without those in except.
func (g *Given) Words(except ...string) []string {
	var words []string
	for _, of := range g.keys() {
		if !slices.Contains(except, of.key.Name) {
			words = append(words, of.words(of.key)...)
		}
	}
	return words
}

// Only returns the arguments of one key.
func (g *Given) Only(name string) []string {
	if of := g.byKey[name]; of != nil {
		return of.words(of.key)
	}
	return nil
}

// words returns the arguments that give the key its value.
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

// Over returns the values without those that the command line overrides; it never overrides
// those in except.
func (g *Given) Over(v Values, except ...string) Values {
	left := maps.Clone(v)
	maps.DeleteFunc(left, func(name string, _ any) bool {
		return g.Has(name) && !g.byKey[name].key.Repeats() && !slices.Contains(except, name)
	})
	return left
}

// Parse parses the values. Errors quote them in their original spelling.
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

// split splits a variable into paths, in the way of PATH, if the key takes several.
func (k Key) split(text string) []string {
	if list := filepath.SplitList(text); k.Repeats() && k.tag("value") == "path" && k.tag("consent") != "name" && len(list) > 0 {
		return list
	}
	return []string{text}
}

// read parses the command line's values, and variables for the other keys that the command
// accepts.
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
