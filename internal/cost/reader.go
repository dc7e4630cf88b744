package cost

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/nearest"
)

// The presets of [New].
const (
	Claude   = "claude"
	Codex    = "codex"
	Gemini   = "gemini"
	OpenCode = "opencode"
	Auto     = "auto"
)

// Presets lists the names that [New] knows.
func Presets() []string { return []string{Claude, Codex, Gemini, OpenCode, Auto} }

// The maximum values of one report. Anything larger is considered a mistake and ignored.
const (
	MaxUSD    = 10_000.0
	MaxTokens = 10_000_000_000
)

// Reader reads the cost from one stream of an iteration's output. Create one with [New];
// standard output and standard error need one each. It is not safe for concurrent use.
type Reader struct {
	agent  string          // whose reports are counted; empty: no agent's
	before []carrier.Usage // of sessions, the last one last
	line   func([]byte)    // reads a line of the output; nil: nothing in it counts

	usd     float64
	tokens  int64
	found   bool
	counted bool // the line before said "tokens used"
	problem string
}

// New returns a reader for spec: one of [Presets], or a regular expression with a group named
// usd or tokens.
func New(spec string) (*Reader, error) {
	r := &Reader{}
	if spec == "" {
		return nil, fmt.Errorf("no cost format is named; give one of %s, or a regular expression with (?P<usd>…) or (?P<tokens>…)", strings.Join(Presets(), ", "))
	}
	if !slices.Contains(Presets(), spec) {
		return r, r.expression(spec)
	}
	r.agent = spec
	if spec == Codex || spec == Auto {
		r.line = r.tokensUsed
	}
	return r, nil
}

// Of returns a reader for the transcripts of an agent.
func Of(agent string) *Reader { return &Reader{agent: agent} }

// expression makes r a reader for a regular expression.
func (r *Reader) expression(spec string) error {
	remedy := "give one of " + strings.Join(Presets(), ", ") + ", or a regular expression with (?P<usd>…) or (?P<tokens>…), as in 'cost: \\$(?P<usd>[0-9.]+)'"
	if near := nearest.Word(spec, Presets()); near != "" {
		remedy = fmt.Sprintf("did you mean %q? Else %s", near, remedy)
	}
	re, err := regexp.Compile(spec)
	if err != nil {
		return fmt.Errorf("%q is not a regular expression (%w); %s", spec, err, remedy)
	}
	usd, tokens := re.SubexpIndex("usd"), re.SubexpIndex("tokens")
	if usd < 0 && tokens < 0 {
		return fmt.Errorf("%q has neither a group usd nor a group tokens; %s", spec, remedy)
	}
	r.line = func(line []byte) {
		for _, m := range re.FindAllSubmatch(line, -1) {
			r.match(group(m, usd), group(m, tokens))
		}
	}
	return nil
}

func group(match [][]byte, i int) string {
	if i < 0 {
		return ""
	}
	return string(match[i])
}

// match adds one match of a regular expression.
func (r *Reader) match(usd, tokens string) {
	var d, n float64
	var err error
	if usd != "" {
		if d, err = number(usd); err != nil {
			r.fault("the cost %q is not a number", usd)
			return
		}
	}
	if tokens != "" {
		if n, err = number(tokens); err != nil {
			r.fault("the number of tokens %q is not a number", tokens)
			return
		}
	}
	if usd != "" || tokens != "" {
		r.add(d, n)
	}
}

// Line returns the function that reads the lines of the output, without line breaks and escape
// sequences; nil if lines do not count.
func (r *Reader) Line() func(line []byte) { return r.line }

// Report returns what was reported since the last Reset, in US dollars and tokens; found is
// false if nothing was, or nothing plausible: see [Reader.Problem].
func (r *Reader) Report() (usd float64, tokens int64, found bool) {
	return r.usd, r.tokens, r.found
}

// Problem describes which report was ignored, and why; empty if none was. If there were
// several, it describes the first.
func (r *Reader) Problem() string { return r.problem }

// Reset prepares for the next iteration.
func (r *Reader) Reset() {
	r.forgetProcesses()
	r.usd, r.tokens, r.found, r.counted, r.problem = 0, 0, false, false, ""
}

// add counts one report, if it is plausible.
func (r *Reader) add(usd, tokens float64) {
	switch {
	case math.IsNaN(usd) || math.IsInf(usd, 0) || math.IsNaN(tokens) || math.IsInf(tokens, 0):
		r.fault("the reported cost is not a number")
	case usd < 0 || tokens < 0:
		r.fault("the reported cost is negative: %g dollars, %g tokens", usd, tokens)
	case usd > MaxUSD:
		r.fault("the reported cost of %g dollars is more than the %g that one report can hold", usd, MaxUSD)
	case tokens > MaxTokens:
		r.fault("the reported %g tokens are more than the %d that one report can hold", tokens, int64(MaxTokens))
	case r.tokens > math.MaxInt64-MaxTokens || r.usd > math.MaxFloat32:
		r.fault("the reports of this iteration add up to more than can be counted")
	default:
		r.usd += usd
		r.tokens += int64(math.Round(tokens))
		r.found = true
	}
}

func (r *Reader) fault(format string, args ...any) {
	if r.problem == "" {
		r.problem = fmt.Sprintf(format, args...)
	}
}
