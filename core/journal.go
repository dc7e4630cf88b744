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
	v, changed := m.value(reflect.ValueOf(d))
	if !changed {
		return d
	}
	if a, ok := v.Interface().(QuestionAnswered); ok {
		before, _ := d.(QuestionAnswered)
		a.Masked = m.outside && a.String() != before.String()
		return a
	}
	out, _ := v.Interface().(Data) // the type is the same
	return out
}

// masker masks one event. Its methods return the value itself or a modified copy.
type masker struct {
	text    func(string) string
	outside bool // the ids of options are words of the command
}

func (m masker) value(v reflect.Value) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() == 0 || m.ownWord(v) {
			return v, false
		}
		return m.changed(v, m.text(v.String()))
	case reflect.Pointer:
		if v.IsNil() {
			return v, false
		}
		elem, changed := m.value(v.Elem())
		if !changed {
			return v, false
		}
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(elem)
		return out, true
	case reflect.Interface:
		return m.value(v.Elem())
	case reflect.Struct:
		return m.structure(v)
	case reflect.Slice:
		return m.slice(v)
	case reflect.Map:
		return m.mapping(v)
	}
	return v, false
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

func (m masker) changed(v reflect.Value, text string) (reflect.Value, bool) {
	if text == v.String() {
		return v, false
	}
	return reflect.ValueOf(text).Convert(v.Type()), true
}

// withheld replaces a shell line that held a secret.
const withheld = "echo 'looprun: this command held a secret, which is not kept, so it is not run' >&2; exit 126"

func (m masker) field(f reflect.StructField, v reflect.Value) (reflect.Value, bool) {
	if !f.IsExported() {
		return v, false
	}
	switch f.Tag.Get("mask") {
	case "own":
		return v, false
	case "option":
		if !m.outside || v.Kind() == reflect.String && (v.String() == Yes || v.String() == No) {
			return v, false
		}
	case "command":
		if m.text(v.String()) == v.String() {
			return v, false
		}
		return m.changed(v, withheld)
	}
	return m.value(v)
}

func (m masker) structure(v reflect.Value) (reflect.Value, bool) {
	if q, ok := v.Interface().(Question); ok {
		m.outside = q.From == FromCommand
	}
	var out reflect.Value
	for i := range v.NumField() {
		field, changed := m.field(v.Type().Field(i), v.Field(i))
		if !changed {
			continue
		}
		if !out.IsValid() {
			out = reflect.New(v.Type()).Elem()
			out.Set(v)
		}
		out.Field(i).Set(field)
	}
	if !out.IsValid() {
		return v, false
	}
	return out, true
}

func (m masker) slice(v reflect.Value) (reflect.Value, bool) {
	if raw, ok := v.Interface().(json.RawMessage); ok {
		return m.document(raw)
	}
	var out reflect.Value
	for i := range v.Len() {
		elem, changed := m.value(v.Index(i))
		if !changed {
			continue
		}
		if !out.IsValid() {
			out = reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(out, v)
		}
		out.Index(i).Set(elem)
	}
	if !out.IsValid() {
		return v, false
	}
	return out, true
}

// document masks the texts of a JSON document, but not its keys.
func (m masker) document(raw json.RawMessage) (reflect.Value, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var doc any
	if d.Decode(&doc) == nil {
		if masked, changed := m.value(reflect.ValueOf(doc)); changed {
			if text, err := json.Marshal(masked.Interface()); err == nil {
				return reflect.ValueOf(json.RawMessage(text)), true
			}
		}
	}
	return reflect.ValueOf(raw), false
}

func (m masker) mapping(v reflect.Value) (reflect.Value, bool) {
	var out reflect.Value
	for _, key := range v.MapKeys() {
		elem, changed := m.value(v.MapIndex(key))
		if !changed {
			continue
		}
		if !out.IsValid() {
			out = reflect.MakeMap(v.Type())
			for _, k := range v.MapKeys() {
				out.SetMapIndex(k, v.MapIndex(k))
			}
		}
		out.SetMapIndex(key, elem)
	}
	if !out.IsValid() {
		return v, false
	}
	return out, true
}
