package scratchpad

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// longRun is a closed run whose state was kept, with the events behind that state.
func longRun(t *testing.T) (dir string, whole *core.State) { return longRunOf(t, "a task") }

// longRunOf is a run of that name.
func longRunOf(t *testing.T, name string) (dir string, s *core.State) {
	t.Helper()
	r := newRun(t, SyncOff)
	s = new(core.State)
	for _, e := range iterations(3600) {
		if start, ok := e.Data.(core.RunStarted); ok {
			start.Name, start.Config = name, json.RawMessage(`{"options":{}}`)
			e.Data = start
		}
		keepEvent(t, r, s, e)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return r.Dir, s
}

func keepEvent(t *testing.T, r *Run, s *core.State, e core.Event) {
	t.Helper()
	if err := errors.Join(r.Journal.Append(e), s.Apply(e)); err != nil {
		t.Fatal(err)
	}
	r.keep(s)
}

// recent is what a reader sees of the run, and how many events it has read for that.
func recent(t *testing.T, dir string) (*core.State, string, int) {
	t.Helper()
	events := 0
	s, config, err := Recent(dir, func(_ *core.State, e core.Event) {
		if events++; e.Seq == 1 {
			events = 1
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, string(config), events
}

func TestAKeptStateIsThatOfTheJournal(t *testing.T) {
	dir, whole := longRun(t)
	s, config, read := recent(t, dir)
	if asText(t, s) != asText(t, whole) || config != `{"options":{}}` {
		t.Errorf("another state, or configuration %s", config)
	}
	if all := int(whole.Seq); read >= all/2 || read < 100 {
		t.Errorf("%d of %d events were read", read, all)
	}
}

func asText(t *testing.T, s *core.State) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A kept state counts only where it is of this user, this program and this journal: else
// all is read, and says the same.
func TestAKeptStateThatDoesNotCount(t *testing.T) {
	dir, whole := longRun(t)
	name := filepath.Join(dir, keptName)
	text, journal := readFile(t, name), readFile(t, journalOf(dir))
	key, err := ownKey(false)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(text, "\n")
	resigned := func(change func(*keptState)) string {
		var k keptState
		if err := json.Unmarshal([]byte(body), &k); err != nil {
			t.Fatal(err)
		}
		change(&k)
		b, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		return string(signed(key, b)) + string(b)
	}
	other, _ := longRunOf(t, "other words")
	for what, kept := range map[string]string{
		"none":            "",
		"torn":            text[:len(text)/2],
		"NULs":            string(make([]byte, len(text))),
		"changed":         strings.Replace(text, `"iterations":`, `"iterations":1`, 1),
		"not signed":      "\n" + body,
		"another key":     string(signed([]byte("another"), []byte(body))) + body,
		"another program": resigned(func(k *keptState) { k.Program += "1" }),
		"another link":    resigned(func(k *keptState) { k.Link[0]++ }),
		"another place":   resigned(func(k *keptState) { k.Offset += 10 }),
		"no place":        resigned(func(k *keptState) { k.Offset = 1 << 40 }),
		"below zero":      resigned(func(k *keptState) { k.Offset = -1 }),
		"no state":        resigned(func(k *keptState) { k.State = nil }),
		"another run's":   readFile(t, filepath.Join(other, keptName)),
	} {
		writeFile(t, name, kept)
		s, _, read := recent(t, dir)
		if read != int(whole.Seq) || asText(t, s) != asText(t, whole) {
			t.Errorf("%s: %d of %d events were read", what, read, whole.Seq)
		}
	}
	writeFile(t, name, text)
	if _, _, read := recent(t, dir); read == int(whole.Seq) {
		t.Error("the state as it was does not count any more")
	}
	// What is wrong behind it is said as ever, with its line.
	at := len(journal) - 2000
	writeFile(t, journalOf(dir), journal[:at]+"x"+journal[at+1:])
	_, _, err = Recent(dir, func(*core.State, core.Event) {})
	if _, _, want := Load(dir); err == nil || err.Error() != want.Error() {
		t.Errorf("%v\nand not %v", err, want)
	}
	// A journal that was cut before it has less than it says.
	writeFile(t, journalOf(dir), journal[:strings.LastIndexByte(journal[:keptEvery/2], '\n')+1])
	if s, _, _ := recent(t, dir); s.Seq >= whole.Seq/2 {
		t.Errorf("%d events of a journal that was cut", s.Seq)
	}
}

// A run that was changed behind its kept state is still not this user's.
func TestAKeptStateProvesNothing(t *testing.T) {
	dir, _ := longRun(t)
	if err := Mine(dir); err != nil {
		t.Fatal(err)
	}
	journal := []byte(readFile(t, journalOf(dir)))
	first, rest, _ := bytes.Cut(journal, []byte{'\n'})
	object := bytes.Replace(first[:len(first)-sumSize], []byte(`"options"`), []byte(`"actions"`), 1)
	forged := append(seal(append(object, '}'), ""), rest...)
	if err := os.WriteFile(journalOf(dir), forged, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, config, _ := recent(t, dir); s.Seq == 0 || strings.Contains(config, "actions") {
		t.Errorf("what somebody else wrote is shown: %s", config)
	}
	if err := Mine(dir); err == nil {
		t.Error("it is taken for this user's")
	}
	if _, _, _, err := Open(dir, SyncOff); err == nil {
		t.Error("it can be gone on with")
	}
}

// A journal that is held against its marks, and not folded again, is examined as one that is;
// where it is not what the kept state was made of all of it is.
func TestExaminingWithAKeptState(t *testing.T) {
	if testing.Short() {
		t.Skip("TestAKeptStateThatDoesNotCount proves kept states too")
	}
	dir, _ := longRun(t)
	name := filepath.Join(dir, keptName)
	kept, journal := readFile(t, name), readFile(t, journalOf(dir))
	examined := func(journal, kept string) string {
		t.Helper()
		writeFile(t, journalOf(dir), journal)
		writeFile(t, name, kept)
		f, err := Examine(dir)
		if err != nil {
			t.Fatal(err)
		}
		return asJSON(f)
	}
	begins := len(journal)/4 + strings.Index(journal[len(journal)/4:], "\n{") + 1
	at := begins + 20
	line, _, _ := strings.Cut(journal[begins:], "\n")
	object := strings.Replace(line[:len(line)-sumSize-markSize], `"seq":`, `"seq":7`, 1) + "}"
	other := string(seal([]byte(object), ""))
	other += strings.Repeat("\n", len(line)+1-len(other)) // what follows stays in its place
	for what, changed := range map[string]string{
		"whole":               journal,
		"a bit":               journal[:at] + "~" + journal[at+1:],
		"a bit behind it":     journal[:len(journal)-900] + "~" + journal[len(journal)-899:],
		"torn":                journal[:len(journal)-9],
		"sealed, not replays": journal[:begins] + other + journal[begins+len(line)+1:],
		"a line less":         journal[:begins] + strings.Repeat("\n", len(line)+1) + journal[begins+len(line)+1:],
	} {
		with, without := examined(changed, kept), examined(changed, "")
		if with != without {
			t.Errorf("%s:\n%s\nand without a kept state\n%s", what, with, without)
		}
		if fine := !strings.Contains(without, `"level":"problem"`); fine != (what == "whole") {
			t.Errorf("%s: %s", what, without)
		}
	}
}

// A run that goes on keeps states as before, with the configuration that it had.
func TestAKeptStateOfARunThatGoesOn(t *testing.T) {
	dir, _ := longRun(t)
	if err := os.Remove(filepath.Join(dir, keptName)); err != nil {
		t.Fatal(err)
	}
	r, s, _, err := Open(dir, SyncOff)
	if err != nil {
		t.Fatal(err)
	}
	for range 1200 {
		for _, d := range []core.Data{core.IterationStarted{Iteration: s.NextIteration()}, failing(s.NextIteration())} {
			keepEvent(t, r, s, core.Event{Seq: s.Seq + 1, Time: day, Data: d})
		}
	}
	// Before the journal has said what a state knows, or after, nothing is kept of it.
	keeps := r.keeper
	r.keeper, s.Seq = keeper{}, s.Seq-1
	r.keep(s)
	if r.keeper.text != nil {
		t.Error("a state is kept that is not the journal's")
	}
	r.keeper, s.Seq = keeps, s.Seq+1
	resumed := core.RunResumed{Config: json.RawMessage(`{"options":{"once":true}}`)}
	keepEvent(t, r, s, core.Event{Seq: s.Seq + 1, Time: day, Data: resumed})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got, config, read := recent(t, dir)
	if asText(t, got) != asText(t, s) || config != `{"options":{"once":true}}` || read >= int(s.Seq)/2 {
		t.Errorf("%d of %d events were read, configuration %s", read, s.Seq, config)
	}
	if !reflect.DeepEqual(got.History, s.History) {
		t.Error("another history")
	}
}

// TestPickingWithAKeptState picks what a replay of the whole journal gives, or ends as it does.
func TestPickingWithAKeptState(t *testing.T) {
	r := newRun(t, SyncOff)
	s := new(core.State)
	for _, e := range iterations(1) {
		keepEvent(t, r, s, e)
	}
	record := func(data ...core.Data) {
		for _, d := range data {
			keepEvent(t, r, s, core.Event{Seq: s.Seq + 1, Time: day, Data: d})
		}
	}
	refuse := func() {
		n := s.NextIteration()
		record(core.IterationStarted{Iteration: n}, core.MessageRefused{Reason: "why"}, failing(n))
	}
	refuse()
	for range 3600 {
		n := s.NextIteration()
		record(core.IterationStarted{Iteration: n}, failing(n))
	}
	refuse()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	types := []core.EventType{core.TypeRunStarted, core.TypeMessageRefused}
	whole := func() (picked []core.Event, err error) {
		_, err = Replay(r.Dir, func(e core.Event) error {
			if slices.Contains(types, e.Data.Type()) {
				picked = append(picked, e)
			}
			return nil
		})
		return picked, err
	}
	journal := readFile(t, journalOf(r.Dir))
	lineAt := func(text string) (begins, ends int) {
		at := strings.Index(journal, text)
		return strings.LastIndexByte(journal[:at], '\n') + 1, at + strings.IndexByte(journal[at:], '\n') + 1
	}
	swapped := func(text, from, to string) string {
		begins, ends := lineAt(text)
		line := journal[begins:ends]
		object := strings.Replace(line[:len(line)-1-sumSize-markSize], from, to, 1) + "}"
		other := string(seal([]byte(object), line[len(line)-1-sumSize-markSize:len(line)-1-sumSize]))
		return journal[:begins] + other + strings.Repeat("\n", max(0, len(line)-len(other))) + journal[ends:]
	}
	const middle, refusal = `"seq":3000,`, `"message.refused"`
	begins, _ := lineAt(middle)
	for what, changed := range map[string]string{
		"whole":              journal,
		"a bit":              journal[:begins+40] + "~" + journal[begins+41:],
		"a bit behind it":    journal[:len(journal)-900] + "~" + journal[len(journal)-899:],
		"torn":               journal[:len(journal)-9],
		"sealed, odd":        swapped(middle, `"exit_code":1`, `"exit_code":{`),
		"sealed, newer":      swapped(middle, `"type":"iteration`, `"type":"iterazion`),
		"sealed, a number":   swapped(middle, middle, `"seq":3009,`),
		"another refusal":    swapped(refusal, `"why"`, `"how"`),
		"an odder refusal":   swapped(refusal, `"why"`, `{"why":1}`),
		"written in another": swapped(refusal, `"message.refused"`, `"message\u002erefused"`),
	} {
		writeFile(t, journalOf(r.Dir), changed)
		got, err := Pick(r.Dir, types...)
		want, failed := whole()
		if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(failed) {
			t.Errorf("%s:\n%v, %v; want\n%v, %v", what, got, err, want, failed)
		}
		if what == "whole" && len(want) != 3 {
			t.Errorf("%d events", len(want))
		}
	}
}

// TestPickingWhatIsOdd decodes a record whose type does not stand where it is written.
func TestPickingWhatIsOdd(t *testing.T) {
	for text, want := range map[string]int{
		`"type":"message.refused","elapsed_ms":0`:      1,
		`"type":"message\u002erefused","elapsed_ms":0`: 1,
		`"elapsed_ms":0,"type":"message.refused"`:      1,
		`"type":"run.alive","elapsed_ms":0`:            0,
	} {
		line := seal([]byte(`{"seq":1,"time":"2026-11-23T03:05:00.64Z",`+text+`,"reason":"why"}`), "")
		p, err := proveLines("", bytes.NewReader(line), int64(len(line)), nil, []core.EventType{core.TypeMessageRefused})
		if err != nil || p.records != 1 || len(p.picked) != want {
			t.Errorf("%s: %d events of %d records, %v", text, len(p.picked), p.records, err)
		}
	}
}
