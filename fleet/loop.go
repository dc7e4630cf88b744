package fleet

import (
	"encoding/json"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
)

// Loop is what a loop is started with. One that is continued goes on from State.
type Loop struct {
	Started core.RunStarted `json:"started"`
	Work    Work            `json:"work"`
	// State is where the run stood when its history was cut; nil: it begins.
	State *core.State `json:"state,omitempty"`
	// Place is where it ran last.
	Place Place `json:"place"`
}

// Work is what the workflow and the workers are to know of a loop beside its options.
type Work struct {
	// Label groups loops: slots are shared fairly between labels, and each has a budget.
	Label string `json:"label,omitempty"`
	// Repo is a git repository that every worker can reach; empty: the loop works in an
	// empty folder, which is lost with its worker.
	Repo string `json:"repo,omitempty"`
	// Ref is the branch, tag or commit that work starts from; empty is HEAD.
	Ref string `json:"ref,omitempty"`
	// Dir is where commands run, below the top of the work tree.
	Dir string `json:"dir,omitempty"`
	// Setup is a shell line that is run in each new work tree.
	Setup string `json:"setup,omitempty"`
	// Env is added to the environment of the worker. It is no place for secrets.
	Env map[string]string `json:"env,omitempty"`

	// Debug says that the answer debug has a command to run, and Responds that somebody
	// else than a person may answer.
	Debug    bool `json:"debug,omitempty"`
	Responds bool `json:"responds,omitempty"`
	// WaitAnswer is how long a question waits for a person; zero: for ever.
	WaitAnswer time.Duration  `json:"wait_answer,omitempty"`
	WaitDelay  time.Duration  `json:"wait_delay,omitempty"`
	Backoff    engine.Backoff `json:"backoff,omitzero"`
	// Reserve is how many US dollars of its label's budget an iteration reserves before
	// it begins; zero: as many as the dearest so far, and one before any has reported.
	Reserve float64 `json:"reserve,omitempty"`
}

// Place is where a loop has run.
type Place struct {
	Host string `json:"host,omitempty"` // the worker's name; empty: none
	// Token leads to a slot of that worker again.
	Token []byte `json:"token,omitempty"`
	// Commit is the last checkpoint; empty: there is none.
	Commit string `json:"commit,omitempty"`
}

// The names of the search attributes. They are not encrypted: each is a word.
const (
	AttrStatus    = "LoopStatus"
	AttrName      = "LoopName"
	AttrLabel     = "LoopLabel"
	AttrQuestion  = "LoopQuestion"
	AttrIteration = "LoopIteration"
	AttrCost      = "LoopCost"
)

// What LoopStatus says of a loop that has not ended; else it is a [core.Status].
const (
	Queued  = "queued" // it waits for a slot
	Running = "running"
	Asking  = "asking"
	Waiting = "waiting" // for a rate limit
)

// Queue is the task queue of loops, where none else is named.
const Queue = "looprun"

// Namespace is the one that is used where none else is named.
const Namespace = "looprun"

// The names of what a loop can be asked.
const (
	updateAnswer = "answer"
	queryEvents  = "events"
	queryState   = "state"
	memoQuestion = "question"
)

// Asked is what lists show of an open question.
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

// Taken is the answer that counts.
type Taken struct {
	Seq    int64       `json:"seq"` // of its event
	Answer core.Answer `json:"answer"`
}

// Page is a part of the events of a loop.
type Page struct {
	Events []json.RawMessage `json:"events"` // as in a journal
	// From is the first event that is known here. The others are in a workflow before.
	From int64 `json:"from"`
	// More says that there are later ones.
	More bool `json:"more,omitempty"`
}
