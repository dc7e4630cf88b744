package scratchpad

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/convert"
)

// Level is whether a [Finding] needs action.
type Level string

// The levels.
const (
	// LevelProblem means that something is wrong: lost, or not safe.
	LevelProblem Level = "problem"
	// LevelNote means something unusual that corrects itself or does no harm.
	LevelNote Level = "note"
)

// Finding is one result of [Examine].
type Finding struct {
	Kind  string `json:"kind"` // a word for programs, such as damaged_journal
	Level Level  `json:"level"`
	// File is relative to the run's directory; “.” is the directory itself.
	File string `json:"file"`
	// Line and Offset, in bytes, locate the finding in the journal; they are zero for other
	// files.
	Line   int    `json:"line,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// findingsListed is the maximum number of findings listed; [Findings.Problems] counts only
// those.
const findingsListed = 200

// Findings are the results of [Examine] for a run.
type Findings struct {
	RunID string `json:"run_id"`
	Dir   string `json:"dir"`
	// Alive means that a looprun has the run open; what is being written then is not examined.
	Alive bool `json:"alive"`
	// Events is how many events can be read from the journal in its current state.
	Events int64 `json:"events"`
	// TornBytes is the number of bytes after the last whole record: looprun was killed while
	// it wrote them.
	TornBytes int64 `json:"torn_bytes"`
	// List holds the findings, at most the first 200.
	List []Finding `json:"findings"`
}

// Problems returns the number of listed findings that need action.
func (f *Findings) Problems() int {
	return len(convert.Where(f.List, func(one Finding) bool { return one.Level == LevelProblem }))
}

func (f *Findings) add(one Finding) {
	if len(f.List) < findingsListed {
		f.List = append(f.List, one)
	}
}

// Examine examines a run's directory and changes nothing in it. An error means that it could
// not examine the directory; problems with the run are in the findings.
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
	state := new(core.State)
	tail, err := replay(dir, file, state.Apply)
	damage, damaged := errors.AsType[*Damage](err)
	unread := newer(err)
	if err != nil && !damaged && !unread {
		return f, err
	}
	f.Events = tail.Events
	at := Finding{Level: LevelProblem, File: journalName}
	switch {
	case unread:
		at.Kind, at.Text, at.Remedy = "newer_journal", "a newer looprun wrote it: "+errors.Unwrap(err).Error(), "use that looprun"
	case damaged:
		at.Kind, at.Line, at.Offset = "damaged_journal", damage.Line, damage.Offset
		at.Text = fmt.Sprintf("line %d is damaged: %s; %d events before it are good", at.Line, reason(damage.Why), f.Events)
		at.Remedy = fmt.Sprintf("restore the file from a backup, or copy it, cut it to its first %d bytes (truncate -s %d), and resume from there", tail.Offset, tail.Offset)
		if f.Events == 0 {
			at.Remedy = "restore the file from a backup, or start the run again: its first event is lost"
		}
	case f.Alive: // the end is being written
		return f, nil
	case tail.Events == 0:
		at.Kind, at.Text, at.Remedy = "no_events", "the run was killed before it started", "remove the directory; nothing has run"
	case tail.Cut > 0:
		f.TornBytes = tail.Cut
		at.Kind, at.Offset = "torn_tail", tail.Offset
		at.Text = fmt.Sprintf("%d bytes after event %d are not a whole record: looprun was killed while it wrote them", tail.Cut, tail.Events)
		at.Remedy = "looprun resume drops them"
	}
	if at.Kind != "" {
		f.add(at)
	}
	if damaged || unread {
		return f, nil
	}
	f.derived(dir, state)
	return f, nil
}

// derived reports files that are older than the journal from which they are made.
func (f *Findings) derived(dir string, s *core.State) {
	v, there := readResult(dir)
	switch {
	case there && !s.Ended, there && s.Ended && v.Status != s.Ending.Status:
		f.add(Finding{Kind: "stale_result", Level: LevelProblem, File: resultName, Text: "it says " + string(v.Status) + ", the journal does not", Remedy: "trust the journal: looprun show; looprun resume writes it again"})
	case !there && s.Ended:
		f.add(Finding{Kind: "no_result", Level: LevelNote, File: resultName, Text: "it is missing, though the run has ended", Remedy: "looprun show has the same"})
	case !s.Ended && s.Seq > 0:
		f.add(Finding{Kind: "crashed", Level: LevelNote, File: journalName, Text: "the run has no end: looprun was killed", Remedy: "looprun resume continues it"})
	}
	b, err := readStart(filepath.Join(dir, pageName), readLimit)
	if s.Seq == 0 {
		return
	}
	if err != nil || !strings.HasPrefix(string(b), string(Render(s))) {
		f.add(Finding{Kind: "stale_page", Level: LevelNote, File: pageName, Text: "it is missing or older than the journal", Remedy: "it is written again when the run continues"})
	}
}

// reason returns the error's text without the file name, which is printed next to it.
func reason(err error) string {
	if of, ok := errors.AsType[*fs.PathError](err); ok && of == err {
		return of.Err.Error()
	}
	return err.Error()
}
