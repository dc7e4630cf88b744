package many

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/tail"
	"github.com/looprun/looprun/scratchpad"
)

// What runs leave in their journals.
var (
	began     = []core.Data{core.RunStarted{RunID: "r", Limits: looptest.Defaults}, looptest.First, looptest.Ended1}
	done      = append(began[:3:3], core.RunFinished{Ending: core.Ending{Status: core.StatusDone}})
	tripped   = append(began[:3:3], core.RunFinished{Ending: core.Ending{Status: core.StatusTripped, ExitCode: 111}})
	stopped   = append(began[:3:3], core.RunFinished{Ending: core.Ending{Status: core.StatusInterrupted, ExitCode: 143}})
	asks      = append(began[:3:3], looptest.Tripped, looptest.Question)
	paused    = append(asks[:5:5], core.RunPaused{Reason: "nobody answered"})
	hasAnswer = append(paused[:6:6], looptest.Answered)
)

// running is a batch of one loop that has not begun, as Run has it once everything is prepared.
func (m *oneLoop) running(t *testing.T) (*Batch, *entry) {
	t.Helper()
	m.p.name(time.Now())
	e := &entry{Loop: m.l, repo: m.repo, slot: -1}
	b := &Batch{Plan: m.p, Say: &console.Messages{W: t.Output()}, slots: make([]*entry, 1), entries: []*entry{e}, cancel: func() {}}
	return b, e
}

// A batch that is resumed starts what waits, goes on with what was cut off, and leaves alone
// what asks, what somebody else has open, and what has ended.
func TestWhatIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		events  []core.Data
		locked  bool
		stands  standing
		resumed bool
	}{
		"nothing":          {nil, false, waiting, false},
		"done":             {done, false, over, false},
		"tripped":          {tripped, false, over, false},
		"interrupted":      {stopped, false, waiting, true},
		"crashed":          {began, false, waiting, true},
		"open elsewhere":   {began, true, asking, false},
		"asking elsewhere": {asks, true, asking, false},
		"asks":             {paused, false, asking, false},
		"answered":         {hasAnswer, false, waiting, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := &entry{}
			dir := journal(t, t.TempDir(), "20260102-030405-0001", c.events...)
			if c.locked {
				release, err := scratchpad.Hold(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = release() }()
			}
			if e.find(dir); e.stands != c.stands || e.resumed != c.resumed {
				t.Errorf("it is %d, resumed %v; want %d, %v: %+v", e.stands, e.resumed, c.stands, c.resumed, e.seen)
			}
			if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte("x\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if e.find(dir); e.stands != over || e.end.Reason == "" {
				t.Errorf("its journal is damaged: it is %d, %q", e.stands, e.end.Reason)
			}
			if answered(dir) {
				t.Error("its journal is damaged, and it counts as answered")
			}
		})
	}
}

// What the end of a loop's process means is in its journal.
func TestHowALoopEnds(t *testing.T) {
	m := batchOfOne(t)
	for name, c := range map[string]struct {
		events []core.Data
		exit   proc.Exit
		halt   string
		stands standing
		code   int
		reason string
	}{
		"done":                   {done, proc.Exit{}, "", over, 0, ""},
		"done, and then told":    {done, proc.Exit{Code: 143}, "", over, 0, ""},
		"done, and then another": {done, proc.Exit{Code: 125}, "", over, 125, ""},
		"told":                   {stopped, proc.Exit{Code: 143}, "", over, 143, ""},
		"no run":                 {nil, proc.Exit{Code: 2}, "", over, 2, "its process ended with 2 before its run began"},
		"no program":             {nil, proc.Exit{Code: 127, StartErr: errors.New("there is none")}, "", over, 127, "there is none"},
		"no program any more":    {began, proc.Exit{Code: 127, StartErr: errors.New("there is none")}, "", over, 127, "there is none"},
		"killed":                 {began, proc.Exit{Code: 137}, "", over, 137, "its process was killed"},
		"asks":                   {paused, proc.Exit{Code: 102}, "", asking, 102, ""},
		"asks at the end":        {paused, proc.Exit{Code: 102}, "enough", over, 102, ""},
		"answered":               {hasAnswer, proc.Exit{Code: 102}, "", waiting, 102, ""},
		"answered at the end":    {hasAnswer, proc.Exit{Code: 102}, "enough", over, 102, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, e := m.running(t)
			b.halt = c.halt
			b.slots[0], e.slot = e, 0
			b.ended(e, journal(t, b.State, e.RunID, c.events...), c.exit, &messages{said: tail.Buffer{Limit: saidMost}})
			if e.stands != c.stands || e.end.ExitCode != c.code || e.end.Reason != c.reason || b.slots[0] != nil {
				t.Errorf("it is %d, %+v; want %d, %d, %q", e.stands, e.end, c.stands, c.code, c.reason)
			}
			if queued := len(b.queue) == 1 && e.resumed; queued != (c.stands == waiting) {
				t.Errorf("it is to be resumed: %v", queued)
			}
		})
	}
}

// A loop that asks is continued, or has ended, as soon as somebody else did that.
func TestALoopIsAnsweredElsewhere(t *testing.T) {
	m := batchOfOne(t)
	for name, c := range map[string]struct {
		events []core.Data
		locked bool
		stands standing
		code   int
	}{
		"nothing happened": {paused, false, asking, 102},
		"it is open":       {tripped, true, asking, 102},
		"answered":         {hasAnswer, false, waiting, 102},
		"ended well":       {done, false, over, 0},
		"ended":            {tripped, false, over, 111},
	} {
		t.Run(name, func(t *testing.T) {
			b, e := m.running(t)
			dir := journal(t, b.State, e.RunID, paused...)
			b.ended(e, dir, proc.Exit{Code: 102}, &messages{said: tail.Buffer{Limit: saidMost}})
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			journal(t, b.State, e.RunID, c.events...)
			if c.locked {
				release, err := scratchpad.Hold(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = release() }()
			}
			if b.look(); e.stands != c.stands || e.end.ExitCode != c.code || (len(b.queue) == 1) != (c.stands == waiting) {
				t.Errorf("it is %d, exit %d, %d in the queue; want %d, %d", e.stands, e.end.ExitCode, len(b.queue), c.stands, c.code)
			}
			if v := b.verdict(); v.ExitCode != c.code || (v.Loops[0].Reason == "it asks: looprun answer "+e.RunID) != (c.stands == asking) {
				t.Errorf("%d, %+v", v.ExitCode, v.Loops[0])
			}
		})
	}
}

// A batch that is resumed takes over what had ended without it, and gives its questions to
// whoever answers now, if the run is not open elsewhere.
func TestABatchIsPrepared(t *testing.T) {
	m := batchOfOne(t)
	for name, c := range map[string]struct {
		events []core.Data
		locked bool
		resume []string
		stands standing
		code   int
	}{
		"tripped":                         {tripped, false, nil, over, 111},
		"done":                            {done, false, nil, over, 0},
		"asks":                            {paused, false, nil, asking, 0},
		"asks, and somebody answers":      {paused, false, []string{"--detached", "deny"}, waiting, 0},
		"open, and somebody would answer": {asks, true, []string{"--detached", "deny"}, asking, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := m.running(t)
			b.entries, b.repos, b.Resume = nil, map[string]*repository{}, c.resume
			dir := journal(t, b.State, b.Loops[0].RunID, c.events...)
			if c.locked {
				release, err := scratchpad.Hold(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = release() }()
			}
			if err := b.prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			e := b.entries[0]
			if e.stands != c.stands || e.end.ExitCode != c.code || (len(b.queue) == 1) != (c.stands == waiting) || e.resumed != (c.stands == waiting) {
				t.Errorf("it is %d, exit %d, %d in the queue; want %d, %d", e.stands, e.end.ExitCode, len(b.queue), c.stands, c.code)
			}
		})
	}
	if err := os.RemoveAll(m.l.Repository); err != nil {
		t.Fatal(err)
	}
	b, _ := m.running(t)
	b.repos = map[string]*repository{}
	if err := b.prepare(t.Context()); err == nil {
		t.Error("the repository is gone")
	}
}

// Nothing is started where the disk has no room, and where nothing can free any, the batch ends.
func TestRoomOnTheDisk(t *testing.T) {
	b, e := batchOfOne(t).running(t)
	trees := b.Trees
	for _, c := range []struct {
		least  int64
		trees  string
		stands standing
		room   bool
		halt   string
	}{
		{0, "gone", waiting, true, ""},
		{1, trees, waiting, true, ""},
		{1 << 62, trees, running, false, ""},
		{1 << 62, trees, placing, false, ""},
		{1 << 62, trees, waiting, false, "have to stay free"},
		{1, filepath.Join(trees, "gone"), waiting, false, "is not known"},
	} {
		b.halt, b.MinFree, b.Trees, e.stands = "", c.least, c.trees, c.stands
		if room := b.room(); room != c.room || (b.halt != "") != (c.halt != "") || !strings.Contains(b.halt, c.halt) {
			t.Errorf("%+v: room %v, %q", c, room, b.halt)
		}
	}
}

// A setup that fails is the loop's failure; one that is interrupted is begun again by --resume.
func TestASetupEnds(t *testing.T) {
	for name, c := range map[string]struct {
		setup  string
		code   int
		reason string
	}{
		"failed":      {"echo no network; exit 3", core.ExitFailed, "its setup failed (exit 3): no network"},
		"killed":      {"kill -9 $$", core.ExitFailed, "its setup failed (exit 137)"},
		"interrupted": {"touch begun; sleep 600", 130, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			m := batchOfOne(t)
			m.l.Setup = c.setup
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for ctx.Err() == nil {
					if _, err := os.Stat(filepath.Join(m.l.Tree, "begun")); err == nil {
						cancel()
					}
					time.Sleep(time.Millisecond)
				}
			}()
			v, err := (&Batch{Plan: m.p, Self: "/none", Say: &console.Messages{W: t.Output()}}).Run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if got := v.Loops[0]; v.ExitCode != c.code || got.Status != "" || !strings.HasPrefix(got.Reason, c.reason) || ready(m.l.Tree) {
				t.Errorf("%d, %+v", v.ExitCode, got)
			}
		})
	}
}
