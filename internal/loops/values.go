package loops

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/lazy"
)

// placeholder matches {KEY}, or {} for the value without a name. ${KEY} is the shell's.
var placeholder = lazy.Regexp(`\$?\{[A-Za-z0-9_-]*\}`)

// IsKey reports whether a value can have that name.
func IsKey(key string) bool { return key != "" && placeholder().FindString("{"+key+"}") == "{"+key+"}" }

// With returns the loop for these values: they replace {KEY} in its name, its folder, its
// command, its check, its setup and its environment. A loop without a name is named after its
// values, or its command.
func (l Loop) With(values map[string]string) (Loop, error) {
	l.Matrix, l.Values = nil, values
	named := l.Name
	text := func(s string) string { return fill(s, values, func(v string) string { return v }) }
	l.Name, l.Dir, l.Group = text(l.Name), text(l.Dir), text(l.Group)
	l.Command.Words = slices.Clone(l.Command.Words)
	for i, w := range l.Command.Words {
		l.Command.Words[i] = text(w)
	}
	l.Env = maps.Clone(l.Env)
	for k, v := range l.Env {
		l.Env[k] = text(v)
	}
	for _, line := range []*config.ShellLine{&l.Setup, &l.Check, &l.Command.Shell} {
		var wrong string
		*line = config.ShellLine(fill(string(*line), values, func(v string) string {
			if !plain(v) {
				wrong = v
			}
			return v
		}))
		if wrong != "" {
			return l, fmt.Errorf("%q has characters that a shell interprets, in a shell line; write the command as a list of words, or let the line read a variable of env", wrong)
		}
	}
	shown := slices.Sorted(maps.Keys(values))
	for i, key := range shown {
		shown[i] = values[key]
	}
	switch list := strings.Join(shown, ", "); {
	case l.Name == "" && list != "":
		l.Name = list
	case l.Name == "":
		l.Name = l.Command.String()
	case l.Name == named && list != "":
		l.Name += " (" + list + ")"
	}
	return l, nil
}

// String returns the command in the form of a shell line.
func (c Command) String() string {
	if c.Shell != "" {
		return string(c.Shell)
	}
	return core.CommandLine(c.Words)
}

// Item is the key of the value without a name.
const Item = ""

func fill(text string, values map[string]string, as func(string) string) string {
	return placeholder().ReplaceAllStringFunc(text, func(found string) string {
		if v, ok := values[strings.Trim(found, "{}")]; ok {
			return as(v)
		}
		return found
	})
}

// plain reports whether a value stands for itself anywhere in a shell line, including within
// quotes.
func plain(value string) bool {
	return value != "" && value[0] != '-' && !strings.ContainsFunc(value, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:@%+,=-", r))
	})
}
