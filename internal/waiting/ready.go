package waiting

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/looprun/looprun/internal/lazy"
)

// begins matches what may precede a message on its line: symbols, a time, the key of the JSON
// text that it is, and a word such as "Error:".
const begins = `(?i)(?:^[^\pL\pN]*(?:\d{4}-\d\d-\d\d[T ][\d:.,]+Z?[^\pL\pN]*)?|\\?"(?:result|message|text|error)\\?"\s*:\s*\\?"[^\pL\pN]*)` +
	`(?:(?:stream |api |fatal |backend )?error\W+){0,2}`

//go:embed patterns.txt
var patterns string

// readyPattern is a line of patterns.txt.
type readyPattern struct{ use, name, expr string }

// ready returns the lines of patterns.txt, in the order of @all.
var ready = sync.OnceValue(func() (all []readyPattern) {
	for l := range strings.Lines(patterns) {
		if use, rest, ok := strings.Cut(strings.TrimSpace(l), " "); ok && use != "#" {
			name, expr, _ := strings.Cut(rest, " ")
			if of, begun := strings.CutPrefix(expr, "*"); begun {
				expr = begins + of
			}
			all = append(all, readyPattern{use, name, expr})
		}
	}
	return all
})

// use is what a group of ready patterns is for.
type use struct {
	of    []string // in patterns.txt
	words string   // for messages
}

var (
	toWaitOn  = use{[]string{"wait", "away"}, "to wait on"}
	toRetryOn = use{toWaitOn.of, "to retry on"}
	toStopOn  = use{[]string{"stop"}, "to stop on"}
)

// names returns the names of the ready patterns for a use, and @all.
func (u use) names() []string {
	var names []string
	for _, r := range ready() {
		if slices.Contains(u.of, r.use) && !slices.Contains(names, r.name) {
			names = append(names, r.name)
		}
	}
	return append(names, "@all")
}

// compiled caches the compiled lines of each name.
var compiled sync.Map

// lines returns the lines of a name; nil if there are none for this use.
func (u use) lines(name string) []line {
	key := u.words + name
	if known, ok := compiled.Load(key); ok {
		return known.([]line) //nolint:forcetypeassert // nothing else is stored
	}
	var of []line
	for _, r := range ready() {
		if slices.Contains(u.of, r.use) && (r.name == name || name == "@all") {
			of = append(of, line{re: regexp.MustCompile(r.expr), ready: true, away: r.use == "away"})
		}
	}
	compiled.Store(key, of)
	return of
}

// here matches this machine's own name or address, or a socket file.
var here = lazy.Regexp(`(?i)\blocalhost\b|\b127\.\d+\.\d+\.\d+\b|\[?::1\]?|\b0\.0\.0\.0\b|\bunix:|\.sock\b|\bDocker daemon\b`)

// line is a pattern that is matched against a line.
type line struct {
	re    *regexp.Regexp
	ready bool // only in the beginnings of the last lines
	away  bool // not in a line about this machine
}
