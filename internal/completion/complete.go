package completion

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Candidate is a word that may come next.
type Candidate struct {
	Value string
	// Help says what it is, for the shells that show it; it may be empty.
	Help string
}

// Mode says what the shell is to complete by itself, besides the candidates.
type Mode string

// The modes.
const (
	// Words are the candidates alone.
	Words Mode = "words"
	// Files and Dirs are names of files, or of folders alone.
	Files Mode = "files"
	Dirs  Mode = "dirs"
	// Command is another command and its arguments.
	Command Mode = "command"
)

// Reply is what may come at the place of the last word.
type Reply struct {
	Mode Mode
	// Prefix is what of the word stands before the value, such as --color=.
	Prefix string
	// CommandAt is the number of the word, from 0, at which the other command
	// begins.
	CommandAt  int
	Candidates []Candidate
}

// Place is where a value is wanted.
type Place struct {
	Command *kong.Node
	// Flags are the values that were given to the flags, by name, and Args those
	// of the arguments before.
	Flags map[string][]string
	Args  []string
	// Word is what was typed of the value.
	Word string
}

// Key is a key of looprun.yaml. Its flag may be one that the help does not show.
type Key struct {
	Name string
	Flag *kong.Flag
	// Taken reports whether a command takes the flag.
	Taken func(*kong.Node) bool
}

// setting is the placeholder of the flag that gives a key its value.
const setting = "KEY=VALUE"

// Lookup finds what only the program knows, such as the ids of runs.
type Lookup func(Kind, Place) []Candidate

// Complete finds what the word at a place can be completed to. Where the word is the value of
// a flag, waiting is the flag's name. Flags of keys that no help shows are completed after two
// letters. A nil lookup finds nothing.
func Complete(app *kong.Application, keys []Key, at Place, waiting string, lookup Lookup) Reply {
	p := &place{Place: at, root: app.Node, keys: keys, lookup: lookup}
	r := p.reply(p.flag(waiting))
	r.Candidates = fitting(r.Candidates, strings.TrimPrefix(p.Word, r.Prefix))
	return r
}

// place is a [Place] with what there is to find.
type place struct {
	Place
	root   *kong.Node
	keys   []Key
	lookup Lookup
}

// flags are those that may be given here: the command's, those of the commands
// above it, and at the root those of the command that needs no name.
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

// reply is for the word, which is the value of waiting where that is not nil.
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

// argument is the one whose turn it is; the last may take any number.
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

// flagNames are the flags that may still be given.
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

// setting are the keys, or the values of the one that is named.
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

// fitting are the candidates that go on with what was typed.
func fitting(all []Candidate, typed string) []Candidate {
	return slices.DeleteFunc(all, func(c Candidate) bool { return !strings.HasPrefix(c.Value, typed) })
}
