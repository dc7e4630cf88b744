package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Candidate is a possible next word.
type Candidate struct {
	Value string
	// Help describes the candidate, for shells that show it; it may be empty.
	Help string
}

// Mode is what the shell completes by itself, in addition to the candidates.
type Mode string

// The modes.
const (
	// Words completes only the candidates.
	Words Mode = "words"
	// Files completes file names, Dirs only folder names.
	Files Mode = "files"
	Dirs  Mode = "dirs"
	// Command completes another command and its arguments.
	Command Mode = "command"
)

// Reply is the set of completions for the last word.
type Reply struct {
	Mode Mode
	// Prefix is the part of the word before the value, such as --color=.
	Prefix string
	// CommandAt is the index of the word, from 0, at which the other command begins.
	CommandAt  int
	Candidates []Candidate
}

// Place is where a value is needed.
type Place struct {
	Command *kong.Node
	// Flags holds the values given to the flags, by name, and Args those of the previous
	// arguments.
	Flags map[string][]string
	Args  []string
	// Word is the part of the value typed so far.
	Word string
}

// Key is a key of looprun.yaml. The help may not show its flag.
type Key struct {
	Name string
	Flag *kong.Flag
	// Taken reports whether a command accepts the flag.
	Taken func(*kong.Node) bool
}

// setting is the placeholder of the flag that sets a key's value.
const setting = "KEY=VALUE"

// Lookup finds candidates that only the program knows, such as the ids of runs, by the
// placeholder of a flag or the name of an argument in capitals, or by the tag complete. For ID
// and NAME the flag stands before it: "guard ID". "key of" before a placeholder is for the keys
// of its items.
type Lookup map[string]find

type find = func(Place) []Candidate

// Complete returns the completions of the word at a place. If the word is the value of a flag,
// waiting is the flag's name. Flags of keys that the help does not show are completed only
// after two letters. A nil lookup finds nothing.
func Complete(app *kong.Application, keys []Key, at Place, waiting string, lookup Lookup) Reply {
	p := &place{Place: at, root: app.Node, keys: keys, lookup: lookup}
	r := p.reply(p.flag(waiting))
	r.Candidates = fitting(r.Candidates, strings.TrimPrefix(p.Word, r.Prefix))
	return r
}

// place is a [Place] with everything that completions can come from.
type place struct {
	Place
	root   *kong.Node
	keys   []Key
	lookup Lookup
}

// flags returns the flags that may be given here: those of the command and of the commands
// above it, and at the root those of the default command.
func (p *place) flags() []*kong.Flag {
	var list []*kong.Flag
	if p.Command == p.root && p.root.DefaultCmd != nil {
		list = append(list, p.root.DefaultCmd.Flags...)
	}
	for n := p.Command; n != nil; n = n.Parent {
		list = append(list, n.Flags...)
	}
	for _, k := range p.keys {
		if k.Taken(p.Command) && !slices.ContainsFunc(list, func(f *kong.Flag) bool { return f.Name == k.Flag.Name }) {
			list = append(list, k.Flag)
		}
	}
	return list
}

func (p *place) flag(name string) *kong.Flag {
	for _, f := range p.flags() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func takesValue(f *kong.Flag) bool { return !f.IsBool() && !f.IsCounter() }

// reply returns the completions of the word. If waiting is not nil, the word is that flag's
// value.
func (p *place) reply(waiting *kong.Flag) Reply {
	word := p.Word
	name, value, joined := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	switch {
	case waiting != nil:
		return p.value(waiting.Value, waiting.PlaceHolder, "")
	case strings.HasPrefix(word, "--") && joined:
		if f := p.flag(name); f != nil && takesValue(f) {
			p.Word = value
			r := p.value(f.Value, f.PlaceHolder, word[:len(word)-len(value)])
			p.Word = word
			return r
		}
		return Reply{Mode: Words}
	case strings.HasPrefix(word, "-"):
		return p.flagNames()
	}
	r := Reply{Mode: Words}
	if arg := p.argument(); arg != nil {
		r = p.value(arg, strings.ToUpper(arg.Name), "")
	}
	if len(p.Args) == 0 {
		for _, c := range p.Command.Children {
			if !c.Hidden && c.Type == kong.CommandNode {
				r.Candidates = append(r.Candidates, Candidate{c.Name, c.Help})
			}
		}
	}
	if p.Command == p.root.DefaultCmd && p.root.DefaultCmd != nil {
		r.Candidates = append(r.Candidates, endOfFlags)
	}
	return r
}

// argument returns the positional argument that comes next; the last one may take any number
// of words.
func (p *place) argument() *kong.Positional {
	all := p.Command.Positional
	if n := len(p.Args); n < len(all) {
		return all[n]
	}
	if n := len(all); n > 0 && all[n-1].IsCumulative() {
		return all[n-1]
	}
	return nil
}

var endOfFlags = Candidate{"--", "The command that is run follows."}

// flagNames returns the flags that may still be given.
func (p *place) flagNames() Reply {
	r := Reply{Mode: Words}
	for _, f := range p.flags() {
		given := p.Flags[f.Name] != nil && !f.IsCumulative() && !f.IsCounter()
		rare := f.Hidden && (len(p.Word) < len("--xx") || !p.isKey(f))
		if rare || given || slices.ContainsFunc(r.Candidates, func(c Candidate) bool { return c.Value == "--"+f.Name }) {
			continue
		}
		r.Candidates = append(r.Candidates, Candidate{"--" + f.Name, f.Help})
		if f.Short != 0 && p.Word == "-" {
			r.Candidates = append(r.Candidates, Candidate{"-" + string(f.Short), f.Help})
		}
	}
	if p.Command == p.root || p.Command == p.root.DefaultCmd {
		r.Candidates = append(r.Candidates, endOfFlags)
	}
	return r
}

func (p *place) isKey(f *kong.Flag) bool {
	return slices.ContainsFunc(p.keys, func(k Key) bool { return k.Flag == f })
}

// setting returns the keys, or the values of the key that the word names.
func (p *place) setting(before string) Reply {
	name, typed, named := strings.Cut(p.Word, "=")
	r := Reply{Mode: Words, Prefix: before}
	for _, k := range p.keys {
		if named && k.Name == name {
			whole := p.Word
			p.Word = typed
			r = p.value(k.Flag.Value, k.Flag.PlaceHolder, before+name+"=")
			p.Word = whole
			if r.Candidates == nil && k.Flag.IsBool() {
				r.Candidates = []Candidate{{Value: "true"}, {Value: "false"}}
			}
			return r
		}
		if !named {
			r.Candidates = append(r.Candidates, Candidate{k.Name + "=", k.Flag.Help})
		}
	}
	return r
}

// fitting returns the candidates that begin with what was typed.
func fitting(all []Candidate, typed string) []Candidate {
	return slices.DeleteFunc(all, func(c Candidate) bool { return !strings.HasPrefix(c.Value, typed) })
}
