package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const instructions = `looprun runs a command in a loop until it is done, and stops it when it is stuck. loop_start starts a loop in the background; loop_status says where it stands. When a guard stops a loop it asks a question, which is for the person: question_to_person shows it to them. Do not start the same loop again; change what you do first, and read loop_explain.`

// toolbox holds the state that the tools share.
type toolbox struct {
	looprun looprun
	loops   chan struct{} // has as many as were started here and go on
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
	add(s, "loop_start", runs, t.start, "Start a loop in the background: the command runs again and again until it is done. Returns the run's id at once; loop_status says how it goes.", fields{
		"command":        text("A shell line: what each iteration does, such as one try to mend something.", 8000),
		"check":          text("A shell line that judges each iteration: exit code 0 is done. Without it the command's own exit code counts.", 8000),
		"task":           text("What the loop is for, in a few words; lists show it.", 500),
		"max_iterations": number("How often the command may run (10).", 1, 1000),
		"max_minutes":    number("How long the loop may be active, in minutes (15).", 1, 24*60),
	}, "command")
	add(s, "loop_status", reads, t.status, "Say where a loop stands: its status, what fails, the question that waits if there is one, and what to do next.", fields{
		"run":          whichRun(),
		"wait_seconds": number("Wait up to so long for the loop to end or to ask (0).", 0, 50),
	})
	add(s, "loop_explain", reads, t.explain, "Say why a loop ended as it did, and what its iterations had in common.", fields{"run": whichRun()})
	add(s, "loop_say", asks, t.say, "Say something to a loop that goes on: its next iteration gets the words. Nothing is reset. A question is not answered so: question_to_person.", fields{
		"run": whichRun(), "words": text("What the next iteration should know.", 8000),
	}, "words")
	add(s, "loop_stop", runs, t.stop, "Stop a loop that goes on: its processes are ended, and it ends as cancelled. Its files stay.", fields{"run": whichRun()})
	add(s, "same_failure", reads, t.same, "Say whether two outputs of a command are the same failure, noise such as times and addresses left out, and why.", fields{
		"first": text("What was printed the first time.", maxOutput), "second": text("What was printed the second time.", maxOutput),
	}, "first", "second")
	add(s, "ask_person", asks, t.ask, "Ask the person a question of yours, in the agent's own window. For what a loop asks use question_to_person.", fields{
		"question": text("The question, with what the person has to know to answer it.", 4000),
		"options":  {Type: "array", Items: text("A possible answer.", 200), MinItems: new(2), MaxItems: new(10), UniqueItems: true, Description: "The answers to choose from."},
	}, "question", "options")
	add(s, "question_to_person", asks, t.pass, "Show the person the question that a loop waits with. What they choose is recorded, and the loop goes on or ends by it. You cannot answer it yourself.", fields{"run": whichRun()})
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
	Command       string `json:"command"`
	Check         string `json:"check"`
	Task          string `json:"task"`
	MaxIterations int    `json:"max_iterations"`
	MaxMinutes    int    `json:"max_minutes"`
}

func (t *toolbox) start(ctx context.Context, _ *mcp.CallToolRequest, in startArgs) (*mcp.CallToolResult, error) {
	select {
	case t.loops <- struct{}{}:
	default:
		return nil, fmt.Errorf("%d loops that you started still go on; wait for one of them", maxLoops)
	}
	args := []string{"run", "--detached=defer", "--shell=" + in.Command}
	for flag, value := range map[string]string{"--check=": in.Check, "--name=": in.Task} {
		if value != "" {
			args = append(args, flag+value)
		}
	}
	if in.MaxIterations > 0 {
		args = append(args, "--max-iterations="+strconv.Itoa(in.MaxIterations))
	}
	if in.MaxMinutes > 0 {
		args = append(args, "--max-runtime="+strconv.Itoa(in.MaxMinutes)+"m")
	}
	id, over, err := t.looprun.start(ctx, args...)
	go func() {
		if over != nil {
			<-over
		}
		<-t.loops
	}()
	if err != nil {
		return nil, fmt.Errorf("the loop was not started: %w", err)
	}
	return says(`{"run":"` + id + `","status":"running"}` + "\nIt goes on in the background, also when this session ends. loop_status with wait_seconds waits for it."), nil
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
	out, err := t.looprun.call(ctx, "", append([]string{"show", "--format=json", "--number=1"}, words...)...)
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

func (t *toolbox) status(ctx context.Context, _ *mcp.CallToolRequest, in statusArgs) (*mcp.CallToolResult, error) {
	s, err := t.show(ctx, in.Run)
	for until := time.Now().Add(time.Duration(in.Wait) * time.Second); err == nil && s.going() && time.Now().Before(until); {
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
	out, err := t.looprun.call(ctx, "", append([]string{"explain", "--color=never"}, words...)...)
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
	_, err = t.looprun.call(ctx, stdin, append([]string{order, "--via=mcp", s.RunID}, words...)...)
	return says("Run " + s.RunID + " was told. loop_status says where it stands."), err
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
