// Package loops reads loops.yaml: many loops in one file, for looprun many and for a fleet. It
// runs and looks up nothing, and never searches for a file: the caller names it.
package loops

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/strictyaml"
)

// File is the content of a loops.yaml. Zero values mean that it does not set something.
type File struct {
	Jobs      int                `yaml:"jobs" doc:"How many loops run at the same time."`
	MaxCost   *config.MoneyLimit `yaml:"total_cost" doc:"What all loops together may cost, in US dollars."`
	MaxTokens *config.TokenLimit `yaml:"total_tokens" doc:"How many tokens all loops together may take."`
	MinFree   *Size              `yaml:"min_free" doc:"How much of the disk has to stay free, such as 2GiB."`
	Keep      *config.Duration   `yaml:"keep_trees" doc:"How long the tree of a loop that is not done is kept."`
	Defaults  Loop               `yaml:"defaults" doc:"Defaults for all loops."`
	// After reading, Loops holds all loops: each with the values it inherits from Defaults,
	// one for each combination of its matrix, and each with a unique name.
	Loops []Loop `yaml:"loops,required" doc:"The loops, one after another."`
}

// Loop is one loop.
type Loop struct {
	Name     string              `yaml:"name" doc:"The name of the loop."`
	Group    string              `yaml:"group" doc:"Groups loops, for those who share a machine."`
	Repo     string              `yaml:"repo" doc:"A git repository: a path, relative to the file, or a URL. Without it, the one that the file is read in."`
	Ref      string              `yaml:"ref" doc:"The commit that work starts from; without it, HEAD."`
	Dir      string              `yaml:"dir" doc:"Where the command runs, below the top of the work tree."`
	Setup    config.ShellLine    `yaml:"setup" doc:"Shell line that is run once in a new work tree."`
	RetryFor config.Duration     `yaml:"retry_for" doc:"On a fleet: how long a loop that no worker can take is tried again; without it, a day."`
	Needs    []string            `yaml:"needs" doc:"On a fleet: what its worker has to offer (looprun-fleet worker --offers), such as gpu."`
	Copy     []string            `yaml:"copy" doc:"Files, relative to the top of the repository, that git does not have and a work tree needs."`
	Env      map[string]string   `yaml:"env" doc:"Added to the environment."`
	Command  Command             `yaml:"command" doc:"What the loop runs: a shell line, or a list of words."`
	Check    config.ShellLine    `yaml:"check" doc:"Shell line that judges each iteration; exit code 0 is done."`
	Options  Options             `yaml:",others"`
	Matrix   map[string][]string `yaml:"matrix" doc:"Makes one loop of each combination of values. {KEY} is replaced by the value."`
	// Values holds the matrix values of this loop.
	Values map[string]string `yaml:"-"`
}

// Command is what a loop runs: either a list of words or a shell line. The other is empty.
type Command struct {
	Words []string
	Shell config.ShellLine
}

// FromYAML reads a text as a shell line and a list as words.
func (c *Command) FromYAML(value any) error {
	switch v := value.(type) {
	case string:
		return c.Shell.UnmarshalText([]byte(v))
	case []any:
		for _, word := range v {
			text, ok := word.(string)
			if !ok {
				return problem.Problem{Text: "a command is a list of words", Remedy: `write it as ["./fix.sh", "a"], or as one shell line`}
			}
			c.Words = append(c.Words, text)
		}
		if len(v) > 0 && c.Words[0] != "" {
			return nil
		}
	}
	return problem.Problem{Text: "there is no command in it", Remedy: `write it as ["./fix.sh", "a"], or as one shell line`}
}

// IsZero reports whether there is no command.
func (c Command) IsZero() bool { return len(c.Words) == 0 && c.Shell == "" }

// Options holds the values of other keys of looprun.yaml, as written.
type Options map[string]any

// forAll lists the keys that are set for all loops.
var forAll = []string{"state_dir", "result", "interactive", "checkpoint", "once"}

// own lists further keys that a loop has as its own, or as its command.
var own = []string{"name", "shell", "check"}

// optionNames lists the keys that a loop can have beside its own.
var optionNames = sync.OnceValue(func() (names []string) {
	for _, k := range config.Keys() {
		if !slices.Contains(own, k.Name) && !slices.Contains(forAll, k.Name) {
			names = append(names, k.Name)
		}
	}
	return names
})

// Names returns the names of the keys.
func (o *Options) Names() []string {
	return slices.Concat(optionNames(), forAll)
}

// Take stores the value of a key, if it is right.
func (o *Options) Take(key string, value any) error {
	if slices.Contains(forAll, key) {
		return problem.Problem{Text: key + " is set for all loops", Remedy: "leave it out"}
	}
	if *o == nil {
		*o = Options{}
	}
	(*o)[key] = value
	return config.Defaults().Set(config.Values{key: value}, "")
}

// Size is a number of bytes.
type Size int64

// UnmarshalText parses a number with a unit: 500MiB, 2GiB, or 0 for none.
func (s *Size) UnmarshalText(text []byte) error {
	units := []struct {
		name  string
		shift uint
	}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}
	word := strings.TrimSpace(string(text))
	if word == "0" {
		*s = 0
		return nil
	}
	for _, u := range units {
		number, ok := strings.CutSuffix(word, u.name)
		if n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64); ok && err == nil && n > 0 && n < 1<<20 {
			*s = Size(n << u.shift)
			return nil
		}
	}
	return fmt.Errorf("%q is not a size such as 500MiB or 2GiB; 0 is none", word)
}

// MaxLoops is the maximum number of loops in a file, including all combinations.
const MaxLoops = 10_000

// Read reads the named file.
func Read(name string) (*File, error) {
	data, err := strictyaml.Read(name)
	if err != nil {
		return nil, config.Unreadable(err)
	}
	return Parse(name, data)
}

// Parse parses the text of a file, and reports all errors in it.
func Parse(name string, data []byte) (*File, error) {
	f := new(File)
	doc, err := strictyaml.Decode(name, data, f)
	var problems problem.List
	if ps, ok := err.(problem.List); ok { //nolint:errorlint // it is this type and no other
		problems = ps
	}
	wrong := func(text, remedy string, path ...any) {
		problems = append(problems, doc.Problem(text, remedy, path...))
	}
	if doc.Has("jobs") && f.Jobs < 1 {
		wrong(fmt.Sprintf("jobs: %d is too few", f.Jobs), "use 1 or more", "jobs")
	}
	if doc.Has("defaults", "name") || doc.Has("defaults", "matrix") {
		wrong("defaults have no name and no matrix", "write them in each loop", "defaults")
	}
	all := []Loop{}
	for i, l := range f.Loops {
		l.inherit(f.Defaults)
		if !l.checkMatrix(i, wrong) {
			continue
		}
		each, err := l.combinations(MaxLoops - len(all))
		if err != nil {
			wrong(err.Error(), "", "loops", i)
			continue
		}
		for _, one := range each {
			one.check(i, wrong)
		}
		all = append(all, each...)
	}
	if len(f.Loops) == 0 && doc.Has("loops") {
		wrong("there is no loop in it", "write one, with a command", "loops")
	}
	seen := map[string]bool{}
	for _, l := range all {
		if seen[l.Name] {
			wrong(fmt.Sprintf("two loops are called %q", l.Name), "give each a name of its own", "loops")
		}
		seen[l.Name] = true
	}
	f.Loops = all
	return f, problems.Err()
}

// inherit takes values that the loop does not set from the defaults; for maps, key by key.
func (l *Loop) inherit(d Loop) {
	l.Group, l.Repo, l.Ref, l.Dir = cmp.Or(l.Group, d.Group), cmp.Or(l.Repo, d.Repo), cmp.Or(l.Ref, d.Ref), cmp.Or(l.Dir, d.Dir)
	l.Setup, l.Check = cmp.Or(l.Setup, d.Setup), cmp.Or(l.Check, d.Check)
	l.RetryFor = cmp.Or(l.RetryFor, d.RetryFor)
	if l.Copy == nil {
		l.Copy = d.Copy
	}
	if l.Needs == nil {
		l.Needs = d.Needs
	}
	if l.Command.IsZero() {
		l.Command = d.Command
	}
	l.Env, l.Options = over(d.Env, l.Env), over(d.Options, l.Options)
}

// over returns the map under, with the values of top taking precedence.
func over[M ~map[string]V, V any](under, top M) M {
	all := maps.Clone(under)
	if all == nil {
		return top
	}
	maps.Copy(all, top)
	return all
}

// check reports the errors in one loop.
func (l *Loop) check(i int, wrong func(text, remedy string, path ...any)) {
	if l.Command.IsZero() {
		wrong("the loop has no command", "write command: with a list of words or a shell line", "loops", i)
	}
	if l.Dir != "" && !filepath.IsLocal(filepath.FromSlash(l.Dir)) {
		wrong(fmt.Sprintf("dir %q leads out of the work tree", l.Dir), "name a folder below its top", "loops", i)
	}
	for _, name := range l.Copy {
		if !filepath.IsLocal(filepath.FromSlash(name)) || name == "." {
			wrong(fmt.Sprintf("copy: %q is not a file in the repository", name), "name it relative to the top of the repository", "loops", i)
		}
	}
	for _, need := range l.Needs {
		if !IsKey(need) {
			wrong(fmt.Sprintf("needs: %q is not one word", need), "use letters, digits, - and _", "loops", i)
		}
	}
	for name := range l.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.HasPrefix(name, "LOOPRUN_") {
			wrong(fmt.Sprintf("env: %q cannot be set", name), "use another name", "loops", i)
		}
	}
}

func (l *Loop) checkMatrix(i int, wrong func(text, remedy string, path ...any)) bool {
	good := true
	for key, values := range l.Matrix {
		if !IsKey(key) || len(values) == 0 {
			good = false
			wrong(fmt.Sprintf("matrix: %q needs a name of letters, digits, - and _, and at least one value", key), "", "loops", i)
		}
	}
	return good
}

// Each returns the loops that the matrix generates, each with a unique name.
func (l Loop) Each() ([]Loop, error) {
	all, err := l.combinations(MaxLoops)
	if err != nil {
		return nil, config.Usage(err.Error(), "")
	}
	seen := map[string]bool{}
	for i := range all {
		if seen[all[i].Name] {
			all[i].Name = fmt.Sprintf("%s #%d", all[i].Name, i+1)
		}
		seen[all[i].Name] = true
	}
	return all, nil
}

// combinations returns the loops that the matrix generates: the values of its first key,
// alphabetically, change last.
func (l Loop) combinations(most int) ([]Loop, error) {
	all := []map[string]string{{}}
	for _, key := range slices.Sorted(maps.Keys(l.Matrix)) {
		var next []map[string]string
		if slices.Contains(l.Matrix[key], "") {
			return nil, fmt.Errorf("matrix: a value of {%s} is empty; write each, with one comma between two", key)
		}
		if len(all)*len(l.Matrix[key]) > most {
			return nil, fmt.Errorf("these would be more than %d loops; write a smaller matrix", MaxLoops)
		}
		for _, values := range all {
			for _, v := range l.Matrix[key] {
				more := maps.Clone(values)
				more[key] = v
				next = append(next, more)
			}
		}
		all = next
	}
	var each []Loop
	for _, values := range all {
		one, err := l.With(values)
		if err != nil {
			return nil, err
		}
		each = append(each, one)
	}
	return each, nil
}

// Keys returns the keys of looprun.yaml that the loop sets, except for its name and its
// command.
func (l *Loop) Keys() config.Values {
	values := config.Values{}
	maps.Copy(values, l.Options)
	if l.Check != "" {
		values["check"] = string(l.Check)
	}
	return values
}
