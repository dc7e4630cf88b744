package scratchpad

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/atomicfile"
)

const resultName = "result.json"

// Verdict is result.json: every field is always there, but for the moment of a
// decision that nobody took.
type Verdict struct {
	Schema         string          `json:"schema"`
	RunID          string          `json:"run_id"`
	Status         looprun.Status  `json:"status"`
	ExitCode       int             `json:"exit_code"`
	Guard          looprun.GuardID `json:"guard"`
	Decision       string          `json:"decision"`
	Responder      string          `json:"responder"`
	Reason         string          `json:"reason"`
	Rule           string          `json:"rule"` // file:line of the policy's, or empty
	DecidedAt      time.Time       `json:"decided_at,omitzero"`
	Iterations     int             `json:"iterations"`
	RuntimeSeconds float64         `json:"runtime_seconds"`
	Signature      string          `json:"signature"`
	Trips          int             `json:"trips"`
	CostUSD        float64         `json:"cost_usd"`
	Pending        bool            `json:"pending"`
}

// resultSchema names the form of result.json.
const resultSchema = "looprun.dev/result/v1"

// WriteResult writes the verdict into the run's directory, and a copy to the
// file when it is not empty.
func (r *Run) WriteResult(res looprun.Result, file string) error {
	b, err := json.MarshalIndent(Verdict{
		Schema: resultSchema, RunID: res.RunID, Status: res.Status, ExitCode: res.ExitCode,
		Guard: res.Guard, Decision: res.Decision, Responder: res.Responder, Reason: res.Reason,
		Rule: res.Rule, DecidedAt: res.At,
		Iterations: res.Iterations, RuntimeSeconds: res.RuntimeSeconds, Signature: res.Signature,
		Trips: res.Trips, CostUSD: res.CostUSD, Pending: res.Pending,
	}, "", "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if err := atomicfile.Write(filepath.Join(r.Dir, resultName), b, true); err != nil {
		return err
	}
	if file == "" {
		return nil
	}
	return atomicfile.Export(file, b)
}

// readResult reads the verdict; false: there is none.
func readResult(dir string) (v Verdict, ok bool) {
	b, err := os.ReadFile(filepath.Join(dir, resultName))
	return v, err == nil && json.Unmarshal(b, &v) == nil
}
