package scratchpad

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/protocol/signal"
)

// DefaultContext is the default limit to which a context is cut, in bytes.
const DefaultContext = 16 << 10

// mostChecks is how many failing checks are named.
const mostChecks = 20

// cutNote ends a truncated context.
const cutNote = "(The rest is in the scratchpad.)\n"

// ContextOptions configure the parts of a context that do not come from the state.
type ContextOptions struct {
	Notes string // the part of the page that its readers wrote
	// Next is the next task of a list; empty means there is no list.
	Next string
	// Text means that signals are also read from the command's output.
	Text bool
	// Outside means that the reader is not a command of the run: it cannot send signals to the
	// run, and it sees what fails before what others said.
	Outside bool
	// MaxBytes is the size limit; the context is cut at the end of a line. Zero means
	// [DefaultContext].
	MaxBytes int
}

// Context returns what the next attempt should know, for a prompt: Markdown, most important
// first, cut to the budget at the end of a line. It contains no signal and no promise that
// would take effect if it were read back.
func Context(s *core.State, o ContextOptions) []byte {
	var b bytes.Buffer
	b.Grow(2 << 10) // of most
	p := printTo(&b)
	c := contextOf{s}
	contextTask(p, s, c, o.Next)
	if o.Outside {
		contextErrors(p, s, c)
	}
	if told := s.Told(); told != "" {
		p("## Guidance\n\n%s\n", c.quoted(told))
	}
	decisions(p, s)
	contextAnswers(p, s)
	if !o.Outside {
		contextErrors(p, s, c)
	}
	contextTried(p, s)
	if len(s.Known) > 0 {
		p("## Known issues\n\nThese are known; leave them alone:\n\n")
		for _, k := range s.Known[max(0, len(s.Known)-20):] {
			p("- %s\n", code(s.Named(k)))
		}
		p("\n")
	}
	if notes := strings.TrimSpace(o.Notes); notes != "" {
		p("## Notes\n\n%s\n", c.quoted(notes))
	}
	if !o.Outside {
		contextHowTo(p, s, o.Text)
	}
	limit := o.MaxBytes
	if limit <= 0 {
		limit = DefaultContext
	}
	return cutLines(b.Bytes(), limit)
}

// contextOf quotes texts that others wrote.
type contextOf struct{ s *core.State }

// quoted returns text as an indented block: no signal begins in its first column, and no line
// consists of the promise alone.
func (c contextOf) quoted(text string) string {
	text = quoted(text)
	if c.s.Promise == "" || !strings.Contains(text, c.s.Promise) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.Contains(line, c.s.Promise) {
			line = "    (said) " + strings.TrimSpace(line) + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func contextTask(p printer, s *core.State, c contextOf, next string) {
	p("## Task\n\n")
	switch task := strings.TrimSpace(s.Task); {
	case task == "":
		p("(The run has no name; the command knows its task.)\n\n")
	case strings.Contains(task, "\n") || len(task) > longest:
		p("%s\n", c.quoted(task))
	default:
		p("The task: %s\n\n", bare(task))
	}
	subtasks(p, s, bare)
	if next != "" {
		p("- Work on this one now, and tick it when it is done: %s\n", bare(next))
	}
	for _, blocker := range s.Blockers {
		p("- It was deferred until this was done elsewhere: %s\n", bare(blocker))
	}
	if len(s.Check) > 0 {
		p("- %s done when this passes: %s\n", it(s, "It is", "All of it is"), code(s.Check[len(s.Check)-1]))
	}
	if s.Promise != "" {
		p("- When %s done, and not before, print a line that contains only %s.\n", it(s, "all of it is", "the sub-task of now is"), code(s.Promise))
	}
	if most, next := s.Limits.Iterations, s.NextIteration(); most > 0 && next > most {
		p("- %d of %d iterations are used\n\n", next-1, most)
	} else {
		p("- Iteration %d of %s\n\n", next, limit(most, "no limit"))
	}
}

// it returns what a sentence about the task refers to: whole for a single task, part for one
// of a list.
func it(s *core.State, whole, part string) string {
	if s.Subtask == nil {
		return whole
	}
	return part
}

func contextAnswers(p printer, s *core.State) {
	answers := convert.Where(s.Asked, func(a core.Asked) bool { return a.Answer != nil })
	if len(answers) == 0 {
		return
	}
	p("## Answers\n\n")
	for _, a := range answers {
		if s.Task != "" {
			p("Task: %s\n", bare(s.Task))
		}
		p("Question: %s\nGuidance: %s\n\n", bare(a.Question.Text), bare(spoken(a)))
	}
}

// spoken returns an answer with labels instead of ids.
func spoken(a core.Asked) string {
	text := a.Question.Labels(*a.Answer)
	if a.Answer.Reason != "" {
		text += " (" + a.Answer.Reason + ")"
	}
	return text
}

// contextErrors reports each failure once, however often it was repeated.
func contextErrors(p printer, s *core.State, c contextOf) {
	last, said := s.Last, ""
	switch {
	case len(s.Errors) > 0:
		p("## Recent errors to avoid\n\n")
		for i := 0; i < len(s.Errors); {
			which := fmt.Sprintf("Iteration %d", s.Errors[i].Iteration)
			said = encountered(s.Errors[i])
			for i++; i < len(s.Errors) && encountered(s.Errors[i]) == said; i++ {
				which = fmt.Sprintf("%s, %d", strings.Replace(which, "Iteration ", "Iterations ", 1), s.Errors[i].Iteration)
			}
			p("- %s: %s\n", which, code(said))
		}
		p("\n")
		last = &s.Errors[len(s.Errors)-1]
	case last != nil && last.Iteration == 0 && last.Outcome != core.OutcomeDone: // the precheck
		said = encountered(*last)
		p("## Errors to fix\n\n- Before the first iteration: %s\n\n", code(said))
	default:
		return
	}
	checks := last.Signature.Checks
	if slices.ContainsFunc(checks, func(name string) bool { return !strings.Contains(said, name) }) {
		p("These fail:\n\n")
		for _, name := range checks[:min(len(checks), mostChecks)] {
			p("- %s\n", code(name))
		}
		if more := max(last.Signature.Failing, len(checks)) - mostChecks; more > 0 {
			p("- and %d more\n", more)
		}
		p("\n")
	}
	if last.Excerpt != "" {
		p("The end of the last output:\n\n%s\n", c.quoted(last.Excerpt))
	}
}

func contextTried(p printer, s *core.State) {
	made := s.Ladder.Attempts
	if len(made) == 0 {
		return
	}
	p("## What was tried\n\n")
	attemptsIn(p, s, made[max(0, len(made)-10):], bare)
}

func contextHowTo(p printer, s *core.State, text bool) {
	p("## How to talk to looprun\n\n")
	p("- Ask before you do what cannot be undone, spend money, change what others rely on, or choose between ways that the task leaves open. List the choices, the one that you would take first: `looprun ask 'Which database do the tests use?' --option sqlite='SQLite, as in CI' --option postgres=Postgres`. The answer is on its standard output. Follow it, and write the reason into the commit.\n")
	p("- To report on the work, run `looprun signal progress|blocked|clarify|attempt|expert|cost`; `looprun signal --help` has the flags.\n")
	switch {
	case s.Promise != "":
		p("- `looprun signal done` says that %s done, as the promise does.\n", it(s, "all is", "the sub-task of now is"))
	case s.Subtask != nil && len(s.Check) > 0 && len(s.Subtasks) > 0:
		p("- `looprun signal done` says that the sub-task of now is done; the next iteration gets the next.\n")
	}
	p("- When the task cannot be done as given run `looprun reject --help`, and say why.\n")
	if text {
		p("\n%s", signal.HowTo())
	}
}

// cutLines cuts text to at most that many bytes at the end of a line, and adds a note.
func cutLines(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	room := most - len(cutNote)
	if room <= 0 {
		return nil
	}
	at := bytes.LastIndexByte(text[:room], '\n') + 1
	return append(bytes.Clone(text[:at]), cutNote...)
}

// Notes returns the part of the run's page that its readers wrote, without its heading; empty
// if they wrote nothing.
func Notes(dir string) string {
	p := page{name: (&Run{Dir: dir}).PageFile()}
	return p.read()
}

// read returns the text of the notes; empty if there is none or it cannot be read.
func (p *page) read() string {
	notes, err := p.notes()
	if err != nil || string(notes) == emptyNotes {
		return ""
	}
	_, rest, _ := strings.Cut(string(notes), "\n")
	return strings.TrimSpace(rest)
}
