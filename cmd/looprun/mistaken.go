package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/nearest"
)

// synonym is the flag that somebody means by another tool's name for it.
type synonym struct{ flag, why string }

var synonyms = map[string]synonym{
	"--timeout":     {"--iteration-timeout", "for the whole run there is --max-runtime, for one iteration "},
	"--retries":     {"--retry", ""},
	"--max-retries": {"--retry", ""},
	"--interval":    {"--delay", ""},
	"--sleep":       {"--delay", ""},
	"--until":       {"--check", ""},
	"--iterations":  {"--max-iterations", ""},
	"-n":            {"--max-iterations", ""},
}

// otherNames maps other tools' names for commands to looprun's.
var otherNames = map[string]string{
	"status": "list", "ls": "list", "ps": "list", "logs": "show", "log": "show", "rm": "prune", "kill": "stop",
}

// keepsRuns returns an error for looprun many --keep with a time, which is for work trees.
func (l *line) keepsRuns(k config.Key, by, value string) error {
	if k.Name != "keep" || l.node.Path() != "many" || new(config.Duration).UnmarshalText([]byte(value)) != nil {
		return nil
	}
	err := new(config.Keep).UnmarshalText([]byte(value))
	return config.Usage(fmt.Sprintf("%s: %v", by, err), "for work trees write --keep-trees "+value)
}

// instead returns the command line with the i-th flag replaced by another. A time without a
// unit gets one.
func (l *line) instead(i int, name, flag string) string {
	words := slices.Clone(l.own)
	value := strings.TrimPrefix(strings.TrimPrefix(words[i], name), "=")
	at := i
	if value == "" && i+1 < len(words) {
		at, value = i+1, words[i+1]
	}
	if strings.HasSuffix(flag, "delay") || strings.HasSuffix(flag, "timeout") {
		if value != "" && strings.Trim(value, "0123456789") == "" {
			value += "s"
		}
	}
	words[i] = flag
	if value != "" && at == i {
		words = slices.Insert(words, i+1, value)
	} else if value != "" {
		words[at] = value
	}
	return l.whole(words, l.command)
}

// whole returns a command line of looprun, quoted for a shell.
func (l *line) whole(own, command []string) string {
	words := append([]string{"looprun"}, own...)
	if command != nil {
		words = append(append(words, "--"), command...)
	}
	return core.CommandLine(words)
}

// misplaced returns the error for words before -- that are not a command of looprun, with the
// whole line as it was probably meant.
func (l *line) misplaced(i int, value string) error {
	words, before := l.own[i:], l.own[:i]
	text := fmt.Sprintf("%q is not a command of looprun", words[0])
	if k, _, ok := config.Spelled(strings.TrimLeft(value, "-")); (ok && k.Placeholder() == "LINE" || value == "-c") && i > 0 {
		// The words may belong to the shell line before them.
		of := words
		if at := slices.IndexFunc(of, func(w string) bool { return strings.HasPrefix(w, "-") }); at > 0 && l.command != nil {
			of = of[:at]
		}
		quoted := slices.Concat(before[:i-1], []string{strings.Join(append([]string{before[i-1]}, of...), " ")}, words[len(of):])
		if l.command != nil {
			return config.Usage(text, fmt.Sprintf("quote the value of %s: %s", value, l.whole(quoted, l.command)))
		}
		if value == "-c" {
			return config.Usage(text, "quote the line: "+l.whole(quoted, nil))
		}
	}
	run := "write " + l.started(before, words)
	if l.command != nil {
		run = "write the command after --: " + l.whole(before, slices.Concat(words, l.command))
	}
	known := visibleCommands()
	switch near := nearest.Word(words[0], known); {
	case otherNames[words[0]] != "":
		return config.Usage(text, fmt.Sprintf("did you mean looprun %s? To run it as a command %s", otherNames[words[0]], run))
	case near != "" && !strings.ContainsAny(words[0], " ./"):
		return config.Usage(text, fmt.Sprintf("did you mean looprun %s? To run it as a command %s", near, run))
	}
	return config.Usage(text, run)
}

// started returns the command line that runs the words, as a shell line if they need a shell.
func (l *line) started(before, words []string) string {
	before = slices.DeleteFunc(slices.Clone(before), func(w string) bool { return w == "run" })
	if shell := shellLine(words); shell != "" {
		return l.whole(append(before, "-c", shell), nil)
	}
	return l.whole(before, words)
}

// shellLine returns the words as a shell line if only a shell can run them; empty if a program
// can.
func shellLine(words []string) string {
	switch {
	case len(words) == 1 && strings.ContainsAny(words[0], " |&;<>$"):
		return words[0]
	case len(words) > 0 && slices.Contains([]string{"cd", "export", "source", "alias", "set", "unset", "exec", "eval", "ulimit", "umask", "wait"}, words[0]),
		len(words) > 1 && words[0] == ".", // alone it is a folder
		slices.ContainsFunc(words, isOperator):
		quoted := make([]string, len(words))
		for i, w := range words {
			quoted[i] = w
			if !isOperator(w) {
				quoted[i] = core.CommandLine([]string{w})
			}
		}
		return strings.Join(quoted, " ")
	}
	return ""
}

// isOperator reports whether the word has a special meaning to a shell.
func isOperator(word string) bool {
	return slices.Contains([]string{"|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1"}, word)
}

func root(n *kong.Node) *kong.Node {
	for n.Parent != nil {
		n = n.Parent
	}
	return n
}

func isInt(v *kong.Value) bool {
	t := v.Target.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t == reflect.TypeFor[int]()
}
