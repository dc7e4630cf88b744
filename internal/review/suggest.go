package review

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/lazy"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
)

// Suggestion is a rule that distinguishes iterations that a guard counted as the same failure.
type Suggestion struct {
	Rule   string   `json:"rule,omitempty"`   // for looprun.yaml; empty: there is none
	Values []string `json:"values,omitempty"` // what it finds in each of those iterations
	Apart  int      `json:"apart"`            // pairs of other iterations that differ as before
	Why    string   `json:"why,omitempty"`    // why there is none
}

// seen is an output of the run, as it was signed.
type seen struct {
	text   []byte
	code   int
	hash   signature.Hash
	place  int // in Explanation.Counted; -1: it was not counted
	masked []string
}

// outputLimit is how much of an output Suggest examines, in bytes.
const outputLimit = 4 << 20

// Suggest looks for a rule, tries it on the outputs of the run, and sets Suggestion.
func (e *Explanation) Suggest() error {
	e.Suggestion = &Suggestion{Why: "no guard counted two iterations as the same failure, so there is nothing to tell apart"}
	if len(e.Counted) < 2 {
		return nil
	}
	r, err := session.RecordedOf(e.dir)
	if err != nil {
		return err
	}
	o, err := r.Options.Signature.Options(e.state.Dir)
	if err != nil {
		return err
	}
	*carrier.Of(&o) = r.Options.Agents.Carriers()
	all, err := e.outputs(o)
	if err != nil {
		return err
	}
	kept := len(convert.Where(all, func(s seen) bool { return s.place >= 0 }))
	if kept < len(e.Counted) {
		e.Suggestion.Why = "the outputs of the iterations are not kept"
		return nil
	}
	// A cycle ends if one of its positions is another failure each time.
	period := max(1, e.Trip.Period)
	for position := range period {
		within := func(s seen) bool { return s.place >= 0 && s.place%period == position }
		same := convert.Where(all, within)
		for _, c := range slices.Concat(differences(same, false), differences(same, true)) {
			for _, fact := range []string{"error", "check"} {
				if apart, ok := try(o, all, within, fact, c.pattern); ok {
					rule := fmt.Sprintf("{id: suggested, fact: %s, regexp: '%s'}", fact, strings.ReplaceAll(c.pattern, "'", "''"))
					e.Suggestion = &Suggestion{Rule: rule, Values: c.values, Apart: apart}
					return nil
				}
			}
		}
	}
	e.Suggestion.Why = "no line of the outputs has one value in each iteration and another in the next, so no rule can tell them apart"
	return nil
}

// outputs returns the outputs that are kept of the iterations.
func (e *Explanation) outputs(o signature.Options) ([]seen, error) {
	var all []seen
	o.Explain = true
	for i := range e.state.History {
		d := &e.state.History[i]
		f, err := scratchpad.OpenWithin(e.dir, session.Judged(e.dir, d.Iteration, d))
		if err != nil {
			continue // it printed nothing, or its output is gone
		}
		text, err := io.ReadAll(io.LimitReader(f, outputLimit))
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		s := seen{text: text, code: d.ExitCode}
		s.place = slices.IndexFunc(e.Counted, func(c counted) bool { return c.Iteration == d.Iteration })
		signer := signed(o, text)
		sig := signer.Sum(d.ExitCode)
		s.hash = sig.Hash
		s.masked = texts(signer.Explain(sig).Lines)
		all = append(all, s)
	}
	return all, nil
}

func texts(lines []signature.MaskedLine) []string {
	return convert.Each(lines, func(l signature.MaskedLine) string { return l.Text })
}

// signed returns a signer that has read the output.
func signed(o signature.Options, text []byte) *signature.Signer {
	s := signature.New(o)
	_, _ = s.Stdout().Write(text)
	return s
}

// masked and raw return the lines to search for a difference: as the signature sees them, and
// as they were printed.
func masked(s seen) []string { return s.masked }

func raw(s seen) []string { return strings.Split(termsafe.Text(string(s.text)), "\n") }

// difference is a place in a line that has a different value in each output.
type difference struct {
	pattern string
	values  []string
	rank    int
}

// differences returns the differences, starting with those in which a number falls. If hidden
// is true, it returns only numbers that fall although a mask hides them: everything else that
// masks hide is noise.
func differences(outputs []seen, hidden bool) []difference {
	lines := masked
	if hidden {
		lines = raw
	}
	var found map[string][]string
	for i, o := range outputs {
		now := map[string]string{}
		twice := map[string]bool{}
		for _, l := range lines(o) {
			fields := strings.Fields(l)
			for k := range fields {
				key := pattern(fields, k)
				_, known := now[key]
				twice[key] = twice[key] || known
				now[key] = fields[k]
			}
		}
		next := map[string][]string{}
		for key, value := range now {
			before := found[key]
			if !twice[key] && len(before) == i && (i == 0 || before[i-1] != value) {
				next[key] = append(slices.Clone(before), value)
			}
		}
		found = next
	}
	var all []difference
	for key, values := range found {
		d := difference{pattern: key, values: values, rank: rank(values)}
		if strings.Contains(key, `\s+`) && (!hidden || d.rank == 0) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b difference) int { return cmp.Or(a.rank-b.rank, strings.Compare(a.pattern, b.pattern)) })
	return all[:min(len(all), 50)]
}

var (
	placeholder = lazy.Regexp(`<[a-z]+>`)
	digits      = lazy.Regexp(`[0-9]+`)
)

// pattern returns a pattern that matches lines with any value in field k. The other fields may
// only differ in numbers.
func pattern(fields []string, k int) string {
	var parts []string
	for i, f := range fields {
		if i == k {
			parts = append(parts, `(?P<name>\S+)`)
			continue
		}
		f = digits().ReplaceAllString(regexp.QuoteMeta(f), `\d+`)
		parts = append(parts, placeholder().ReplaceAllString(f, `.+?`))
	}
	return strings.Join(parts, `\s+`)
}

// rank returns 0 if the values are numbers that fall, 1 if they rise, and otherwise 2.
func rank(values []string) int {
	falls, rises := true, true
	for i, v := range values {
		n, err := strconv.ParseFloat(strings.Trim(v, "(),:;%"), 64)
		if err != nil {
			return 2
		}
		if i == 0 {
			continue
		}
		before, _ := strconv.ParseFloat(strings.Trim(values[i-1], "(),:;%"), 64)
		falls, rises = falls && n < before, rises && n > before
	}
	switch {
	case falls:
		return 0
	case rises:
		return 1
	}
	return 2
}

// try signs all outputs with the rule. Each output within the search must differ from the one
// before it, and all pairs that differ without the rule must still differ. apart is the number
// of these pairs.
func try(o signature.Options, all []seen, within func(seen) bool, fact, pattern string) (apart int, ok bool) {
	rule, err := signature.NewRule(signature.RuleText{ID: "suggested", Fact: fact, Regexp: pattern})
	if err != nil {
		return 0, false
	}
	o.Extract = append(slices.Clone(o.Extract), rule)
	hashes := make([]signature.Hash, len(all))
	last := -1
	for i, s := range all {
		hashes[i] = signed(o, s.text).Sum(s.code).Hash
		if within(s) {
			if last >= 0 && hashes[i] == hashes[last] {
				return 0, false
			}
			last = i
		}
		for j := range i {
			switch {
			case all[j].hash == s.hash:
			case hashes[j] == hashes[i]:
				return 0, false
			default:
				apart++
			}
		}
	}
	return apart, true
}

// suggestionText writes the suggestion for a person.
func (e *Explanation) suggestionText(b *strings.Builder) {
	s := e.Suggestion
	switch {
	case s == nil:
		return
	case s.Rule == "":
		fmt.Fprintf(b, "\nNo rule is suggested: %s.\n", s.Why)
		return
	}
	fmt.Fprintf(b, "\nIf these iterations were not the same failure, this rule in looprun.yaml tells them apart:\n\n")
	for _, l := range []string{"signature:", "  extract:", "    - " + s.Rule} {
		b.WriteString(indent + l + "\n")
	}
	fmt.Fprintf(b, "\nTried on the outputs of this run, it finds %s", termsafe.Line(strings.Join(s.Values, ", ")))
	if s.Apart > 0 {
		fmt.Fprintf(b, "; %s of other iterations still differ", plural.Count(s.Apart, "pair"))
	}
	b.WriteString(".\n")
}
