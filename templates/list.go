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

// List prints one line a template: guard, options, default and file. Where one
// is exclusive it says so.
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

// Show prints the file of the template that asks for the guard, after a comment
// that says where it is. An unknown guard is an error that names the nearest.
func (s *Set) Show(w io.Writer, guard core.GuardID) error {
	if err := KnownGuard(guard); err != nil {
		return err
	}
	t := s.Template(guard)
	return write(w, []byte("# "+termsafe.Line(t.File)+"\n"+termsafe.Text(string(t.source))))
}

// KnownGuard is an error for an id that is no guard's, with the nearest one, or
// with all of them when none is near.
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
