package fleet

import (
	"cmp"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
)

// Loop is the input of a loop's workflow. A continued loop starts from State.
type Loop struct {
	Started core.RunStarted `json:"started"`
	Work    Work            `json:"work"`
	// State is the run's state when its history was cut; nil means that the run begins.
	State *core.State `json:"state,omitempty"`
	// Place is where the loop last ran.
	Place Place `json:"place"`
	// Dear is the cost of the dearest iteration so far, in US dollars.
	Dear float64 `json:"dear,omitempty"`
}

// Work is what the workflow and the workers need to know about a loop besides its options.
type Work struct {
	// Group groups loops: slots are shared fairly between groups, and each group has a budget.
	// Recorded histories have its former name.
	Group string `json:"label,omitempty"`
	// Repo is a git repository that every worker can reach; if it is empty, the loop works in
	// an empty folder, which is lost with its worker.
	Repo string `json:"repo,omitempty"`
	// Ref is the branch, tag or commit that the work starts from; empty means HEAD.
	Ref string `json:"ref,omitempty"`
	// Dir is where commands run, relative to the top of the work tree.
	Dir string `json:"dir,omitempty"`
	// Setup is a shell line to run in each new work tree.
	Setup string `json:"setup,omitempty"`
	// Env is added to the worker's environment. It must not contain secrets.
	Env map[string]string `json:"env,omitempty"`

	// Debug means that the answer debug has a command to run, and Responds that a responder
	// other than a person may answer.
	Debug    bool `json:"debug,omitempty"`
	Responds bool `json:"responds,omitempty"`
	// WaitAnswer is how long a question waits for a person; zero means forever.
	WaitAnswer time.Duration  `json:"wait_answer,omitempty"`
	WaitDelay  time.Duration  `json:"wait_delay,omitempty"`
	Backoff    engine.Backoff `json:"backoff,omitzero"`
	// RetryFor is how long a loop that no worker could place is tried again, and a checkpoint
	// that could not be pushed; zero means a day.
	RetryFor time.Duration `json:"retry_for,omitempty"`
	// Needs lists what its worker has to offer, each a word.
	Needs []string `json:"needs,omitempty"`
}

func (w Work) retryFor() time.Duration { return cmp.Or(w.RetryFor, retryFor) }

// Place is where a loop has run.
type Place struct {
	Host string `json:"host,omitempty"` // the worker's name; empty: none
	// Held means that the loop has a slot there.
	Held bool `json:"held,omitempty"`
	// Commit is the last checkpoint; empty means there is none.
	Commit string `json:"commit,omitempty"`
	// Tried is how long workers have failed to place the loop, with the waits after that, but
	// without the time in the queue; Tries is how often the loop has waited.
	Tried time.Duration `json:"tried,omitempty"`
	Tries int           `json:"tries,omitempty"`
}

// The names of the search attributes. They are not encrypted: each is a word.
const (
	AttrStatus    = "LoopStatus"
	AttrName      = "LoopName"
	AttrGroup     = "LoopLabel" // its former name, which servers have
	AttrQuestion  = "LoopQuestion"
	AttrIteration = "LoopIteration"
	AttrCost      = "LoopCost"
)

// The values of LoopStatus for a loop that has not ended; otherwise it is a [core.Status].
const (
	Queued  = "queued" // it waits for a slot
	Running = "running"
	Asking  = "asking"
	Waiting = "waiting" // for a rate limit
)

// Namespace is the default namespace.
const Namespace = "looprun"

// The names of a loop's update and memo.
const (
	updateAnswer = "answer"
	memoNote     = "note"
)

// Note is what lists show of a loop besides its search attributes.
type Note struct {
	Question *Asked `json:"question,omitempty"`
	Worker   string `json:"worker,omitempty"`
	// Reason says why the loop does not run.
	Reason string `json:"reason,omitempty"`
}

// Asked is the part of an open question that lists show.
type Asked struct {
	ID      string   `json:"id"`
	Header  string   `json:"header"`
	Options []string `json:"options"`
	More    int      `json:"more,omitempty"` // other open questions
}

// Given is an answer to the question with that id.
type Given struct {
	QuestionID string      `json:"question_id"`
	Answer     core.Answer `json:"answer"`
}

// Taken is the answer that took effect.
type Taken struct {
	Seq    int64       `json:"seq"` // of its event
	Answer core.Answer `json:"answer"`
}
