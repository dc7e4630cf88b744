package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/nearest"
)

// mistaken says what was probably meant by a word that is no command below one,
// or none of the values of a flag or an argument, by a flag without one, or by
// what looks like a flag where its value stands; nil for every other error.
func mistaken(err error) error {
	text := err.Error()
	if of, ok := errors.AsType[*kong.ParseError](err); ok && of.Context != nil {
		node := of.Context.Selected()
		if rest, ok := strings.CutPrefix(text, "unexpected argument "); ok && node != nil && len(node.Children) > 0 {
			word, _, _ := strings.Cut(rest, ", did you mean")
			return noCommand(word, node)
		}
	}
	if name, rest, ok := strings.Cut(text, ": expected "); ok && strings.HasSuffix(rest, `"EOL" (<EOL>)`) {
		return config.Usagef("%s has no value; write one behind it", flagIn(name))
	}
	if name, rest, ok := strings.Cut(text, ": expected "); ok && strings.Contains(rest, " flag); perhaps try ") {
		_, got, _ := strings.Cut(rest, " value but got ")
		if word, err := strconv.QuotedPrefix(got); err == nil {
			return config.Usagef("%s: %s looks like a flag; write %[1]s=%[2]s if it is the value", flagIn(name), word)
		}
	}
	if name, value, ok := strings.Cut(text, ": invalid map value "); ok {
		return config.Usagef("%s: %s is not a whole number; write KEY=N, such as cancelled=1", flagIn(name), value)
	}
	if flag, rest, ok := strings.Cut(text, " applies to the default command "); ok {
		if _, command, ok := strings.Cut(rest, ", not "); ok {
			if name, err := strconv.Unquote(command); err == nil {
				flag = strings.TrimPrefix(flag, "flag ")
				return config.Usage(fmt.Sprintf("%s stands before %s, where it is a flag of run", flag, name), fmt.Sprintf("write it behind: looprun %s %s", name, flag))
			}
		}
	}
	if name, rest, ok := strings.Cut(text, ": expected a valid "); ok {
		if _, got, ok := strings.Cut(rest, "int but got "); ok {
			return noNumber(name, got)
		}
	}
	name, rest, ok := strings.Cut(text, " must be one of ")
	if !ok {
		return nil
	}
	list, got, ok := strings.Cut(rest, " but got ")
	word, wrong := strconv.Unquote(got)
	if !ok || wrong != nil {
		return nil
	}
	var known []string
	for item := range strings.SplitSeq(list, ",") {
		if value, err := strconv.Unquote(item); err == nil && value != "" {
			known = append(known, value)
		}
	}
	remedy := nearest.DidYouMean(word, known)
	if remedy != "" {
		remedy = "; " + remedy
	}
	return config.Usagef("%s: %q is not known%s", flagIn(strings.Trim(name, "[]<>.")), word, remedy)
}

// noNumber is for a value that no whole number is, or none that fits.
func noNumber(name, got string) error {
	word, err := strconv.QuotedPrefix(got)
	if err != nil {
		word = got
	}
	why := "is not a whole number"
	if digits := strings.TrimPrefix(strings.Trim(word, `"`), "-"); digits != "" && strings.Trim(digits, "0123456789") == "" {
		why = "is too large a number"
		if strings.Contains(word, "-") {
			why = "is no number that it can have"
		}
	}
	from := ""
	if _, rest, ok := strings.Cut(got, " (from envar "); ok {
		from = " (from the variable " + rest
	}
	return config.Usagef("%s: %s %s; write one such as 3%s", flagIn(name), word, why, from)
}

// flagIn is the flag that kong names, or the argument as it does.
func flagIn(name string) any {
	if flag, ok := strings.CutPrefix(name, "--"); ok {
		return config.Flag(flag)
	}
	return name
}

// noCommand is for a word where one of the commands below node is expected.
func noCommand(word string, node *kong.Node) error {
	known := visibleNames(node)
	remedy := "use one of " + strings.Join(known, ", ")
	if near := nearest.Word(word, known); near != "" {
		remedy = fmt.Sprintf("did you mean looprun %s %s?", node.Path(), near)
	}
	return config.Usage(fmt.Sprintf("%q is not a command of looprun %s", word, node.Path()), remedy)
}

// visibleNames are the commands below one that people are to know.
func visibleNames(n *kong.Node) []string {
	shown := slices.DeleteFunc(slices.Clone(n.Children), func(c *kong.Node) bool { return c.Hidden })
	names := make([]string, len(shown))
	for i, c := range shown {
		names[i] = c.Name
	}
	return names
}
