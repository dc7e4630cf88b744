package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/helper"
	"github.com/looprun/looprun/internal/plural"
	"github.com/looprun/looprun/internal/termsafe"
)

// Schema identifies the format of a hook's standard input.
const Schema = "looprun.dev/hook/v1"

// The names of the hooks.
const (
	OnQuestion = "on_question"
	OnTrip     = "on_trip"
	OnEnd      = "on_end"
)

// summaryKept is the maximum length of a summary, in characters.
const summaryKept = 500

// Document is the content of a hook's standard input, as one line of JSON.
type Document struct {
	Schema string `json:"schema"`
	Hook   string `json:"hook"`
	RunID  string `json:"run_id"`
	// Name is the run's name; empty if it has none. Dir is where its command runs, and Host the
	// machine; empty if the system does not say.
	Name string `json:"name"`
	Dir  string `json:"dir"`
	Host string `json:"host"`
	// Event is the event as written in the journal.
	Event json.RawMessage `json:"event"`
	// Summary describes in one line what happened, and Next what a person can do.
	Summary string `json:"summary"`
	Next    string `json:"next"`
}

// job returns the job for an event; false if there is none. The state is not kept, because it
// changes when the loop continues.
func (h *Hooks) job(e core.Event, s *core.State) (job, bool, error) {
	d := Document{Schema: Schema, RunID: s.RunID}
	var j job
	var more []string
	switch data := e.Data.(type) {
	case core.QuestionAsked:
		j = job{command: h.OnQuestion, notify: h.Notify != nil, title: "looprun asks"}
		d.Hook, d.Summary, d.Next = OnQuestion, data.Header+": "+data.Text, "looprun answer "+s.RunID+" OPTION --question "+data.ID
		j.asks, more = data.ID, question(data.Question)
	case core.QuestionAnswered:
		j = job{notify: data.Notify && h.Notify != nil, title: "looprun answered"}
		d.Summary, d.Next = fmt.Sprintf("%s by %s: %s", data.Answer, data.Who(), data.Reason), "looprun show "+s.RunID
	case core.GuardTripped:
		j = job{command: h.OnTrip}
		d.Hook, d.Summary, d.Next = OnTrip, fmt.Sprintf("%s tripped: %s", data.Guard, data.Reason), "looprun explain "+s.RunID
	case core.RunFinished, core.RunPaused:
		j = job{command: h.OnEnd, notify: h.Notify != nil, last: true}
		r := s.Result()
		j.title = "looprun: " + string(r.Status)
		d.Hook, d.Summary, d.Next = OnEnd, ended(r, s), afterwards(r, s)
		if p, ok := data.(core.RunPaused); ok && p.Pending {
			for i, q := range s.Pending() {
				if j.waits = append(j.waits, q.ID); i == 0 {
					more = question(q)
				}
			}
		}
	default:
		return j, false, nil
	}
	j.hook = d.Hook
	if j.command == "" && !j.notify {
		return j, false, nil
	}
	d.Name, d.Dir, d.Summary = h.shown(s.Name, summaryKept), h.shown(s.Dir, summaryKept), h.shown(d.Summary, summaryKept)
	d.Host, _ = os.Hostname()
	for i := range more {
		more[i] = h.shown(more[i], lineKept)
	}
	if place := strings.TrimSpace(d.Dir + " on " + d.Host); j.asks != "" {
		more = append(more, "in "+place)
	}
	j.body = strings.Join(append(append([]string{d.Summary}, more...), d.Next), "\n")
	if of := cmp.Or(d.Name, d.Host); of != "" {
		j.title += " (" + of + ")"
	}
	if j.last && j.notify && h.Morning != nil {
		if lines := h.Morning(); len(lines) > 0 {
			for i := range lines {
				lines[i] = h.shown(lines[i], summaryKept)
			}
			j.body, j.waits = strings.Join(lines, "\n"), nil
		}
	}
	var err error
	if d.Event, err = h.event(e); err != nil {
		return j, false, err
	}
	j.document, err = helper.Document(d)
	return j, err == nil, err
}

// detailsKept is the maximum number of lines of evidence in a message.
const detailsKept = 8

// question returns what a message says of a question below its first line: the evidence, and
// what can be answered.
func question(q core.Question) (lines []string) {
	for _, text := range q.Details {
		if strings.TrimSpace(text) != "" && len(lines) < detailsKept {
			lines = append(lines, text)
		}
	}
	for _, o := range q.Options {
		if !o.Shell && o.Action != core.ActionReview {
			lines = append(lines, o.ID+": "+o.Label)
		}
	}
	return lines
}

// ended describes in one line how the run ended.
func ended(r core.Result, s *core.State) string {
	text := r.String() + " after " + plural.Count(r.Iterations, "iteration")
	switch {
	case r.Reason != "":
		return text + ": " + r.Reason
	case r.Status == core.StatusDone:
		return text
	}
	return text + "; progress: " + s.Summary()
}

// afterwards returns what a person can do with a run that ended this way.
func afterwards(r core.Result, s *core.State) string {
	switch waiting := s.Pending(); {
	case r.Pending && r.Status == core.StatusPaused && len(waiting) > 0:
		return "looprun answer " + r.RunID + " OPTION --question " + waiting[0].ID
	case r.Status.Resumable():
		return "looprun resume " + r.RunID
	}
	return "looprun show " + r.RunID
}

// event returns the event as written in the journal, without secrets.
func (h *Hooks) event(e core.Event) (json.RawMessage, error) {
	object, err := e.MarshalJSON()
	if err != nil || h.Mask == nil {
		return object, err
	}
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return helper.Document(h.masked(v))
}

// masked masks every text in a value, but not keys, which are looprun's own.
func (h *Hooks) masked(v any) any {
	switch v := v.(type) {
	case string:
		return h.Mask(v)
	case []any:
		for i := range v {
			v[i] = h.masked(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = h.masked(v[k])
		}
	}
	return v
}

// shown returns text for people, on one line of at most n characters. Cleaning may join the
// pieces of a secret, so secrets are masked before and after.
func (h *Hooks) shown(text string, n int) string {
	if h.Mask != nil {
		text = h.Mask(termsafe.Line(h.Mask(text)))
	}
	return termsafe.Short(text, n)
}
