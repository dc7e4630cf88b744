package main

import (
	"cmp"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/completion"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/templates"
)

// completionCmd prints the scripts that make a shell complete looprun.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

func (c *completionCmd) Run(a *app) error {
	return completion.WriteScript(a.stdout, completion.Shell(c.Shell), "looprun")
}

// completeCmd is called by the completion scripts: the words typed so far follow --. It reads
// only existing files and asks nobody; on errors it silently finds less.
type completeCmd struct {
	Shell string `enum:",bash,zsh,fish" default:"" help:"The shell that asks."`
}

// takesCommand reports whether words of another command may follow --.
func takesCommand(n *kong.Node) bool {
	return n.Name == "run" || n.Name == "many" || n.Name == "__complete"
}

func (c *completeCmd) Run(a *app) error {
	shell := completion.Shell(c.Shell)
	words, quoted := shell.Typed(a.command)
	grammar, _ := grammarFor(words, true)
	return completed(modelOf(grammar), words).Write(a.stdout, shell, quoted)
}

// completed returns the possible completions of the last word. The words before it may contain
// a mistake, but Tab is not the place to report it.
func completed(app *kong.Application, words []string) completion.Reply {
	word := ""
	if last := len(words) - 1; last >= 0 {
		words, word = words[:last], words[last]
	}
	own, hasCommand := words, slices.Index(words, "--")
	if hasCommand >= 0 {
		own = words[:hasCommand]
	}
	l, _ := readLine(app, own, nil)
	switch {
	case hasCommand < 0:
		at := completion.Place{Command: l.node, Flags: l.seen, Args: l.args, Word: word}
		return completion.Complete(app, keyFlags(), at, l.waits, finder{app.Node}.lookup())
	case l.loops():
		return completion.Reply{Mode: completion.Command, CommandAt: hasCommand + 1}
	}
	return completion.Reply{Mode: completion.Words}
}

// finder finds values that are only known from files.
type finder struct{ root *kong.Node }

// keyFlags returns the keys with their flags.
func keyFlags() []completion.Key {
	var list []completion.Key
	lines := map[*kong.Node]*line{}
	for _, k := range config.Keys() {
		tag := &kong.Tag{Sep: ','}
		if k.Repeats() && !k.Listed() {
			tag.Sep = -1
		}
		list = append(list, completion.Key{
			Name: k.Name,
			Flag: &kong.Flag{
				Value:       &kong.Value{Name: k.Flag(), Help: shortHelp(k), Enum: strings.Join(k.Words(), ","), Tag: tag, Target: reflect.New(k.Type()).Elem()},
				PlaceHolder: k.Placeholder(), Short: k.Short(), Hidden: k.Rare(),
			},
			Taken: func(n *kong.Node) bool {
				if lines[n] == nil {
					lines[n] = &line{}
					lines[n].enter(n)
				}
				return lines[n].holds(k)
			},
		})
	}
	return list
}

// described is how many of the latest runs are described and checked for questions, since
// reading a journal takes time.
const described = 40

// lookup finds the values of flags and arguments, by their placeholders.
func (f finder) lookup() completion.Lookup {
	words := func(list []completion.Candidate) func(completion.Place) []completion.Candidate {
		return func(completion.Place) []completion.Candidate { return list }
	}
	kinds := []core.Kind{core.KindConfirm, core.KindSelect, core.KindText}
	return completion.Lookup{
		"RUN": f.runs, "RUN OPTION": f.waiting, "option ID": f.options, "question ID": f.questions, "topics": f.topics,
		"GUARD": guardNames, "guard ID": guardNames,
		"KEY=N":                  words(exitCodeKeys()),
		"agent NAME":             words(detachedWords("", agent.Agents(nil).Names())),
		"MODE[,KEY=MODE]":        words(detachedWords("", config.DetachedModes)),
		"key of MODE[,KEY=MODE]": words(append(detachedWords("=", kinds), detachedWords("=", core.GuardIDs())...)),
	}
}

func detachedWords[T ~string](end string, words []T) []completion.Candidate {
	return candidates(words, func(w T) (value, help string) { return string(w) + end, "" })
}

// candidates returns a candidate for each item.
func candidates[T any](list []T, of func(T) (value, help string)) []completion.Candidate {
	return convert.Each(list, func(item T) completion.Candidate {
		value, help := of(item)
		return completion.Candidate{Value: value, Help: help}
	})
}

// topics returns the commands, topics and keys that have help.
func (f finder) topics(at completion.Place) []completion.Candidate {
	if len(at.Args) == 1 && at.Args[0] == "keys" {
		return candidates(config.Keys(), func(k config.Key) (value, help string) { return k.Name, shortHelp(k) })
	}
	node := f.root
	for _, word := range at.Args {
		if node = (&line{node: node}).below(word); node == nil {
			return nil
		}
	}
	shown := convert.Where(node.Children, func(n *kong.Node) bool { return !n.Hidden })
	list := candidates(shown, func(n *kong.Node) (value, help string) { return n.Name, n.Help })
	if len(at.Args) == 0 {
		list = append(list, candidates(topics(), func(t aTopic) (value, help string) { return t.name, t.about })...)
	}
	return list
}

// stateDir returns where the runs are: the value of the flag, of the variable, or of an
// already trusted configuration, or else the default.
func (f finder) stateDir(at completion.Place) string {
	named, set := os.LookupEnv("LOOPRUN_STATE_DIR")
	if given := at.Flags["state-dir"]; len(given) > 0 {
		named, set = given[len(given)-1], true
	}
	if !set {
		named = f.configuredStateDir(at)
	}
	dir, err := config.StateDir(named)
	if err != nil {
		return ""
	}
	return dir
}

func (f finder) configuredStateDir(at completion.Place) string {
	flag := os.Getenv("LOOPRUN_CONFIG")
	if given := at.Flags["config"]; len(given) > 0 {
		flag = given[len(given)-1]
	}
	return config.TrustedStateDir(flag)
}

// runs returns the ids, latest first; for resume only the resumable runs, for prune only the
// others.
func (f finder) runs(at completion.Place) []completion.Candidate {
	dir := f.stateDir(at)
	ids, _ := scratchpad.IDs(dir) // none, where they cannot be read
	var list []completion.Candidate
	for i, id := range ids {
		c := completion.Candidate{Value: id}
		if i < described {
			s := scratchpad.Summarize(filepath.Join(dir, id))
			if at.Command.Name == "resume" && s.Problem == "" && !s.Status.Resumable() {
				continue
			}
			if at.Command.Name == "prune" && (s.Status == core.StatusRunning || s.Status == core.StatusAwaiting) {
				continue
			}
			c.Help = standing(s)
		}
		list = append(list, c)
	}
	return list
}

// standing describes a run and its outcome.
func standing(s scratchpad.Summary) string {
	if s.Problem != "" {
		return "unreadable"
	}
	return s.Standing() + ", " + console.Ago(time.Now(), s.Started) + ": " + console.Short(cmp.Or(s.Name, core.CommandLine(s.Command)), 40)
}

// waiting returns what can be answered: a run, or an option of the latest question.
func (f finder) waiting(at completion.Place) []completion.Candidate {
	if len(at.Args) > 0 { // the run is named: its option follows
		return f.options(at)
	}
	var options, runs []completion.Candidate
	for _, id := range f.recent(at) {
		asked := session.QuestionsIn(filepath.Join(f.stateDir(at), id))
		if len(asked) == 0 {
			continue
		}
		if options == nil {
			options = choices(asked[0])
		}
		runs = append(runs, completion.Candidate{Value: id, Help: console.WordsOfQuestion(asked[0])})
	}
	return append(options, runs...)
}

// options returns the options of the run's waiting question, or of the named one; without a
// run, those of the latest waiting run.
func (f finder) options(at completion.Place) []completion.Candidate {
	asked := f.asked(at)
	if named := at.Flags["question"]; len(named) > 0 {
		asked = slices.DeleteFunc(asked, func(q core.Question) bool { return q.ID != named[len(named)-1] })
	}
	if len(asked) == 0 {
		return nil
	}
	return choices(asked[0])
}

// questions returns the ids of the waiting questions.
func (f finder) questions(at completion.Place) []completion.Candidate {
	return candidates(f.asked(at), func(q core.Question) (value, help string) { return q.ID, console.WordsOfQuestion(q) })
}

// asked returns the questions of the named run, or of the latest waiting run.
func (f finder) asked(at completion.Place) []core.Question {
	dir := f.stateDir(at)
	if len(at.Args) > 0 {
		if run, err := scratchpad.Find(dir, at.Args[0]); err == nil {
			return session.QuestionsIn(run)
		}
	}
	for _, id := range f.recent(at) {
		if asked := session.QuestionsIn(filepath.Join(dir, id)); len(asked) > 0 {
			return asked
		}
	}
	return nil
}

// recent returns the latest runs of the user. An answer that names no run applies only to
// these.
func (f finder) recent(at completion.Place) []string {
	dir := f.stateDir(at)
	ids, _ := scratchpad.IDs(dir) // none, where they cannot be read
	mine := ids[:0]
	for _, id := range ids[:min(described, len(ids))] {
		if run := filepath.Join(dir, id); scratchpad.Genuine(run) && scratchpad.Mine(run) == nil {
			mine = append(mine, id)
		}
	}
	return mine
}

func choices(q core.Question) []completion.Candidate {
	options := q.Options
	if q.Kind == core.KindConfirm && len(options) == 0 {
		options = []core.Option{{ID: core.Yes, Label: "Yes"}, {ID: core.No, Label: "No"}}
	}
	// A review is a person's at the prompt.
	options = convert.Where(options, func(o core.Option) bool { return o.Action != core.ActionReview })
	return candidates(options, func(o core.Option) (value, help string) { return o.ID, o.Label })
}

// guardNames returns the guards that have questions.
func guardNames(at completion.Place) []completion.Candidate {
	set, err := templates.Load(at.Flags["templates"]...)
	if err != nil {
		if set, err = templates.Load(); err != nil {
			return nil
		}
	}
	return candidates(set.Templates(), func(t *templates.Template) (value, help string) { return string(t.Guard), t.Header })
}

func exitCodeKeys() []completion.Candidate {
	guards := slices.Concat(core.GuardIDs(), core.ProtocolIDs())
	return append(
		candidates(core.Statuses(), func(s core.Status) (value, help string) { return string(s) + "=", "runs that end so" }),
		candidates(guards, func(g core.GuardID) (value, help string) { return string(g) + "=", "runs that this guard stops" })...)
}
