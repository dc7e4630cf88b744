package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/looprun/looprun/protocol/ladder"
	"github.com/looprun/looprun/protocol/rejection"
	"github.com/looprun/looprun/protocol/signal"
)

// Journal keeps the events of a run. Append returns when the event would
// survive the end of the process; Sync when it would survive a power loss.
type Journal interface {
	Append(Event) error
	Sync() error
}

// MemoryJournal keeps all events in memory, about a kilobyte an iteration. The
// zero value is ready to use.
type MemoryJournal struct{ Events []Event }

// Append keeps the event.
func (j *MemoryJournal) Append(e Event) error {
	j.Events = append(j.Events, e)
	return nil
}

// Sync does nothing.
func (j *MemoryJournal) Sync() error { return nil }

// All returns the events, for [Replay].
func (j *MemoryJournal) All() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, e := range j.Events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Replay returns the state that results from all events of a run, to be passed as
// looprun.Config.Resume. It stops at the first error: a failed read, or [ErrEvent].
func Replay(events iter.Seq2[Event, error]) (*State, error) {
	s := new(State)
	for e, err := range events {
		if err == nil {
			err = s.Apply(e)
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Record is the only way into a journal: it masks the event, refuses one that cannot happen in
// this state ([ErrEvent]), writes it, and then changes the state. An engine.Loop records
// everything through it, and so does a program that records an answer while the run is not
// running. A nil mask masks nothing; elapsed is the run's active time, or [State].Elapsed if
// the run is not running.
//
// If the journal cannot be written, the state is unchanged. The returned event is the one
// written. It survives the end of the process, and a power loss only after [Journal].Sync has
// returned.
func Record(s *State, to Journal, mask func(string) string, elapsed time.Duration, d Data) (Event, error) {
	if mask != nil {
		d = s.masked(d, mask)
	}
	if why := s.refuse(d); why != "" {
		return Event{}, refusal("%s: %s", d.Type(), why)
	}
	e := Event{
		Seq: s.Seq + 1, Time: time.Now().UTC().Truncate(time.Millisecond),
		Elapsed: elapsed.Truncate(time.Millisecond), Data: d,
	}
	if err := to.Append(e); err != nil {
		return Event{}, fmt.Errorf("the journal cannot be written: %w", err)
	}
	s.take(e)
	return e, nil
}

// Masked returns the data as [Record] would record it with that mask. It is for a runner whose
// results leave its machine before they are recorded.
func Masked(d Data, mask func(string) string) Data { return new(State).masked(d, mask) }

// masked applies the mask to every text of the event. The event passed in is not modified,
// because its parts can be shared.
//
// Values that control the run are not masked: a pattern that matches an id or a guard's name
// would otherwise change the effect of an answer. Such fields have a tag:
//
//	mask:"own"      a word or an id of looprun's own, or of its configuration
//	mask:"option"   the id of an option: as it is, except in a question of the
//	                command and in its answer, where it is the command's word
//	mask:"command"  a shell line: what the mask leaves of it must not be run
//
// Types whose values are words of looprun's own are in [masker.ownWord]. All other text is
// masked.
func (s *State) masked(d Data, mask func(string) string) Data {
	m := masker{text: mask}
	switch d := d.(type) {
	case IterationStarted, RunAlive, CostReported, WaitFinished: // no text from outside
		return d
	case QuestionAnswered:
		m.outside = s.asked(d.QuestionID) != nil
	}
	out, _ := m.value(reflect.ValueOf(d)).Interface().(Data) // the type is the same
	if a, ok := out.(QuestionAnswered); ok {
		before, _ := d.(QuestionAnswered)
		a.Masked = m.outside && a.String() != before.String()
		return a
	}
	return out
}

// masker masks one event. Its methods return a copy, which shares nothing that is masked.
type masker struct {
	text    func(string) string
	outside bool // the ids of options are words of the command
}

func (m masker) value(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > 0 && !m.ownWord(v) {
			return reflect.ValueOf(m.text(v.String())).Convert(v.Type())
		}
	case reflect.Struct:
		return m.structure(v)
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		if !v.IsNil() {
			return m.below(v)
		}
	}
	return v
}

// below masks the values that a value holds by reference.
func (m masker) below(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(m.value(v.Elem()))
		return out
	case reflect.Slice:
		if raw, ok := v.Interface().(json.RawMessage); ok {
			return reflect.ValueOf(m.document(raw))
		}
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(m.value(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMap(v.Type())
		for _, key := range v.MapKeys() {
			out.SetMapIndex(key, m.value(v.MapIndex(key)))
		}
		return out
	}
	return m.value(v.Elem()) // of an interface
}

// ownWord reports whether the value's type holds words of looprun's own. Two of the types come
// from the command, and can hold anything if it broke the rules.
func (m masker) ownWord(v reflect.Value) bool {
	if v.Type() == reflect.TypeFor[string]() {
		return false
	}
	switch word := v.Interface().(type) {
	case GuardID, Action, Outcome, Cause, Status, Kind, How, Weakening, Confirmation, Order, ladder.RungName, ladder.AttemptType, rejection.Decision, json.Number:
		return true
	case signal.Name:
		return word == NameChoices || word == NameRejection || slices.Contains(signal.Names(), word)
	case rejection.Reason:
		return slices.Contains(rejection.Reasons(), word)
	}
	return false
}

// withheld replaces a shell line that held a secret.
const withheld = "echo 'looprun: this command held a secret, which is not kept, so it is not run' >&2; exit 126"

func (m masker) structure(v reflect.Value) reflect.Value {
	if q, ok := v.Interface().(Question); ok {
		m.outside = q.From == FromCommand
	}
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for i := range v.NumField() {
		f, field := v.Type().Field(i), v.Field(i)
		switch tag := f.Tag.Get("mask"); {
		case !f.IsExported(), tag == "own":
		case tag == "option" && (!m.outside || field.Kind() == reflect.String && (field.String() == Yes || field.String() == No)):
		case tag == "command":
			if m.text(field.String()) != field.String() {
				out.Field(i).SetString(withheld)
			}
		default:
			out.Field(i).Set(m.value(field))
		}
	}
	return out
}

// document masks the texts of a JSON document, but not its keys.
func (m masker) document(raw json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var doc any
	if d.Decode(&doc) != nil || doc == nil {
		return raw
	}
	masked := m.value(reflect.ValueOf(doc)).Interface()
	if text, err := json.Marshal(masked); err == nil && !reflect.DeepEqual(doc, masked) {
		return text
	}
	return raw
}
