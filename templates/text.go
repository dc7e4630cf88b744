package templates

import (
	"errors"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/termsafe"
)

// Bounds of what wording becomes, in bytes. What is longer is cut.
const (
	textLimit     = 4 << 10
	guidanceLimit = 16 << 10
)

// wording is text that mentions variables, ready to be filled in.
type wording struct{ tmpl *template.Template }

// fault is what is wrong with wording, at a byte offset in it.
type fault struct {
	offset       int
	text, remedy string
}

// compile parses the text and checks that nothing in it can fail, run for long
// or mention what is not there when it is filled in.
func compile(src string, known []Variable) (*wording, []fault) {
	if src == "" {
		return nil, nil
	}
	tree := parse.New("text")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(src, "", "", trees); err != nil {
		return nil, []fault{syntaxFault(src, err)}
	}
	c := checker{types: map[string]VariableType{}}
	for _, v := range known {
		c.names = append(c.names, v.Name)
		c.types[v.Name] = v.Type
	}
	for name := range trees {
		if name != "text" {
			c.fault(tree.Root, "define and block are not supported", "write the text where it is needed")
		}
	}
	if tree.Root != nil {
		c.list(tree.Root, scope{dot: typeRoot})
	}
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	tmpl, err := template.New("text").Option("missingkey=error").Funcs(template.FuncMap{"join": joinList}).AddParseTree("text", tree)
	if err != nil {
		return nil, []fault{{0, err.Error(), ""}}
	}
	return &wording{tmpl}, nil
}

// joinList is the function join of templates.
func joinList(separator string, list []string) string { return strings.Join(list, separator) }

// syntaxFault names the line of the text, which is all the parser tells.
func syntaxFault(src string, err error) fault {
	message := strings.TrimPrefix(err.Error(), "template: text:")
	if number, rest, ok := strings.Cut(message, ": "); ok {
		if n, err := strconv.Atoi(number); err == nil {
			return fault{lineStart(src, n), "bad template syntax: " + termsafe.Line(rest), "a variable is written {{.Name}}"}
		}
	}
	return fault{0, "bad template syntax: " + termsafe.Line(message), ""}
}

// lineStart is the offset of line n, from 1.
func lineStart(src string, n int) int {
	offset := 0
	for ; n > 1; n-- {
		offset += strings.IndexByte(src[offset:], '\n') + 1
	}
	return offset
}

// fill writes the text with the values in it. A nil wording is empty. The error
// is of a kind that compile rules out.
func (w *wording) fill(values facts, limit int) (string, error) {
	if w == nil {
		return "", nil
	}
	out := bounded{limit: limit}
	err := w.tmpl.Execute(&out, map[string]any(values))
	if err != nil && !errors.Is(err, errFull) {
		return "", err
	}
	return strings.TrimSpace(termsafe.Text(out.String())), nil
}

// line is fill on one line.
func (w *wording) line(values facts) (string, error) {
	s, err := w.fill(values, textLimit)
	return termsafe.Line(s), err
}

var errFull = errors.New("the text is too long")

// bounded takes so many bytes and then stops whoever writes.
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
