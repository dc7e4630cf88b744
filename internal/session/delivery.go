package session

import (
	"encoding/json"
	"os"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/escalate/hooks"
	"github.com/looprun/looprun/internal/ask"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/tasks"
	"github.com/looprun/looprun/scratchpad"
)

// answersFile returns the file with the answers to questions that the command left or that
// were deferred, for the iteration about to start.
func (s *Session) answersFile(it core.Iteration) string {
	response := ask.Response{Schema: ask.AnswerSchema}
	for _, a := range it.Answers {
		if a.Answer != nil {
			response.Answers = append(response.Answers, answerOf(asQuestion(a.Question), *a.Answer))
		}
	}
	if len(response.Answers) == 0 {
		return os.DevNull
	}
	text, _ := json.MarshalIndent(response, "", "  ") // texts always encode
	return s.written("answers.json", "the answers", string(text)+"\n")
}

func (s *Session) writeContext(state *core.State) {
	err := s.run.WriteContext(state, scratchpad.ContextOptions{Text: s.opts.Signals == "text", Next: tasks.Next(s.dir, s.opts.Tasks)})
	if err != nil {
		s.app.Say.Warn("the context could not be written: %v", err)
	}
}

// hooks builds the run's hooks; nil fields mean no hook.
func (s *Session) hooks() (*hooks.Hooks, error) {
	h := &hooks.Hooks{
		OnQuestion: string(s.opts.HookOnQuestion), OnTrip: string(s.opts.HookOnTrip), OnEnd: string(s.opts.HookOnEnd),
		Dir: s.dir, Env: s.base, Timeout: s.opts.HookTimeout.Or(0),
		Warn: func(text string) { s.app.Say.Warn("%s", text) }, Mask: s.masker.Text, Morning: s.morning,
	}
	if h.Timeout == 0 && console.InCI() {
		h.Timeout = ciTimeout
	}
	if len(s.opts.Notify) > 0 {
		n, err := s.notifier()
		if err != nil {
			return nil, config.Usagef("%s: %v", config.Flag("notify"), err)
		}
		h.Notify = n
	}
	return h, nil
}

// ciTimeout is how long hooks may take where the runner kills a job soon after asking it to
// stop.
const ciTimeout = 5 * time.Second

// choicesLimit is the maximum size of the questions file, in bytes.
const choicesLimit = 64 << 10
