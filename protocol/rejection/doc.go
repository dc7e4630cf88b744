// Package rejection is what a command says when its task cannot be done as
// given: the document, the rules that tell a reasoned refusal from giving up,
// the decisions that can be taken on it, and the statistics over many runs.
//
//	r, err := rejection.Parse(document)    // strict JSON
//	issues := r.Validate()                 // every rule at once, in order
//	suggested, why := r.Suggest()          // by the type of the reason
//	subtasks, err := r.Subtasks()          // what decompose records
//
// It is pure: bytes and values in, values out. Who is asked, what is recorded
// and how the run goes on is for others; [Scanner] finds the document in the
// output of a command, and [Collect] and [BuildGraph] take records that others
// read from journals.
//
// # What a rule sees
//
// Text is trimmed of white space. Lengths are in code points. A text that shows
// nothing, such as one of zero-width characters, is blank. A phrase matches as
// whole words, whatever their case and the white space between them; a word is
// made of letters, marks, numbers and connectors such as the underscore. So
// “unchecked” does not hold “checked”, while “un-checked” does, as the hyphen
// parts words.
//
// Blank attempts, alternative tasks without a title and evidence without data
// stay in the document and count for nothing.
package rejection
