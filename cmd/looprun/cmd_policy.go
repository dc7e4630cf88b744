package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/policy"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/problem"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/strictjson"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/templates"
)

// policyCmd is for authors of policies.
type policyCmd struct {
	Check  policyCheckCmd  `cmd:"" help:"Validate a policy, and run its own tests."`
	Test   policyTestCmd   `cmd:"" help:"Show what a policy would answer, rule by rule. No verify command is run."`
	Schema policySchemaCmd `cmd:"" help:"Print the JSON Schema, or the facts, operators and functions of conditions."`
}

func loadPolicy(files, packs []string) (*policy.Policy, *templates.Set, error) {
	set, err := templates.Load(packs...)
	if err != nil {
		return nil, nil, err
	}
	p, err := policy.Load(set.Known(), files...)
	return p, set, err
}

type policyCheckCmd struct {
	Files  []string `arg:"" name:"file" help:"Policy files, each for itself."`
	Format string   `enum:"text,json,github,junit" default:"text" help:"${enum}."`
	packFlag
	Debug config.ShellLine `placeholder:"LINE" help:"The debug command of the run." key:"debug"`
	Agent string           `placeholder:"NAME" help:"The agent of the run, which can look for the cause itself." key:"agent"`
}

func (c *policyCheckCmd) Run(a *app) error {
	var problems problem.List
	about := map[string]string{}
	for _, file := range c.Files {
		var err error
		if about[file], err = c.check(file); err != nil {
			problems = append(problems, problem.Of(err)...)
		}
	}
	return a.checked(c.Format, c.Files, problems.Err(), func(file string) string { return about[file] })
}

// check checks one file, and returns what to say about it if it is correct.
func (c *policyCheckCmd) check(file string) (string, error) {
	p, _, err := loadPolicy([]string{file}, c.Templates)
	if err == nil {
		_, err = p.RunTests()
	}
	if err == nil {
		err = p.Without(c.Debug == "" && c.Agent == "", false)
	}
	if err != nil {
		return "", err
	}
	tests := "it has no tests of its own"
	if n := len(p.Tests); n > 0 {
		tests = plural.Count(n, "test") + " passed"
	}
	return fmt.Sprintf(": %s, %s", plural.Count(len(p.Rules), "rule"), tests), nil
}

type policySchemaCmd struct {
	Of string `arg:"" optional:"" enum:"policy,facts,functions" default:"policy" help:"What to print: ${enum} (${default})."`
}

func (c *policySchemaCmd) Run(a *app) error {
	if c.Of == "facts" {
		return policy.WriteFacts(a.stdout)
	}
	if c.Of == "functions" {
		return policy.WriteFunctions(a.stdout)
	}
	return a.print(string(policy.Schema()))
}

type policyTestCmd struct {
	File   []string `arg:"" help:"The policy file, or several as layers."`
	Guard  string   `required:"" xor:"what" placeholder:"ID" help:"The guard that trips, or rejection, blocked, clarification, ladder_exhausted, in a made-up run that has improved."`
	ID     string   `name:"run" required:"" xor:"what" placeholder:"RUN" help:"Ask about the last question of this run."`
	State  string   `required:"" xor:"what" placeholder:"FILE" help:"Ask about the last trip of this state of a run, in JSON."`
	All    bool     `required:"" xor:"what" help:"Ask about every question of every run: what was answered, and what this policy would have."`
	Since  string   `placeholder:"TIME" help:"With --all, only from then on: 7d, 12h, 2006-01-02."`
	Fact   []string `placeholder:"NAME=VALUE" sep:"none" help:"Set a fact, as branch=main; repeatable."`
	Verify string   `enum:"pass,fail" default:"fail" help:"How verify commands are taken to end: ${enum}. None is run."`
	Format string   `enum:"text,json" default:"text" help:"${enum}."`
	packFlag
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *policyTestCmd) Run(a *app) error {
	p, set, err := loadPolicy(c.File, c.Templates)
	if err != nil {
		return err
	}
	options := policy.Options{Verifying: policy.VerifyFail}
	if c.Verify == "pass" {
		options.Verifying = policy.VerifyPass
	}
	if options.Given, err = policy.ParseGiven(c.Fact); err != nil {
		return config.Usage("--fact: "+err.Error(), "looprun policy schema facts lists them")
	}
	var e policy.Evaluation
	switch {
	case c.All:
		return c.replay(a, p, options)
	case c.ID != "":
		e, err = c.recorded(a, p, options)
	default:
		e, err = c.madeUp(p, set, options)
	}
	switch {
	case err != nil:
		return err
	case c.Format == "json":
		return a.printJSON("policy-test", e)
	}
	return e.Write(a.stdout)
}

// recorded evaluates the policy for the last question that was asked in a run.
func (c *policyTestCmd) recorded(a *app, p *policy.Policy, o policy.Options) (policy.Evaluation, error) {
	dir, err := a.find(c.StateDir, c.ID)
	if err != nil {
		return policy.Evaluation{}, err
	}
	trips, err := replayTrips(p, dir, time.Time{}, o)
	if err == nil && len(trips) == 0 {
		err = noTrip("in run " + filepath.Base(dir))
	}
	if err != nil {
		return policy.Evaluation{}, err
	}
	return trips[len(trips)-1].Evaluation, nil
}

// madeUp evaluates the policy for a state from a file, or for a sample state. In both cases it
// is not known where the run takes place.
func (c *policyTestCmd) madeUp(p *policy.Policy, set *templates.Set, o policy.Options) (policy.Evaluation, error) {
	guard := core.GuardID(c.Guard)
	state, trip := templates.Sample(guard)
	switch {
	case c.State != "":
		var err error
		if state, err = readState(c.State); err != nil {
			return policy.Evaluation{}, config.Usage("--state: "+err.Error(), "give the state of a run as JSON, with the keys of looprun.State")
		}
		last := cmp.Or(state.Trip, state.LastTrip)
		if last == nil {
			return policy.Evaluation{}, noTrip("in the state " + c.State)
		}
		trip = *last
	default:
		if err := templates.KnownGuard(guard); err != nil {
			return policy.Evaluation{}, err
		}
		// Only a person may answer the end of the ladder.
		trip.Mandatory = trip.Mandatory || guard == core.LadderExhausted
	}
	q, err := set.Question(state, trip)
	if err != nil {
		return policy.Evaluation{}, err
	}
	q.Mandatory = trip.Mandatory
	return p.Evaluate(context.Background(), q, state, o)
}

func noTrip(where string) error {
	return config.Usage(where+" no guard tripped", "ask about a guard with --guard ID")
}

// replayed is the JSON output of policy test --all.
type replayed struct {
	Trips []replayedTrip `json:"trips"`
	// Same, Different and None count the questions that the policy would answer as before,
	// differently, and not at all.
	Same      int `json:"same"`
	Different int `json:"different"`
	None      int `json:"none"`
}

// replay evaluates the policy for every question of every run, oldest run first.
func (c *policyTestCmd) replay(a *app, p *policy.Policy, o policy.Options) error {
	since, err := parseSince(c.Since)
	if err != nil {
		return err
	}
	state, err := config.StateDir(c.StateDir)
	if err != nil {
		return err
	}
	ids, err := scratchpad.IDs(state)
	if err != nil {
		return err
	}
	slices.Reverse(ids)
	all := replayed{Trips: []replayedTrip{}}
	for _, dir := range session.Within(state, ids) {
		trips, err := replayTrips(p, dir, since, o)
		if err != nil {
			a.say.Warn("run %s cannot be read and is left out: %v", filepath.Base(dir), err)
			continue
		}
		all.Trips = append(all.Trips, trips...)
	}
	for _, t := range all.Trips {
		switch {
		case t.Evaluation.Answer == nil:
			all.None++
		case t.same():
			all.Same++
		default:
			all.Different++
		}
	}
	if c.Format == "json" {
		return a.printJSON("policy-replay", all)
	}
	out := a.printer()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, t := range all.Trips {
		fmt.Fprintln(w, t.text())
	}
	w.Flush()
	fmt.Fprintf(out, "%s: %d answered as before, %d otherwise, %d not at all\n", plural.Count(len(all.Trips), "question"), all.Same, all.Different, all.None)
	return out.Page()
}

// replayedTrip is a question of a recorded run: the answer it got, and the answer the policy
// would give.
type replayedTrip struct {
	Run      string       `json:"run"`
	Time     time.Time    `json:"time"`
	Question string       `json:"question_id"`
	Guard    core.GuardID `json:"guard"`
	// Was is the recorded answer; nil if nobody answered.
	Was        *core.Answer      `json:"was"`
	Evaluation policy.Evaluation `json:"would_be"`
}

// same reports whether the policy would give the recorded answer.
func (t replayedTrip) same() bool {
	a := t.Evaluation.Answer
	return a != nil && t.Was != nil && a.Option == t.Was.Option
}

// text returns the trip as one line of tab-separated columns.
func (t replayedTrip) text() string {
	was, now := "nobody answered", "no answer"
	if t.Was != nil {
		was = fmt.Sprintf("%s by %s", t.Was, t.Was.Responder)
	}
	if a := t.Evaluation.Answer; a != nil {
		now = fmt.Sprintf("%s (%s)", a.Option, a.Rule)
	}
	return fmt.Sprintf("%s\t%s\twas %s\t→ %s", t.Run, t.Guard, was, now)
}

// replayTrips evaluates the policy for the questions that guards have asked in the run in dir
// since the given time. It uses the questions as recorded and only what was known when they
// were asked.
func replayTrips(p *policy.Policy, dir string, since time.Time, o policy.Options) ([]replayedTrip, error) {
	var trips []replayedTrip
	s := new(core.State)
	_, err := scratchpad.Replay(dir, func(e core.Event) error {
		if err := s.Apply(e); err != nil {
			return err
		}
		switch d := e.Data.(type) {
		case core.QuestionAsked:
			if d.From == core.FromCommand || e.Time.Before(since) {
				break
			}
			o.CI = d.CI
			evaluation, err := p.Evaluate(context.Background(), d.Question, s, o)
			if err != nil {
				return err
			}
			trips = append(trips, replayedTrip{Run: s.RunID, Time: e.Time, Question: d.ID, Guard: d.Guard, Evaluation: evaluation})
		case core.QuestionAnswered:
			for i := range trips {
				if trips[i].Question == d.QuestionID {
					trips[i].Was = &d.Answer
				}
			}
		}
		return nil
	})
	return trips, err
}

// stateLimit is the maximum size of a state read from a file. A state holds the last 50
// iterations and 1,000 known issues, which is far less.
const stateLimit = 16 << 20

// readState reads exactly one state in JSON: an unknown key is a mistake that would silently
// change the answer.
func readState(file string) (*core.State, error) {
	text, err := inputfile.Read(file, stateLimit)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var s *core.State
	if err := dec.Decode(&s); err != nil {
		return nil, config.Usage(fmt.Sprintf("%s: %v", file, err), "give a state as looprun show --format state prints it")
	}
	if s == nil {
		return nil, fmt.Errorf("%s holds null", file)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s has more text after the state", file)
	}
	if key := strictjson.Repeated(text); key != "" {
		return nil, fmt.Errorf("%s: the key %s is there twice", file, key)
	}
	return s, nil
}
