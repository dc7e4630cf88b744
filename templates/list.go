package templates

import (
	"fmt"
	"io"
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
		def := tmpl.Default
		if def == "" {
			def = "-"
		}
		options := strings.Join(tmpl.OptionIDs(), " ")
		if tmpl.Exclusive {
			options += " (exclusive)"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", tmpl.Guard, options, def, termsafe.Line(tmpl.File))
	}
	return t.Flush()
}

// Show prints the file of the template that asks for the guard, after a comment with its
// location. For an unknown guard it returns an error that names the nearest one.
func (s *Set) Show(w io.Writer, guard core.GuardID) error {
	if err := KnownGuard(guard); err != nil {
		return err
	}
	t := s.Template(guard)
	return write(w, []byte("# "+termsafe.Line(t.File)+"\n"+termsafe.Text(string(t.source))))
}

// KnownGuard returns an error for an id that is not a guard's. The error names the nearest
// one, or all of them if none is near.
func KnownGuard(guard core.GuardID) error {
	if slices.Contains(guardIDs(), string(guard)) {
		return nil
	}
	return unknownGuard(guard)
}

func unknownGuard(guard core.GuardID) problem.Problem {
	ids := guardIDs()
	remedy := nearest.DidYouMean(string(guard), ids)
	if remedy == "" {
		remedy = "use one of " + strings.Join(ids, ", ")
	}
	return problem.Problem{Text: "unknown guard " + shown(string(guard)), Remedy: remedy}
}
