// Package templates makes the question that is asked when a guard trips.
//
// A template is a YAML file for one guard: the wording of the question and the options it
// offers. The built-in ones are in builtin/. The files in a folder given to [Load] replace the
// built-in ones for the same guards, and a messages.yaml in it replaces single texts. Wording
// can mention documented variables, such as {{.Summary}}, in the syntax of text/template.
//
// A command's output is treated as data: it fills in variables, cleaned of everything that is
// not text, and is never parsed as a template. Templates have no functions that could run for
// long or fail, and their output is bounded: files that pass [Check] and [Load] always produce
// a question.
//
// [Check], [Init], [WriteSchema] and [WriteVariables], and the methods List and Show of a [Set],
// are for authors: they produce the output of the template commands.
package templates
