package dashboard

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/looprun/looprun"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/report"
	"github.com/looprun/looprun/scratchpad"
)

// view is a run as the page shows it.
type view struct {
	*row
	Check     string            `json:"check,omitempty"`
	Limits    looprun.Limits    `json:"limits"`
	Tokens    int64             `json:"tokens,omitempty"`
	Task      string            `json:"task,omitempty"`
	Progress  string            `json:"progress,omitempty"`
	Reason    string            `json:"reason,omitempty"`
	ExitCode  int               `json:"exit_code"`
	Subtasks  *looprun.Subtasks `json:"subtasks,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"`
	Notes     string            `json:"notes,omitempty"`
	Questions []asked           `json:"questions"`
	Resumable bool              `json:"resumable"`
	Writable  bool              `json:"writable"`
	Explains  bool              `json:"explains"`
	Iteration int               `json:"iteration"` // the one that runs, or the last
	Course    string            `json:"course"`    // HTML: timeline, charts, trips
}

// asked is a question as the page shows it, in the words of the terminal.
type asked struct {
	ID        string   `json:"id"`
	Header    string   `json:"header"`
	Text      string   `json:"text"`
	Details   []string `json:"details,omitempty"`
	Options   []choice `json:"options"`
	Multi     bool     `json:"multi,omitempty"`
	AllowText bool     `json:"allow_text,omitempty"`
	Cancel    bool     `json:"allow_cancel,omitempty"`
	Guard     bool     `json:"guard,omitempty"` // guidance and a reason are of use
}

// choice is one button of a question.
type choice struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Ends        bool   `json:"ends,omitempty"`  // the run is over with it
	Words       bool   `json:"words,omitempty"` // it is of no use without guidance
}

func questionsOf(s *looprun.State) []asked {
	list := []asked{}
	for _, q := range s.Answerable() {
		put := q.ForPerson()
		a := asked{
			ID: q.ID, Header: termsafe.Line(put.Header), Text: termsafe.Text(put.Text), Multi: q.Multi,
			AllowText: q.AllowText || q.Kind == looprun.KindText, Cancel: q.AllowCancel, Guard: q.From != looprun.FromCommand,
		}
		for _, d := range put.Details {
			a.Details = append(a.Details, termsafe.Text(d))
		}
		for _, o := range put.Options {
			if o.Action == looprun.ActionReview { // a person's at the terminal
				continue
			}
			a.Options = append(a.Options, choice{
				ID: o.ID, Label: termsafe.Line(o.Label), Description: termsafe.Line(o.Description),
				Ends: o.Action == looprun.ActionCancel || o.Action == looprun.ActionAccept, Words: put.WantsWords(o),
			})
		}
		if q.Kind == looprun.KindConfirm && len(put.Options) == 0 {
			a.Options = []choice{{ID: "yes", Label: "Yes"}, {ID: "no", Label: "No"}}
		}
		list = append(list, a)
	}
	return list
}

// views remembers what was shown last, as long as nothing has changed.
type views struct {
	mu   sync.Mutex
	list []*kept
}

type kept struct {
	dir   string
	seen  stamp
	alive bool
	view  *view
	took  time.Duration // to make it
	made  time.Time
}

const keptViews = 8

// of is the view of a run, made anew where its journal has grown; of a very long run
// not more often than is fair to the other runs of this machine.
func (v *views) of(run *row) (*view, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	seen, alive := stampOf(run.dir), scratchpad.Locked(run.dir)
	for i, k := range v.list {
		if k.dir != run.dir {
			continue
		}
		const share = 20 // of the time goes to it at most one part
		if k.seen == seen && k.alive == alive || time.Since(k.made) < share*k.took && alive {
			return k.view, nil
		}
		v.list = append(v.list[:i], v.list[i+1:]...)
		break
	}
	since := time.Now()
	made, err := readView(run)
	if err != nil {
		return nil, err
	}
	v.list = append(v.list, &kept{run.dir, seen, alive, made, time.Since(since), time.Now()})
	v.list = v.list[max(0, len(v.list)-keptViews):]
	return made, nil
}

func readView(run *row) (*view, error) {
	s, _, err := scratchpad.Load(run.dir)
	if err != nil {
		return nil, err
	}
	r, err := report.Load(run.dir)
	if err != nil {
		return nil, err
	}
	var course bytes.Buffer
	if err := r.Fragment(&course); err != nil {
		return nil, err
	}
	fresh := readRow(run.dir)
	fresh.Cost = s.Cost
	v := &view{
		row: fresh, Check: termsafe.Line(console.CommandLine(r.Check)), Limits: s.Limits, Tokens: s.Tokens, Task: r.Task,
		Progress: r.Progress, Reason: r.Reason, ExitCode: r.ExitCode, Subtasks: r.Subtasks, Warnings: r.Warnings,
		Notes: termsafe.Text(scratchpad.Notes(run.dir)), Questions: questionsOf(s), Iteration: s.Iterations, Course: course.String(),
	}
	if s.Running {
		v.Iteration = s.Open
	}
	v.Resumable = resumable(fresh.Status, fresh.Asks, fresh.Alive)
	return v, nil
}

func (s *Server) run(w http.ResponseWriter, _ *http.Request, run *row) {
	v, err := s.views.of(run)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	shown := *v
	shown.Writable, shown.Explains = s.o.Actions != nil, s.o.Explain != nil
	shown.Resumable = shown.Resumable && shown.Writable
	reply(w, shown)
}

// tail is the end of what an iteration printed.
type tail struct {
	Iteration int    `json:"iteration"`
	Work      string `json:"work"`  // HTML
	Check     string `json:"check"` // HTML
	Style     string `json:"style"`
	Problem   string `json:"problem,omitempty"`

	sizes [2]int64
}

// tailBytes is how much HTML of one output there is on the page.
const tailBytes = 64 << 10

func readTail(dir string, iteration int) tail {
	t := tail{Iteration: iteration}
	for i, name := range []string{scratchpad.OutputFile(dir, iteration), scratchpad.CheckOutputFile(dir, iteration)} {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			continue
		}
		one, err := report.ReadTail(dir, filepath.ToSlash(rel), tailBytes)
		if err != nil {
			t.Problem = err.Error()
			continue
		}
		t.sizes[i] = one.Size
		if i == 0 {
			t.Work, t.Style = one.HTML, scoped(".work", one.Style)
		} else {
			t.Check, t.Style = one.HTML, t.Style+scoped(".check", one.Style)
		}
	}
	return t
}

// scoped makes the colours of one output count below one class: each output numbers
// its own.
func scoped(class, style string) string {
	if style == "" {
		return ""
	}
	return class + "{" + style + "}"
}

func (s *Server) output(w http.ResponseWriter, r *http.Request, run *row) {
	n, err := strconv.Atoi(r.PathValue("iteration"))
	if err != nil || n < 0 {
		http.Error(w, "an iteration is a number", http.StatusBadRequest)
		return
	}
	reply(w, readTail(run.dir, n))
}

// How often a stream looks, and how long it stays silent.
const (
	lookEvery   = 250 * time.Millisecond
	silentFor   = 15 * time.Second
	writeWithin = 10 * time.Second
)

// stream tells a page what has changed, as it happens: the list, the run that is shown,
// and the end of its output. What changed is asked for; only the output comes with it. A
// client that does not read is let go.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	if !s.streams.try() {
		http.Error(w, "too many pages are open; close some", http.StatusServiceUnavailable)
		return
	}
	defer s.streams.release()
	out := &events{w: w, c: http.NewResponseController(w)}
	_ = out.c.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	var run *row
	if key := r.URL.Query().Get("run"); key != "" {
		if run = s.find(key); run == nil {
			http.Error(w, "there is no such run; it may have been removed", http.StatusNotFound)
			return
		}
	}
	changed, tick := s.bell.next(), time.NewTicker(lookEvery)
	defer tick.Stop()
	out.send("hello", struct{}{})
	look := looking{server: s, run: run}
	for out.err == nil {
		if run != nil {
			look.at(out)
		}
		if time.Since(out.last) > silentFor {
			out.send("still", struct{}{})
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
			changed = s.bell.next()
			out.send("list", struct{}{})
		case <-tick.C:
		}
	}
}

// looking is what a stream knows of the run that it follows.
type looking struct {
	server    *Server
	run       *row
	begun     bool
	seen      stamp
	alive     bool
	iteration int
	sizes     [2]int64
}

func (l *looking) at(out *events) {
	if seen, alive := stampOf(l.run.dir), scratchpad.Locked(l.run.dir); !l.begun || seen != l.seen || alive != l.alive {
		v, err := l.server.views.of(l.run)
		if err != nil {
			out.send("gone", map[string]string{"why": err.Error()})
			l.begun, l.seen, l.alive = true, seen, alive
			return
		}
		if v.Iteration != l.iteration {
			l.iteration, l.sizes = v.Iteration, [2]int64{-1, -1}
		}
		if v.seen == seen || !alive { // else the view is an earlier one, see views.of
			l.begun, l.seen, l.alive = true, seen, alive
		}
		out.send("run", struct{}{})
	}
	sizes := sizesOf(l.run.dir, l.iteration)
	if sizes == l.sizes && l.begun {
		return
	}
	t := readTail(l.run.dir, l.iteration)
	l.sizes = sizes
	out.send("output", t)
}

// sizesOf is how much an iteration has printed so far, as its files say.
func sizesOf(dir string, iteration int) (sizes [2]int64) {
	for i, name := range []string{scratchpad.OutputFile(dir, iteration), scratchpad.CheckOutputFile(dir, iteration)} {
		if info, err := os.Lstat(name); err == nil {
			sizes[i] = info.Size()
		}
	}
	return sizes
}

// events writes a stream of events.
type events struct {
	w    http.ResponseWriter
	c    *http.ResponseController
	last time.Time
	err  error
}

func (e *events) send(name string, v any) {
	if e.err != nil {
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		e.err = err
		return
	}
	if e.err = e.c.SetWriteDeadline(time.Now().Add(writeWithin)); errors.Is(e.err, http.ErrNotSupported) {
		e.err = nil // there is no connection
	}
	if e.err == nil {
		_, e.err = e.w.Write(append(append([]byte("event: "+name+"\ndata: "), b...), "\n\n"...))
	}
	if e.err == nil {
		e.err = e.c.Flush()
	}
	e.last = time.Now()
}
