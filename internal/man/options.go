package man

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// commands lists the commands below one, each with the name of its page.
func (w *writer) commands(n *kong.Node) {
	var entries []Entry
	for _, child := range n.Children {
		if !child.Hidden {
			entries = append(entries, Entry{strings.Join(words(child)[1:], " "), child.Help + " See " + title(child) + "(" + section + ")."})
		}
	}
	if len(entries) > 0 {
		w.macro("SH", "COMMANDS")
		w.entries(entries)
	}
}

// flags writes the options: those without a group first, then each group, then those of the
// whole program. The program's page has only the last ones; the page of its default command
// has the others.
func (w *writer) flags(n *kong.Node) {
	for i, arg := range n.Positional {
		if i == 0 {
			w.macro("SH", "ARGUMENTS")
		}
		w.entries([]Entry{{strings.ToUpper(arg.Name), arg.Help}})
	}
	own := visible(n.Flags)
	if n.Type == kong.ApplicationNode {
		w.options("OPTIONS", own)
		return
	}
	var groups []string
	for _, f := range own {
		if f.Group != nil && !slices.Contains(groups, groupTitle(f)) {
			groups = append(groups, groupTitle(f))
		}
	}
	in := func(title string) (list []*kong.Flag) {
		for _, f := range own {
			if groupTitle(f) == title {
				list = append(list, f)
			}
		}
		return list
	}
	if len(own) > 0 {
		w.macro("SH", "OPTIONS")
		w.flagList(in(""))
		for _, title := range groups {
			w.macro("SS", title)
			w.flagList(in(title))
		}
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if inherited := visible(p.Flags); len(inherited) > 0 {
			w.options("OPTIONS OF EVERY COMMAND", inherited)
		}
	}
}

func visible(flags []*kong.Flag) []*kong.Flag {
	return slices.DeleteFunc(slices.Clone(flags), func(f *kong.Flag) bool { return f.Hidden })
}

func groupTitle(f *kong.Flag) string {
	if f.Group == nil {
		return ""
	}
	return strings.TrimSuffix(f.Group.Title, ":")
}

func (w *writer) options(title string, flags []*kong.Flag) {
	if len(flags) > 0 {
		w.macro("SH", title)
		w.flagList(flags)
	}
}

func (w *writer) flagList(flags []*kong.Flag) {
	for _, f := range flags {
		w.macro("TP")
		w.line(flagTerm(f))
		w.prose(f.Help)
		if len(f.Envs) > 0 {
			w.line(text("Variable: ") + bold(strings.Join(f.Envs, ", ")) + ".")
		}
	}
}

// flagTerm returns a flag as a user writes it, in bold, with the placeholder of its value in
// italics.
func flagTerm(f *kong.Flag) string {
	var b strings.Builder
	if f.Short != 0 {
		b.WriteString(bold("-"+string(f.Short)) + ", ")
	}
	name := "--" + f.Name
	if f.Tag.Negatable != "" {
		name = "--[no-]" + f.Name
	}
	b.WriteString(bold(name))
	if !f.IsBool() && !f.IsCounter() {
		value := f.PlaceHolder
		switch {
		case value != "":
		case f.Enum == "":
			value = strings.Trim(f.FormatPlaceHolder(), `"`)
		default:
			value = strings.Join(slices.DeleteFunc(f.EnumSlice(), func(s string) bool { return s == "" }), "|")
		}
		b.WriteString("=" + italic(value))
	}
	return b.String()
}

// seeAlso lists the related pages.
func (w *writer) seeAlso(app *kong.Application, n *kong.Node) {
	var names []string
	if n.Parent != nil {
		names = append(names, title(app.Node))
		if n.Parent.Parent != nil {
			names = append(names, title(n.Parent))
		}
		for _, sibling := range n.Parent.Children {
			if sibling != n && !sibling.Hidden {
				names = append(names, title(sibling))
			}
		}
	}
	for _, child := range n.Children {
		if !child.Hidden {
			names = append(names, title(child))
		}
	}
	if len(names) == 0 {
		return
	}
	w.macro("SH", "SEE ALSO")
	for i, name := range names {
		end := ","
		if i == len(names)-1 {
			end = ""
		}
		w.line(bold(name) + "(" + section + ")" + end)
	}
}
