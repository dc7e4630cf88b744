package main

import (
	"encoding/json"
	"strings"

	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/protocol/signal"
)

// signalCmd sends a signal from inside a run.
type signalCmd struct {
	Name string   `arg:"" help:"done, progress, blocked, attempt, unsuccessful, clarify, expert or cost; - reads a JSON document from standard input."`
	Text []string `arg:"" optional:"" help:"A message."`

	Task     string `placeholder:"ID" help:"The task that it is about (the run's)."`
	Agent    string `placeholder:"NAME" help:"Who sends it."`
	Question string `placeholder:"TEXT" help:"What a person has to decide."`
	Context  string `placeholder:"TEXT" help:"What they need to know."`
	Cause    string `placeholder:"CAUSE" help:"Of clarify: circular_dependency, security_concern, ambiguous_criteria."`

	Considered []string `placeholder:"OPTION=WHY" help:"An option and why it is not sufficient; repeatable." sep:"none"`
	Attempt    []string `placeholder:"TEXT" help:"What was tried; repeatable." sep:"none"`
	WouldHelp  string   `placeholder:"TEXT" help:"What would help."`

	Approach     string `placeholder:"TEXT" help:"For attempt: the approach."`
	Outcome      string `placeholder:"TEXT" help:"For attempt: its result."`
	WhyDifferent string `placeholder:"TEXT" help:"Of attempt: how it differs from the ones before."`

	Expert string  `placeholder:"NAME" help:"For expert: its name (the next)."`
	USD    float64 `name:"usd" placeholder:"N" help:"Of cost: US dollars since the last report."`
	Tokens int64   `placeholder:"N" help:"Of cost: tokens since the last report."`
}

func (c *signalCmd) Run(a *app) error {
	document, err := c.document(a)
	if err != nil {
		return err
	}
	return callRun(session.KindSignal, session.Signalled{Signal: document}, nil)
}

func (c *signalCmd) document(a *app) (json.RawMessage, error) {
	if c.Name == "-" {
		text, err := readDocument(a, "-")
		if err != nil {
			return nil, err
		}
		if _, err := signal.Parse(text); err != nil {
			return nil, err
		}
		return text, nil
	}
	s := signal.Signal{
		Name: signal.Name(c.Name), Text: strings.Join(c.Text, " "), Task: c.Task, Agent: c.Agent, Question: c.Question, Context: c.Context,
		Cause: c.Cause, Attempts: c.Attempt, WouldHelp: c.WouldHelp, Approach: c.Approach, Outcome: c.Outcome,
		WhyDifferent: c.WhyDifferent, Expert: c.Expert, USD: c.USD, Tokens: c.Tokens,
	}
	for _, option := range c.Considered {
		name, why, _ := strings.Cut(option, "=")
		s.Considered = append(s.Considered, signal.Considered{Option: name, Why: why})
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(s)
}
