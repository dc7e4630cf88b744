package scratchpad

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/atomicfile"
)

const keptName = "state.json"

// What a long journal comes to is not read from its beginning by who wants to show it: the
// state after one of its events is kept beside it. It is one of keptEvery bytes, and is
// written when keptAfter more have followed, so that the last iterations are read as events.
const (
	keptEvery = 1 << 20
	keptAfter = 256 << 10
)

// keptState is a state of a run. It counts only where all of this holds, and else the journal is
// read: the user's key has signed the file, this same program has made it, and the record
// that it is of stands where it stood, with the mark that stands for all before it.
type keptState struct {
	Program string            `json:"program"` // another may come to another state
	Offset  int64             `json:"offset"`  // in the journal, behind the record
	Link    [sha256.Size]byte `json:"link"`    // see [marker]
	Config  json.RawMessage   `json:"config,omitempty"`
	State   *core.State       `json:"state"`
	key     []byte
}

// keeper keeps states of a run that goes on.
type keeper struct {
	offset int64  // of the last one
	text   []byte // it, until it is written
}

// keep keeps the state of a long run, now and then. It is a copy of what the journal says:
// that it cannot be written is no reason to stop.
func (r *Run) keep(s *core.State) {
	if r.Journal == nil { // it is being repaired
		return
	}
	at, key := r.Journal.position(s)
	switch grown := at.Offset - r.keeper.offset; {
	case key == nil:
	case r.keeper.text != nil && grown >= keptAfter:
		_ = atomicfile.Write(filepath.Join(r.Dir, keptName), r.keeper.text, false)
		r.keeper.text = nil
	case r.keeper.text == nil && grown >= keptEvery:
		at.Program = program()
		if text, err := json.Marshal(at); err == nil && at.Program != "" {
			r.keeper = keeper{at.Offset, append(signed(key, text), text...)}
		}
	}
}

// position is where the journal stands in that state; without a key when it is not there,
// or signs nothing.
func (j *Journal) position(s *core.State) (at keptState, key []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.seq != s.Seq {
		return at, nil
	}
	return keptState{Offset: j.offset, Link: j.marker.link, Config: j.config, State: s}, j.marker.key
}

// signed is the line that a kept state begins with.
func signed(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("kept state\n")) // no record is signed so
	h.Write(text)
	return append(hex.AppendEncode(nil, h.Sum(nil)), '\n')
}

// program tells this program from others; empty where that cannot be told.
func program() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(self)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

var errNotKept = errors.New("no state is kept that counts")

// readKept reads the kept state of a run, and finds its place in the journal.
func readKept(dir string, journal *os.File) (keptState, error) {
	var k keptState
	if info, err := journal.Stat(); err != nil || info.Size() < keptEvery {
		return k, errNotKept
	}
	text, err := readBounded(filepath.Join(dir, keptName))
	if err != nil {
		return k, err
	}
	if k.key, err = ownKey(false); err != nil {
		return k, err
	}
	_, body, _ := bytes.Cut(text, []byte{'\n'})
	if !hmac.Equal(text, append(signed(k.key, body), body...)) {
		return k, errNotKept
	}
	if err := json.Unmarshal(body, &k); err != nil {
		return k, err
	}
	if k.Program != program() || k.State == nil {
		return k, errNotKept
	}
	before := make([]byte, pageSize)
	if _, err := journal.ReadAt(before, k.Offset-pageSize); err != nil {
		return k, err
	}
	before, whole := bytes.CutSuffix(before, []byte{'\n'})
	body, err = sealed(before[bytes.LastIndexByte(before, '\n')+1:])
	if err != nil {
		return k, err
	}
	if _, mark := unmark(body); !whole || string(mark) != (marker{key: k.key, link: k.Link}).mark() {
		return k, errNotKept
	}
	_, err = journal.Seek(k.Offset, 0)
	return k, err
}

// proves reports whether all that stands in the journal before the kept state is, byte for
// byte, what it was made of: then it has no other fold, and need not be folded again.
// It picks what may be events of these types on the way.
func (k keptState) proves(dir string, journal io.ReaderAt, picks ...core.EventType) (picked []core.Event, proven bool) {
	p, err := proveLines(dir, io.NewSectionReader(journal, 0, k.Offset), k.Offset, k.key, picks)
	return p.picked, err == nil && p.records == k.State.Seq && p.marker.link == k.Link
}

// Pick reads the events of these types as [Replay] does. Of what a kept state proves, the
// others are not decoded.
func Pick(dir string, types ...core.EventType) ([]core.Event, error) {
	file, err := openRegular(filepath.Join(dir, journalName))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var picked []core.Event
	pick := func(e core.Event) error {
		if slices.Contains(types, e.Data.Type()) {
			picked = append(picked, e)
		}
		return nil
	}
	if k, err := readKept(dir, file); err == nil {
		before, proven := k.proves(dir, file, types...)
		for _, e := range before {
			_ = pick(e)
		}
		if proven {
			if _, err = replayFrom(dir, file, Tail{Offset: k.Offset, Events: k.State.Seq}, pick); err == nil {
				return picked, nil
			}
		}
		picked = nil
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	_, err = replay(dir, file, pick)
	return picked, err
}

// Recent reads what a run has come to, and its configuration, as [Load] does. Before each
// event that it reads on the way it calls f with the state then. These are the last ones
// alone where a state is kept, and all, from the first on, where not or where that fails.
func Recent(dir string, f func(before *core.State, e core.Event)) (*core.State, json.RawMessage, error) {
	name := filepath.Join(dir, journalName)
	file, err := openRegular(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	k, err := readKept(dir, file)
	from := Tail{Offset: k.Offset}
	apply := func(e core.Event) error {
		f(k.State, e)
		k.Config = ConfigOf(e, k.Config)
		return k.State.Apply(e)
	}
	if err == nil {
		from.Events = k.State.Seq
		_, err = replayFrom(dir, file, from, apply)
	}
	if err != nil {
		k = keptState{State: new(core.State)}
		if _, err = file.Seek(0, 0); err == nil {
			_, err = replayFrom(dir, file, Tail{}, apply)
		}
	}
	if err == nil && k.State.Seq == 0 {
		err = noEvents(name)
	}
	return k.State, k.Config, err
}

// ConfigOf is the configuration of a run behind an event, and before it.
func ConfigOf(e core.Event, before json.RawMessage) json.RawMessage {
	switch d := e.Data.(type) {
	case core.RunStarted:
		return d.Config
	case core.RunResumed:
		if d.Config != nil {
			return d.Config
		}
	}
	return before
}
