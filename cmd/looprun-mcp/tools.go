package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const instructions = `looprun runs a command in a loop until it is done, and stops it when it is stuck. loop_start starts a loop in the background; loop_status shows its state. When a guard stops a loop it asks a question, which is for the person: question_to_person shows it to them. Do not start the same loop again; change what you do first, and read loop_explain.`

// toolbox holds the state that the tools share.
type toolbox struct {
	looprun looprun
	loops   chan struct{} // has as many as were started here and go on
	folders sync.Map      // of the runs that were started in another folder, by id
}

// of returns the looprun that finds a run.
func (t *toolbox) of(run string) looprun {
	l := t.looprun
	if dir, ok := t.folders.Load(run); ok {
		l.dir = dir.(string)
	}
	return l
}

// in returns the looprun of a folder, which must exist; empty is where this process runs.
func (t *toolbox) in(folder string) (looprun, error) {
	l := t.looprun
	if folder == "" {
		return l, nil
	}
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = errors.New("it is a file")
	}
	if err == nil {
		l.dir, err = filepath.Abs(folder)
	}
	if err != nil {
		return l, fmt.Errorf("folder %q cannot be used: %w", cut(folder, 200), err)
	}
	return l, nil
}

// maxLoops is how many loops started here may run at once.
const maxLoops = 8

func newServer(l looprun) *mcp.Server {
	t := &toolbox{looprun: l, loops: make(chan struct{}, maxLoops)}
	s := mcp.NewServer(&mcp.Implementation{Name: "looprun", Version: own(), WebsiteURL: "https://github.com/looprun/looprun"}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{},
	})
	runs := &mcp.ToolAnnotations{OpenWorldHint: new(true), DestructiveHint: new(true)}
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(false)}
	asks := &mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)}
	add(s, "loop_start", runs, t.start, "Start a loop in the background: a command or a coding agent runs again and again until it is done. Returns the run's id at once; loop_status shows its state.", fields{
		"command":        text("A shell line: what each iteration does, such as one attempt to fix something.", 8000),
		"agent":          text("In place of a command: a coding agent, such as claude, that gets the task.", 40),
		"check":          text("A shell line that judges each iteration: exit code 0 is done. Without it the command's own exit code counts.", 8000),
		"task":           text("What the loop is for, in a few words; lists show it, and an agent works on it.", 8000),
		"tasks":          text("A file with Markdown checkboxes: done when none is open.", 500),
		"promise":        text("Done when the command prints this alone on a line.", 200),
		"folder":         text("Where it runs (where looprun-mcp runs).", 1000),
		"max_iterations": number("How often the command may run (10).", 1, 1000),
		"max_minutes":    number("How long the loop may be active, in minutes (15; an agent 480).", 1, 24*60),
		"max_cost_usd":   {Type: "number", Description: "What it may cost, as reported.", ExclusiveMinimum: new(0.0)},
	})
	add(s, "loop_list", reads, t.list, "List the latest loops of a folder, newest first.", fields{
		"folder": text("The folder (where looprun-mcp runs).", 1000), "number": number("How many (10).", 1, 50),
	})
	add(s, "loop_status", reads, t.status, "Show a loop's state: its status, what fails, the question that waits if there is one, and what to do next.", fields{
		"run":          whichRun(),
		"wait_seconds": number("Wait up to so long for the loop to end or to ask (0).", 0, 50),
	})
	add(s, "loop_explain", reads, t.explain, "Say why a loop ended as it did, and what its iterations had in common.", fields{"run": whichRun()})
	add(s, "loop_say", asks, t.say, "Give an active loop words for its next iteration. Counters are not reset. This does not answer a question; use question_to_person.", fields{
		"run": whichRun(), "words": text("What the next iteration should know.", 8000),
	}, "words")
	add(s, "loop_stop", runs, t.stop, "Stop an active loop: its processes end, and it ends as cancelled. Its files stay.", fields{"run": whichRun()})
	add(s, "same_failure", reads, t.same, "Say whether two outputs of a command are the same failure, noise such as times and addresses left out, and why.", fields{
		"first": text("What was printed the first time.", maxOutput), "second": text("What was printed the second time.", maxOutput),
	}, "first", "second")
	add(s, "ask_person", asks, t.ask, "Ask the person a question of yours, in the agent's own window. For what a loop asks use question_to_person.", fields{
		"question": text("The question, with what the person has to know to answer it.", 4000),
		"options":  {Type: "array", Items: text("A possible answer.", 200), MinItems: new(2), MaxItems: new(10), UniqueItems: true, Description: "The answers to choose from."},
	}, "question", "options")
	add(s, "question_to_person", asks, t.pass, "Show the person the question that a loop waits with. looprun records the choice, and the loop continues or ends accordingly. You cannot answer it yourself.", fields{"run": whichRun()})
	t.addResources(s)
	s.AddReceivingMiddleware(readable)
	return s
}

type fields map[string]*jsonschema.Schema

func text(description string, most int) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: description, MinLength: new(1), MaxLength: &most}
}

func number(description string, least, most float64) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Description: description, Minimum: &least, Maximum: &most}
}

func whichRun() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: "The run's id, as loop_start returned it (the latest).", MaxLength: new(40)}
}

// add adds a tool. Its schema is strict: it accepts no other arguments, so that only the flags
// of looprun listed here can be used.
func add[In any](s *mcp.Server, name string, hints *mcp.ToolAnnotations, do func(context.Context, *mcp.CallToolRequest, In) (*mcp.CallToolResult, error), description string, f fields, required ...string) {
	schema := &jsonschema.Schema{Type: "object", Properties: f, Required: required, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: description, Annotations: hints, InputSchema: schema},
		func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			result, err := do(ctx, r, in)
			return result, nil, err
		})
}

// says returns a tool's result as text.
func says(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

type startArgs struct {
	Command       string  `json:"command"`
	Agent         string  `json:"agent"`
	Check         string  `json:"check"`
	Task          string  `json:"task"`
	Tasks         string  `json:"tasks"`
	Promise       string  `json:"promise"`
	Folder        string  `json:"folder"`
	MaxIterations int     `json:"max_iterations"`
	MaxMinutes    int     `json:"max_minutes"`
	MaxCost       float64 `json:"max_cost_usd"`
}

// flags returns the flags of looprun run; a zero value sets none.
func (in startArgs) flags() []string {
	args := []string{"run", "--detached=defer"}
	for _, f := range []struct{ flag, value, unit string }{
		{"--shell=", in.Command, ""},
		{"--agent=", in.Agent, ""},
		{"--check=", in.Check, ""},
		{"--name=", in.Task, ""},
		{"--tasks=", in.Tasks, ""},
		{"--promise=", in.Promise, ""},
		{"--max-iterations=", strconv.Itoa(in.MaxIterations), ""},
		{"--max-runtime=", strconv.Itoa(in.MaxMinutes), "m"},
		{"--max-cost=", strconv.FormatFloat(in.MaxCost, 'f', -1, 64), ""},
	} {
		if f.value != "" && f.value != "0" {
			args = append(args, f.flag+f.value+f.unit)
		}
	}
	return args
}

func (t *toolbox) start(ctx context.Context, _ *mcp.CallToolRequest, in startArgs) (*mcp.CallToolResult, error) {
	if (in.Command == "") == (in.Agent == "") {
		return nil, errors.New("give either a command or an agent")
	}
	l, err := t.in(in.Folder)
	if err != nil {
		return nil, err
	}
	select {
	case t.loops <- struct{}{}:
	default:
		return nil, fmt.Errorf("%d loops that you started are still active; wait for one of them", maxLoops)
	}
	id, over, err := l.start(ctx, in.flags()...)
	go func() {
		if over != nil {
			<-over
		}
		<-t.loops
	}()
	if err != nil {
		return nil, fmt.Errorf("the loop was not started: %w", err)
	}
	if l.dir != "" {
		t.folders.Store(id, l.dir)
	}
	return says(`{"run":"` + id + `","status":"running"}` + "\nIt runs in the background, also after this session ends. loop_status with wait_seconds waits for it."), nil
}

type statusArgs struct {
	Run  string `json:"run"`
	Wait int    `json:"wait_seconds"`
}

// shown is the relevant part of the output of looprun show.
type shown struct {
	RunID      string     `json:"run_id"`
	Dir        string     `json:"dir"`
	Name       string     `json:"name"`
	Status     string     `json:"status"`
	Iterations int        `json:"iterations"`
	Seconds    float64    `json:"runtime_seconds"`
	Progress   string     `json:"progress"`
	Pending    []question `json:"pending"`
	Answered   string     `json:"answered"` // and nobody has gone on with the run
	Ending     struct {
		ExitCode *int   `json:"exit_code"`
		Guard    string `json:"guard"`
		Reason   string `json:"reason"`
	} `json:"ending"`
	Limits struct {
		Iterations int `json:"iterations"`
	} `json:"limits"`
}

func (t *toolbox) show(ctx context.Context, run string) (s shown, err error) {
	words, err := about(run)
	if err != nil {
		return s, err
	}
	out, err := t.of(run).call(ctx, "", append([]string{"show", "--format=json", "--number=1"}, words...)...)
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err == nil && !runID.MatchString(s.RunID) {
		err = errors.New("looprun show names no run")
	}
	return s, err
}

// going reports whether the loop continues by itself.
func (s shown) going() bool { return s.Status == "running" && len(s.Pending) == 0 }

func (t *toolbox) status(ctx context.Context, r *mcp.CallToolRequest, in statusArgs) (*mcp.CallToolResult, error) {
	s, err := t.show(ctx, in.Run)
	told := 0 // the iterations that the client was told of
	for until := time.Now().Add(time.Duration(in.Wait) * time.Second); err == nil && s.going() && time.Now().Before(until); {
		if token := r.Params.GetProgressToken(); token != nil && s.Iterations > told {
			told = s.Iterations
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(told), Total: float64(max(0, s.Limits.Iterations)), Message: clean(s.Progress),
			}) // a client that is gone needs none
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(300 * time.Millisecond):
			s, err = t.show(ctx, s.RunID)
		}
	}
	if err != nil {
		return nil, err
	}
	out := map[string]any{"run": s.RunID, "status": s.Status, "iterations": s.Iterations, "max_iterations": s.Limits.Iterations, "runtime_seconds": s.Seconds, "next": s.next()}
	for key, value := range map[string]string{"task": s.Name, "progress": s.Progress, "guard": s.Ending.Guard, "reason": s.Ending.Reason} {
		if value != "" {
			out[key] = clean(value)
		}
	}
	if s.Ending.ExitCode != nil {
		out["exit_code"] = *s.Ending.ExitCode
	}
	if len(s.Pending) > 0 {
		out["question"] = clean(s.Pending[0].Text)
	}
	document, err := json.Marshal(out)
	return says(string(document)), err
}

type listArgs struct {
	Folder string `json:"folder"`
	Number int    `json:"number"`
}

// listed is the relevant part of a run in the output of looprun list.
type listed struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	Name       string `json:"name,omitempty"`
	Iterations int    `json:"iterations"`
	Started    string `json:"started"`
	Says       string `json:"says,omitempty"`
}

func (t *toolbox) list(ctx context.Context, _ *mcp.CallToolRequest, in listArgs) (*mcp.CallToolResult, error) {
	l, err := t.in(in.Folder)
	if err != nil {
		return nil, err
	}
	out, err := l.call(ctx, "", "list", "--format=json", "--number="+strconv.Itoa(cmp.Or(in.Number, 10)))
	if err != nil {
		return nil, err
	}
	runs := []listed{}
	if err := json.Unmarshal(out, &runs); err != nil {
		return nil, err
	}
	for i, r := range runs {
		runs[i].Name, runs[i].Says = cut(clean(r.Name), 200), cut(clean(r.Says), 200)
		if l.dir != "" {
			t.folders.Store(r.ID, l.dir) // the other tools find it from now on
		}
	}
	document, err := json.Marshal(runs)
	return says(string(document)), err
}

// next returns what the agent should do next.
func (s shown) next() string {
	switch {
	case len(s.Pending) > 0:
		return "question_to_person: only the person, or a policy, answers this"
	case s.Status == "running":
		return "wait: loop_status with wait_seconds"
	case s.Status == "done":
		return "nothing: the loop is done"
	}
	return "loop_explain, then change what you do before you start it again"
}

type runArgs struct {
	Run string `json:"run"`
}

func (t *toolbox) explain(ctx context.Context, _ *mcp.CallToolRequest, in runArgs) (*mcp.CallToolResult, error) {
	words, err := about(in.Run)
	if err != nil {
		return nil, err
	}
	out, err := t.of(in.Run).call(ctx, "", append([]string{"explain", "--color=never"}, words...)...)
	return says(cut(clean(string(out)), 16<<10)), err
}

type sayArgs struct {
	Run   string `json:"run"`
	Words string `json:"words"`
}

func (t *toolbox) say(ctx context.Context, _ *mcp.CallToolRequest, in sayArgs) (*mcp.CallToolResult, error) {
	return t.order(ctx, in.Run, in.Words, "say", "-")
}

func (t *toolbox) stop(ctx context.Context, _ *mcp.CallToolRequest, in runArgs) (*mcp.CallToolResult, error) {
	return t.order(ctx, in.Run, "", "stop")
}

// order sends an order to a run by running the looprun command.
func (t *toolbox) order(ctx context.Context, run, stdin, order string, words ...string) (*mcp.CallToolResult, error) {
	s, err := t.show(ctx, run)
	if err != nil {
		return nil, err
	}
	_, err = t.of(s.RunID).call(ctx, stdin, append([]string{order, "--via=mcp", s.RunID}, words...)...)
	return says("Run " + s.RunID + " was told. loop_status shows its state."), err
}

// maxOutput is the maximum length of an output that same_failure compares, in characters.
const maxOutput = 1 << 20

type sameArgs struct {
	First  string `json:"first"`
	Second string `json:"second"`
}

func (t *toolbox) same(ctx context.Context, _ *mcp.CallToolRequest, in sameArgs) (*mcp.CallToolResult, error) {
	dir, err := os.MkdirTemp("", "looprun-mcp-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := errors.Join(root.WriteFile("1", []byte(in.First), 0o600), root.WriteFile("2", []byte(in.Second), 0o600)); err != nil {
		return nil, err
	}
	sep := string(os.PathSeparator)
	out, err := t.looprun.call(ctx, "", "signature", "--diff", "--format=json", "--config=none", dir+sep+"1", dir+sep+"2")
	return says(clean(string(out))), err
}
