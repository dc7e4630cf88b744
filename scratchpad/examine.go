package scratchpad

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/looprun/looprun/core"
)

// Level says whether something has to be done about a [Finding].
type Level string

// The levels.
const (
	// LevelProblem is wrong: something is lost, or not safe.
	LevelProblem Level = "problem"
	// LevelNote is unusual and puts itself right, or harms nothing.
	LevelNote Level = "note"
)

// Finding is one thing that [Examine] has found.
type Finding struct {
	Kind  string `json:"kind"` // a word for programs, such as damaged_journal
	Level Level  `json:"level"`
	// File is relative to the run's directory; “.” is that itself.
	File string `json:"file"`
	// Line and Offset, in bytes, are where in the journal it is; zero elsewhere.
	Line   int    `json:"line,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// LostEvent is an intact record that cannot be kept, as one before it is missing.
type LostEvent struct {
	Seq  int64          `json:"seq"`
	Type core.EventType `json:"type"`
	Line int            `json:"line"`
}

// How much is listed; the counts are of all.
const (
	lostListed     = 100
	findingsListed = 200
)

// Findings are what [Examine] has found about a run.
type Findings struct {
	RunID string `json:"run_id"`
	Dir   string `json:"dir"`
	// Alive says that a looprun has the run open: what is being written then is
	// not looked at.
	Alive bool `json:"alive"`
	// Events is how many events the journal gives as it stands.
	Events int64 `json:"events"`
	// Recoverable is how many [Salvage] would keep; equal to Events when nothing
	// is wrong. Lost are intact events that it could not keep, the first 100 of
	// them, and LostCount how many there are.
	Recoverable int64       `json:"recoverable"`
	Lost        []LostEvent `json:"lost,omitempty"`
	LostCount   int64       `json:"lost_count"`
	// TornBytes follow the last record and are none.
	TornBytes int64 `json:"torn_bytes"`
	// Repairable says that Salvage would do something.
	Repairable bool `json:"repairable"`
	// List is all that was found, the first 200 of it.
	List []Finding `json:"findings"`
}

// Problems counts what has to be done something about.
func (f *Findings) Problems() int {
	n := 0
	for _, one := range f.List {
		if one.Level == LevelProblem {
			n++
		}
	}
	return n
}

func (f *Findings) add(one Finding) {
	if len(f.List) < findingsListed {
		f.List = append(f.List, one)
	}
}

// Examine looks at a run's directory and changes nothing in it. Its error means
// that it could not look; what is wrong with the run is in the findings.
func Examine(dir string) (Findings, error) {
	f := Findings{RunID: filepath.Base(dir), Dir: dir, List: []Finding{}}
	info, err := os.Lstat(dir)
	if err != nil {
		return f, err
	}
	f.Alive = Locked(dir)
	if err := f.places(dir, info); err != nil {
		return f, err
	}
	file, err := openRegular(filepath.Join(dir, journalName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.add(Finding{Kind: "no_journal", Level: LevelProblem, File: journalName, Text: "there is no journal", Remedy: "nothing can be recovered; remove the directory when you need nothing else in it"})
		return f, nil
	case err != nil:
		f.add(Finding{Kind: "unreadable_journal", Level: LevelProblem, File: journalName, Text: "the journal cannot be read: " + reason(err), Remedy: "make it a regular file that you may read"})
		return f, nil
	}
	defer file.Close()
	in, err := inspect(dir, file)
	if err != nil {
		return f, err
	}
	f.journal(in)
	if f.Alive {
		f.Repairable = false
		return f, nil // the rest is being written
	}
	if in.damage == nil && in.newer == "" {
		f.derived(dir, in.state)
	}
	f.Repairable = f.Repairable && checkRunDir(dir) == nil
	return f, f.details(dir, in)
}

// journal says what is wrong with the journal.
func (f *Findings) journal(in inspected) {
	f.Events, f.Recoverable = in.tail.Events, in.tail.Events
	at := Finding{Level: LevelProblem, File: journalName}
	switch {
	case in.newer != "":
		at.Kind, at.Text, at.Remedy = "newer_journal", in.newer, "use that looprun"
	case in.damage != nil:
		f.Recoverable = int64(len(in.chain.kept))
		f.Repairable = f.Recoverable > 0
		at.Kind, at.Line, at.Offset = "damaged_journal", in.damage.Line, in.damage.Offset
		at.Text = fmt.Sprintf("line %d is damaged: %s; %d events before it are good, %d in all can be recovered", at.Line, reason(in.damage.Why), f.Events, f.Recoverable)
		at.Remedy = "looprun doctor --repair keeps the file as it is and goes on from them"
		if !f.Repairable {
			at.Remedy = "nothing can be recovered, since its beginning is lost; start the run again"
		}
	case f.Alive:
		return
	case in.tail.Events == 0:
		at.Kind, at.Text, at.Remedy = "no_events", "the run was killed before it started", "remove the directory; nothing has run"
	case in.tail.Cut > 0:
		f.TornBytes, f.Repairable = in.tail.Cut, true
		at.Kind, at.Offset = "torn_tail", in.tail.Offset
		at.Text = fmt.Sprintf("%d bytes behind event %d are not a whole record: looprun was killed while it wrote them", in.tail.Cut, in.tail.Events)
		at.Remedy = "looprun resume drops them; looprun doctor --repair does it too, and keeps a copy"
	default:
		return
	}
	f.add(at)
	f.LostCount = int64(len(in.chain.lost))
	f.Lost = listLost(in.chain.lost)
	if f.LostCount > 0 {
		f.add(Finding{
			Kind: "lost_events", Level: LevelProblem, File: journalName, Line: in.chain.lost[0].line, Offset: in.chain.lost[0].offset,
			Text: fmt.Sprintf("%d events are intact but cannot be used: %s", f.LostCount, in.chain.why), Remedy: "bring the lines that are missing back from a copy, if there is one",
		})
	}
}

func listLost(lost []record) []LostEvent {
	var list []LostEvent
	for _, r := range lost[:min(len(lost), lostListed)] {
		list = append(list, LostEvent{r.seq, r.kind, r.line})
	}
	return list
}

// details says which detail files no event refers to. That one is missing or was
// changed is damage to its event.
func (f *Findings) details(dir string, in inspected) error {
	entries, err := os.ReadDir(filepath.Join(dir, detailDir))
	if errors.Is(err, fs.ErrNotExist) || in.damage != nil || in.newer != "" {
		return nil
	} else if err != nil {
		return err
	}
	unused := map[string]bool{}
	for _, e := range entries {
		unused[e.Name()] = true
	}
	if _, err := Replay(dir, func(e core.Event) error {
		name := strconv.FormatInt(e.Seq, 10) + ".json"
		if !unused[name] {
			return nil
		}
		_, detail, err := encode(e)
		unused[name] = detail == nil
		return err
	}); err != nil {
		return err
	}
	for _, e := range entries {
		if unused[e.Name()] {
			f.add(Finding{Kind: "odd_detail", Level: LevelNote, File: filepath.Join(detailDir, e.Name()), Text: "no event refers to this file", Remedy: "it can stay; looprun was killed before it wrote the event, or somebody put it there"})
		}
	}
	return nil
}

// derived says which files are older than the journal that they are made from.
func (f *Findings) derived(dir string, s *core.State) {
	v, there := lookAt(dir).readResult()
	switch {
	case there && !s.Ended, there && s.Ended && v.Status != s.Ending.Status:
		f.add(Finding{Kind: "stale_result", Level: LevelProblem, File: resultName, Text: "it says " + string(v.Status) + ", the journal does not", Remedy: "trust the journal: looprun show; looprun resume writes it again"})
	case !there && s.Ended:
		f.add(Finding{Kind: "no_result", Level: LevelNote, File: resultName, Text: "it is missing, though the run has ended", Remedy: "looprun show has the same"})
	case !s.Ended && s.Seq > 0:
		f.add(Finding{Kind: "crashed", Level: LevelNote, File: journalName, Text: "the run has no end: looprun was killed", Remedy: "looprun resume goes on with it"})
	}
	b, err := readBounded(filepath.Join(dir, pageName))
	if s.Seq == 0 {
		return
	}
	if err != nil || !strings.HasPrefix(string(b), string(Render(s))) {
		f.add(Finding{Kind: "stale_page", Level: LevelNote, File: pageName, Text: "it is missing or older than the journal", Remedy: "it is made again when the run goes on"})
	}
}

// reason is an error without the name of the file, which stands beside it.
func reason(err error) string {
	if of, ok := errors.AsType[*fs.PathError](err); ok && of == err {
		return of.Err.Error()
	}
	return err.Error()
}
