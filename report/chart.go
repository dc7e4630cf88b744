package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/looprun/looprun/internal/plural"
)

// chart is a row of bars, one for each iteration, without any text: the page has the text
// around it, and as a table.
type chart struct {
	ID, Title, Says string
	Top             string // the value of the highest bar
	Width           int
	Bars            []bar
	Trips           []string // where the trips are
}

// bar is a rectangle, in the drawing's units.
type bar struct{ X, Y, Height, Class, Says string }

// The drawing is stretched to the page's width.
const (
	slotWidth   = 10
	chartHeight = 100
	leastSlots  = 24 // fewer iterations leave room at the right
	leastBar    = 2  // so that zero can be seen
)

// charts returns the small multiples: failing checks, durations and costs.
func (m *model) charts() []chart {
	if len(m.Iterations) == 0 {
		return nil
	}
	cost := func(it *pageIteration) float64 { return it.CostUSD }
	if !slices.ContainsFunc(m.Iterations, func(it pageIteration) bool { return it.CostUSD > 0 }) {
		cost = func(*pageIteration) float64 { return -1 }
	}
	return slices.DeleteFunc([]chart{
		m.chart("failing", "Failing checks", func(it *pageIteration) float64 { return float64(it.Failing) },
			func(v float64) string { return strconv.Itoa(int(v)) }),
		m.chart("took", "Duration", func(it *pageIteration) float64 { return float64(it.DurationMS) },
			func(v float64) string { return plural.Seconds(v / 1000) }),
		m.chart("cost", "Cost", cost, func(v float64) string { return fmt.Sprintf("$%.2f", v) }),
	}, func(c chart) bool { return len(c.Bars) == 0 })
}

// chart draws one value for each iteration; a value below 0 is unknown. Without a known
// one there are no bars.
func (m *model) chart(id, title string, value func(*pageIteration) float64, name func(float64) string) chart {
	most, known := 0.0, 0
	var first, last float64
	for i := range m.Iterations {
		v := value(&m.Iterations[i])
		if v < 0 {
			continue
		}
		if known == 0 {
			first = v
		}
		known++
		most, last = max(most, v), v
	}
	if known == 0 {
		return chart{}
	}
	c := chart{
		ID: id, Title: title, Top: name(most), Width: slotWidth * max(len(m.Iterations), leastSlots),
		Says: fmt.Sprintf("%s of %s: first %s, last %s, most %s.", title, plural.Count(len(m.Iterations), "iteration"), name(first), name(last), name(most)),
	}
	if unknown := len(m.Iterations) - known; unknown > 0 {
		c.Says += fmt.Sprintf(" %d of them have no bar: the number is not known.", unknown)
	}
	for i := range m.Iterations {
		it := &m.Iterations[i]
		v := value(it)
		if v < 0 {
			continue
		}
		height := float64(leastBar)
		if most > 0 {
			height = max(height, v/most*chartHeight)
		}
		c.Bars = append(c.Bars, bar{
			X: strconv.Itoa(i*slotWidth + 1), Y: fixed(chartHeight - height), Height: fixed(height),
			Class: it.Class, Says: fmt.Sprintf("%s: %s", it.Name, name(v)),
		})
	}
	c.Trips = m.tripLines()
	return c
}

// tripLines returns the positions of the trips, at the right of their iterations.
func (m *model) tripLines() []string {
	var lines []string
	done := map[string]bool{}
	for i := range m.TripList {
		for j := len(m.Iterations) - 1; j >= 0; j-- {
			if m.Iterations[j].Iteration.Iteration <= m.TripList[i].Iteration {
				if x := strconv.Itoa((j + 1) * slotWidth); !done[x] {
					lines, done[x] = append(lines, x), true
				}
				break
			}
		}
	}
	return lines
}

// fixed formats a number for a drawing.
func fixed(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
