package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/socket"
	"github.com/looprun/looprun/internal/termsafe"
)

// The exit codes of looprun ask other than 0, answered.
const (
	exitNo        = 1
	exitNobody    = 3
	exitDeferred  = 75
	exitCancelled = 130
)

// askCmd asks a question from inside a run and waits for its answer.
type askCmd struct {
	Words    []string `arg:"" optional:"" name:"text" help:"The question."`
	Question string   `placeholder:"TEXT" help:"The question, in place of the words."`
	Option   []string `placeholder:"ID=LABEL[=DESCRIPTION]" help:"An answer to choose; 2 to 4 of them." sep:"none"`
	Confirm  bool     `help:"The answer is yes or no." excludes:"--text"`
	Text     bool     `help:"The answer is a text."`
	Header   string   `placeholder:"TEXT" help:"A heading of at most 12 characters."`
	Default  []string `placeholder:"ID" help:"The answer if nobody can be asked and the run uses --detached defaults." sep:"none"`

	AllowCancel bool `help:"The question can be declined: exit code 130."`
	NoText      bool `help:"Take only an option, no text."`
	Multi       bool `help:"Several options can be chosen."`
	Exclusive   bool `help:"Only a person may answer."`

	To      string `enum:",user,assistant,assistant_with_escalation" default:"" placeholder:"WHO" help:"Who may answer: user, assistant, assistant_with_escalation (default: as the run is configured)."`
	ID      string `placeholder:"ID" help:"Name of the question: asked again in the run, in the same words, it has the same answer. Not for --confirm and --exclusive."`
	Again   bool   `help:"Ask although the question with this --id was answered before."`
	Safe    string `enum:",yes,no" default:"" placeholder:"yes|no" help:"The exit code of --confirm if nobody answers: yes is 0, no is 1."`
	Request string `placeholder:"FILE|-" help:"Ask what this JSON document asks, 1 to 4 questions (docs/asking.md)."`
	Format  string `enum:"text,json" default:"text" help:"${enum}."`
}

func (c *askCmd) Run(a *app) error {
	r, err := c.request(a)
	if err != nil {
		return err
	}
	var response ask.Response
	if err := callRun(session.KindAsk, r, &response); err != nil {
		return c.unanswered(a, r, err)
	}
	if err := ask.CheckResponse(r, response); err != nil {
		return fmt.Errorf("the answer does not fit the question: %w", err)
	}
	return c.print(a, r, response)
}

// callRun sends a message to the run that this process is inside of.
func callRun(kind string, message, reply any) error {
	if role := os.Getenv("LOOPRUN_ROLE"); role != "" {
		return errors.New(session.CannotAsk(role))
	}
	if path := session.ParentSocket(); path != "" {
		return socket.Call(context.Background(), path, kind, message, reply)
	}
	return config.Usage("not inside a run: LOOPRUN_SOCKET is not set", "use it in a command that looprun runs")
}

// request returns the document, or one built from the flags.
func (c *askCmd) request(a *app) (ask.Request, error) {
	if c.Request != "" {
		if len(c.Words) > 0 || c.Question != "" || len(c.Option) > 0 || c.Confirm || c.Text {
			return ask.Request{}, config.Usage("--request and a question in flags exclude each other", "use one of them")
		}
		text, err := readDocument(a, c.Request)
		if err != nil {
			return ask.Request{}, err
		}
		r, err := ask.Parse(text)
		if err != nil {
			return r, fmt.Errorf("%s: %w", strings.Replace(c.Request, "-", "standard input", 1), err)
		}
		return r, nil
	}
	q, err := c.question()
	if err != nil {
		return ask.Request{}, err
	}
	r := ask.Request{Questions: []ask.Question{q}, To: c.To}.WithDefaults()
	return r, r.Validate()
}

func (c *askCmd) question() (ask.Question, error) {
	text := c.Question
	if len(c.Words) > 0 {
		if text != "" {
			return ask.Question{}, config.Usage("the question is given twice: as words and with --question", "use one of them")
		}
		text = strings.Join(c.Words, " ")
	}
	if len(c.Default) > 1 && !c.Multi {
		return ask.Question{}, config.Usage(fmt.Sprintf("--default is given %d times, and a question has one", len(c.Default)), "leave the others out")
	}
	q := ask.Question{
		ID: c.ID, Header: c.Header, Question: text, MultiSelect: c.Multi, AllowCancel: c.AllowCancel,
		Exclusive: c.Exclusive, Default: strings.Join(c.Default, "\n"), Safe: c.Safe, Again: c.Again,
	}
	switch {
	case c.Confirm && c.Text:
		return q, config.Usage("--confirm and --text exclude each other", "use one of them")
	case c.Confirm:
		q.Kind = core.KindConfirm
	case c.Text:
		q.Kind = core.KindText
	case len(c.Option) == 0:
		return q, config.Usage("the question has no answers to choose from", "give two or more --option ID=LABEL, or --confirm, or --text")
	}
	if c.NoText {
		q.AllowText = new(bool)
	}
	for _, o := range c.Option {
		id, label, found := strings.Cut(o, "=")
		label, description, _ := strings.Cut(label, "=")
		if !found {
			id, label = "", o
		}
		q.Options = append(q.Options, ask.Option{ID: id, Label: label, Description: description})
	}
	return q, nil
}

// unanswered explains why there is no answer, and sets the exit code.
func (c *askCmd) unanswered(a *app, r ask.Request, err error) error {
	told, ok := errors.AsType[*socket.Error](err)
	if !ok {
		return err
	}
	switch told.Code {
	case session.CodeNobody:
		a.code = exitNobody
		if q := r.Questions[0]; len(r.Questions) == 1 && q.Safe != "" {
			a.code = confirmed(q.Safe == core.Yes)
			a.say.Printf("nobody answered, which counts as %s here: %s", q.Safe, told.Text)
			return nil
		}
	case session.CodeAdvised: // --safe is for what nobody has rejected
		a.code = exitNobody
	case session.CodeDeferred:
		a.code = exitDeferred
		a.say.Printf("the question is kept and will be answered later; end now, and ask again in the next iteration")
		return nil
	case session.CodeInterrupted:
		a.code = exitCancelled
	default:
		return err
	}
	a.say.Printf("%s", told.Text)
	return nil
}

func confirmed(yes bool) int {
	if yes {
		return 0
	}
	return exitNo
}

// print writes the answers: ids, one a line; a text unchanged.
func (c *askCmd) print(a *app, r ask.Request, response ask.Response) error {
	if c.Format == "json" {
		if err := a.printJSON("answer", response); err != nil {
			return err
		}
	}
	for i, answer := range response.Answers {
		if c.Format == "text" {
			if err := printAnswer(a, answer); err != nil {
				return err
			}
		}
		switch {
		case answer.Cancelled:
			a.code = exitCancelled
		case len(r.Questions) == 1 && r.Questions[i].Kind == core.KindConfirm:
			a.code = confirmed(len(answer.Selected.IDs()) == 1 && answer.Selected.IDs()[0] == core.Yes)
		}
	}
	return nil
}

func printAnswer(a *app, answer ask.Answer) error {
	said := answer.Who()
	if answer.Reason != "" {
		said += ": " + termsafe.Text(answer.Reason)
	}
	switch {
	case answer.Earlier:
		a.say.Printf("already answered by %s; --again asks again", said)
	case answer.Reason != "":
		a.say.Printf("%s", said)
	}
	lines := answer.Selected.IDs()
	if answer.Text != nil && !answer.Cancelled {
		lines = []string{*answer.Text}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(a.stdout, line); err != nil {
			return err
		}
	}
	return nil
}

// documentLimit is the maximum size of a document, in bytes.
const documentLimit = 1 << 20

// readDocument reads a file, or standard input for -.
func readDocument(a *app, name string) ([]byte, error) {
	in := io.Reader(a.stdin)
	if name != "-" {
		f, err := inputfile.Open(name)
		if err != nil {
			return nil, config.Usage(err.Error(), inputfile.Remedy(err)+", or - for standard input")
		}
		defer f.Close()
		in = f
	}
	text, err := inputfile.ReadLimited(in, documentLimit)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return text, err
}
