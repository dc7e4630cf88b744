// Package report presents a run to people and programs that were not there: as Markdown for a
// job's summary page, as one HTML page that needs no network, as JSON, and as a JUnit file. It
// reads the run's journal and output files and changes nothing.
//
//	r, err := report.Load(dir)
//	err = r.HTML(w)
//
// The contents of a report come from the run: command output, test names, reasons. All of it
// is data. It is stripped of control characters on the way in and escaped for each form on the
// way out; none of it is ever used as a template, a style, a script or markup.
//
// Every form is bounded and states what it left out: see [MaxIterations], [MarkdownLimit] and
// [PageLimit].
package report
