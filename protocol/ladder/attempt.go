package ladder

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/looprun/looprun/internal/termsafe"
)

// AttemptType is who made an attempt.
type AttemptType string

// The types of attempts.
const (
	BySelf   AttemptType = "self_solve"
	ByExpert AttemptType = "expert_delegation"
)

// String returns the name used in records: Self-Solve or Expert Delegation.
func (t AttemptType) String() string {
	switch t {
	case BySelf:
		return "Self-Solve"
	case ByExpert:
		return "Expert Delegation"
	}
	return string(t)
}

// Attempt is a distinct approach that failed. Its texts are one line each, safe to show, and
// limited in length.
type Attempt struct {
	// Number is the number of the attempt for one question, from 1; a reset restarts it.
	Number int         `json:"number"`
	Task   string      `json:"task,omitempty"`
	Type   AttemptType `json:"attempt_type"`
	// Expert is the name of the expert that was asked; empty for self-solve.
	Expert       string `json:"expert,omitempty" mask:"own"`
	Approach     string `json:"approach,omitempty"`
	Outcome      string `json:"outcome,omitempty"`
	WhyDifferent string `json:"why_different,omitempty"`
	// Iteration is the iteration that failed, or the last one before an unsuccessful expert
	// ran.
	Iteration int `json:"iteration,omitempty"`
	// Key identifies the approach, see [Key]; empty if the approach is unknown.
	Key string `json:"key,omitempty" mask:"own"`
}

// String returns the record on one line:
//
//	ATTEMPT 3: Self-Solve — approach: A; outcome: O; why different: W
//
// Unknown parts are left out.
func (a Attempt) String() string {
	var parts []string
	for _, p := range []struct{ name, text string }{
		{"expert", a.Expert}, {"approach", a.Approach}, {"outcome", a.Outcome}, {"why different", a.WhyDifferent},
	} {
		if text := line(p.text); text != "" {
			parts = append(parts, p.name+": "+text)
		}
	}
	head := fmt.Sprintf("ATTEMPT %d: %s", a.Number, line(a.Type.String()))
	if len(parts) == 0 {
		return head
	}
	return head + " — " + strings.Join(parts, "; ")
}

func (a Attempt) clean() Attempt {
	a.Task, a.Expert, a.Key = taskName(a.Task), name(a.Expert), key(a.Key)
	a.Approach, a.Outcome, a.WhyDifferent = line(a.Approach), line(a.Outcome), line(a.WhyDifferent)
	return a
}

// Key returns a key that identifies an approach. It is made from the approach that the command
// declared, ignoring case and white space. Without one it is made from what can be observed:
// the signature of the work's output and the change to the work tree. It is empty, and no
// evidence of anything, if none of them is known.
func Key(declared, signature, change string) string {
	if d := strings.ToLower(termsafe.Line(declared)); d != "" {
		return "declared:" + digest(d)
	}
	if signature == "" && change == "" {
		return ""
	}
	return "seen:" + digest(fmt.Sprintf("%q %q", signature, change))
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// Limits of the recorded texts, in characters.
const (
	maxText = 400
	maxTask = 200
	maxKey  = 64
)

func line(s string) string     { return termsafe.Short(s, maxText) }
func taskName(s string) string { return termsafe.Short(s, maxTask) }
func name(s string) string     { return termsafe.Short(s, maxName) }

// key returns a short key unchanged and shortens a long one without making two keys equal.
func key(s string) string {
	if len(s) <= maxKey && utf8.ValidString(s) {
		return s
	}
	return "other:" + digest(s)
}
