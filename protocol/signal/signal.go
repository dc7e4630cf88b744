package signal

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/nearest"
)

// Name is the meaning of a signal.
type Name string

// The signals.
const (
	// Done is the promise that the work is finished. It never overrules a failing check.
	Done Name = "done"
	// Progress tells people how far the work is. It affects no guard.
	Progress Name = "progress"
	// Blocked means that the work cannot continue; a person is asked.
	Blocked Name = "blocked"
	// Attempt declares the approach being tried.
	Attempt Name = "attempt"
	// Unsuccessful means that an expert's guidance did not help.
	Unsuccessful Name = "unsuccessful"
	// Clarify means that the task itself is unclear; a person is asked.
	Clarify Name = "clarify"
	// Expert requests the next expert, or the one it names.
	Expert Name = "expert"
	// Cost reports the cost since the last report.
	Cost Name = "cost"
)

// Names returns every signal name.
func Names() []Name {
	return []Name{Done, Progress, Blocked, Attempt, Unsuccessful, Clarify, Expert, Cost}
}

// The causes of a clarification for which a person is asked at once.
const (
	CircularDependency = "circular_dependency"
	SecurityConcern    = "security_concern"
	AmbiguousCriteria  = "ambiguous_criteria"
)

// Causes returns the causes of a clarification.
func Causes() []string { return []string{CircularDependency, SecurityConcern, AmbiguousCriteria} }

// How a signal arrived.
const (
	ViaSocket = "socket"
	ViaText   = "text"
)

// Considered is an option that the sender considered and why it is not sufficient.
type Considered struct {
	Option string `json:"option" doc:"The option."`
	Why    string `json:"why_insufficient,omitempty" doc:"Why it does not do."`
}

// Signal is one signal. [Parse] and [Scanner] return only valid signals, with texts that are
// safe to show. The tags are the form of the document: see [strictjson.Of].
type Signal struct {
	Name  Name   `json:"name" doc:"What the signal means."`
	Task  string `json:"task,omitempty" doc:"The task that it is about; left out: that of the run."`
	Agent string `json:"agent,omitempty" doc:"Who says it."`
	Text  string `json:"text,omitempty" doc:"The message."`

	// Fields of an attempt.
	Approach     string `json:"approach,omitempty" doc:"The approach, in a sentence."`
	Outcome      string `json:"outcome,omitempty" doc:"What came of it."`
	WhyDifferent string `json:"why_different,omitempty" doc:"What is different from the attempts before."`

	// Cause of a clarification: one of [Causes], or empty.
	Cause string `json:"cause,omitempty" mask:"own" doc:"Why clarification is needed. Each of these asks a person at once."`

	// The question for a person, and earlier attempts.
	Question   string       `json:"question,omitempty" doc:"What is asked."`
	Context    string       `json:"context,omitempty" doc:"What has to be known to answer."`
	Considered []Considered `json:"options_considered,omitempty" doc:"What was thought of, and why it does not do."`
	Attempts   []string     `json:"attempts_made,omitempty" doc:"What was tried before."`
	WouldHelp  string       `json:"what_would_help,omitempty" doc:"What would help to continue."`

	// Expert is the requested expert; empty means the next one.
	Expert string `json:"expert,omitempty" doc:"The expert whose advice was followed."`

	// Fields of a cost.
	USD    float64 `json:"usd,omitempty" doc:"US dollars since the last report."`
	Tokens int64   `json:"tokens,omitempty" doc:"Tokens since the last report."`

	// Via is empty if it is not known how the signal came.
	Via string `json:"via,omitempty" mask:"own" doc:"How the signal came. looprun sets it."`
}

// Limits of a signal.
const (
	// MaxSize is the maximum size in bytes; [Parse] rejects a larger signal unread.
	MaxSize = 64 << 10
	// MaxText is the maximum length of each text, in bytes.
	MaxText = 8 << 10
	// MaxID is the maximum length of a task's id and of the names of an agent and an expert,
	// in bytes.
	MaxID = 200
	// MaxList is the maximum number of options considered and of attempts made.
	MaxList = 50
	// MaxUSD and MaxTokens are the maximum that one signal can report. More must be a mistake.
	MaxUSD    = 10_000.0
	MaxTokens = 10_000_000_000
)

// Priority returns the rank of a signal within one iteration: the one with the highest
// priority is acted on. Blocked comes before clarify, then an expert request, then all others,
// which have 0.
func (n Name) Priority() int {
	return map[Name]int{Blocked: 3, Clarify: 2, Expert: 1}[n]
}

// Asks reports whether the signal puts a question to a person.
func (n Name) Asks() bool { return n == Blocked || n == Clarify }

// Acting returns the index of the signal to act on: the first with the highest priority; -1 if
// the list is empty. The others are only recorded.
func Acting(list []Signal) int {
	acting := -1
	for i, s := range list {
		if acting < 0 || s.Name.Priority() > list[acting].Name.Priority() {
			acting = i
		}
	}
	return acting
}

// Validate returns an error with everything that is wrong with the signal.
func (s Signal) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !slices.Contains(Names(), s.Name) {
		fault("unknown signal %q%s", s.Name, hint(string(s.Name), convert.Strings(Names())))
	}
	if s.Via != "" && s.Via != ViaSocket && s.Via != ViaText {
		fault("via is socket or text, not %q", s.Via)
	}
	s.bounds(fault)
	blank := func(text string) bool { return strings.TrimSpace(text) == "" }
	switch s.Name {
	case Attempt:
		if blank(s.Approach) {
			fault("an attempt has no approach; say in a few words what is being tried")
		}
	case Blocked, Clarify:
		if blank(s.Question) && blank(s.Text) {
			fault("%s has neither a question nor a text; say what has to be decided", s.Name)
		}
	case Cost:
		s.cost(fault)
	}
	if s.Name != Cost && (s.USD != 0 || s.Tokens != 0) {
		fault("usd and tokens belong to a cost, not to %q", s.Name)
	}
	if s.Cause != "" && s.Name != Clarify {
		fault("a cause belongs to clarify, not to %q", s.Name)
	}
	if s.Cause != "" && !slices.Contains(Causes(), s.Cause) {
		fault("unknown cause %q%s", s.Cause, hint(s.Cause, Causes()))
	}
	return errors.Join(errs...)
}

func (s Signal) cost(fault func(string, ...any)) {
	switch {
	case math.IsNaN(s.USD) || math.IsInf(s.USD, 0):
		fault("usd is not a number")
	case s.USD < 0:
		fault("usd is negative: %g", s.USD)
	case s.USD > MaxUSD:
		fault("usd is %g, more than the %g that one report can hold", s.USD, MaxUSD)
	}
	switch {
	case s.Tokens < 0:
		fault("tokens is negative: %d", s.Tokens)
	case s.Tokens > MaxTokens:
		fault("tokens is %d, more than the %d that one report can hold", s.Tokens, int64(MaxTokens))
	}
	if s.USD == 0 && s.Tokens == 0 {
		fault("a cost has neither usd nor tokens; give at least one of them")
	}
}

// bounds checks the lengths of all texts.
func (s Signal) bounds(fault func(string, ...any)) {
	check := func(field, text string, most int) {
		if len(text) > most {
			fault("%s has %d bytes; shorten it to at most %d", field, len(text), most)
		}
	}
	for _, f := range ids {
		check(f.key, *f.of(&s), MaxID)
	}
	for _, f := range messages {
		check(f.key, *f.of(&s), MaxText)
	}
	count := func(field string, n int) {
		if n > MaxList {
			fault("%s has %d entries; leave at most %d", field, n, MaxList)
		}
	}
	count("options_considered", len(s.Considered))
	count("attempts_made", len(s.Attempts))
	for i, c := range s.Considered {
		if strings.TrimSpace(c.Option) == "" {
			fault("options_considered[%d] names no option", i)
		}
		check(fmt.Sprintf("options_considered[%d]", i), c.Option, MaxText)
		check(fmt.Sprintf("options_considered[%d]", i), c.Why, MaxText)
	}
	for i, a := range s.Attempts {
		check(fmt.Sprintf("attempts_made[%d]", i), a, MaxText)
	}
}

// hint returns the nearest known word as the end of a sentence.
func hint(word string, known []string) string {
	if near := nearest.DidYouMean(word, known); near != "" {
		return "; " + near
	}
	return ""
}
