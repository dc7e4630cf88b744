package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const instructions = `looprun runs a command in a loop until it is done, and stops it when it is stuck. loop_start starts a loop in the background; loop_status shows its state. When a guard stops a loop it asks a question, which is for the person: question_to_person shows it to them. Do not start the same loop again; change what you do first, and read loop_explain.`

// toolsJSON describes the tools, as tools/list does, by name.
//
//go:embed tools.json
var toolsJSON []byte

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
	var tools map[string]*mcp.Tool
	if err := json.Unmarshal(toolsJSON, &tools); err != nil {
		panic(err) // a broken tools.json fails every test
	}
	add(s, tools, "loop_start", t.start)
	add(s, tools, "loop_list", t.list)
	add(s, tools, "loop_status", t.status)
	add(s, tools, "loop_explain", t.explain)
	add(s, tools, "loop_say", t.say)
	add(s, tools, "loop_pause", t.pause)
	add(s, tools, "loop_stop", t.stop)
	add(s, tools, "same_failure", t.same)
	add(s, tools, "ask_person", t.ask)
	add(s, tools, "question_to_person", t.pass)
	t.addResources(s)
	s.AddReceivingMiddleware(readable)
	return s
}

// add adds a tool as tools.json describes it. The arguments listed there are the only ones that
// it accepts, so that no other flags of looprun can be used.
func add[In any](s *mcp.Server, tools map[string]*mcp.Tool, name string, do func(context.Context, *mcp.CallToolRequest, In) (*mcp.CallToolResult, error)) {
	tool := tools[name]
	tool.Name = name
	mcp.AddTool(s, tool, func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		result, err := do(ctx, r, in)
		return result, nil, err
	})
}

// says returns a tool's result as text.
func says(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// startFlags maps each argument of loop_start, except folder, to a flag of looprun run.
var startFlags = map[string]string{
	"command": "--shell=%v", "agent": "--agent=%v", "check": "--check=%v", "task": "--name=%v", "tasks": "--tasks=%v", "promise": "--promise=%v",
	"max_iterations": "--max-iterations=%v", "max_minutes": "--max-runtime=%vm", "max_cost_usd": "--max-cost=%v",
}

func (t *toolbox) start(ctx context.Context, _ *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
	if (in["command"] == nil) == (in["agent"] == nil) {
		return nil, errors.New("give either a command or an agent")
	}
	args := []string{"run", "--detached=defer"}
	for _, name := range slices.Sorted(maps.Keys(in)) { // equal starts run equal command lines
		value := in[name]
		if n, ok := value.(float64); ok {
			value = strconv.FormatFloat(n, 'f', -1, 64)
		}
		if flag, ok := startFlags[name]; ok {
			args = append(args, fmt.Sprintf(flag, value))
		}
	}
	folder, _ := in["folder"].(string)
	l, err := t.in(folder)
	if err != nil {
		return nil, err
	}
	select {
	case t.loops <- struct{}{}:
	default:
		return nil, fmt.Errorf("%d loops that you started are still active; wait for one of them", maxLoops)
	}
	id, err := l.start(ctx, func() { <-t.loops }, args...)
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

// about calls looprun with a run's id behind the arguments, or with none for the latest.
func (t *toolbox) about(ctx context.Context, run string, args ...string) ([]byte, error) {
	if run != "" && run != "latest" {
		if !runID.MatchString(run) {
			return nil, fmt.Errorf("%q is not the id of a run; leave it out for the latest", cut(run, 100))
		}
		args = append(args, run)
	}
	return t.of(run).call(ctx, "", args...)
}

func (t *toolbox) show(ctx context.Context, run string) (s shown, err error) {
	out, err := t.about(ctx, run, "show", "--format=json", "--number=1")
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
	case s.Status == "paused":
		return "looprun resume " + s.RunID + " continues it"
	}
	return "loop_explain, then change what you do before you start it again"
}

type runArgs struct {
	Run string `json:"run"`
}

func (t *toolbox) explain(ctx context.Context, _ *mcp.CallToolRequest, in runArgs) (*mcp.CallToolResult, error) {
	out, err := t.about(ctx, in.Run, "explain", "--color=never")
	return says(cut(clean(string(out)), 16<<10)), err
}

type sayArgs struct {
	Run   string `json:"run"`
	Words string `json:"words"`
}

func (t *toolbox) say(ctx context.Context, _ *mcp.CallToolRequest, in sayArgs) (*mcp.CallToolResult, error) {
	return t.order(ctx, in.Run, in.Words, "say", "-")
}

func (t *toolbox) pause(ctx context.Context, _ *mcp.CallToolRequest, in runArgs) (*mcp.CallToolResult, error) {
	return t.order(ctx, in.Run, "", "pause")
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
	first, second := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	if err := errors.Join(os.WriteFile(first, []byte(in.First), 0o600), os.WriteFile(second, []byte(in.Second), 0o600)); err != nil {
		return nil, err
	}
	out, err := t.looprun.call(ctx, "", "signature", "--diff", "--format=json", "--config=none", first, second)
	return says(clean(string(out))), err
}
