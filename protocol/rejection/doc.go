// Package rejection handles a command's rejection of a task that cannot be done as given: the
// document, the rules that distinguish a reasoned refusal from giving up, the decisions that
// can be taken on it, and the statistics over many runs.
//
//	r, err := rejection.Parse(document)    // strict JSON
//	issues := r.Validate()                 // every rule at once, in order
//	suggested, why := r.Suggest()          // by the type of the reason
//	subtasks, err := r.Subtasks()          // what decompose records
//
// It is pure: bytes and values in, values out. Other packages decide who is asked, what is
// recorded and how the run continues. [Scanner] finds the document in the output of a command,
// and [Collect] and [BuildGraph] take records that others read from journals.
//
// # What a rule sees
//
// Text is trimmed of white space. Lengths are in code points. A text with nothing visible,
// such as one of zero-width characters, is blank. A phrase matches whole words, ignoring case
// and the white space between them; a word consists of letters, marks, numbers and connectors
// such as the underscore. So “unchecked” does not contain “checked”, but “un-checked” does,
// because the hyphen separates words.
//
// Blank attempts, alternative tasks without a title and evidence without data stay in the
// document but do not count.
package rejection
