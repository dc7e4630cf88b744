package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/problem"
)

// MaxSize is the size in bytes above which a file is rejected without being read.
const MaxSize = 64 << 10

// Document is a file as it was read. It knows the position of each value, so that problems
// found after decoding are also reported with their position.
type Document struct {
	file  string
	root  *yaml.Node // nil when the file could not be parsed
	lines []string
}

// Read reads a file, stopping once it is found to be too large, which [Decode] reports.
func Read(name string) ([]byte, error) {
	file, err := inputfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, MaxSize+1))
}

// Decode decodes the only document in data into the value that into points to.
//
// The error is of type [problem.List] and holds all problems. The document is never nil, and
// into holds what could be read, so a caller can continue checking it and report its own
// problems along with these.
func Decode(file string, data []byte, into any) (*Document, error) {
	return DecodeOver(file, data, nil, into)
}

// DecodeOver is [Decode] for a file that changes parts of a base, itself a correct file: keys
// that the file leaves out are those of the base, as are those of list items with the same id.
// Other items of such a list come after those of the base. Without a base it is Decode.
func DecodeOver(file string, data, base []byte, into any) (*Document, error) {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		panic("strictyaml.Decode wants a pointer")
	}
	doc := &Document{file: file}
	if len(data) > MaxSize {
		return doc, doc.whole(
			fmt.Sprintf("the file has more than the %d bytes that are read", MaxSize),
			"split it, or move long texts elsewhere")
	}
	if p, bad := doc.notText(data); bad {
		return doc, problem.List{p}.Err()
	}
	doc.lines = strings.Split(string(data), "\n")
	problems := doc.parse(data)
	if doc.root != nil {
		shape := structure{doc: doc}
		shape.check(doc.root, 0)
		problems = append(problems, shape.problems...)
		if !shape.deep {
			if under := new(yaml.Node); base != nil && yaml.Unmarshal(base, under) == nil {
				over(doc.root, under.Content[0])
			}
			read := reader{doc: doc}
			read.value(doc.root, target.Elem(), "the file")
			problems = append(problems, read.problems...)
		}
	}
	return doc, problems.Err()
}

// YAML returns the document as YAML, with the keys of its base.
func (d *Document) YAML() ([]byte, error) { return yaml.Marshal(d.root) }

// over adds to a node what it leaves out of the base. Problems with that are reported at the
// node.
func over(n, base *yaml.Node) {
	switch {
	case n.Kind != base.Kind:
		return
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(base.Content); i += 2 {
			if _, own := lookup(n, base.Content[i].Value); own != nil {
				over(own, base.Content[i+1])
				continue
			}
			for _, added := range base.Content[i : i+2] {
				place(added, n)
				n.Content = append(n.Content, added)
			}
		}
	case n.Kind == yaml.SequenceNode && len(base.Content) > 0 && base.Content[0].Kind == yaml.MappingNode:
		own := n.Content
		n.Content = nil
		for _, item := range base.Content {
			_, id := lookup(item, "id")
			at := slices.IndexFunc(own, func(o *yaml.Node) bool {
				_, of := lookup(o, "id")
				return id != nil && of != nil && of.Value == id.Value
			})
			if at < 0 {
				place(item, n)
			} else {
				over(own[at], item)
				item = own[at]
				own = slices.Delete(slices.Clone(own), at, at+1)
			}
			n.Content = append(n.Content, item)
		}
		n.Content = append(n.Content, own...)
	}
}

// place gives a node of the base the position of the node that it is added to.
func place(n, at *yaml.Node) {
	n.Line, n.Column = at.Line, at.Column
	for _, part := range n.Content {
		place(part, at)
	}
}

func (d *Document) whole(text, remedy string) error {
	return problem.List{{File: d.file, Text: text, Remedy: remedy}}
}

// notText finds the first byte that does not occur in text files, to report its position: the
// parser would not.
func (d *Document) notText(data []byte) (problem.Problem, bool) {
	line, col := 1, 1
	for i := 0; i < len(data); {
		r, n := rune(data[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(data[i:])
		}
		switch {
		case r == utf8.RuneError && n == 1:
			return d.at(line, col, "the file is not UTF-8 text", "save it as UTF-8"), true
		case unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' && r != '\u0085':
			return d.at(line, col, fmt.Sprintf("the control character %U is not allowed", r), "remove it, or write it as an escape in double quotes"), true
		case r == '\n':
			line, col = line+1, 0
		}
		i, col = i+n, col+1
	}
	return problem.Problem{}, false
}

// parse sets the root and reports what keeps the file from being a single document.
func (d *Document) parse(data []byte) problem.List {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	first, err := decodeNode(dec)
	switch {
	case errors.Is(err, io.EOF):
		return problem.List{{File: d.file, Text: "the file is empty", Remedy: "write its keys into it, or remove the file"}}
	case err != nil:
		return problem.List{d.syntax(err)}
	case first.Kind != yaml.DocumentNode || len(first.Content) != 1:
		return problem.List{{File: d.file, Text: "the file holds no document"}}
	}
	d.root = first.Content[0]
	if empty(d.root) {
		d.root = nil
		return problem.List{{File: d.file, Text: "the file is empty", Remedy: "write its keys into it, or remove the file"}}
	}
	second, err := decodeNode(dec)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return problem.List{d.syntax(err)}
	}
	return problem.List{{
		File: d.file, Line: second.Line, Column: second.Column,
		Text: "a second document begins here", Remedy: "one file holds one document: remove the line \"---\", or use two files",
	}}
}

// empty reports whether the node is an implicit null.
func empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value == ""
}

// decodeNode turns a panic of the parser into an error: no input may crash the program.
func decodeNode(dec *yaml.Decoder) (n *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	n = new(yaml.Node)
	return n, dec.Decode(n)
}

// fails reports whether the first lines alone cannot be read, for this reason.
func (d *Document) fails(lines int, why string) bool {
	dec := yaml.NewDecoder(strings.NewReader(strings.Join(d.lines[:lines], "\n")))
	var err error
	for err == nil {
		_, err = decodeNode(dec)
	}
	return strings.HasSuffix(err.Error(), why)
}

// syntax describes where the parser gave up, and why if the reason is a common one.
func (d *Document) syntax(err error) problem.Problem {
	why := strings.TrimPrefix(err.Error(), "yaml: ")
	p := problem.Problem{File: d.file, Line: 1} // the parser leaves the first line out
	if rest, ok := strings.CutPrefix(why, "line "); ok {
		number, text, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			p.Line, why = n, text
		}
	}
	quoted := strconv.QuoteToGraphic(why)
	p.Text = "not valid YAML: " + quoted[1:len(quoted)-1]
	// The parser names the line where a mapping or a text began. The error is on the first line
	// with which the file cannot be read.
	p.Line += sort.Search(len(d.lines)-p.Line, func(more int) bool { return d.fails(p.Line+more, why) })
	before, _, braces := strings.Cut(d.lines[min(p.Line, len(d.lines))-1], "{{") // a lone CR is a line for the parser alone
	switch {
	case braces && !strings.Contains(before, "'") && (strings.Contains(why, "expected") || strings.Contains(why, "cannot start any token")):
		p.Remedy = "put single quotes around a text with {{…}}"
	case strings.Contains(why, "unexpected end of stream"):
		p.Remedy = "close the quotes or brackets that are still open here"
	case strings.Contains(why, "tab character"):
		p.Remedy = "indent with blanks, not with tabs"
	case strings.Contains(why, "cannot start any token"):
		p.Remedy = "indent with blanks, not with tabs, and put quotes around text that begins with @, ` or %"
	case strings.Contains(why, "mapping values are not allowed"):
		p.Remedy = "check the indentation, and put quotes around text that holds \": \""
	case strings.Contains(why, "did not find expected"):
		p.Remedy = "check the indentation, the quotes and the brackets around this line"
	}
	return p
}
