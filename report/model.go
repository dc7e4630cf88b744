package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// model is the content of the page. Its strings are plain text.
type model struct {
	Policy string
	Style  template.CSS
	Script template.JS

	*Report
	Heading, Standing, Verdict, Tone string
	Facts                            []fact
	Left                             string // what is not on the page
	Steps                            []step
	flagged                          int  // trips that have their flag
	Uncounted                        bool // an iteration among them counts for no guard
	Legend                           []legend
	Charts                           []chart
	TripList                         []pageTrip
	Moments                          []Moment
	Iterations                       []pageIteration
	Comparable                       []*pageIteration
	From, To                         string
}

// fact is one line of the summary.
type fact struct {
	Name, Value string
	Code, Wide  bool
}

// legend explains a letter that came more than once.
type legend struct {
	Signature
	Class string
}

// pageIteration is an iteration as the page shows it.
type pageIteration struct {
	*Iteration
	ID, Class, Name string
	Output          *shown
	Open            bool
	raw             int64
}

// pageTrip is a trip as the page shows it.
type pageTrip struct {
	*Trip
	ID, Place, What, Guidance string
	Decided                   *Answer
	Effects                   []string
}

// model builds the page with the last n iterations, without their outputs.
func (r *Report) model(n int) *model {
	m := &model{
		Report: r, Heading: r.title(), Standing: r.standing(), Verdict: fullStop(termsafe.Cut(r.course(), pageProse)), Tone: r.tone(), Facts: r.facts(),
	}
	history := r.History[max(0, len(r.History)-n):]
	trips := r.Trips[max(0, len(r.Trips)-min(n, pageTrips)):]
	m.Moments = slices.Clone(r.Moments[max(0, len(r.Moments)-min(n, pageTrips)):])
	for i := range m.Moments {
		m.Moments[i].Text = termsafe.Cut(m.Moments[i].Text, pageProse)
	}
	m.Left = r.left(len(history), len(trips), len(m.Moments))
	classes := map[string]string{}
	failures := 0
	for _, s := range r.Signatures {
		classes[s.Letter] = "pass"
		if s.Letter != passLetter {
			classes[s.Letter] = fmt.Sprintf("s%d", failures%signatureColours)
			failures++
		}
		if s.Count > 1 && len(history) > 0 && s.Last >= history[0].Iteration && len(m.Legend) < n {
			m.Legend = append(m.Legend, legend{s, classes[s.Letter]})
		}
	}
	for i := range trips {
		m.TripList = append(m.TripList, newPageTrip(&trips[i], fmt.Sprintf("t%d", i+1)))
	}
	m.iterations(history, classes)
	m.timeline()
	m.Charts = m.charts()
	return m
}

// iterations adds the iterations to the page; the last one is expanded.
func (m *model) iterations(history []Iteration, classes map[string]string) {
	seen := map[int]int{}
	for i := range history {
		it := &history[i]
		seen[it.Iteration]++
		p := pageIteration{Iteration: it, ID: fmt.Sprintf("i%d", it.Iteration), Class: classes[it.Letter], Name: upperFirst(iterationName(it))}
		if again := seen[it.Iteration]; again > 1 { // it was cut off and ran again
			p.ID += fmt.Sprintf("-%d", again)
			p.Name += ", again"
		}
		if it.Outcome == core.OutcomeDone {
			p.Class = "pass"
		} else if p.Class == "" {
			p.Class = "none"
		}
		m.Iterations = append(m.Iterations, p)
	}
	if len(m.Iterations) > 0 {
		m.Iterations[len(m.Iterations)-1].Open = true
	}
}

// signatureColours is how many colours there are for signatures. After that they repeat: the
// letter is what distinguishes signatures.
const signatureColours = 7

// tone returns the colour of the status, shown next to its name.
func (r *Report) tone() string {
	switch r.Status {
	case core.StatusDone:
		return "good"
	case core.StatusAccepted, core.StatusPaused, core.StatusSuperseded, core.StatusRunning, core.StatusAwaiting:
		return "wait"
	}
	return "bad"
}

// left states what the page does not show.
func (r *Report) left(iterations, trips, moments int) string {
	var parts []string
	more := r.omitted()
	for _, left := range []struct {
		n    int
		what string
	}{
		{len(r.History) - iterations + more.Iterations, "earlier iteration"},
		{len(r.Trips) - trips + more.Trips, "earlier trip"},
		{len(r.Moments) - moments + more.Moments, "other event"},
	} {
		if left.n > 0 {
			parts = append(parts, plural.Count(left.n, left.what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Not on this page: " + strings.Join(parts, ", ") + "; looprun report --format json lists more of them."
}

// facts returns the summary of the run that every page shows.
func (r *Report) facts() []fact {
	var facts []fact
	add := func(name, value string, code bool) {
		if value != "" {
			const wide = 24 // characters: more take two columns
			facts = append(facts, fact{name, value, code, len(value) > wide})
		}
	}
	add("Iterations", r.iterationsText(), false)
	add("Runtime", r.runtimeText(), false)
	if r.over() {
		add("Exit code", fmt.Sprint(r.ExitCode), false)
	}
	add("Trips", fmt.Sprint(r.TripCount), false)
	if r.Progress != string(r.Status) && r.stopped() == nil { // else the evidence says it
		add("Progress", termsafe.Cut(r.Progress, maxLabel), false)
	}
	add("Command", commandLine(r.Command), true)
	add("Check", commandLine(r.Check), true)
	add("Worked on", r.Task, false)
	add("Sub-tasks", r.Subtasks.String(), false)
	add("Deferred for", strings.Join(r.Blockers, "; "), false)
	add("Run", r.RunID, true)
	add("Started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC"), false)
	return facts
}

// Took returns the iteration's duration.
func (p *pageIteration) Took() string { return console.RoundMS(p.DurationMS) }

// FailingText returns “2 of 5”, or a dash.
func (p *pageIteration) FailingText() string { return p.failingText() }

// Ended returns the outcome in words.
func (p *pageIteration) Ended() string { return words(p.Outcome) }

// Printed returns how much the iteration printed.
func (p *pageIteration) Printed() string { return plural.Bytes(p.OutputBytes) }

func newPageTrip(t *Trip, id string) pageTrip {
	p := pageTrip{Trip: t, ID: id, Place: t.place(), What: termsafe.Cut(t.what(), pageProse), Decided: t.decided()}
	if t.Effect == nil {
		return p
	}
	e := t.Effect
	p.Guidance = termsafe.Cut(e.Guidance, pageGuidance)
	for _, id := range e.Resets {
		text := upperFirst(words(id)) + " started over."
		if g := id.Spec(); g.Unit() != "" && g.On(e.Limits) {
			text = "The limit was " + g.Phrase(e.Limits) + " from then on."
		}
		p.Effects = append(p.Effects, text)
	}
	for _, k := range e.Known[:min(len(e.Known), 10)] {
		p.Effects = append(p.Effects, fmt.Sprintf("A known issue from then on: %s.", k.Label))
	}
	return p
}
