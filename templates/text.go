package templates

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/lazy"
	"github.com/looprun/looprun/internal/termsafe"
)

// Limits of the filled-in wording, in bytes. Longer texts are cut.
const (
	textLimit     = 4 << 10
	guidanceLimit = 16 << 10
)

// fault is a problem with wording, at a byte offset in it.
type fault struct {
	offset       int
	text, remedy string
}

// read parses the wording and returns everything that it defines.
func read(src string) (tree *parse.Tree, all map[string]*parse.Tree, err error) {
	tree, all = parse.New("text"), map[string]*parse.Tree{}
	tree.Mode = parse.SkipFuncCheck
	_, err = tree.Parse(src, "", "", all)
	return tree, all, err
}

// faultsIn checks that filling in the wording cannot fail, run for long or mention unknown
// variables.
func faultsIn(src string, known []Variable) []fault {
	if src == "" {
		return nil
	}
	tree, trees, err := read(src)
	if err != nil {
		return []fault{syntaxFault(src, err)}
	}
	c := checker{known: map[string]Variable{}}
	for _, v := range known {
		c.names = append(c.names, v.Name)
		c.known[v.Name] = v
	}
	for name := range trees {
		if name != "text" {
			c.fault(tree.Root, "define and block are not supported", "write the text where it is needed")
		}
	}
	for _, at := range almost().FindAllStringSubmatchIndex(src, -1) {
		name := src[at[2]:at[3]]
		if i := slices.IndexFunc(c.names, func(of string) bool { return strings.EqualFold(of, name) }); i >= 0 {
			c.faults = append(c.faults, fault{at[0], termsafe.Line(src[at[0]:at[1]]) + " is shown as it is", "write {{." + c.names[i] + "}}"})
		}
	}
	if tree.Root != nil {
		c.list(tree.Root, scope{dot: typeRoot})
	}
	return c.faults
}

// almost matches text that looks like a variable but is not one.
var almost = lazy.Regexp(`(?:\$\{|\B\{\.)(\w+)\}(?:\b|[^}]|$)`)

// syntaxFault locates the fault by its line, which is all that the parser reports.
func syntaxFault(src string, err error) fault {
	message := strings.TrimPrefix(err.Error(), "template: text:")
	if number, rest, ok := strings.Cut(message, ": "); ok {
		if n, err := strconv.Atoi(number); err == nil {
			remedy := "a variable is written {{.Name}}"
			switch {
			case rest == "unexpected EOF":
				rest, remedy = "if, with or range has no end", "add {{end}}"
			case strings.HasSuffix(rest, "in operand"), strings.HasPrefix(rest, "unexpected bad character"):
				remedy = "compare with a function: {{if gt .Iteration 3}}"
			}
			return fault{lineStart(src, n), "bad template syntax: " + termsafe.Line(rest), remedy}
		}
	}
	return fault{0, "bad template syntax: " + termsafe.Line(message), ""}
}

// lineStart returns the offset of line n, from 1.
func lineStart(src string, n int) int {
	offset := 0
	for ; n > 1; n-- {
		offset += strings.IndexByte(src[offset:], '\n') + 1
	}
	return offset
}

// fill returns the wording with the values filled in. Wording that passes [faultsIn] gives no
// error.
func fill(src string, values facts, limit int) (string, error) {
	if src == "" {
		return "", nil
	}
	tree, _, err := read(src)
	if err != nil {
		return "", err
	}
	join := func(separator string, list []string) string { return strings.Join(list, separator) }
	tmpl, err := template.New("text").Option("missingkey=error").Funcs(template.FuncMap{"join": join}).AddParseTree("text", tree)
	if err != nil {
		return "", err
	}
	out := bounded{limit: limit}
	err = tmpl.Execute(&out, map[string]any(values))
	if err != nil && !errors.Is(err, errFull) {
		return "", err
	}
	return strings.TrimSpace(termsafe.Text(out.String())), nil
}

// fillLine is like fill but returns one line.
func fillLine(src string, values facts) (string, error) {
	s, err := fill(src, values, textLimit)
	return termsafe.Line(s), err
}

var errFull = errors.New("the text is too long")

// bounded accepts a limited number of bytes and then stops the writer.
type bounded struct {
	strings.Builder
	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); len(p) > room {
		for room > 0 && !utf8.RuneStart(p[room]) {
			room--
		}
		b.Builder.Write(p[:room])
		b.WriteString("…")
		b.limit = 0
		return room, errFull
	}
	return b.Builder.Write(p)
}
