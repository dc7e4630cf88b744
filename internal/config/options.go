package config

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
	"github.com/looprun/looprun/internal/agent"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/cost"
	"github.com/looprun/looprun/internal/nearest"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/redact"
	"github.com/looprun/looprun/internal/tasks"
	"github.com/looprun/looprun/internal/waiting"
	"github.com/looprun/looprun/protocol/ladder"
)

// Options are the flags of run. They are recorded in the journal, so that a resumed run has
// the same ones.
//
// The tag trust is what a looprun.yaml that was merely found may do with the key of that name
// without consent, see [Key.asks]; value is what a text is, a path or a pattern, and words
// lists the texts that are not paths all the same; preset lists the presets that also set it,
// and agent the value that --agent sets unless it is set elsewhere, row meaning the value in
// the agent's row; normal is the default, min the smallest number; blank no rejects a blank
// text; of is the key that this one refines: it counts only if both come from the same place;
// excludes names a flag, or an argument as <arg>, that cannot be given together with it.
type Options struct {
	Shell      ShellLine `short:"c" name:"shell" placeholder:"LINE" help:"Run this shell line." json:"shell,omitempty" variable:"none" trust:"ask" group:"what" example:"make test"`
	Check      ShellLine `placeholder:"LINE" help:"Shell line that judges each iteration: 0 is done." json:"check,omitempty" group:"done" trust:"ask" example:"go test ./..."`
	Tasks      string    `placeholder:"FILE" help:"Done when no task of FILE is open. And when the check passes, if there is one. FILE has Markdown checkboxes, or a JSON list with a flag done." json:"tasks,omitempty" group:"done" trust:"ask" value:"path" consent:"name" blank:"no" example:"TODO.md"`
	Protect    []string  `kong:"-" placeholder:"GLOB" help:"Files that must not change before the run is done, such as tests/** or **/*_test.go; repeatable. The script that --check starts always is one (docs/guards.md#weakened)." json:"protect,omitempty" group:"done" sep:"none" trust:"ask" value:"path" consent:"name" blank:"no" example:"tests/**"`
	NoPrecheck bool      `kong:"-" help:"Skip the check before the first iteration." json:"no_precheck,omitempty" group:"done" trust:"ask"`
	Passes     int       `kong:"-" default:"1" placeholder:"N" help:"How often in a row the check must pass." json:"passes,omitempty" group:"done" trust:"ask" min:"1"`

	Once         bool    `help:"Run one iteration, then pause. looprun resume --once runs the next." json:"once,omitempty" group:"done" trust:"ask"`
	Promise      *string `placeholder:"TEXT" help:"Done when the command prints TEXT alone on a line." json:"promise,omitempty" group:"done" trust:"ask" blank:"no" example:"ALL-DONE"`
	PromiseMatch string  `kong:"-" enum:"line,anywhere" default:"line" help:"Where the promise counts." json:"promise_match,omitempty" group:"done" trust:"ask"`

	JudgedBy string `kong:"-" name:"judge" enum:"exit,turn" default:"exit" help:"The judge if there is no check, promise or task list. With turn, a successful turn of an agent is done." json:"judge,omitempty" group:"done" trust:"ask"`

	DoneCodes      Codes `kong:"-" default:"0" placeholder:"LIST" help:"Exit codes of the judge (the check, else the command) that pass." json:"done_codes" group:"done" trust:"ask"`
	ErrorCodes     Codes `kong:"-" default:"126-255" placeholder:"LIST" help:"Exit codes of the judge that are errors, or none." json:"error_codes" group:"done" trust:"ask"`
	WorkErrorCodes Codes `kong:"-" default:"1-255" placeholder:"LIST" help:"Exit codes of the command that are errors if a check or a promise judges, or none." json:"work_error_codes" group:"done" trust:"ask"`
	StopCodes      Codes `kong:"-" default:"none" placeholder:"LIST" help:"Exit codes of the judge that end the run as failed." json:"stop_codes" group:"done" trust:"ask"`

	LimitFlags

	IterationTimeout Duration  `placeholder:"D" help:"End an iteration that runs for longer." json:"iteration_timeout,omitempty" group:"time" trust:"lower" agent:"30m"`
	IdleTimeout      Duration  `kong:"-" placeholder:"D" help:"End an iteration that prints nothing for this long." json:"idle_timeout,omitempty" group:"time" trust:"lower"`
	KillAfter        *Span     `kong:"-" placeholder:"D" help:"Time between SIGTERM and SIGKILL. In CI it is 5s." json:"kill_after,omitempty" group:"time" trust:"ask" normal:"10s"`
	InitialDelay     Duration  `kong:"-" placeholder:"D" help:"Time before the first iteration." json:"initial_delay,omitempty" group:"time" trust:"ask"`
	Delay            *Duration `placeholder:"D" help:"Time between two iterations." json:"delay,omitempty" group:"time" trust:"ask" normal:"0s" preset:"wait"`
	Backoff          string    `kong:"-" enum:"fixed,exponential" default:"fixed" help:"How the delay grows. Exponential doubles it up to --max-delay, with jitter." json:"backoff,omitempty" group:"time" trust:"ask"`
	MaxDelay         *Span     `kong:"-" placeholder:"D" help:"The longest delay with --backoff exponential." json:"max_delay,omitempty" group:"time" trust:"ask" normal:"15m"`

	SignatureRules string     `kong:"-" placeholder:"FILE" help:"Your own masks and rules for signatures, in YAML." json:"-" group:"guard" trust:"ask" value:"path" blank:"no" example:"rules.yaml"`
	LoopMatch      string     `kong:"-" enum:"strict,loose" default:"strict" help:"How signatures are compared; loose leaves out all numbers." json:"loop_match,omitempty" group:"guard" trust:"ask"`
	LoopValues     string     `kong:"-" enum:"on,off" default:"on" help:"Trip when the same checks fail twice --loop-threshold times in a row and only values change." json:"loop_values,omitempty" group:"guard" trust:"ask"`
	ConfirmTrip    string     `kong:"-" enum:"on,off" default:"on" help:"Repeat a quick check before loop_detected asks; if it passes, it is flaky." json:"confirm_trip,omitempty" group:"guard" trust:"ask"`
	LoopOften      Often      `kong:"-" placeholder:"K/N" help:"Trip when the same failure came in K of the last N iterations, in a row or not, or off. By default N is 10 and K is twice --loop-threshold." json:"loop_often,omitempty" group:"guard" trust:"ask" normal:"6/10" example:"4/8"`
	Signature      *Signature `kong:"-" json:"signature,omitempty"`

	CostFrom      string         `kong:"-" placeholder:"WHAT" help:"Read the cost from the command's output: claude, codex, gemini, opencode, auto, or a regular expression with groups usd and tokens." json:"cost_from,omitempty" group:"guard" trust:"ask" agent:"row" blank:"no" example:"auto"`
	WaitOn        []string       `placeholder:"REGEX" help:"Wait if a line of the output matches. Then the iteration runs again: a usage limit, a network that is down. @claude, @codex, @copilot, @gemini, @opencode, @http429, @network, @all are built in. Repeatable." json:"wait_on,omitempty" group:"time" sep:"none" trust:"ask" value:"pattern" agent:"row"`
	MaxCostPerDay *MoneyLimit    `kong:"-" placeholder:"USD" help:"Limit of the reported cost of all your runs in 24 hours, in US dollars." json:"max_cost_per_day,omitempty" group:"guard" trust:"lower" normal:"off"`
	CallsPerHour  *int           `kong:"-" placeholder:"N" help:"Start at most this many iterations within an hour, and wait before the next." json:"calls_per_hour,omitempty" group:"time" trust:"ask"`
	StopOn        []string       `kong:"-" placeholder:"REGEX" help:"End the run as failed when the output of an iteration that is not done has a matching line: not logged in, no credit, an invalid key; @claude, @codex, @copilot, @gemini, @opencode, @all are built in. Repeatable." json:"stop_on,omitempty" group:"time" sep:"none" trust:"ask" value:"pattern" agent:"row" example:"invalid key"`
	RetryOn       []string       `kong:"-" placeholder:"REGEX" help:"Run another iteration only where the output of the last one has a matching line; any other failure ends the run as failed. Takes the patterns of --wait-on. Repeatable." json:"retry_on,omitempty" group:"time" sep:"none" trust:"ask" value:"pattern" example:"@network"`
	WaitDelay     *Span          `kong:"-" placeholder:"D" help:"The first wait if the line names no time. It doubles up to 15m." json:"wait_delay,omitempty" group:"time" trust:"ask" normal:"30s"`
	OutageLimit   *DurationLimit `kong:"-" placeholder:"D" help:"How long to wait out an outage of a coding agent's service, after a turn has worked, or off." json:"outage_limit,omitempty" group:"time" trust:"ask" normal:"1h"`
	Signals       string         `kong:"-" enum:"off,text" default:"off" help:"Read signals also from what the command prints (docs/signals.md)." json:"signals,omitempty" group:"run" trust:"ask"`
	// Ladder is the escalation ladder from looprun.yaml.
	Ladder ladder.Config `kong:"-" json:"ladder,omitzero"`

	// Agents holds the agents from looprun.yaml.
	Agents agent.Agents `kong:"-" json:"agents,omitempty"`

	Agent          string `placeholder:"NAME" help:"Run a coding agent with the task after the flags. looprun agents lists them; their own flags go after --. Sets what it needs where nothing else does: --stdin context, --max-runtime 8h, --iteration-timeout 30m, --turn-loop 8, --cost-from, --wait-on." json:"agent,omitempty" trust:"ask" blank:"no" group:"what" example:"claude"`
	Session        string `kong:"-" enum:"keep,fresh" default:"fresh" help:"Whether the agent of --agent continues its own session from turn to turn, or begins a new one each time." json:"session,omitempty" trust:"ask" group:"run"`
	SessionTurns   *int   `kong:"-" placeholder:"N" help:"How many turns a session is kept for." json:"session_turns,omitempty" trust:"ask" group:"run" normal:"20" min:"1"`
	AgentQuestions string `kong:"-" enum:"ask,go_on" default:"ask" help:"What happens if the agent of --agent ends a turn with a question and changed nothing: ask, or go_on and let it decide. Where nobody can answer it decides anyway, unless --detached keeps the question." json:"agent_questions,omitempty" trust:"ask" group:"answer"`

	Wait  bool `help:"Run until it succeeds: wait for a service. Sets --loop-threshold off --max-iterations off --max-errors off --delay 1s --detached deny, and asks nobody." json:"wait,omitempty" trust:"ask" excludes:"--retry" group:"what"`
	Retry *int `placeholder:"N" help:"Run at most N times: a flaky command. Sets --max-iterations N --loop-threshold off --max-errors off, and asks nobody." json:"retry,omitempty" trust:"ask" min:"1" group:"what"`

	AnswerFlags

	HookOnQuestion ShellLine `kong:"-" placeholder:"LINE" help:"Shell line to run when a question is asked, with the event as JSON on standard input." json:"hook_on_question,omitempty" group:"hooks" trust:"ask"`
	HookOnTrip     ShellLine `kong:"-" placeholder:"LINE" help:"Shell line to run when a guard trips, with the event as JSON on standard input." json:"hook_on_trip,omitempty" group:"hooks" trust:"ask"`
	HookOnEnd      ShellLine `kong:"-" placeholder:"LINE" help:"Shell line to run when the run ends, with the event as JSON on standard input." json:"hook_on_end,omitempty" group:"hooks" trust:"ask"`
	HookTimeout    *Span     `kong:"-" placeholder:"D" help:"Time limit for a hook." json:"hook_timeout,omitempty" group:"hooks" trust:"ask" normal:"10s"`

	CI         string `kong:"-" name:"ci" enum:"auto,github,gitlab,buildkite,azure,generic,off" default:"auto" help:"Report to the CI system." json:"ci,omitempty" group:"hooks" trust:"ask"`
	CICommands string `kong:"-" name:"ci-commands" enum:"fence,allow" default:"fence" help:"How to print output lines that the CI system would obey." json:"ci_commands,omitempty" group:"hooks" trust:"ask"`

	Redact   []string `kong:"-" placeholder:"REGEX" help:"Mask matches in everything that looprun keeps (journal, scratchpad, output files, questions, hooks, reports); repeatable. Values of variables named *_TOKEN, *_SECRET, *_PASSWORD, *_KEY are masked anyway." json:"redact,omitempty" group:"run" sep:"none" trust:"ask" value:"pattern" example:"sk-[a-z0-9]+"`
	NoRedact bool     `kong:"-" help:"Mask nothing." json:"no_redact,omitempty" group:"run" trust:"ask"`

	Stdin          string    `default:"none" placeholder:"none|-|context|FILE" help:"What the command reads. none is nothing, - is looprun's own input (read once, and given to each iteration), context is what looprun context prints, and all else is a file." json:"stdin,omitempty" trust:"ask" value:"path" consent:"name" words:"none,-,context" agent:"context" blank:"no" group:"what" example:"notes.md"`
	Interactive    bool      `short:"i" help:"The command talks to the person at the terminal. It may be an editor, a full-screen interface or a password prompt." json:"interactive,omitempty" trust:"ask" excludes:"--stdin" group:"what"`
	Show           string    `kong:"-" enum:"text,raw" default:"text" help:"How to show a coding agent's JSON. The files of a run keep the bytes." json:"show,omitempty" group:"run" trust:"safe"`
	CheckOutput    string    `kong:"-" enum:"changed,all" default:"changed" help:"Which check output to show; changed omits it if the failure is the same as before." json:"check_output,omitempty" group:"run" trust:"safe"`
	NoPty          bool      `kong:"-" help:"Use pipes for the output, even on a terminal." json:"no_pty,omitempty" group:"run" trust:"ask"`
	KeepBackground bool      `kong:"-" help:"Keep the command's background processes until the run ends." json:"keep_background,omitempty" group:"run" trust:"ask"`
	Name           string    `placeholder:"TEXT" help:"The task, shown in lists and reports." json:"name,omitempty" trust:"safe" group:"what" example:"Make the tests pass"`
	Debug          ShellLine `kong:"-" placeholder:"LINE" help:"Shell line that the answer debug runs." json:"debug,omitempty" group:"run" trust:"ask"`

	StateDir    string         `placeholder:"DIR" help:"Where runs are kept. Without it .looprun at the git root, else here." json:"-" group:"state" trust:"ask" value:"path" consent:"name" example:"../runs"`
	Checkpoint  bool           `help:"Keep the files after each iteration, for looprun diff. And for looprun restore: commits on refs/looprun/RUN." json:"checkpoint,omitempty" group:"state" trust:"ask"`
	KeepRuns    Keep           `kong:"-" placeholder:"PART=N" help:"Which older runs stay when this one ends: the latest runs=N, none older than days=N, no more than megabytes=N in all; several with commas, or off for all. A run that can be resumed is always kept." json:"keep,omitzero" group:"state" trust:"ask" key:"keep" normal:"runs=50"`
	Sync        string         `kong:"-" enum:"off,async,each" default:"async" help:"When the journal is flushed to the disk." json:"sync,omitempty" group:"state" trust:"ask"`
	Result      string         `placeholder:"FILE" help:"Write a copy of result.json to FILE." json:"result,omitempty" group:"state" trust:"ask" value:"path" consent:"name" blank:"no" example:"result.json"`
	Passthrough bool           `short:"x" help:"Exit with the command's last code." json:"passthrough,omitempty" group:"state" trust:"ask"`
	ExitCode    map[string]int `kong:"-" placeholder:"KEY=N" help:"Exit code for a status or a guard." json:"exit_code,omitempty" group:"state" trust:"ask" key:"exit_codes"`
	// ConfigExitCodes holds the exit codes from looprun.yaml, over which a policy's take
	// precedence.
	ConfigExitCodes map[string]int `kong:"-" json:"config_exit_codes,omitempty"`
}

// LimitFlags can also be given when resuming a run.
type LimitFlags struct {
	MaxIterations *CountLimit    `placeholder:"N" help:"Highest number of iterations, or off." json:"max_iterations,omitempty" group:"guard" trust:"upto=50" normal:"10" preset:"retry,wait"`
	MaxRuntime    *DurationLimit `placeholder:"D" help:"Active time, such as 90s, 2h or 1d, or off." json:"max_runtime,omitempty" group:"guard" trust:"upto=60m" normal:"15m" agent:"8h"`
	LoopThreshold *CountLimit    `placeholder:"N" help:"How often the same failure may repeat, or off. In a row or in a cycle." json:"loop_threshold,omitempty" group:"guard" trust:"upto=3" normal:"3" min:"2" preset:"retry,wait"`
	MaxErrors     *CountLimit    `placeholder:"N" help:"Allowed errors in a row, or off. An iteration that its judge calls an error is one." json:"max_errors,omitempty" group:"guard" trust:"upto=3" normal:"3" preset:"retry,wait"`
	MaxCost       *MoneyLimit    `placeholder:"USD" help:"Limit of the reported cost in US dollars, or off." json:"max_cost,omitempty" group:"guard" trust:"lower" normal:"off"`
	MaxTokens     *TokenLimit    `kong:"-" placeholder:"N" help:"Limit of the reported tokens: 500000, 500k or 2M." json:"max_tokens,omitempty" group:"guard" trust:"lower" normal:"off"`

	MaxIdleIterations     *CountLimit `kong:"-" placeholder:"N" help:"Iterations in a row that may change neither the output's meaning nor the work tree." json:"max_idle_iterations,omitempty" group:"guard" trust:"lower" normal:"off"`
	DetectWorkspaceCycles *CountLimit `kong:"-" placeholder:"N" help:"How often the work tree may return to an earlier state." json:"detect_workspace_cycles,omitempty" group:"guard" trust:"lower" normal:"off"`
	TurnLoop              *CountLimit `kong:"-" placeholder:"N" help:"How often in a row a coding agent may make the same call with the same result, or repeat the same text, within one turn, or off." json:"turn_loop,omitempty" group:"guard" trust:"lower" normal:"off" min:"2" agent:"8"`

	Weakened Weakening `kong:"-" placeholder:"WHAT" help:"What happens if the judge passes but fewer checks ran than before, more were skipped, none ran, or a protected file has changed: trip, warn or off (trip if a check judges a coding agent, else warn)." json:"weakened,omitempty" group:"guard" trust:"ask" words:"trip,warn,off" example:"warn"`

	CapIterations *CountLimit    `kong:"-" placeholder:"N" help:"The highest --max-iterations that answers can reach (the larger of 50 and twice the limit)." json:"cap_iterations,omitempty" group:"guard" trust:"upto=50"`
	CapRuntime    *DurationLimit `kong:"-" placeholder:"D" help:"The highest --max-runtime that answers can reach (the larger of 60m and twice the limit)." json:"cap_runtime,omitempty" group:"guard" trust:"upto=60m"`
	CapCost       *MoneyLimit    `kong:"-" placeholder:"USD" help:"The highest --max-cost that answers can reach (twice the limit)." json:"cap_cost,omitempty" group:"guard" trust:"ask"`
	CapTokens     *TokenLimit    `kong:"-" placeholder:"N" help:"The highest --max-tokens that answers can reach (twice the limit)." json:"cap_tokens,omitempty" group:"guard" trust:"ask"`
}

// AnswerFlags control who answers questions.
type AnswerFlags struct {
	Policy       []string  `placeholder:"FILE" help:"Policy file that answers questions; repeatable, earlier wins." json:"policy,omitempty" group:"answer" sep:"none" trust:"ask" value:"path" blank:"no" example:"policy.yaml"`
	Templates    []string  `kong:"-" placeholder:"DIR" help:"Folder of question templates, over the built-in ones; repeatable, earlier wins." json:"templates,omitempty" group:"answer" sep:"none" adds:"variable" trust:"ask" value:"path" example:"my-pack"`
	Detached     Modes     `placeholder:"MODE[,KEY=MODE]" help:"What happens when nobody can be asked. deny ends the run, defaults takes the default answer, auto lets the assistant answer, and defer keeps the question. KEY is a kind (confirm, select, text), a guard or the id of a question." json:"detached,omitzero" group:"answer" trust:"ask" normal:"deny" preset:"wait" example:"defer"`
	WaitAnswer   Duration  `kong:"-" placeholder:"D" help:"How long to wait for looprun answer before --detached decides." json:"wait_answer,omitempty" group:"answer" trust:"ask" normal:"0s"`
	Assistant    ShellLine `placeholder:"LINE" help:"Shell line that answers questions; see docs/assistants.md." json:"assistant,omitempty" group:"answer" trust:"ask"`
	AssistantFor []string  `kong:"-" enum:"ask,guards" default:"ask" placeholder:"WHAT" help:"Which questions the assistant answers: ask, of the command; guards, of guards." json:"assistant_for,omitempty" group:"answer" trust:"ask" example:"ask,guards"`

	AssistantName  string `kong:"-" placeholder:"TEXT" help:"The assistant's name, shown with its answers." json:"assistant_name,omitempty" group:"answer" trust:"ask" of:"assistant" blank:"no"`
	AssistantModel string `kong:"-" placeholder:"TEXT" help:"The assistant's model, shown with its answers." json:"assistant_model,omitempty" group:"answer" trust:"ask" of:"assistant" blank:"no"`

	AssistantEscalation bool  `kong:"-" help:"Pass the assistant's cancel to a person, with its reason." json:"assistant_escalation,omitempty" group:"answer" trust:"ask"`
	AssistantTimeout    *Span `kong:"-" placeholder:"D" help:"Time limit for an answer of the assistant." json:"assistant_timeout,omitempty" group:"answer" trust:"ask" normal:"1m0s"`

	WhenStuck           ShellLine `kong:"-" placeholder:"LINE" help:"Shell line that works in place of the command for some iterations, once in a run, when a guard finds the run stuck; see docs/guards.md." json:"when_stuck,omitempty" group:"answer" trust:"ask" example:"claude -p --model opus"`
	WhenStuckIterations *int      `kong:"-" placeholder:"N" help:"For how many iterations the command of when_stuck works." json:"when_stuck_iterations,omitempty" group:"answer" trust:"ask" of:"when_stuck" normal:"3" min:"1"`
	WhenStuckGuards     []string  `kong:"-" enum:"loop_detected,consecutive_errors,no_progress,workspace_cycle" placeholder:"GUARD" help:"The guards whose first trip the command of when_stuck answers (loop_detected and no_progress)." json:"when_stuck_guards,omitempty" group:"answer" trust:"ask" of:"when_stuck" example:"loop_detected,no_progress"`

	// Notify is not recorded with a run: a resumed run must be given it again.
	Notify Services `kong:"-" placeholder:"URL" help:"Service to notify of questions and the end; repeatable." json:"notify,omitempty" group:"hooks" sep:"none" trust:"ask"`

	// Assistants holds the assistants from looprun.yaml for some questions, by question id,
	// guard or kind.
	Assistants map[string]Assistant `kong:"-" json:"assistants,omitempty"`

	NonInteractive bool `help:"Ask no person." json:"non_interactive,omitempty" group:"answer" trust:"ask" preset:"ask,retry,wait"`
	Ask            bool `kong:"-" help:"Ask the person at the terminal also with --retry or --wait." json:"ask,omitempty" group:"answer" trust:"ask" excludes:"--non-interactive"`
}

// EachField calls do with every field of a struct, including those of embedded structs, in
// order. [reflect.VisibleFields] takes far more time and memory.
func EachField(of reflect.Type, do func(reflect.StructField)) { eachField(of, nil, do) }

func eachField(of reflect.Type, at []int, do func(reflect.StructField)) {
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Index = append(at[:len(at):len(at)], i); f.Anonymous {
			eachField(f.Type, f.Index, do)
		} else {
			do(f)
		}
	}
}

// Limits returns the limits and caps in force.
func (o *Options) Limits() (core.Limits, core.Caps, error) {
	l := core.DefaultLimits()
	if o.Wait {
		l.Iterations, l.Loop, l.Errors = core.Off, core.Off, core.Off
	}
	if o.Retry != nil {
		l.Iterations, l.Loop, l.Errors = *o.Retry, core.Off, core.Off
	}
	caps, err := o.LimitFlags.Over(&l)
	return l, caps, err
}

// Over replaces limits in l with those that were given, and returns the caps.
func (f *LimitFlags) Over(l *core.Limits) (core.Caps, error) {
	given := f.Texts()
	var errs []error
	for _, g := range core.Specs() {
		if text, ok := given[g.Key]; ok {
			errs = append(errs, g.Put(l, text))
		}
		if g.One != "" && g.Text(*l) == "1" {
			errs = append(errs, Usagef("%s 1: %s; use 2 or more, or off", Flag(flagOf(g.Key)), g.One))
		}
	}
	caps := core.DefaultCaps(*l)
	for _, g := range core.Specs() {
		if g.Unit() == "" {
			continue
		}
		ceiling := CapKey(g)
		if text, ok := given[ceiling]; ok {
			errs = append(errs, g.PutCap(&caps, text))
		}
		if g.Above(*l, caps) {
			errs = append(errs, Usagef("%s %s is above %s %s; raise the cap or lower the limit", Flag(flagOf(g.Key)), g.Text(*l), Flag(flagOf(ceiling)), g.CapText(caps)))
		}
	}
	return caps, errors.Join(errs...)
}

// CapKey returns the key of the cap up to which answers can extend a guard's limit.
func CapKey(g core.Spec) string { return "cap_" + g.Unit() }

func flagOf(key string) string { return strings.ReplaceAll(key, "_", "-") }

// Texts returns the texts of the limits and caps that are set, by key.
func (f *LimitFlags) Texts() map[string]string {
	given := map[string]string{}
	v := reflect.ValueOf(f).Elem()
	EachField(v.Type(), func(field reflect.StructField) {
		value := v.FieldByIndex(field.Index)
		if value.IsZero() {
			return
		}
		if m, ok := value.Interface().(encoding.TextMarshaler); ok {
			text, _ := m.MarshalText() // a limit can always be written
			given[keyName(field)] = string(text)
		} else {
			given[keyName(field)] = value.String()
		}
	})
	return given
}

// Wrong reports all errors in the options before anything runs.
func (o *Options) Wrong() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, Usagef(format, args...)) }
	if o.Promise != nil {
		if err := engine.CheckPromise(*o.Promise); err != nil {
			wrong("%s: %v", Flag("promise"), err)
		}
	}
	if o.Passes < 1 {
		wrong("%s %d: the check has to pass at least once; use 1 or more", Flag("passes"), o.Passes)
	}
	if slices.Contains(o.Templates, "") {
		wrong("%s: the name of a folder is empty; name a folder with templates, or leave it out", Flag("templates"))
	}
	if o.CheckStep() == nil {
		if o.Passes > 1 {
			wrong("%s needs a check that can pass; add %s LINE", Flag("passes"), Flag("check"))
		}
		if o.NoPrecheck {
			wrong("%s needs a check; add %s LINE, or leave it out", Flag("no-precheck"), Flag("check"))
		}
	}
	if o.DoneCodes.Empty() {
		wrong("%s none: the run could never be done; name the exit codes that pass, or leave it out", Flag("done-codes"))
	}
	if both := o.DoneCodes.Both(o.ErrorCodes.Codes); !both.Empty() {
		wrong("exit code %s is in %s and in %s; take it out of one of them", both, Flag("done-codes"), Flag("error-codes"))
	}
	if both := o.DoneCodes.Both(o.StopCodes.Codes); !both.Empty() {
		wrong("exit code %s is in %s and in %s; take it out of one of them", both, Flag("done-codes"), Flag("stop-codes"))
	}
	b := o.Delays()
	switch {
	case b.Exponential && b.Base == 0:
		wrong("%s exponential has no delay to grow; add %s D", Flag("backoff"), Flag("delay"))
	case o.MaxDelay != nil && !b.Exponential:
		wrong("%s needs a delay that grows; add %s exponential, or leave it out", Flag("max-delay"), Flag("backoff"))
	case o.MaxDelay != nil && b.Base > b.Max:
		wrong("%s %s is above %s %s; raise the one or lower the other", Flag("delay"), b.Base, Flag("max-delay"), b.Max)
	}
	errs = append(errs, o.contrary(), o.wrongAgent(), o.Detached.misspelt())
	if o.Wait && o.Retry != nil {
		wrong("%s and %s exclude each other; use %[1]s for something that will come, %[2]s for something flaky", Flag("wait"), Flag("retry"))
	}
	if o.WaitDelay != nil && len(o.WaitOn) == 0 && o.Agent == "" {
		wrong("%s needs a line to wait for; add %s REGEX", Flag("wait-delay"), Flag("wait-on"))
	}
	if n := o.SessionTurns; n != nil && *n < 1 {
		wrong("%s %d: a session has at least one turn; use 1 or more", Flag("session-turns"), *n)
	} else if n != nil && o.Session != "keep" {
		wrong("%s needs a session that is kept; add %s keep", Flag("session-turns"), Flag("session"))
	}
	_, _, _, err := o.Matchers()
	errs = append(errs, err)
	if n := o.CallsPerHour; n != nil && (*n < 1 || *n > maxCalls) {
		wrong("%s is a number from 1 to %d, not %d; leave it out for any number", Flag("calls-per-hour"), maxCalls, *n)
	}
	if _, err := o.CostReader(); err != nil {
		wrong("%s: %v", Flag("cost-from"), err)
	}
	if _, err := o.Redactor(nil); err != nil {
		wrong("%s: %v", Flag("redact"), err)
	}
	if o.Retry != nil && *o.Retry < 1 {
		wrong("%s %d; use 1 or more", Flag("retry"), *o.Retry)
	}
	if o.Interactive && o.Stdin != "none" {
		wrong("-i connects the command to the terminal, so %s cannot feed it; use one of them", Flag("stdin"))
	}
	if !o.Assisted() && o.Detached.has(DetachedAuto) {
		wrong("%s auto: there is no assistant to answer; add %s LINE", Flag("detached"), Flag("assistant"))
	}
	for _, about := range []struct {
		flag  string
		given bool
	}{{"assistant-name", o.AssistantName != ""}, {"assistant-model", o.AssistantModel != ""}, {"assistant-escalation", o.AssistantEscalation}} {
		if o.Assistant == "" && about.given {
			wrong("%s: there is no assistant to answer; add %s LINE", Flag(about.flag), Flag("assistant"))
		}
	}
	for _, of := range slices.Sorted(maps.Keys(o.Assistants)) {
		switch a := o.Assistants[of]; {
		case a.Person && a != (Assistant{Person: true}):
			wrong("assistants: a person answers for %s, so its entry takes no other key; leave the rest out", of)
		case !a.Person && a.Command == "" && o.Assistant == "":
			wrong("assistants: the one for %s has no command, and there is no assistant whose command it could use; add command: LINE", of)
		}
	}
	switch n := o.WhenStuckIterations; {
	case o.WhenStuck == "" && (n != nil || o.WhenStuckGuards != nil):
		wrong("when_stuck_iterations and when_stuck_guards do nothing without a command; set %s, or leave them out", Flag("when-stuck"))
	case n != nil && *n < 1:
		wrong("%s %d: use 1 or more", Flag("when-stuck-iterations"), *n)
	}
	for key, code := range o.ExitCode {
		if why := wrongExitCode(key, code); why != "" {
			wrong("%s %s=%d: %s", Flag("exit-code"), key, code, why)
		}
	}
	if _, _, err := o.Limits(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// exitCodeNames returns the statuses and guards whose exit code can be changed.
func exitCodeNames() []string {
	return slices.Concat(convert.Strings(core.Statuses()), convert.Strings(core.GuardIDs()), convert.Strings(core.ProtocolIDs()))
}

// wrongExitCode returns why a mapping cannot be intended; empty if it can.
func wrongExitCode(key string, code int) string {
	status, guard := core.Status(key), core.GuardID(key)
	isGuard := slices.Contains(core.GuardIDs(), guard) || slices.Contains(core.ProtocolIDs(), guard)
	switch {
	case !isGuard && !slices.Contains(core.Statuses(), status):
		return fmt.Sprintf("%q is neither a status nor a guard; %s", key, nearest.OneOf(key, exitCodeNames()))
	case code < 0 || code > 255:
		return "an exit code is from 0 to 255"
	case code == 0 && !status.MayExitZero():
		return "a run that did not end well must not look as if it did; use a code above 0 (only done and accepted can be 0)"
	}
	return ""
}

// Judge returns how exit codes are judged.
func (o *Options) Judge(terminal bool) engine.Judge {
	return engine.Judge{
		Done: o.DoneCodes.Codes, Errors: o.ErrorCodes.Codes, WorkErrors: o.WorkErrorCodes.Codes, Stop: o.StopCodes.Codes,
		Promise: o.Promise != nil, Terminal: terminal, Turn: o.ByTurn(),
	}
}

// ByTurn reports whether judge: turn makes the end of an agent's turn count as done.
func (o *Options) ByTurn() bool { return o.JudgedBy == "turn" && o.unjudged() }

// unjudged reports whether only the command itself decides whether it is done.
func (o *Options) unjudged() bool { return o.CheckStep() == nil && o.Promise == nil && o.Tasks == "" }

// NeedJudge returns an error for an agent whose work nobody would examine: its exit code and
// the end of its turn reveal nothing about the work.
func (o *Options) NeedJudge() error {
	if o.Agent == "" || !o.unjudged() || o.ByTurn() {
		return nil
	}
	return Usagef("%s %s: nothing judges the work, and nobody is at the terminal; add --check LINE, --promise TEXT or --tasks FILE; "+
		"or judge: turn (--judge turn), if the end of a turn is enough", Flag("agent"), o.Agent)
}

func (o *Options) Delays() engine.Backoff {
	b := engine.Backoff{Initial: time.Duration(o.InitialDelay), Exponential: o.Backoff == "exponential", Max: o.MaxDelay.Or(0)}
	switch {
	case o.Delay != nil:
		b.Base = time.Duration(*o.Delay)
	case o.Wait:
		b.Base = time.Second
	}
	return b
}

// Silent returns the flag that prevents asking a person; empty if there is none.
func (o *Options) Silent() string {
	switch {
	case o.NonInteractive:
		return "non-interactive"
	case o.Wait && !o.Ask:
		return "wait"
	case o.Retry != nil && !o.Ask:
		return "retry"
	}
	return ""
}

// contrary returns an error for flags that exclude each other.
func (f *AnswerFlags) contrary() error {
	if f.Ask && f.NonInteractive {
		return Usagef("%s and %s exclude each other; use one of them", Flag("ask"), Flag("non-interactive"))
	}
	return nil
}

// DetachedAuto lets the assistant answer when no person can be asked.
const DetachedAuto = "auto"

// StdinContext gives the command the output of looprun context.
const StdinContext = "context"

// StdinFile returns the file that the command reads; empty if there is none.
func (o *Options) StdinFile() string {
	f, _ := reflect.TypeFor[Options]().FieldByName("Stdin")
	if slices.Contains(strings.Split(f.Tag.Get("words"), ","), o.Stdin) {
		return ""
	}
	return o.Stdin
}

// Matchers returns what recognises limits to wait for, failures that are retried, and errors that
// cannot pass; each is nil if there is none.
func (o *Options) Matchers() (wait, retry, stop engine.Matcher, err error) {
	var errs []error
	of := func(flag string, patterns []string, compile func([]string) (*waiting.Matcher, error)) engine.Matcher {
		if len(patterns) == 0 {
			return nil
		}
		m, err := compile(patterns)
		if err != nil {
			errs = append(errs, Usagef("%s: %v", Flag(flag), err))
		}
		return m
	}
	wait = of("wait-on", o.WaitOn, waiting.Compile)
	stop = of("stop-on", o.StopOn, waiting.CompileStop)
	retry = of("retry-on", o.RetryOn, waiting.CompileRetry)
	return wait, retry, stop, errors.Join(errs...)
}

// maxCalls is the maximum number of calls per hour, since a time is stored for each.
const maxCalls = 1000

// CostReader returns the reader for the cost of an iteration; nil if it is not read.
func (o *Options) CostReader() (*cost.Reader, error) {
	if o.CostFrom == "" {
		return nil, nil //nolint:nilnil // nothing is read
	}
	return costReader(o.CostFrom, o.Agents)
}

// Redactor returns the redactor for secrets; nil masks nothing.
func (o *Options) Redactor(environ []string) (*redact.Redactor, error) {
	patterns := convert.Each(o.Redact, func(text string) redact.Pattern { return redact.Pattern{Text: text} })
	var values []string
	for _, s := range o.Notify {
		values = append(values, s.secrets()...)
	}
	return redact.New(redact.Options{Environ: environ, Values: values, Patterns: patterns, Off: o.NoRedact})
}

// Work returns the step to run. While an iteration is escalated it runs the command of
// when_stuck instead.
func (o *Options) Work(command []string) engine.Step {
	own := o.own(command)
	if o.WhenStuck == "" {
		return own
	}
	return escalatingStep{own, engine.Shell(string(o.WhenStuck))}
}

// Responds reports whether anything but a person may answer a question of a run that is driven
// elsewhere.
func (o *Options) Responds() bool {
	return o.WhenStuck != "" || o.AgentQuestions == "go_on" || len(o.Policy) > 0 ||
		o.Assistant != "" || len(o.Assistants) > 0 || !o.Detached.IsZero()
}

// Escalates returns for how many iterations the command of when_stuck works after a trip of the
// guard; zero means that it does not.
func (o *Options) Escalates(guard core.GuardID) int {
	guards := o.WhenStuckGuards
	if guards == nil {
		guards = []string{string(core.LoopDetected), string(core.NoProgress)}
	}
	switch {
	case o.WhenStuck == "" || !slices.Contains(guards, string(guard)):
		return 0
	case o.WhenStuckIterations == nil:
		return 3
	}
	return *o.WhenStuckIterations
}

// escalatingStep is the work of a run, and the work of its escalated iterations.
type escalatingStep struct {
	engine.Step
	escalated engine.Step
}

// Run implements [engine.Step].
func (s escalatingStep) Run(ctx context.Context, in engine.Invocation) engine.Exit {
	if in.Iteration.Escalated {
		return s.escalated.Run(ctx, in)
	}
	return s.Step.Run(ctx, in)
}

func (o *Options) own(command []string) engine.Step {
	if o.Shell != "" {
		return engine.Shell(string(o.Shell))
	}
	if a, ok := o.Agents.Find(o.Agent); ok {
		return agentStep{engine.Argv(slices.Concat(a.Command, command)...), a, command}
	}
	return engine.Argv(command...)
}

// KeepTurns is how many turns the agent's session is kept for; 0 means that each turn begins a
// new one.
func (o *Options) KeepTurns() int {
	switch {
	case o.Session != "keep":
		return 0
	case o.SessionTurns == nil:
		return 20
	}
	return *o.SessionTurns
}

func (o *Options) CheckStep() engine.Step {
	var check engine.Step
	if o.Check != "" {
		check = engine.Shell(string(o.Check))
	}
	if o.Tasks != "" {
		return tasks.Step(o.Tasks, check)
	}
	return check
}

// NeedShell returns an error if there are shell lines but no shell to run them.
func (o *Options) NeedShell() error {
	of := reflect.ValueOf(o).Elem()
	var first reflect.StructField
	EachField(of.Type(), func(f reflect.StructField) {
		if first.Type == nil && f.Type == reflect.TypeFor[ShellLine]() && !of.FieldByIndex(f.Index).IsZero() {
			first = f
		}
	})
	if first.Type == nil {
		return nil
	}
	err := proc.FindShell()
	switch short := first.Tag.Get("short"); {
	case err == nil:
		return nil
	case short != "":
		return Usagef("-%s: %v", short, err)
	}
	return Usagef("%s: %v", Flag(FlagOf(first)), err)
}

// Hints returns warnings about a configuration that is allowed but rarely intended.
func (o *Options) Hints(command []string) []string {
	var hints []string
	if o.Tasks != "" && o.Check == "" {
		hints = append(hints, fmt.Sprintf("--tasks %s without --check: the worker ticks its own boxes; a check shows whether the tasks are done", o.Tasks))
	}
	a, ok := o.Agents.Of(command)
	if !ok {
		return hints
	}
	if o.CheckStep() == nil && o.Promise == nil {
		hints = append(hints, fmt.Sprintf("%s ends with exit code 0 also when the work is not done, and that will count as done; give --check LINE or --promise TEXT", a.Name))
	}
	if o.Agent == "" && o.MaxRuntime == nil && o.Retry == nil && !o.Wait {
		remedy := "give --max-runtime 8h"
		if a.Command != nil {
			remedy += ", or let --agent " + a.Name + " set what it needs"
		}
		hints = append(hints, fmt.Sprintf("%s may need longer than the %.0f minutes that a run has; %s", a.Name, core.DefaultLimits().Runtime.Minutes(), remedy))
	}
	return hints
}

// GracePeriod returns the time between SIGTERM and SIGKILL.
func (o *Options) GracePeriod() time.Duration {
	normal := proc.DefaultKillAfter
	if console.InCI() {
		normal = 5 * time.Second
	}
	return o.KillAfter.Or(normal)
}
