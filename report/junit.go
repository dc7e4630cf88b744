package report

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/plural"
)

// Bounds of a JUnit file.
const (
	maxCases  = 2000    // checks
	maxReruns = 20      // earlier failures of one of them
	maxTrace  = 2000    // characters of output with one failure
	maxTraces = 4 << 20 // bytes of output in all
)

// JUnit writes the run as a JUnit file, in the form that Maven Surefire gives
// the reruns of a test. The run is a testsuite, its first testcase is the loop
// itself, and the others are the checks whose names the output gave, or the
// command when it gave none:
//
//   - failed in the last iteration that named its checks: a failure, and a
//     rerunFailure for each iteration before in which it failed;
//   - failed before and passed then: it passes, and its output says in which iterations it
//     failed; where nothing changed in between, as with --retry, a flakyFailure for each;
//   - not known, because the last iteration failed in more checks than it
//     names: skipped, with the reason.
//
// The loop passes when the run is done; is skipped when it was accepted, or has
// not ended; is an error when looprun failed, and a failure otherwise, with the
// guard as its type. A check has the time, the file and the line that its output gives.
func (r *Report) JUnit(w io.Writer) error {
	suite := testsuite{
		Name: r.suite(), Time: seconds(r.Runtime), Timestamp: r.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: r.properties(),
	}
	t := tracer{left: maxTraces}
	cases := append([]testcase{r.loopCase()}, t.cases(r)...)
	for i := range cases {
		c := &cases[i]
		switch {
		case c.Error != nil:
			suite.Errors++
		case len(c.Failures) > 0:
			suite.Failures++
		case c.Skipped != nil:
			suite.Skipped++
		}
	}
	suite.Tests, suite.Cases = len(cases), cases
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(testsuites{Suites: []testsuite{suite}}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// suite is what the testsuite and the checks of no other are called: the same in each run
// of a task, whatever its command is.
func (r *Report) suite() string { return cmp.Or(r.Name, "looprun") }

type testsuites struct {
	XMLName xml.Name    `xml:"testsuites"`
	Suites  []testsuite `xml:"testsuite"`
}

// The order of the fields is that of the schema, which has sequences only.
type testsuite struct {
	Name       string     `xml:"name,attr"`
	Time       string     `xml:"time,attr"`
	Timestamp  string     `xml:"timestamp,attr"`
	Tests      int        `xml:"tests,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Failures   int        `xml:"failures,attr"`
	Properties []property `xml:"properties>property"`
	Cases      []testcase `xml:"testcase"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testcase struct {
	Name          string   `xml:"name,attr"`
	Class         string   `xml:"classname,attr"`
	Time          string   `xml:"time,attr"`
	File          string   `xml:"file,attr,omitempty"`
	Line          int      `xml:"line,attr,omitempty"`
	Failures      []result `xml:"failure"`
	RerunFailures []rerun  `xml:"rerunFailure"`
	FlakyFailures []rerun  `xml:"flakyFailure"`
	Skipped       *skipped `xml:"skipped"`
	Error         *result  `xml:"error"`
	RerunErrors   []rerun  `xml:"rerunError"`
	FlakyErrors   []rerun  `xml:"flakyError"`
	Output        string   `xml:"system-out,omitempty"`
}

// result is how a testcase ended.
type result struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// rerun is how it ended another time.
type rerun struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Trace   string `xml:"stackTrace"`
}

type skipped struct {
	Message string `xml:"message,attr"`
}

// seconds is a time as Surefire writes it: with three decimals at most.
func seconds(s float64) string { return fmt.Sprintf("%.3f", max(0, s)) }

func (r *Report) properties() []property {
	var list []property
	put := func(name, value string) {
		if value != "" {
			list = append(list, property{name, value})
		}
	}
	put("looprun.run_id", r.RunID)
	put("looprun.status", string(r.Status))
	put("looprun.guard", string(r.Guard))
	if r.over() {
		put("looprun.exit_code", fmt.Sprint(r.ExitCode))
	}
	put("looprun.iterations", fmt.Sprint(r.Iterations))
	put("looprun.trips", fmt.Sprint(r.TripCount))
	put("looprun.command", commandLine(r.Command))
	put("looprun.check", commandLine(r.Check))
	put("looprun.subtasks", r.Subtasks.String())
	for _, w := range r.Warnings {
		put("looprun.warning", w)
	}
	if r.Earlier != nil && r.Earlier.Iterations > 0 {
		put("looprun.note", fmt.Sprintf("%d earlier iterations are not taken into account", r.Earlier.Iterations))
	}
	return list
}

// loopCase is the testcase of the loop itself.
func (r *Report) loopCase() testcase {
	c := testcase{Name: "loop", Class: "looprun", Time: seconds(r.Runtime)}
	message := r.verdict()
	kind := string(r.Status)
	if r.Guard != "" {
		kind = string(r.Guard)
	}
	switch r.Status {
	case core.StatusDone:
	case core.StatusAccepted, core.StatusPaused, core.StatusRunning, core.StatusAwaiting:
		c.Skipped = &skipped{message}
	case core.StatusFailed, core.StatusCrashed:
		c.Error = &result{message, kind, r.story()}
	default:
		c.Failures = []result{{message, kind, r.story()}}
	}
	return c
}

// verdict says in one line how the run ended.
func (r *Report) verdict() string { return r.standing() + " " + r.course() }

// course is that without the status.
func (r *Report) course() string {
	text := fmt.Sprintf("after %s in %s", plural.Count(r.Iterations, "iteration"), duration(r.Runtime))
	if r.Decision != "" {
		text += fmt.Sprintf("; %s decided %s", r.who(), r.Decision)
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// story lists the trips and who answered what.
func (r *Report) story() string {
	var b strings.Builder
	for i := range r.Trips {
		t := &r.Trips[i]
		fmt.Fprintf(&b, "%s: %s\n", t.place(), t.what())
		if i == len(r.Trips)-1 {
			for _, l := range t.Evidence {
				fmt.Fprintf(&b, "  %s\n", l)
			}
		}
		for _, a := range t.Answers {
			fmt.Fprintf(&b, "  %s\n", a.sentence())
		}
		if t.Closed != "" {
			fmt.Fprintf(&b, "  %s\n", t.Closed)
		}
	}
	fmt.Fprintf(&b, "%s\n", r.Progress)
	return b.String()
}

// duration is a number of seconds as a person says it.
func duration(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < time.Second:
		d = d.Round(time.Millisecond)
	case d < time.Minute:
		d = d.Round(100 * time.Millisecond)
	default:
		d = d.Round(time.Second)
	}
	return plural.Duration(d)
}
