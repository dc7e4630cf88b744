package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/protocol/rejection"
)

// rejectCmd reports from inside a run that the task cannot be done as given.
type rejectCmd struct {
	Document string `arg:"" optional:"" help:"- reads a JSON document from standard input, in place of the flags."`

	Task       string   `placeholder:"TEXT" help:"The task (the run's)."`
	Agent      string   `placeholder:"NAME" help:"Who rejects it."`
	ReasonType string   `placeholder:"TYPE" help:"BLOCKER, SCOPE_CREEP, MISSING_DEPENDENCY, INFEASIBLE or UNCLEAR_REQUIREMENTS."`
	Summary    string   `placeholder:"TEXT" help:"The reason in a sentence."`
	Detail     string   `placeholder:"TEXT" help:"The reason in full."`
	Attempted  []string `placeholder:"TEXT" help:"What was attempted; at least two." sep:"none"`

	BlockingFactor  string   `placeholder:"TEXT" help:"The obstacle."`
	Evidence        []string `placeholder:"type=…,data=…,source=…" help:"Evidence; repeatable." sep:"none"`
	Alternative     string   `placeholder:"TEXT" help:"What to do instead."`
	AlternativeTask []string `placeholder:"TITLE|SCOPE|DEPENDENCIES|ESTIMATE" help:"An alternative task; repeatable." sep:"none"`
	OriginalScope   string   `placeholder:"TEXT" help:"The original task."`
	Growth          float64  `placeholder:"N" help:"How many times its scope has grown."`

	Format string `enum:"text,json" default:"text" help:"${enum}."`
}

func (c *rejectCmd) Run(a *app) error {
	r, err := c.rejection(a)
	if err != nil {
		return err
	}
	document, _ := json.Marshal(r) // texts and a number always encode
	var reply session.RejectedReply
	if err := callRun(session.KindReject, session.RejectedMessage{Rejection: document}, &reply); err != nil {
		return err
	}
	if !reply.Valid {
		a.code = 1
	}
	if c.Format == "json" {
		return a.printJSON("rejection-reply", reply)
	}
	for _, issue := range reply.Issues {
		a.say.Printf("%s", issue)
	}
	if reply.Valid {
		a.say.News("the rejection waits for a decision after this iteration")
	}
	return nil
}

func (c *rejectCmd) rejection(a *app) (rejection.Rejection, error) {
	switch c.Document {
	case "":
	case "-":
		text, err := readDocument(a, "-")
		if err != nil {
			return rejection.Rejection{}, err
		}
		return rejection.Parse(text)
	default:
		return rejection.Rejection{}, config.Usage(fmt.Sprintf("%q is neither a flag nor -", c.Document), "write looprun reject - and give the document on standard input")
	}
	if math.IsNaN(c.Growth) || math.IsInf(c.Growth, 0) {
		return rejection.Rejection{}, config.Usage("--growth is not a number", "write how many times larger the scope has become, such as 2.5")
	}
	for _, text := range []string{c.Detail, c.Alternative} {
		if file, at := strings.CutPrefix(text, "@"); at && len(strings.Fields(file)) == 1 {
			return rejection.Rejection{}, config.Usage(fmt.Sprintf("%q is not read as a file", text), `write "$(cat `+file+`)"`)
		}
	}
	r := rejection.Rejection{
		Task: c.Task, Agent: c.Agent, ReasonType: rejection.Reason(c.ReasonType), Summary: c.Summary, Detail: c.Detail,
		Attempted: c.Attempted, BlockingFactor: c.BlockingFactor, Suggested: c.Alternative,
		OriginalScope: c.OriginalScope, Growth: c.Growth,
	}
	for _, text := range c.Evidence {
		e, err := evidence(text)
		if err != nil {
			return r, err
		}
		r.Evidence = append(r.Evidence, e)
	}
	for _, text := range c.AlternativeTask {
		parts := append(strings.SplitN(text, "|", 4), "", "", "")
		t := rejection.Task{Title: parts[0], Scope: parts[1], Estimate: parts[3]}
		if strings.TrimSpace(parts[2]) != "" {
			t.Dependencies = strings.Split(parts[2], ",")
		}
		r.Alternatives = append(r.Alternatives, t)
	}
	return r, nil
}

// evidence parses type=…,data=…,source=…; data may contain commas.
func evidence(text string) (rejection.Evidence, error) {
	var e rejection.Evidence
	fields := map[string]*string{"type": &e.Type, "data": &e.Data, "source": &e.Source}
	var last *string
	for part := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(part, "=")
		to, known := fields[strings.TrimSpace(key)]
		switch {
		case found && known:
			*to, last = value, to
		case last != nil:
			*last += "," + part
		default:
			return e, config.Usage(fmt.Sprintf("--evidence %q has no type, data or source", text), "write it as type=error_log,data=…,source=…")
		}
	}
	return e, nil
}
