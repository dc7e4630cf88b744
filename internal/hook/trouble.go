package hook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/looprun/looprun/internal/atomicfile"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/internal/xdg"
)

// Trouble is why a stop was allowed without being judged. Nobody reads messages where the hook
// runs, so the last one is kept for those who look at their runs.
type Trouble struct {
	Time  time.Time `json:"time"`
	Agent string    `json:"agent"`
	Dir   string    `json:"dir"`
	Why   string    `json:"why"`
}

const troubleName = "trouble.json"

// Keep stores the trouble, if there is a place for it.
func (t Trouble) Keep() {
	state := xdg.State()
	text, err := json.Marshal(t)
	if state == "" || err != nil || os.MkdirAll(filepath.Join(state, "hooks"), 0o700) != nil {
		return
	}
	_ = atomicfile.Write(filepath.Join(state, "hooks", troubleName), append(text, '\n'), false)
}

// LastTrouble returns the trouble stored since then; false if there is none.
func LastTrouble(since time.Time) (Trouble, bool) {
	var t Trouble
	state := xdg.State()
	text, err := os.ReadFile(filepath.Join(state, "hooks", troubleName))
	if state == "" || err != nil || json.Unmarshal(text, &t) != nil || t.Time.Before(since) {
		return Trouble{}, false
	}
	t.Agent, t.Dir, t.Why = termsafe.Line(t.Agent), termsafe.Line(t.Dir), termsafe.Line(t.Why)
	return t, true
}
