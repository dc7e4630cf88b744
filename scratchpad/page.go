package scratchpad

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
)

// notesHeading starts the part of the page that belongs to its readers.
const notesHeading = "## Notes"

const emptyNotes = notesHeading + "\n\nWrite here what the next attempt should know. looprun keeps this part as it is.\n"

// How often the page is rewritten in a fast loop: an iteration shorter than slowIteration
// waits for it at most once every pageEvery.
const (
	slowIteration = 20 * time.Millisecond
	pageEvery     = 250 * time.Millisecond
)

type page struct {
	name     string
	made     time.Time
	rendered []byte // looprun's part, as it was last written
}

// Refresh rewrites the page: after each iteration that took 20 ms or more, if force is set,
// and otherwise at most every 100 ms. On Windows a page that somebody has open is replaced by
// a later call.
func (r *Run) Refresh(s *core.State, force bool) error {
	slow := s.Ran != nil && time.Duration(s.Ran.DurationMS)*time.Millisecond >= slowIteration
	if !force && !slow && time.Since(r.page.made) < pageEvery {
		return nil
	}
	notes, err := r.page.notes()
	if err != nil {
		return err
	}
	rendered := Render(s)
	err = atomicfile.Write(r.page.name, slices.Concat(rendered, notes), false)
	if errors.Is(err, atomicfile.ErrInUse) && !s.Ended {
		r.page.made = time.Time{} // the next call tries again
		return nil
	}
	if err == nil {
		r.page.made, r.page.rendered = time.Now(), rendered
	}
	return err
}

// notes returns the part of the page from the notes on, unchanged. If their heading is gone,
// it returns everything that looprun did not write itself.
func (p *page) notes() ([]byte, error) {
	old, err := readWithin(filepath.Dir(p.name), p.name)
	switch {
	case os.IsNotExist(err), err != nil && isLink(p.name): // what a link leads to is not the page
		return []byte(emptyNotes), nil
	case err != nil:
		return nil, err
	}
	if at := notesAt(old); at >= 0 {
		return old[at:], nil
	}
	return append([]byte(notesHeading+"\n\n"), bytes.TrimPrefix(old, p.rendered)...), nil
}

// notesAt returns the index of the notes' heading, whatever line ending an editor used, or -1
// if there is none.
func notesAt(text []byte) int {
	at := 0
	for line := range bytes.Lines(text) {
		if string(bytes.TrimRight(line, " \t\r\n")) == notesHeading {
			return at
		}
		at += len(line)
	}
	return -1
}
