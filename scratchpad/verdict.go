package scratchpad

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
)

const resultName = "result.json"

// Verdict is result.json: every field is always present, except for the time of a decision
// that nobody made, and empty words, sub-tasks and warnings. Each doc tag is the field's
// description in the schema.
type Verdict struct {
	Schema         string         `json:"schema" doc:"The form of this file."`
	RunID          string         `json:"run_id" doc:"The run, as looprun list shows it."`
	Status         core.Status    `json:"status" doc:"How the run ended."`
	ExitCode       int            `json:"exit_code" doc:"The code that looprun exited with: that of the status, unless exit_codes or --passthrough says otherwise."`
	Guard          core.GuardID   `json:"guard" doc:"What stopped the run, or asked last; empty where nothing did."`
	Decision       string         `json:"decision" doc:"The option that ended the run; empty where none did."`
	Responder      string         `json:"responder" doc:"Who chose it; empty where nobody did."`
	Assistant      core.Assistant `json:"assistant,omitzero" doc:"Which assistant chose it; not there where none did, or it has no name."`
	Reason         string         `json:"reason" doc:"Why, in the words of who decided, or of looprun."`
	Rule           string         `json:"rule" doc:"The rule of the policy that decided, as FILE:LINE; empty if none did."`
	DecidedAt      time.Time      `json:"decided_at,omitzero" doc:"When it was decided; not there where nobody decided."`
	Iterations     int            `json:"iterations" doc:"Iterations that were run, without the check before the first."`
	RuntimeSeconds float64        `json:"runtime_seconds" doc:"Active time in seconds: questions and pauses do not count."`
	Signature      string         `json:"signature" doc:"What the last iteration's output meant, as a label; empty where nothing can be said."`
	Says           string         `json:"says,omitempty" doc:"The same in words for a person; not there where it passed."`
	Progress       *core.Progress `json:"progress,omitempty" doc:"What the last iteration's output said of its checks, such as how many tests fail; not there where it said nothing."`
	Trips          int            `json:"trips" doc:"How often guards have stopped the run to ask."`
	CostUSD        float64        `json:"cost_usd" doc:"The cost that was reported, in US dollars."`
	Tokens         int64          `json:"tokens" doc:"The tokens that were reported."`
	Pending        bool           `json:"pending" doc:"A question waits for an answer: use looprun answer."`
	Subtasks       *core.Subtasks `json:"subtasks,omitempty" doc:"How far a task is that was taken apart, by the titles of its parts; not there where none was."`
	Warnings       []string       `json:"warnings,omitempty" doc:"What somebody should know of the run though its status is as it is; not there where there is nothing."`
}

// resultSchema identifies the form of result.json.
const resultSchema = "looprun.dev/result/v1"

// WriteResult writes the verdict into the run's directory, and a copy to file unless it is
// empty.
func (r *Run) WriteResult(res core.Result, file string) error {
	b, err := json.MarshalIndent(Verdict{
		Schema: resultSchema, RunID: res.RunID, Status: res.Status, ExitCode: res.ExitCode,
		Guard: res.Guard, Decision: res.Decision, Responder: res.Responder, Assistant: res.Assistant, Reason: res.Reason,
		Rule: res.Rule, DecidedAt: res.At,
		Iterations: res.Iterations, RuntimeSeconds: res.RuntimeSeconds, Signature: res.Signature, Says: res.Says,
		Progress: res.Progress, Trips: res.Trips, CostUSD: res.CostUSD, Tokens: res.Tokens, Pending: res.Pending,
		Subtasks: res.Subtasks, Warnings: res.Warnings,
	}, "", "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if err := atomicfile.Write(r.ResultFile(), b, true); err != nil {
		return err
	}
	if file == "" {
		return nil
	}
	return atomicfile.Export(file, b)
}

// ResultFile returns the path of the verdict.
func (r *Run) ResultFile() string { return filepath.Join(r.Dir, resultName) }

// readResult reads the verdict; it returns false if there is none.
func readResult(dir string) (v Verdict, ok bool) {
	b, err := readWithin(dir, filepath.Join(dir, resultName))
	return v, err == nil && json.Unmarshal(b, &v) == nil
}
