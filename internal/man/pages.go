package man

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Page is one page of the manual, to be written to a file of that name.
type Page struct {
	Name string
	Text []byte
}

// Entry is a term and its meaning.
type Entry struct{ Term, Text string }

// Manual supplies what the model of the command line does not contain. Each function may be
// nil, and returns nil for a command that has nothing of the kind; for the program itself it
// is called with the root of the model.
type Manual struct {
	// Version is printed at the foot of each page, and so is Date unless it is zero.
	Version string
	Date    time.Time

	// Synopsis returns the ways to call a command, if the model does not know all of them.
	Synopsis func(*kong.Node) []string
	// Keys, ExitStatus, Environment and Files return the entries of the sections with these
	// names.
	Keys, ExitStatus, Environment, Files func(*kong.Node) []Entry
}

// section is the section of the system's manual that the pages belong to: commands.
const section = "1"

// Pages generates the page of the program and those of its commands, in the order of the
// model, each on demand. It leaves out hidden commands and flags.
func Pages(app *kong.Application, m Manual) iter.Seq[Page] {
	return func(yield func(Page) bool) { m.pages(app, app.Node, yield) }
}

func (m Manual) pages(app *kong.Application, n *kong.Node, yield func(Page) bool) bool {
	if n.Hidden {
		return true
	}
	if !yield(Page{Name: title(n) + "." + section, Text: m.page(app, n)}) {
		return false
	}
	return !slices.ContainsFunc(n.Children, func(child *kong.Node) bool { return !m.pages(app, child, yield) })
}

// title returns the name of the command's page: the words joined by hyphens.
func title(n *kong.Node) string { return strings.Join(words(n), "-") }

func words(n *kong.Node) []string {
	if n.Parent == nil {
		return []string{n.Name}
	}
	return append(words(n.Parent), n.Name)
}

// page writes the page of a command.
func (m Manual) page(app *kong.Application, n *kong.Node) []byte {
	var w writer
	date := ""
	if !m.Date.IsZero() {
		date = m.Date.UTC().Format(time.DateOnly)
	}
	// mandoc does not recognise a date whose hyphens are escaped.
	fmt.Fprintf(&w, ".TH \"%s\" \"%s\" \"%s\" \"%s\" \"%s\"\n",
		text(strings.ToUpper(title(n))), section, date, text(app.Name+" "+m.Version), text(app.Name+" manual"))
	m.head(&w, n)
	w.flags(n)
	for _, s := range []struct {
		title   string
		entries func(*kong.Node) []Entry
	}{{"KEYS", m.Keys}, {"EXIT STATUS", m.ExitStatus}, {"ENVIRONMENT", m.Environment}, {"FILES", m.Files}} {
		if s.entries == nil {
			continue
		}
		if entries := s.entries(n); len(entries) > 0 {
			w.macro("SH", s.title)
			w.entries(entries)
		}
	}
	if _, examples := detail(n); examples != "" {
		w.macro("SH", "EXAMPLES")
		w.prose(examples)
	}
	w.seeAlso(app, n)
	return w.Bytes()
}

// head writes the part before the options.
func (m Manual) head(w *writer, n *kong.Node) {
	short, _, _ := strings.Cut(n.Help, "\n")
	w.macro("SH", "NAME")
	w.line(text(title(n)) + ` \- ` + text(summary(short, n.Name)))

	w.macro("SH", "SYNOPSIS")
	var calls []string
	if m.Synopsis != nil {
		calls = m.Synopsis(n)
	}
	if calls == nil {
		calls = []string{synopsis(n)}
	}
	for i, call := range calls {
		if i > 0 {
			w.macro("br")
		}
		w.line(callText(call, words(n)))
	}

	w.macro("SH", "DESCRIPTION")
	w.prose(short)
	if description, _ := detail(n); description != "" {
		w.macro("PP")
		w.prose(description)
	}
	w.commands(n)
}

// summary returns a help text in the form of the section NAME: without its full stop, and
// without repeating the program's name.
func summary(help, name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(help, name+" "), ".")
}

// synopsis returns how a command is called, as far as the model knows.
func synopsis(n *kong.Node) string {
	parts := words(n)
	if len(n.Flags) > 0 || n.Parent != nil && len(n.Parent.Flags) > 0 {
		parts = append(parts, "[OPTION…]")
	}
	for _, arg := range n.Positional {
		name := strings.ToUpper(arg.Name)
		if arg.IsCumulative() {
			name += "…"
		}
		if !arg.Required {
			name = "[" + name + "]"
		}
		parts = append(parts, name)
	}
	if len(n.Children) > 0 {
		parts = append(parts, "COMMAND")
	}
	return strings.Join(parts, " ")
}

// detail returns the long help of a command, and the examples that end it.
func detail(n *kong.Node) (description, examples string) {
	all := n.Detail
	if n.Type == kong.ApplicationNode {
		_, rest, _ := strings.Cut(n.Help, "\n")
		all = strings.TrimSpace(rest + "\n\n" + n.Detail)
	}
	lines := strings.Split(all, "\n")
	for i, line := range lines {
		if line == "Example:" || line == "Examples:" {
			description = strings.Join(lines[:i], "\n")
			return strings.Trim(description, "\n"), strings.Trim(strings.Join(lines[i+1:], "\n"), "\n")
		}
	}
	return strings.Trim(all, "\n"), ""
}
