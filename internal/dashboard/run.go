package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/convert"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/report"
	"github.com/looprun/looprun/scratchpad"
)

// view is a run in the form that the page shows.
type view struct {
	*row
	Check     string         `json:"check,omitempty"`
	Tokens    int64          `json:"tokens,omitempty"`
	Progress  string         `json:"progress,omitempty"`
	Reason    string         `json:"reason,omitempty"`
	Subtasks  *core.Subtasks `json:"subtasks,omitempty"`
	Blockers  []string       `json:"blockers,omitempty"`
	Ladder    []string       `json:"ladder,omitempty"`
	Warnings  []string       `json:"warnings,omitempty"`
	Notes     string         `json:"notes,omitempty"`
	Questions []asked        `json:"questions"`
	Answered  []settled      `json:"settled,omitempty"` // the latest answers
	Resumable bool           `json:"resumable"`
	Writable  bool           `json:"writable"`
	Diffs     bool           `json:"diffs"`     // what an iteration changed can be shown
	Iteration int            `json:"iteration"` // the one that runs, or the last
	Course    string         `json:"course"`    // HTML: timeline, charts, trips
}

// asked is a question in the form that the page shows, with the terminal's wording.
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

// settled is a question that was answered, and by whom.
type settled struct {
	ID   string `json:"id"`
	Said string `json:"said"`
}

// settledKept is how many answers the page has of a run: it needs those of the questions that
// it showed when it last looked.
const settledKept = 16

func settledOf(s *core.State) []settled {
	return convert.Each(s.Answered[max(0, len(s.Answered)-settledKept):], func(a core.Answered) settled { return settled{a.QuestionID, console.Settled(a, "it")} })
}

// choice is one button of a question.
type choice struct {
	ID          string `json:"id"`
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Ends        bool   `json:"ends,omitempty"`  // the run is over with it
	Words       bool   `json:"words,omitempty"` // it is of no use without guidance
}

func questionsOf(s *core.State) []asked {
	list := []asked{}
	for _, q := range s.Answerable() {
		put := q.ForPerson()
		a := asked{
			ID: q.ID, Header: termsafe.Line(put.Header), Text: termsafe.Text(put.Text), Multi: q.Multi,
			AllowText: q.AllowText || q.Kind == core.KindText, Cancel: q.AllowCancel, Guard: q.From != core.FromCommand,
			Details: convert.Each(put.Details, termsafe.Text),
		}
		for _, o := range put.Options {
			if o.Action == core.ActionReview || o.Shell { // a person's at the terminal
				continue
			}
			a.Options = append(a.Options, choice{
				ID: o.ID, Label: termsafe.Line(o.Label), Description: termsafe.Line(o.Description),
				Ends: o.Action == core.ActionCancel || o.Action == core.ActionAccept, Words: put.WantsWords(o),
			})
		}
		if q.Kind == core.KindConfirm && len(put.Options) == 0 {
			a.Options = []choice{{ID: "yes", Label: "Yes"}, {ID: "no", Label: "No"}}
		}
		list = append(list, a)
	}
	return list
}

// views caches the most recently shown runs and their page data.
type views struct {
	writable bool // what the page offers

	mu   sync.Mutex
	list []*kept // the latest last
}

// kept is a run that is being followed.
type kept struct {
	dir       string
	live      *report.Live
	seen      scratchpad.Stamp
	alive     bool
	iteration int    // the one that runs, or the last
	elsewhere string // of the row that was shown
	shown     []byte
	took      time.Duration // to make it
	made      time.Time
}

// How many runs are followed, and what share of the time one of them may use: the rest is for
// other work on this machine.
const (
	keptViews = 8
	share     = 20
)

// of returns the run in the form that the page shows. It rebuilds it when the journal has
// grown, but not more often than is fair while the run is in progress.
func (v *views) of(run *row) (kept, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	k, err := v.follow(run.dir)
	if err != nil {
		return kept{}, err
	}
	seen, alive := scratchpad.StampOf(run.dir), scratchpad.Locked(run.dir)
	if k.shown != nil && k.alive == alive && k.elsewhere == run.Elsewhere && (k.seen == seen || alive && time.Since(k.made) < share*k.took) {
		return *k, nil
	}
	k.seen, k.alive, k.made = seen, alive, time.Now()
	if err := k.make(v); err != nil {
		v.leave(len(v.list) - 1) // it begins anew the next time
		return kept{}, err
	}
	k.took = time.Since(k.made)
	return *k, nil
}

// follow makes a run the most recent of those being followed.
func (v *views) follow(dir string) (*kept, error) {
	i := slices.IndexFunc(v.list, func(k *kept) bool { return k.dir == dir })
	if i >= 0 {
		k := v.list[i]
		v.list = append(slices.Delete(v.list, i, i+1), k)
		return k, nil
	}
	live, err := report.Follow(dir)
	if err != nil {
		return nil, err
	}
	if len(v.list) == keptViews {
		v.leave(0)
	}
	k := &kept{dir: dir, live: live}
	v.list = append(v.list, k)
	return k, nil
}

func (v *views) leave(i int) {
	_ = v.list[i].live.Close()
	v.list = slices.Delete(v.list, i, i+1)
}

// make reads the run's new events, and rebuilds the page's data.
func (k *kept) make(v *views) error {
	r, s, err := k.live.Next()
	if err == nil && s.RunID == "" {
		err = errors.New("the run has not begun yet")
	}
	if err != nil {
		return err
	}
	var course bytes.Buffer
	if err := r.Fragment(&course); err != nil {
		return err
	}
	shown := view{
		row: rowOf(k.dir, s, k.alive, k.seen), Check: termsafe.Line(core.CommandLine(r.Check)), Tokens: s.Tokens,
		Progress: r.Progress, Reason: r.Reason, Subtasks: r.Subtasks, Blockers: r.Blockers, Ladder: ladderOf(s),
		Warnings: r.Warnings, Notes: termsafe.Text(scratchpad.Notes(k.dir)), Questions: questionsOf(s), Answered: settledOf(s), Iteration: s.Iterations,
		Course: course.String(), Writable: v.writable,
		Diffs: slices.ContainsFunc(r.History, func(it report.Iteration) bool { return it.Checkpoint != "" }),
	}
	if s.Running {
		shown.Iteration = s.Open
	}
	if shown.row.Answered != "" { // the recorded reason is that the question waits
		shown.Reason = ""
	}
	k.elsewhere = shown.Elsewhere
	if shown.Elsewhere != "" {
		shown.Questions = shown.Questions[:0] // the run above asks them
	}
	shown.Resumable = v.writable && shown.Elsewhere == "" && !scratchpad.IsCopy(k.dir) && !shown.Alive && !shown.Asks && shown.Status.Resumable()
	k.iteration = shown.Iteration
	k.shown, err = json.Marshal(shown)
	return err
}

// ladderOf returns the task's position on the escalation ladder, a line for each rung; empty
// if there is no ladder.
func ladderOf(s *core.State) []string {
	at := s.Ladder.Task(s.LadderTask())
	list := []string{}
	for _, r := range s.Rungs {
		text := "a person decides"
		switch r.Rung {
		case ladder.SelfSolve:
			text = "by itself: " + plural.Count(at.SelfSolve, "failed attempt")
		case ladder.Experts:
			text = "with experts: " + plural.Count(at.Delegation, "failed attempt")
			for _, e := range r.Experts {
				asked := "not asked"
				if slices.Contains(at.ExpertsTried, e.Name) {
					asked = "asked"
				}
				text += fmt.Sprintf("; %s: %s", e.Name, asked)
			}
		}
		list = append(list, termsafe.Line(text))
	}
	return list
}

func (s *Server) run(w http.ResponseWriter, r *http.Request, run *row) {
	k, err := s.views.of(run)
	reply(w, r, json.RawMessage(k.shown), err)
}

// tail is the end of an iteration's output.
type tail struct {
	Iteration int    `json:"iteration"`
	Work      string `json:"work"`  // HTML
	Check     string `json:"check"` // HTML
	Problem   string `json:"problem,omitempty"`
}

// tails caches the outputs that are shown: all viewers of a run see the same.
type tails struct {
	mu  sync.Mutex
	all map[tailOf]keptTail
}

type tailOf struct {
	dir       string
	iteration int
}

type keptTail struct {
	sizes [2]int64
	shown json.RawMessage
	took  time.Duration
	made  time.Time
}

// of returns the end of an iteration's output, in JSON, and how much it had printed by then.
// It rereads the output when there is more; for those who heard of it from a stream, which tells of
// it again, not more often than is fair.
func (v *tails) of(dir string, iteration int, heard bool) (json.RawMessage, [2]int64, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	of, sizes := tailOf{dir, iteration}, sizesOf(dir, iteration)
	if k, ok := v.all[of]; ok && (k.sizes == sizes || heard && time.Since(k.made) < max(lookEvery, share*k.took)) {
		return k.shown, k.sizes, nil
	}
	since := time.Now()
	shown, err := json.Marshal(readTail(dir, iteration))
	maps.DeleteFunc(v.all, func(tailOf, keptTail) bool { return len(v.all) >= keptViews }) // any one
	v.all[of] = keptTail{sizes, shown, time.Since(since), time.Now()}
	return shown, sizes, err
}

// tailBytes is how much HTML of one output the page has, in bytes.
const tailBytes = 64 << 10

func readTail(dir string, iteration int) tail {
	t := tail{Iteration: iteration}
	for check, html := range map[bool]*string{false: &t.Work, true: &t.Check} {
		one, err := report.ReadTail(dir, outputName(iteration, check), tailBytes)
		if *html = one.HTML; err != nil {
			t.Problem = err.Error()
		}
	}
	return t
}

// outputName returns the file with the output of an iteration's command, or of its check, as its
// path in the run's directory.
func outputName(iteration int, check bool) string {
	of := scratchpad.OutputFile
	if check {
		of = scratchpad.CheckOutputFile
	}
	return filepath.ToSlash(of("", iteration))
}

// logLines is how many lines of a log the page shows at once.
const logLines = 1000

// log sends a part of an iteration's whole output: from a line on, up to one, or around one; or
// those lines of it that match a search.
func (s *Server) log(w http.ResponseWriter, r *http.Request, run *row, n int) {
	q := r.URL.Query()
	part := report.LogPart{Most: logLines}
	for name, line := range map[string]*int{"from": &part.From, "to": &part.To, "around": &part.Around} {
		var err error
		if *line, err = strconv.Atoi(cmp.Or(q.Get(name), "0")); err != nil {
			http.Error(w, "a line is a number", http.StatusBadRequest)
			return
		}
	}
	f, size, err := report.OpenOutput(run.dir, outputName(n, q.Has("check")))
	if failed(w, err, http.StatusNotFound) {
		return
	}
	defer f.Close()
	defer context.AfterFunc(r.Context(), func() { _ = f.Close() })() // nobody waits for it any more
	l, err := report.ReadLog(io.LimitReader(f, size), part, q.Get("search"))
	reply(w, r, l, err)
}

// logTicket creates an address at which the whole output can be saved once.
func (s *Server) logTicket(w http.ResponseWriter, r *http.Request, run *row, n int) {
	var of struct{ Check bool }
	if read(w, r, formOf(&of), &of) {
		s.ticket(w, r, func(w http.ResponseWriter, _ *http.Request) { saveLog(w, run.dir, outputName(n, of.Check)) })
	}
}

// saveLog streams an output to a file of the reader's.
func saveLog(w http.ResponseWriter, dir, name string) {
	f, size, err := report.OpenOutput(dir, name)
	if failed(w, err, http.StatusNotFound) {
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", filepath.Base(dir)+"-"+path.Base(name)))
	_, _ = io.CopyN(w, f, size) // the reader may have left
}

// ofIteration handles requests about one iteration of a run.
func (s *Server) ofIteration(next func(http.ResponseWriter, *http.Request, *row, int)) http.Handler {
	return s.ofRun(func(w http.ResponseWriter, r *http.Request, run *row) {
		n, err := strconv.Atoi(r.PathValue("iteration"))
		if err != nil || n < 0 {
			http.Error(w, "an iteration is a number", http.StatusBadRequest)
			return
		}
		next(w, r, run, n)
	})
}

// diff sends what an iteration changed; for one without a checkpoint it says so.
func (s *Server) diff(w http.ResponseWriter, r *http.Request, run *row, n int) {
	text, whole, err := s.o.Diff(r.Context(), run.dir, n)
	if err != nil {
		text, whole = err.Error()+"\n", true
	}
	reply(w, r, map[string]any{"text": text, "whole": whole}, nil)
}

// output sends the end of an output. A page that heard of more has what the stream saw.
func (s *Server) output(w http.ResponseWriter, r *http.Request, run *row, n int) {
	shown, _, err := s.tails.of(run.dir, n, r.URL.Query().Has("heard"))
	reply(w, r, shown, err)
}

// How often a stream checks for changes, and how long it may stay silent.
const (
	lookEvery = 250 * time.Millisecond
	silentFor = 15 * time.Second
)

// stream notifies a page of changes as they happen: to the list, the run that is shown, and
// the end of its output. The page requests what has changed. A client that does not read is
// disconnected.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
	default:
		http.Error(w, "too many pages are open; close some", http.StatusServiceUnavailable)
		return
	}
	defer func() { <-s.streams }()
	out := &events{w: w, c: http.NewResponseController(w), within: s.within.write}
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
	for out.err == nil && s.admits(r) {
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

// looking is a stream's knowledge of the run that it follows.
type looking struct {
	server *Server
	run    *row
	last   kept
	sizes  [2]int64
}

func (l *looking) at(out *events) {
	if seen, alive := scratchpad.StampOf(l.run.dir), scratchpad.Locked(l.run.dir); seen != l.last.seen || alive != l.last.alive {
		k, err := l.server.views.of(l.run)
		if err != nil {
			out.send("gone", map[string]string{"why": err.Error()})
			l.last.seen, l.last.alive = seen, alive
			return
		}
		if k.iteration != l.last.iteration {
			l.sizes = [2]int64{-1, -1}
		}
		if k.made != l.last.made {
			out.send("run", struct{}{})
		}
		l.last = k
	}
	if sizesOf(l.run.dir, l.last.iteration) == l.sizes {
		return
	}
	if _, sizes, err := l.server.tails.of(l.run.dir, l.last.iteration, true); err == nil && sizes != l.sizes {
		l.sizes = sizes
		out.send("output", map[string]int{"iteration": l.last.iteration})
	}
}

// sizesOf returns how much an iteration has printed so far, according to its files.
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
	w      http.ResponseWriter
	c      *http.ResponseController
	within time.Duration
	last   time.Time
	err    error
}

func (e *events) send(name string, v any) {
	if e.err != nil {
		return
	}
	b, wrong := json.Marshal(v)
	_ = e.c.SetWriteDeadline(time.Now().Add(e.within)) // without a connection there is none
	if _, e.err = fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", name, b); e.err == nil {
		e.err = cmp.Or(wrong, e.c.Flush())
	}
	e.last = time.Now()
}
