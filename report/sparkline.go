package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/plural"
)

// chartWidth is how many iterations a text chart shows.
const chartWidth = 80

func (r *Report) markdownCharts(p printer) {
	shown := r.History[max(0, len(r.History)-chartWidth):]
	var letters strings.Builder
	failing, took := make([]float64, len(shown)), make([]float64, len(shown))
	for i, it := range shown {
		failing[i], took[i] = float64(it.Failing), float64(it.DurationMS)
		letters.WriteString(oneLetter(it.Letter))
	}
	p("```text\n")
	p("signature  %s\n", letters.String())
	if slices.Max(failing) >= 0 {
		p("failing    %s  %s\n", sparkline(failing), failingRange(shown))
	}
	p("duration   %s  longest %s\n", sparkline(took), plural.Seconds(slices.Max(took)/1000))
	p("```\n\n")
}

// oneLetter keeps columns aligned: for a name beyond Z it returns the second of its two
// letters.
func oneLetter(letter string) string {
	r := []rune(letter)
	if len(r) == 0 {
		return unknownTick
	}
	return string(r[len(r)-1])
}

const unknownTick = "·"

// sparkline draws numbers as blocks from 0 to the largest; a number below 0 is unknown.
func sparkline(values []float64) string {
	blocks := []rune("▁▂▃▄▅▆▇█")
	most := slices.Max(values)
	var b strings.Builder
	for _, v := range values {
		switch {
		case v < 0:
			b.WriteString(unknownTick)
		case most <= 0:
			b.WriteRune(blocks[0])
		default:
			b.WriteRune(blocks[int(v/most*float64(len(blocks)-1)+0.5)])
		}
	}
	return b.String()
}

// failingRange summarizes how the number of failing checks changed: “5 → 2, most 7”.
func failingRange(list []Iteration) string {
	var known []int
	for _, it := range list {
		if it.Failing >= 0 {
			known = append(known, it.Failing)
		}
	}
	if len(known) == 1 {
		return fmt.Sprint(known[0])
	}
	return fmt.Sprintf("%d → %d, most %d", known[0], known[len(known)-1], slices.Max(known))
}
