// Package templates makes the question that is asked when a guard trips.
//
// A template is a YAML file for one guard: the wording of the question and the
// options it offers. The built-in ones are in builtin/; a folder given to [Load]
// replaces those it has files for, and a messages.yaml in it replaces single
// texts. Wording can mention documented variables, such as {{.Summary}}, in the
// syntax of text/template.
//
// What a command printed is data here: it fills in variables, cleaned of
// everything that is no text, and is never read as template text. Templates have
// no functions that could run for long or fail, and their output is bounded:
// what [Check] and [Load] let through always gives a question.
//
// [Check], [Init], [WriteSchema] and [WriteVariables], and the methods List, Show and Render
// of a [Set], are the authors' side: what the template commands print.
package templates
