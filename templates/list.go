package templates

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/termsafe"
)

// List prints one line per template: guard, options, default and file. Exclusive templates are
// marked.
func (s *Set) List(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "GUARD\tOPTIONS\tDEFAULT\tFILE")
	for _, tmpl := range s.Templates() {
		options := strings.Join(tmpl.OptionIDs(), " ")
		if tmpl.Exclusive {
			options += " (exclusive)"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", tmpl.Guard, options, cmp.Or(tmpl.Default, "-"), termsafe.Line(tmpl.File))
	}
	return t.Flush()
}

// Show prints the file of the template that asks for the guard, after a comment with its
// location; merged, with what the file takes from the template that it extends. For an unknown guard it returns an error that names the nearest one.
func (s *Set) Show(w io.Writer, guard core.GuardID, merged bool) error {
	if err := KnownGuard(guard); err != nil {
		return err
	}
	t := s.Template(guard)
	source := t.source
	if merged && t.doc.Has("extends") {
		var err error
		if source, err = t.doc.YAML(); err != nil {
			return err
		}
	}
	return write(w, []byte("# "+termsafe.Line(t.File)+"\n"+termsafe.Text(string(source))))
}

// WriteMessages prints every text of messages.yaml by its key, filled in from made-up runs. A
// variable of its own is filled in with its name.
func (s *Set) WriteMessages(w io.Writer) error {
	evidence := facts{}
	for _, id := range guardIDs() {
		for name, v := range sampleFacts(id, s.texts) {
			if old := evidence[name]; old == nil || reflect.ValueOf(old).IsZero() || reflect.ValueOf(old).Kind() == reflect.Slice && reflect.ValueOf(old).Len() == 0 {
				evidence[name] = v
			}
		}
	}
	var b strings.Builder
	for _, m := range Messages() {
		values := evidence
		if len(m.Variables) != len(Variables()) {
			values = facts{}
			for _, v := range m.Variables {
				values[v.Name] = map[VariableType]any{TypeText: strings.ToUpper(v.Name), TypeNumber: 2, TypeBool: true, TypeList: []string{"A", "B"}}[v.Type]
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", m.Key, s.texts.say(m.Key, values))
	}
	return write(w, []byte(b.String()))
}

// KnownGuard returns an error for an id that is not a guard's. The error names the nearest
// one, or all of them if none is near.
func KnownGuard(guard core.GuardID) error {
	if slices.Contains(guardIDs(), guard) {
		return nil
	}
	return unknownGuard(guard)
}

func unknownGuard(guard core.GuardID) problem.Problem {
	return problem.Problem{Text: "unknown guard " + shown(string(guard)), Remedy: nearest.OneOf(guard, guardIDs())}
}
