// Package report shows a run to people and programs that were not there: as
// Markdown for a job's summary page, as one HTML page without any network, as
// JSON, and as a JUnit file. It reads the run's journal and output files and
// changes nothing.
//
//	r, err := report.Load(dir)
//	err = r.HTML(w)
//
// What a report says comes from the run: command output, test names, reasons.
// All of it is data. It is cleaned of control characters on the way in and
// escaped for each form on the way out; nothing of it is ever a template, a
// style, a script or markup.
//
// Every form has bounds, and says what it left out: see [MaxIterations],
// [MarkdownLimit] and [PageLimit].
package report
