package looprun_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/guards"
	"github.com/looprun/looprun/scratchpad"
	"github.com/looprun/looprun/signature"
	"github.com/looprun/looprun/templates"
)

// A function is run again until it has no error.
func Example() {
	try := 0
	result, err := looprun.Run(context.Background(), looprun.Config{
		Work: looprun.Func(func(context.Context, looprun.Invocation) error {
			if try++; try < 3 {
				return fmt.Errorf("try %c failed", 'a'+try)
			}
			return nil
		}),
		Limits: looprun.DefaultLimits(),
		Guards: guards.Default(),
	})
	fmt.Println(result.Status, result.Iterations, err)
	// Output: done 3 <nil>
}

// The check says when the work is done.
func ExampleRun() {
	bugs := 3
	result, err := looprun.Run(context.Background(), looprun.Config{
		Work: looprun.Func(func(context.Context, looprun.Invocation) error {
			bugs--
			return nil
		}),
		Check: looprun.Func(func(context.Context, looprun.Invocation) error {
			if bugs > 0 {
				return fmt.Errorf("%d bugs are left", bugs)
			}
			return nil
		}),
		Limits: looprun.DefaultLimits(),
		Guards: guards.Default(),
	})
	fmt.Println(result.Status, result.Iterations, err)
	// Output: done 3 <nil>
}

// A trip is a result, not an error.
func ExampleRun_stuck() {
	result, err := looprun.Run(context.Background(), looprun.Config{
		Work:   looprun.Func(locked),
		Limits: looprun.DefaultLimits(),
		Guards: guards.Default(),
	})
	fmt.Println(result.Status, result.Guard, result.Iterations, err)
	// Output: tripped loop_detected 3 <nil>
}

// What nothing could stop is not started.
func ExampleRun_noGuards() {
	_, err := looprun.Run(context.Background(), looprun.Config{
		Work: looprun.Argv("true"),
	})
	fmt.Println(errors.Is(err, looprun.ErrNoGuards))
	// Output: true
}

// Limits are stated or Off: a zero never means “no limit”. Guards can be chosen
// one by one; here the same failure may come as often as it likes.
func ExampleLimits() {
	limits := looprun.Limits{Iterations: 5, Runtime: time.Minute, Loop: looprun.Off, Errors: looprun.Off}
	result, err := looprun.Run(context.Background(), looprun.Config{
		Work:   looprun.Func(locked),
		Limits: limits,
		Guards: []looprun.Guard{guards.Iterations{}, guards.Runtime{}},
	})
	fmt.Println(result.Status, result.Guard, result.Iterations, err)
	// Output: tripped max_iterations 5 <nil>
}

// Code can answer what a guard asks: it names an option of the question. What it
// does not answer goes to the next responder, and then the run ends as tripped.
func ExampleResponder() {
	questions, err := templates.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := looprun.Run(context.Background(), looprun.Config{
		Work:      looprun.Func(locked),
		Limits:    looprun.DefaultLimits(),
		Guards:    guards.Default(),
		Questions: questions,
		Responders: []looprun.Responder{looprun.ResponderFunc(
			func(_ context.Context, q looprun.Question, s *looprun.State) (looprun.Answer, error) {
				if s.Continues > 0 || q.Guard != looprun.LoopDetected {
					return looprun.Answer{}, looprun.ErrNoAnswer
				}
				fmt.Println(q.Header, q.OptionIDs())
				return looprun.Answer{Option: "new_approach", Responder: "supervisor", Reason: "once is allowed"}, nil
			})},
	})
	fmt.Println(result.Status, result.Guard, result.Iterations, result.Trips, err)
	// Output:
	// Stuck [new_approach debug accept cancel]
	// tripped loop_detected 6 2 <nil>
}

// With a journal on disk a run can be paused, or cut off, and gone on with, in
// another process too: counters and elapsed time are as they were.
func ExampleConfig_resume() {
	stateDir, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(stateDir)
	config := looprun.Config{
		Work:   looprun.Func(locked),
		Limits: looprun.Limits{Iterations: 2, Runtime: time.Hour, Loop: 9, Errors: 3},
		Guards: guards.Default(),
	}

	run, err := scratchpad.Create(stateDir, time.Now(), scratchpad.SyncAsync)
	if err != nil {
		fmt.Println(err)
		return
	}
	config.RunID, config.Journal = run.ID, run.Journal
	result, err := looprun.Run(context.Background(), config)
	fmt.Println(result.Status, result.Iterations, err, run.Close())

	// Later, with a higher limit.
	again, state, _, err := scratchpad.Open(run.Dir, scratchpad.SyncAsync)
	if err != nil {
		fmt.Println(err)
		return
	}
	config.Journal, config.Resume, config.Limits.Iterations = again.Journal, state, 5
	result, err = looprun.Run(context.Background(), config)
	fmt.Println(result.Status, result.Iterations, err, result.RunID == run.ID, again.Close())
	// Output:
	// tripped 2 <nil> <nil>
	// tripped 5 <nil> true <nil>
}

// Two failures that differ only in what a mask takes out are the same.
func ExampleConfig_signature() {
	ticket, err := signature.NewMask(`[A-Z]{4}[a-z]{4}`, "ticket", signature.Source{})
	if err != nil {
		fmt.Println(err)
		return
	}
	tickets := []string{"QRSTabcd", "WXYZefgh", "JKLMnopq"}
	config := looprun.Config{
		Work: looprun.Func(func(_ context.Context, in looprun.Invocation) error {
			return fmt.Errorf("Error: the ticket %s is not valid", tickets[in.Iteration.Number%len(tickets)])
		}),
		Limits: looprun.Limits{Iterations: 6, Runtime: time.Minute, Loop: 3, Errors: 3},
		Guards: guards.Default(),
	}
	result, err := looprun.Run(context.Background(), config)
	fmt.Println(result.Guard, result.Iterations, err)
	config.Signature.Mask = []signature.Pattern{ticket}
	result, err = looprun.Run(context.Background(), config)
	fmt.Println(result.Guard, result.Iterations, err)
	// Output:
	// max_iterations 6 <nil>
	// loop_detected 3 <nil>
}

// An observer is told of every event, with the state after it.
func ExampleObserver() {
	_, err := looprun.Run(context.Background(), looprun.Config{
		Work:   looprun.Func(locked),
		Limits: looprun.DefaultLimits(),
		Guards: guards.Default(),
		Observe: func(e looprun.Event, s *looprun.State) {
			switch d := e.Data.(type) {
			case core.IterationFinished:
				fmt.Println(d.Iteration, d.Outcome, d.Signature.Label)
			case core.GuardTripped:
				fmt.Println(d.Guard, d.Reason)
			case core.RunFinished:
				fmt.Println(d.Status, s.Iterations)
			}
		},
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 not_done error:error-the-file-is-locked
	// 2 not_done error:error-the-file-is-locked
	// 3 not_done error:error-the-file-is-locked
	// loop_detected the last 3 iterations failed in the same way
	// tripped 3
}

// locked is work that gets nowhere.
func locked(context.Context, looprun.Invocation) error {
	return errors.New("Error: the file is locked")
}

// lines is a journal of one's own: an event a line. A database has a row a line.
type lines struct{ *os.File }

func (l lines) Append(e looprun.Event) error { return json.NewEncoder(l.File).Encode(e) }

func (l lines) events(yield func(looprun.Event, error) bool) {
	_, err := l.Seek(0, io.SeekStart)
	for d := json.NewDecoder(l.File); err == nil; {
		var e looprun.Event
		if err = d.Decode(&e); err != io.EOF && !yield(e, err) {
			return
		}
	}
}

// What a journal of one's own has kept goes on as a run.
func ExampleReplay() {
	file, err := os.CreateTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(file.Name())
	journal := lines{file}
	config := looprun.Config{
		RunID: "ledger", Work: looprun.Func(locked), Guards: guards.Default(), Journal: journal,
		Limits: looprun.Limits{Iterations: 2, Runtime: time.Hour, Loop: 9, Errors: 3},
	}
	result, err := looprun.Run(context.Background(), config)
	fmt.Println(result.Status, result.Iterations, err)

	// Later, in another process, with a higher limit.
	if config.Resume, err = looprun.Replay(journal.events); err != nil {
		fmt.Println(err)
		return
	}
	config.Limits.Iterations = 5
	result, err = looprun.Run(context.Background(), config)
	fmt.Println(result.Status, result.Iterations, err, result.RunID)
	// Output:
	// tripped 2 <nil>
	// tripped 5 <nil> ledger
}

// A service shows what waits, and takes answers, while runs go on.
func ExampleStart() {
	questions, err := templates.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := looprun.Start(context.Background(), looprun.Config{
		Work: looprun.Func(locked), Limits: looprun.DefaultLimits(), Guards: guards.Default(),
		Questions: questions, Responders: []looprun.Responder{looprun.Await()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	service := http.NewServeMux()
	service.HandleFunc("GET /questions", func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(run.Questions())
	})
	service.HandleFunc("POST /questions/{id}", func(w http.ResponseWriter, r *http.Request) {
		if err := run.AnswerForPerson(r.Context(), r.PathValue("id"), looprun.Answer{Option: r.FormValue("option")}); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	})

	q, err := run.NextQuestion(context.Background())
	fmt.Println(q.Header, q.OptionIDs(), err)
	service.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/questions/"+q.ID+"?option=cancel", nil))
	result, err := run.Wait()
	fmt.Println(result.Status, result.Guard, err)
	// Output:
	// Stuck [new_approach debug accept cancel] <nil>
	// cancelled loop_detected <nil>
}
