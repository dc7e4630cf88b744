package templates

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
	"github.com/looprun/looprun/internal/termsafe"
)

// AnyGuard is the guard of the template for guards without a template of their own.
const AnyGuard core.GuardID = "*"

// Template is the question for one guard, as written in its file.
type Template struct {
	Guard  core.GuardID
	Header string
	// Short has at most 12 characters; it is never empty.
	Short string
	// Question is the wording, with its variables not yet filled in.
	Question string
	// Default is the option for detached mode defaults; empty if there is none.
	Default string
	// Exclusive means that only a person may answer. Never lists the actions that only a
	// person may take.
	Exclusive bool
	Never     []core.Action
	Options   []Option
	// File is the path it was read from; built-in files begin with "builtin/".
	File string

	source       []byte
	doc          *strictyaml.Document
	line, column int // of the guard
}

// Option is an option as written in the file, with its wording not yet filled in.
type Option struct {
	core.Option
	// Requires lists the conditions for offering the option.
	Requires []string
}

// OptionIDs returns the ids of the options in order.
func (t *Template) OptionIDs() []string {
	return convert.Each(t.Options, func(o Option) string { return o.ID })
}

// templateFile is the YAML form of a template.
type templateFile struct {
	Extends   string        `yaml:"extends" doc:"Keys that this file leaves out are those of the built-in template, and those of an option are those of the option with its id." also:"const=builtin"`
	Guard     string        `yaml:"guard,required" doc:"The guard that asks; \"*\" is any that has no template of its own."`
	Header    string        `yaml:"header,required" doc:"The heading." also:"maxLength=60 minLength=1 pattern=\\S"`
	Short     string        `yaml:"short" doc:"A heading for interfaces that limit it; needed where the header is longer than this may be." also:"maxLength=12 minLength=1 pattern=\\S"`
	Question  string        `yaml:"question,required" also:"minLength=1 pattern=\\S"`
	Default   string        `yaml:"default" doc:"Id of the option for detached mode defaults. Without it such a run ends with the guard's exit code." also:"maxLength=40 minLength=1 pattern=\\S"`
	Exclusive bool          `yaml:"exclusive" doc:"Only a person can answer." also:"default=false"`
	Never     []core.Action `yaml:"never" doc:"Actions that only a person may take: accept, and continue for all options that continue." also:"uniqueItems=true"`
	Options   []optionFile  `yaml:"options,required" doc:"What can be answered. One option has to have the action cancel." also:"maxItems=9"`
}

type optionFile struct {
	ID          string     `yaml:"id,required" doc:"What policies and looprun answer name. One that is called like an action has that action; in rejections accept has the action reject, override continue, and defer pause." also:"type=[\"string\",\"boolean\"] pattern=^[a-z][a-z0-9_-]*$ maxLength=40"`
	Label       string     `yaml:"label,required" doc:"What a person chooses." also:"maxLength=60 minLength=1 pattern=\\S"`
	Key         string     `yaml:"key" also:"type=string pattern=^[a-z]$"`
	Description string     `yaml:"description" doc:"What it means, on one line. Can mention variables." also:"maxLength=500"`
	Action      string     `yaml:"action,required" doc:"What looprun does."`
	Extend      extendFile `yaml:"extend" doc:"What continuing adds to the limit. Needed for max_iterations, max_runtime, max_cost and max_tokens, and only for these." also:"minProperties=1"`
	Guidance    string     `yaml:"guidance" doc:"Guidance for the next iteration, if the action continues. Can mention variables."`
	Requires    needList   `yaml:"requires" doc:"What has to be there for the option to be offered."`
	Command     string     `yaml:"command" doc:"The shell line of the action run." also:"minLength=1 pattern=\\S"`
}

type extendFile struct {
	Iterations int           `yaml:"iterations" doc:"Iterations to add." also:"minimum=1"`
	Runtime    time.Duration `yaml:"runtime" doc:"Active time to add, such as 10m."`
	Cost       amount        `yaml:"cost" doc:"US dollars to add: a number, or a percentage of the limit the run began with."`
	Tokens     amount        `yaml:"tokens" doc:"Tokens to add: a number, or a percentage of the limit the run began with."`
}

func (e extendFile) extend() core.Extend {
	return core.Extend{
		Iterations: e.Iterations, Runtime: e.Runtime,
		Cost: e.Cost.value, CostPercent: e.Cost.percent,
		Tokens: int64(e.Tokens.value), TokensPercent: e.Tokens.percent,
	}
}

// amount is a number, or a percentage of the run's original limit.
type amount struct{ value, percent float64 }

const maxAmount = 1e12

// UnmarshalText parses 2.5 or 50%.
func (a *amount) UnmarshalText(b []byte) error {
	text, isPercent := strings.CutSuffix(string(b), "%")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strictyaml.AmbiguousNumber(text) || !(v > 0 && v <= maxAmount) {
		return problem.Problem{
			Text:   fmt.Sprintf("%q is not an amount to extend a limit by", termsafe.Cut(string(b), 40)),
			Remedy: "write a number above 0, or a percentage such as 50%",
		}
	}
	if isPercent {
		a.percent = v
	} else {
		a.value = v
	}
	return nil
}

// needs are the possible requirements of an option.
var needs = []string{"check", "promise", "debug", "signature", "subtasks", "alternative"}

// needList is one need or a list of them.
type needList []string

// FromYAML reads a text or a list of texts.
func (l *needList) FromYAML(value any) error {
	var ok bool
	if *l, ok = strictyaml.OneOrMore[string](value); !ok {
		return errors.New("wants one of " + strings.Join(needs, ", ") + ", or a list of them")
	}
	return nil
}

// parseTemplate parses a template file and returns everything that is wrong with it.
func parseTemplate(name string, data []byte) (*Template, problem.List) {
	t, r := readTemplate(name, data)
	if r.Has() {
		t.check(r)
		if len(r.Problems) == 0 {
			t.rehearse(r)
		}
	}
	return t, r.Problems
}

// extended returns the file that a template extends; nil if it extends none.
func extended(f templateFile) []byte {
	if f.Extends != "builtin" || !slices.Contains(guardIDs(), core.GuardID(f.Guard)) {
		return nil
	}
	data, err := builtinFiles.ReadFile("builtin/" + strings.ReplaceAll(f.Guard, string(AnyGuard), "other") + ".yaml")
	if err != nil {
		return nil
	}
	return data
}

// readTemplate parses a template file and reports problems of its form.
func readTemplate(name string, data []byte) (*Template, *report) {
	var f templateFile
	doc, err := strictyaml.Decode(name, data, &f)
	if base := extended(f); base != nil {
		f = templateFile{}
		doc, err = strictyaml.DecodeOver(name, data, base, &f)
	}
	r := &report{strictyaml.Report{Document: doc, Problems: problem.Of(err)}}
	if doc.Has("extends") && f.Extends != "builtin" {
		r.Value("unknown template to extend "+shown(f.Extends), "write builtin", "extends")
	}
	t := &Template{
		Guard: core.GuardID(f.Guard), Header: plain(f.Header), Short: plain(f.Short),
		Question: f.Question, Default: f.Default, Exclusive: f.Exclusive, Never: f.Never,
		File: name, source: data, doc: doc,
	}
	if t.Short == "" && !doc.Has("short") {
		t.Short = t.Header
	}
	if !doc.Has() {
		return t, r
	}
	r.visible(f.Header, "header")
	r.visible(f.Short, "short")
	r.visible(f.Question, "question")
	for i, o := range f.Options {
		r.visible(o.Label, "options", i, "label")
		r.visible(o.Description, "options", i, "description")
	}
	t.line, t.column = doc.Pos("guard")
	for _, o := range f.Options {
		t.Options = append(t.Options, Option{
			Option: core.Option{
				ID: o.ID, Label: plain(o.Label), Key: o.Key, Description: o.Description,
				Action: core.Action(o.Action), Extend: o.Extend.extend(),
				Guidance: o.Guidance, Command: o.Command,
			},
			Requires: slices.Clone([]string(o.Requires)),
		})
	}
	return t, r
}
