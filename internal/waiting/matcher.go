package waiting

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/termsafe"
)

const (
	lastLines = 40      // that ready patterns look at
	beginning = 4 << 10 // bytes of each of those lines
	following = 2       // lines in which a message may go on
	preceding = 10      // lines in which another match may name the moment
	width     = 300     // bytes of a match that are told
)

// Pattern is one thing to look for. Create patterns with [Compile].
type Pattern struct {
	lines []line
}

// Matcher looks for patterns at the end of an output. Create one with [Compile].
type Matcher struct {
	Patterns []Pattern
	// Now and Location are when and where the output is read: "3am" depends on them. Nil means
	// the current time and the local time zone.
	Now      func() time.Time
	Location *time.Location
}

// Compile returns a matcher for regular expressions and names of ready patterns to wait on.
// Without any it matches nothing.
func Compile(specs []string) (*Matcher, error) { return toWaitOn.compile(specs) }

// CompileRetry is Compile for failures that are worth another try.
func CompileRetry(specs []string) (*Matcher, error) { return toRetryOn.compile(specs) }

// CompileStop is Compile for errors that cannot pass: the ready patterns are those to stop on.
func CompileStop(specs []string) (*Matcher, error) { return toStopOn.compile(specs) }

// Outages returns a matcher for what a coding agent prints about its own failure when the
// service that it needs, or the connection to it, is temporarily down.
func Outages() *Matcher {
	outages := use{[]string{"outage"}, "of outages"}
	return &Matcher{Patterns: []Pattern{{outages.lines("@agent")}}}
}

// NamesAgent reports whether one of the patterns to wait on is for a coding agent.
func NamesAgent(specs []string) bool {
	return slices.ContainsFunc(specs, func(spec string) bool {
		return slices.Contains(toStopOn.names(), spec)
	})
}

func (u use) compile(specs []string) (*Matcher, error) {
	m := &Matcher{}
	for _, spec := range specs {
		var p Pattern
		switch {
		case strings.TrimSpace(spec) == "":
			return nil, fmt.Errorf("a pattern %s is empty, and would match every output; give a regular expression, or one of %s", u.words, strings.Join(u.names(), ", "))
		case strings.HasPrefix(spec, "@"):
			if p.lines = u.lines(spec); p.lines == nil {
				return nil, fmt.Errorf("unknown pattern %q %s; %s; write \\@ for a regular expression that begins with @", spec, u.words, nearest.DidYouMean(spec, u.names()))
			}
		default:
			re, err := regexp.Compile(spec)
			if err != nil {
				return nil, fmt.Errorf("%q is not a regular expression: %w; put a backslash before a character such as ( or + that is meant literally", spec, err)
			}
			if re.MatchString("") {
				return nil, fmt.Errorf("%q %s matches an empty line, and so every output; name what the line holds", spec, u.words)
			}
			p.lines = []line{{re: re}}
		}
		m.Patterns = append(m.Patterns, p)
	}
	return m, nil
}

// Match returns the last line that a pattern matches, safe to show; from a long line, only the
// part from the match on. until is the time that the line, or one of the two lines after it,
// names; else that of another match in the ten lines before. It is zero if there is none, and
// in the past if the time has just passed. end is the end of one stream of output; cut means
// that there was more before it, and then its first line is ignored.
func (m *Matcher) Match(end []byte, cut bool) (text string, until time.Time, ok bool) {
	now, loc := time.Now, time.Local
	if m.Now != nil {
		now = m.Now
	}
	if m.Location != nil {
		loc = m.Location
	}
	shown := shown(end, cut)
	last := 0   // the line of the match
	recent := 0 // lines that are not blank from here to the end
	for i := len(shown) - 1; i >= 0 && (!ok || last-i <= preceding); i-- {
		if strings.TrimSpace(shown[i]) != "" {
			recent++
		}
		at := m.matches(shown[i], recent <= lastLines)
		if at < 0 {
			continue
		}
		if !ok {
			text, last, ok = around(shown[i], at), i, true
		}
		message := strings.Join(shown[i:min(len(shown), i+1+following)], "\n")
		if t, named := Until(message, now(), loc); named {
			return text, t, true
		}
	}
	return text, time.Time{}, ok
}

// shown returns the lines as a terminal shows them.
func shown(end []byte, cut bool) []string {
	raw := bytes.Split(end, []byte{'\n'})
	if cut {
		raw = raw[1:] // its beginning is not known
	}
	return convert.Each(raw, func(l []byte) string { return termsafe.Text(string(bytes.TrimRight(l, "\r"))) })
}

// matches returns where a pattern first matches, or a negative number if none does.
func (m *Matcher) matches(text string, recent bool) int {
	begin := text[:min(len(text), beginning)]
	for _, p := range m.Patterns {
		for _, l := range p.lines {
			in := text
			if l.ready {
				in = begin
			}
			if l.ready && !recent || l.away && here().MatchString(begin) {
				continue
			}
			if at := l.re.FindStringIndex(in); at != nil {
				return at[0]
			}
		}
	}
	return -1
}

// around returns the line or, if it is too long to print, its part from at on.
func around(text string, at int) string {
	if whole := termsafe.Line(text); len(whole) <= width {
		return whole
	}
	part := termsafe.Line(text[at:])
	if at > 0 {
		part = "…" + part
	}
	if len(part) > width {
		part = strings.ToValidUTF8(part[:width], "") + "…"
	}
	return part
}
