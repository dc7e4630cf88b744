package session

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/carrier"
	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/tail"
	"github.com/looprun/looprun/internal/termsafe"
)

// debugs reports whether the answer debug needs no shell: there is a debug command, or an
// agent that can look.
func (s *Session) debugs() bool {
	_, ok := s.opts.Agents.Find(s.opts.Agent)
	return s.opts.Debug != "" || ok
}

// looksFor is how long an agent may look for a cause where the run's iterations have no limit.
const looksFor = 30 * time.Minute

// toLook is what the agent is asked for.
const toLook = `
## Now: find the cause, and change nothing

The loop has stopped with this question:

%s

Find out why. Read, and run only commands that change nothing: edit no file and make no commit.
End with one message: the cause, where it is, and what the next iteration should do about it.
`

// The findings about a turn that did not keep to it, and about one of which nobody knows.
const (
	changedWhileLooking = "While it looked for the cause, %s changed the work tree or HEAD. The change is still there."
	perhapsChanged      = "Whether %s changed anything while it looked for the cause is not known."
)

// agentLooks has the agent look for the cause in a turn of its own, which is no iteration. It
// is started without the user's flags, which lift its permissions, and in its read-only mode
// where it has one. Its last message is the finding. If the work tree or HEAD has changed, or
// nobody knows, the question is asked again.
func (d *debugger) agentLooks(ctx context.Context, st *core.State, of agent.Agent, a core.Answer) (core.DebugFinished, error) {
	r, err := d.s.opts.CostReader()
	if err != nil {
		return core.DebugFinished{}, err
	}
	env := d.environ(st, string(core.ActionDebug)) // it writes the context
	input, err := os.ReadFile(d.s.run.ContextFile())
	if err != nil {
		return core.DebugFinished{}, err
	}
	input = fmt.Appendf(input, toLook, st.Question.Text)
	if a.Guidance != "" {
		input = fmt.Appendf(input, "\nWhoever asked for this says: %s\n", a.Guidance)
	}
	plain, said, last := tail.Buffer{Limit: findingsLimit}, tail.Buffer{Limit: findingsLimit}, ""
	stream := carrier.Stream{
		Table: d.s.opts.Agents.Carriers(),
		Part: func(p carrier.Part) {
			switch {
			case p.Role == carrier.Plain:
				plain.Take(p.Text)
			case p.Role != carrier.Said:
				return
			case p.Begins:
				said = tail.Buffer{Limit: findingsLimit}
				fallthrough
			default:
				said.Take(p.Text)
			}
			d.s.helperOutput(p.Text)
		},
		Fact: func(f carrier.Fact) {
			switch f := f.(type) {
			case carrier.Ended:
				last = f.Last
			case carrier.Usage:
				if r != nil {
					r.Used(f)
				}
			}
		},
	}
	defer d.s.helping(string(core.ActionDebug))()
	before := d.s.look()
	end := helper.Command{
		Argv: slices.Concat(of.Command, of.ReadOnly), Dir: d.s.dir, Env: env, Input: input, KillAfter: d.s.killAfter(),
		Stdout: func(b []byte) { _, _ = stream.Write(b) }, Stderr: d.s.helperOutput,
		Timeout: cmp.Or(time.Duration(d.s.opts.IterationTimeout), looksFor),
	}.Run(ctx)
	stream.Flush()
	found := core.DebugFinished{ExitCode: end.Code}
	for _, text := range []string{last, string(said.Bytes()), string(plain.Bytes())} {
		found.Findings = cmp.Or(found.Findings, strings.TrimSpace(termsafe.Text(text)))
	}
	if why := end.Failed(); why != "" {
		found.Findings = strings.TrimSpace(found.Findings + "\n" + of.Name + " " + why)
	}
	note := ""
	switch after := d.s.look(); {
	case after.tree == 0 || before.tree == 0:
		note = perhapsChanged
	case after != before:
		note = changedWhileLooking
	}
	if note != "" {
		found.ExitCode = max(1, found.ExitCode)
		found.Findings = strings.TrimSpace(fmt.Sprintf(note, of.Name) + "\n" + found.Findings)
	}
	if r != nil {
		found.CostUSD, found.Tokens, _ = r.Report()
	}
	return found, nil
}
