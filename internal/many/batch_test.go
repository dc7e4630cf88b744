package many

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/checkpoint"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/eventually"
	"github.com/looprun/looprun/internal/looptest"
	"github.com/looprun/looprun/internal/proc"
	"github.com/looprun/looprun/internal/rounds"
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
		"crashed, asking":  {asks, false, waiting, true},
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
			e.cost = 5
			if e.find(dir); e.stands != over || e.end.Reason == "" || e.cost != 5 {
				t.Errorf("its journal is damaged: it is %d, %q, and cost %v", e.stands, e.end.Reason, e.cost)
			}
		})
	}
}

// The line about a loop says only what there is to say.
func TestTheLineAboutALoop(t *testing.T) {
	for want, e := range map[string]End{
		"[1/2] a: not started: no room": {Reason: "no room"},
		"[1/2] a: done after 2 iterations, 3s; see: looprun diff r; take: git merge --squash refs/r": {Status: core.StatusDone, Iterations: 2, Runtime: 3, RunID: "r", Ref: "refs/r"},
		"[1/2] a: tripped (max_iterations) after 1 iteration, 3s: 1 test failing; exit 110":          {Status: core.StatusTripped, Guard: "max_iterations", Iterations: 1, Runtime: 3, Says: "1 test failing", ExitCode: 110},
	} {
		e.Name = "a"
		if got := e.line(1, 2); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The report about a night counts what the loops changed, and nothing else, and counts nothing
// where it is not known of one of them.
func TestWhatChangedOverNight(t *testing.T) {
	m := batchOfOne(t)
	b, e := m.running(t)
	if err := m.repo.add(within(t), m.l); err != nil {
		t.Fatal(err)
	}
	journal(t, b.State, e.RunID, tripped...)
	top := e.Repository
	write(t, filepath.Join(e.Tree, "f"), "of the loop")
	gitIn(t, top, "update-ref", "refs/result", gitIn(t, top, "commit-tree", "-p", "HEAD", "-m", "two", gitIn(t, e.Tree, "rev-parse", "HEAD^{tree}")))
	write(t, filepath.Join(top, "f"), "of the user")
	one := func(base string, end End) *entry {
		return &entry{Loop: &Loop{RunID: e.RunID, Repository: top, Tree: e.Tree, Base: base}, end: end}
	}
	known := one(e.Base, End{Tree: e.Tree, Ref: "refs/result"})
	for name, c := range map[string]struct {
		entries []*entry
		want    string
	}{
		"in its tree":      {[]*entry{known}, "0 commits and 1 file changed since it began"},
		"in its result":    {[]*entry{one(e.Base, End{Ref: "refs/result"})}, "1 commit and 0 files changed since it began"},
		"nowhere":          {[]*entry{one(e.Base, End{})}, "nothing changed since it began"},
		"not known of one": {[]*entry{known, one("gone", End{Tree: e.Tree}), known, known, known, known}, ""},
	} {
		b.entries = c.entries
		lines := b.Morning(b.verdict())
		if got := strings.Join(lines, "\n"); c.want == "" && strings.Contains(got, "changed") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What to look at first after a night is who asks, then what failed, then a result.
func TestWhatToLookAtFirst(t *testing.T) {
	m := batchOfOne(t)
	b, e := m.running(t)
	one := func(id string, s standing, end End) *entry {
		return &entry{Loop: &Loop{RunID: id}, stands: s, end: end}
	}
	none := one("not-started", over, End{ExitCode: 125})
	if lines := b.Morning(&Verdict{}); lines != nil {
		t.Errorf("none has begun: %q", lines)
	}
	journal(t, b.State, e.RunID, done...)
	for _, c := range []struct {
		entries []*entry
		want    string
	}{
		{[]*entry{one("result", over, End{Status: core.StatusDone, Ref: "r"}), one("failed", over, End{Status: core.StatusTripped, ExitCode: 110, Ref: "r"}), one("asks", asking, End{Ref: "r"})}, "answer asks"},
		{[]*entry{one("result", over, End{Status: core.StatusDone, Ref: "r"}), one("failed", over, End{Status: core.StatusTripped, ExitCode: 110, Ref: "r"})}, "explain failed"},
		{[]*entry{one("result", over, End{Status: core.StatusDone, Ref: "r"})}, "diff result"},
	} {
		b.entries = append([]*entry{none, one(e.RunID, over, End{Status: core.StatusDone})}, c.entries...)
		if lines := b.Morning(&Verdict{}); lines[len(lines)-1] != "look first: looprun "+c.want {
			t.Errorf("%q, want %s", lines, c.want)
		}
	}
	b.entries = b.entries[:2]
	if got := strings.Join(b.Morning(&Verdict{}), "\n"); strings.Contains(got, "look first") {
		t.Errorf("there is nothing to look at: %q", got)
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
		"killed when told":       {began, proc.Exit{Code: 143}, "", over, 143, "its process was killed"},
		"killed while it asks":   {asks, proc.Exit{Code: 137}, "", over, 137, "its process was killed"},
		"resumed elsewhere":      {began, proc.Exit{Code: 125}, "", asking, 125, ""},
		"ended, and elsewhere":   {began, proc.Exit{Code: 125}, "enough", over, 125, ""},
		"it asks elsewhere":      {asks, proc.Exit{Code: 125}, "", asking, 125, ""},
		"asks":                   {paused, proc.Exit{Code: 102}, "", asking, 102, ""},
		"asks at the end":        {paused, proc.Exit{Code: 102}, "enough", over, 102, ""},
		"answered":               {hasAnswer, proc.Exit{Code: 102}, "", waiting, 102, ""},
		"answered at the end":    {hasAnswer, proc.Exit{Code: 102}, "enough", over, 102, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, e := m.running(t)
			b.halt = c.halt
			b.slots[0], e.slot = e, 0
			dir := journal(t, b.State, e.RunID, c.events...)
			if strings.HasSuffix(name, "elsewhere") {
				release, err := scratchpad.Hold(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = release() }()
			}
			told := 0
			b.Asks = func(string, string, []string) { told++ }
			b.ended(e, dir, c.exit, &messages{said: tail.Buffer{Limit: saidMost}})
			if e.stands != c.stands || e.end.ExitCode != c.code || e.end.Reason != c.reason || b.slots[0] != nil {
				t.Errorf("it is %d, %+v; want %d, %d, %q", e.stands, e.end, c.stands, c.code, c.reason)
			}
			if (told == 1) != strings.HasPrefix(name, "asks") {
				t.Errorf("it is told %d times that it asks", told)
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
			told := 0
			b.entries, b.Resume, b.Asks = nil, c.resume, func(string, string, []string) { told++ }
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
			if (told == 1) != (name == "asks") {
				t.Errorf("it is told %d times that it asks", told)
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
	if _, err := (&Batch{Plan: m.p, Self: "/none", Say: &console.Messages{W: t.Output()}}).Run(t.Context()); err == nil {
		t.Error("the repository is gone")
	}
}

// Loops of one repository share its mirror, which has the commits that they begin at, on a
// branch or not.
func TestLoopsShareAMirror(t *testing.T) {
	m := batchOfOne(t)
	m.p.Loops = append(m.p.Loops, *m.l, *m.l)
	base := gitIn(t, m.l.Repository, "commit-tree", "-m", "on no branch", "HEAD^{tree}")
	m.p.Loops[1].Base, m.p.Loops[2].Base = base, base
	b, _ := m.running(t)
	b.entries = nil
	if err := b.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.entries[0].repo != b.entries[1].repo {
		t.Error("their calls of git come at the same time")
	}
	if refs := gitIn(t, m.repo.mirror, "for-each-ref", "--format=%(objectname)", "refs/bases/"+b.ID); strings.Count(refs, base) != 1 || strings.Count(refs, m.l.Base) != 1 {
		t.Errorf("it keeps %q", refs)
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
		{1 << 62, trees, waiting, false, "must stay free"},
		{1, filepath.Join(trees, "gone"), waiting, false, "; --min-free 0 starts"},
	} {
		b.halt, b.told, b.MinFree, b.Trees, e.stands = "", false, c.least, c.trees, c.stands
		if room := b.room(); room != c.room || (b.halt != "") != (c.halt != "") || !strings.Contains(b.halt, c.halt) {
			t.Errorf("%+v: room %v, %q", c, room, b.halt)
		}
	}
}

// A loop is started if it has a slot, the disk has room, and the batch does not end.
func TestWhatIsStarted(t *testing.T) {
	m := batchOfOne(t)
	for name, c := range map[string]struct {
		halt   string
		least  int64
		taken  bool
		stands standing
	}{
		"all is well": {"", 1, false, placing},
		"no slot":     {"", 1, true, waiting},
		"no room":     {"", 1 << 62, false, over},
		"the end":     {"enough", 1, false, over},
	} {
		t.Run(name, func(t *testing.T) {
			b, e := m.running(t)
			b.queue, b.events, b.halt, b.MinFree = []*entry{e}, make(chan func(), 1), c.halt, c.least
			if c.taken {
				b.slots[0] = &entry{}
			}
			b.fill(t.Context())
			if e.stands != c.stands || (e.slot == 0) != (c.stands == placing) || (e.end.Reason != "") != (c.stands == over) {
				t.Errorf("it is %d in slot %d: %+v", e.stands, e.slot, e.end)
			}
			if e.stands == placing {
				<-b.events
			}
		})
	}
}

// A setup that fails is the loop's failure; one that is interrupted is begun again by --resume.
func TestASetupEnds(t *testing.T) {
	for name, c := range map[string]struct {
		setup  string
		code   int
		reason string
	}{
		"well":        {"touch made", 127, "/none: no such file"},
		"failed":      {"touch made; echo no network; exit 3", core.ExitFailed, "its setup failed (exit 3): no network"},
		"killed":      {"kill -9 $$", core.ExitFailed, "its setup failed (exit 137)"},
		"interrupted": {"touch begun; sleep 600", 130, "interrupted"},
		"ends early":  {"trap 'exit 0' TERM; touch begun; while :; do sleep 0.1; done", 130, "interrupted"},
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
			v := ends(ctx, t, &Batch{Plan: m.p, Self: "/none", Say: &console.Messages{W: t.Output()}})
			if got := v.Loops[0]; v.ExitCode != c.code || got.Status != "" || !strings.HasPrefix(got.Reason, c.reason) || got.Ref != "" || ready(m.l.Tree) != (name == "well") {
				t.Errorf("%d, %+v", v.ExitCode, got)
			}
		})
	}
}

// ends runs a batch to its end.
func ends(ctx context.Context, t *testing.T, b *Batch) *Verdict {
	t.Helper()
	ended := make(chan *Verdict, 1)
	go func() {
		v, err := b.Run(ctx)
		if err != nil {
			t.Error(err)
		}
		ended <- v
	}()
	v := eventually.Receive(t, "the batch ends", ended)
	if v == nil {
		t.FailNow()
	}
	return v
}

// onWrite is a terminal that passes on what is printed.
type onWrite func(text string)

func (w onWrite) Write(b []byte) (int, error) { w(string(b)); return len(b), nil }

// When only questions are left, a batch waits as long as it was told for an answer, and no longer
// than one can come.
func TestABatchWaitsForAnswers(t *testing.T) {
	m := batchOfOne(t)
	for name, c := range map[string]struct {
		events []core.Data
		wait   time.Duration
		code   int
	}{
		"nobody is waited for": {paused, 0, 102},
		"nobody comes":         {paused, time.Millisecond, 102},
		"ended elsewhere":      {paused, time.Hour, 0},
		"interrupted":          {paused, time.Hour, 102},
		"no question":          {tripped, time.Hour, 111},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m.p.name(time.Now())
			m.p.Wait = c.wait
			journal(t, m.p.State, m.l.RunID, c.events...)
			invited := 0
			v := ends(ctx, t, &Batch{Plan: m.p, Self: "/none", Say: &console.Messages{W: onWrite(func(text string) {
				if !strings.Contains(text, "wait for an answer") {
					return
				}
				invited++
				switch name {
				case "ended elsewhere":
					if err := os.RemoveAll(m.p.runDir(m.l)); err != nil {
						t.Error(err)
					}
					journal(t, m.p.State, m.l.RunID, done...)
				case "interrupted":
					cancel()
				}
			})}})
			if v.ExitCode != c.code || (invited == 1) != (c.wait > 0 && c.code != 111) {
				t.Errorf("%d, invited %d times: %+v", v.ExitCode, invited, v.Loops[0])
			}
		})
	}
}

// endsWhenTold is a process that a signal ends with 7, and a second one kills.
func endsWhenTold(t *testing.T) *proc.Process {
	t.Helper()
	ready := make(chan bool)
	p := proc.Start(proc.Spec{Argv: proc.Shell("trap 'exit 7' TERM; echo; while :; do sleep 0.1; done"), Stdout: func([]byte) { close(ready) }})
	t.Cleanup(func() { p.Stop(syscall.SIGKILL) })
	<-ready
	return p
}

// endOf waits for a process.
func endOf(t *testing.T, p *proc.Process) proc.Exit {
	t.Helper()
	eventually.Receive(t, "the process ends", p.Done())
	return p.Wait()
}

// A second interrupt kills the loops that are being ended.
func TestABatchIsKilled(t *testing.T) {
	b, e := batchOfOne(t).running(t)
	e.process = endsWhenTold(t)
	b.entries, b.events = append([]*entry{{}}, b.entries...), make(chan func(), 1)
	b.Kill()
	(<-b.events)()
	if exit := endOf(t, e.process); exit.Signal != syscall.SIGKILL {
		t.Errorf("%+v", exit)
	}
}

// A loop's program gets the words that begin or continue its run, and the environment that the
// loop names.
func TestWhatALoopIsTold(t *testing.T) {
	m := batchOfOne(t)
	said := filepath.Join(t.TempDir(), "said")
	self := program(t, `echo "$LOOPRUN_SLOT $OWN $*" >'`+said+`'`)
	m.l.Env, m.l.Flags, m.l.Command = map[string]string{"OWN": "own", "PATH": os.Getenv("PATH")}, []string{"--max-iterations=3"}, []string{"true"}
	for _, c := range []struct {
		events []core.Data
		want   string
	}{
		{nil, "1 own run --run-id ID --repository TOP --state-dir STATE --name=a --checkpoint --detached defer --ci off --log-format json --max-iterations=3 -- true"},
		{stopped, "1 own resume ID --state-dir STATE --log-format json --detached deny"},
	} {
		m.p.name(time.Now())
		journal(t, m.State, m.l.RunID, c.events...)
		ends(t.Context(), t, &Batch{Plan: m.p, Self: self, Resume: []string{"--detached", "deny"}, Say: &console.Messages{W: t.Output()}})
		text, err := os.ReadFile(said)
		if want := strings.NewReplacer("ID", m.l.RunID, "TOP", m.l.Repository, "STATE", m.p.State).Replace(c.want); err != nil || strings.TrimSpace(string(text)) != want {
			t.Errorf("%q, %v; want %q", text, err, want)
		}
	}
}

// program is a shell script.
func program(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	return name
}

// A loop that somebody else had open, and left, goes on here.
func TestALoopIsLeftElsewhere(t *testing.T) {
	b, e := batchOfOne(t).running(t)
	dir := journal(t, b.State, e.RunID, began...)
	release, err := scratchpad.Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	e.find(dir)
	if b.look(); e.stands != asking {
		t.Errorf("it is open: %d", e.stands)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if b.look(); e.stands != waiting || !e.resumed || len(b.queue) != 1 {
		t.Errorf("it was left: %d", e.stands)
	}
}

// A warning that a run repeats is passed on once, and no more than ten are.
func TestAWarningIsPassedOnOnce(t *testing.T) {
	b, e := batchOfOne(t).running(t)
	for i := range 12 {
		b.warn(e, "the same")
		b.warn(e, strconv.Itoa(i))
	}
	if len(e.end.Warnings) != 10 || e.end.Warnings[0] != "the same" || e.end.Warnings[2] != "1" {
		t.Errorf("%q", e.end.Warnings)
	}
}

// A batch that ends is looked at again until its loops have ended, and tells them once: when
// they are told twice they are killed.
func TestABatchIsStoppedOnce(t *testing.T) {
	b, e := batchOfOne(t).running(t)
	e.stands, e.process, e.cost, e.seen.Iterations = running, endsWhenTold(t), 9, 2
	b.Limits = Limits{Cost: 5, Tokens: 5, MinFree: 1 << 62}
	b.end("no cost is reported", 113)
	b.stop("interrupted", 130)
	b.stop("the disk is full", 125)
	b.bounds()
	if exit := endOf(t, e.process); exit.Code != 7 || b.halt != "no cost is reported" || b.code != 113 || e.end.Reason != "" {
		t.Errorf("%+v, %q, %d, %q", exit, b.halt, b.code, e.end.Reason)
	}
}

// What cannot be brought into the user's repository is said, whatever the loop's end: it is
// not done then, and nothing else is changed.
func TestAResultThatDoesNotArrive(t *testing.T) {
	path := os.Getenv("PATH")
	for name, c := range map[string]struct {
		events []core.Data
		git    string
		status core.Status
		code   int
		reason string
	}{
		"tripped, and arrives": {tripped, "", core.StatusTripped, 111, ""},
		"done, and arrives":    {done, "", core.StatusDone, 0, ""},
		"tripped":              {tripped, `case "$*" in *--no-write-fetch-head*) echo broken >&2; exit 1;; esac`, core.StatusTripped, 111, ""},
		"done":                 {done, `case "$*" in *--no-write-fetch-head*) echo broken >&2; exit 1;; esac`, core.StatusFailed, core.ExitFailed, "broken"},
		"done, but for git":    {done, `case "$*" in *worktree*prune*) exit 1;; esac`, core.StatusDone, 0, ""},
		"done, and another's":  {done, `case "$*" in *update-ref*refs/looprun/*) "$real" "$@"; exec "$real" update-ref refs/looprun/$ID $BASE;; esac`, core.StatusFailed, core.ExitFailed, "it has "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", path)
			m := batchOfOne(t)
			b, e := m.running(t)
			journal(t, b.State, e.RunID, c.events...)
			if err := m.repo.add(t.Context(), e.Loop); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(e.Tree, "made"), "by the loop")
			if c.status == core.StatusTripped {
				m.whole(t)
			}
			t.Setenv("ID", e.RunID)
			t.Setenv("BASE", e.Base)
			gitThat(t, c.git)
			e.find(b.runDir(e.Loop))
			b.finish(e)
			if e.end.Status != c.status || e.end.ExitCode != c.code || !strings.Contains(e.end.Reason, c.reason) || (len(e.end.Warnings) == 1) != (c.reason == "" && c.git != "") {
				t.Errorf("%+v", e.end)
			}
			if remains(t, e.Tree) != (c.code != 0) || (e.end.Tree != "") != (c.code != 0) {
				t.Errorf("its tree is %q", e.end.Tree)
			}
			if c.git == "" {
				if b.finish(e); e.end.Status != c.status || e.end.Ref != checkpoint.Ref(e.RunID) {
					t.Errorf("its batch was killed then, and is resumed: %+v", e.end)
				}
			}
		})
	}
}

// A tree that cannot be looked at may hold the last copy: it is not taken for one that is gone.
// Nor is a checkpoint made for a run that another looprun has open.
func TestWhatCannotBeLookedAtIsNotSettled(t *testing.T) {
	m := batchOfOne(t)
	dir := journal(t, m.State, m.l.RunID, done...)
	write(t, filepath.Join(m.l.Tree, "made"), "by the loop")
	release, err := scratchpad.Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.repo.settle(t.Context(), m.l, dir); !errors.Is(err, scratchpad.ErrLocked) {
		t.Errorf("it is open elsewhere: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", filepath.Join(m.State, "gone"))
	if err := m.repo.settle(t.Context(), m.l, filepath.Join(m.State, "gone")); err == nil {
		t.Error("there is no room for a checkpoint of a run that is gone")
	}
	above := filepath.Dir(m.l.Tree)
	if err := errors.Join(os.Rename(above, above+".moved"), os.WriteFile(above, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := m.repo.settle(t.Context(), m.l, dir); err == nil {
		t.Error("a file is in place of the folder above it")
	}
}

// The tree of a loop that goes on has work in it that no checkpoint has.
func TestATreeThatIsReadyStays(t *testing.T) {
	m := batchOfOne(t)
	b, e := m.running(t)
	e.Setup = "touch ../again"
	if err := errors.Join(m.repo.add(t.Context(), e.Loop), os.WriteFile(e.Tree+readySuffix, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(e.Tree, "made"), "by the loop")
	if err := b.place(t.Context(), e); err != nil || !remains(t, filepath.Join(e.Tree, "made")) || remains(t, filepath.Join(e.Tree, "../again")) {
		t.Errorf("it is made again: %v", err)
	}
}

// A tree that is made again has the files of the last checkpoint.
func TestATreeIsMadeAgain(t *testing.T) {
	m := batchOfOne(t)
	write(t, filepath.Join(m.l.Tree, "made"), "by the loop")
	m.whole(t)
	if err := m.repo.add(t.Context(), m.l); err != nil || !remains(t, filepath.Join(m.l.Tree, "made")) {
		t.Errorf("what it made is gone: %v", err)
	}
}

// Whichever call of git fails, no loop starts in a tree that lacks something.
func TestGitFailsWhileATreeIsMade(t *testing.T) {
	m := batchOfOne(t)
	b, e := m.running(t)
	write(t, filepath.Join(e.Repository, "secret"), "s")
	e.Copy = []string{"secret"}
	if err := m.repo.add(t.Context(), e.Loop); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(e.Tree, "made"), "by the loop")
	m.whole(t)
	path := os.Getenv("PATH")
	for at := 1; at < 50; at++ {
		_ = os.Remove(e.Tree + readySuffix)
		calls := failingGit(t, at)
		err := b.place(t.Context(), e)
		over := calls() < at
		t.Setenv("PATH", path)
		if (err == nil) != over || err != nil && !strings.Contains(err.Error(), "broken") || over && !(remains(t, filepath.Join(e.Tree, "made")) && remains(t, filepath.Join(e.Tree, "secret"))) {
			t.Errorf("call %d: %v", at, err)
		}
		if over {
			break
		}
	}
	exclude := filepath.Join(m.repo.mirror, "info", "exclude")
	if err := errors.Join(os.Remove(e.Tree+readySuffix), os.Remove(exclude)); err != nil {
		t.Fatal(err)
	}
	gitThat(t, `case "$*" in *reset*) "$real" "$@"; mkdir '`+exclude+`'; exit 0;; esac`)
	if err := b.place(t.Context(), e); err == nil || ready(e.Tree) {
		t.Errorf("a secret file would be in its commits: %v", err)
	}
	if err := errors.Join(os.Remove(exclude), os.Symlink(exclude, exclude)); err != nil {
		t.Skip(err)
	}
	if err := m.repo.exclude([]string{"another"}); err == nil {
		t.Error("what it excluded before is forgotten")
	}
}

// Whichever call of git fails, no mirror is used that lacks something, or that could push.
func TestGitFailsWhileAMirrorIsMade(t *testing.T) {
	m := batchOfOne(t)
	path := os.Getenv("PATH")
	for at := 1; at < 50; at++ {
		r := repositoryOf(t.TempDir(), m.l.Repository)
		calls := failingGit(t, at)
		err := r.fetch(t.Context(), m.p.ID, []string{m.l.Base})
		over := calls() < at
		if t.Setenv("PATH", path); (err == nil) != over || err != nil && !strings.Contains(err.Error(), "broken") {
			t.Errorf("call %d: %v", at, err)
		}
		if over {
			if remotes := gitIn(t, r.mirror, "remote"); remotes != "" || at < 3 {
				t.Errorf("after %d calls it has the remotes %q", at, remotes)
			}
			return
		}
	}
	t.Error("it is never made")
}

// When no more loops are started, one whose tree is being made is not started either, and
// those that run go on.
func TestAnEndLeavesAloneWhatRuns(t *testing.T) {
	m := batchOfOne(t)
	for name, c := range map[string]struct {
		end, cut bool
		halt     string
		code     int
	}{
		"made":        {true, false, "no cost is reported", 113},
		"being made":  {true, true, "no cost is reported", 113},
		"interrupted": {false, true, "interrupted", 130},
	} {
		b, e := m.running(t)
		ctx, cancel := context.WithCancel(t.Context())
		b.events = make(chan func(), 1)
		if c.end {
			b.end(c.halt, c.code)
		}
		if c.cut {
			cancel()
		}
		b.start(ctx, e)
		(<-b.events)()
		cancel()
		if b.told == c.end || e.process != nil || e.stands != over || e.end.Reason != c.halt || e.end.ExitCode != c.code {
			t.Errorf("%s: told %v, it is %d: %+v", name, b.told, e.stands, e.end)
		}
	}
}

// A run's warnings and errors are passed on, but for what its line says anyway, and the last of
// its messages says how it ended, or else its last line.
func TestWhatARunSays(t *testing.T) {
	for line, c := range map[string]struct{ told, ended string }{
		`{"time":"t","level":"warning","message":"a"}`:                       {"a", "a"},
		`{"time":"t","level":"error","message":"a"}`:                         {"a", "a"},
		`{"time":"t","level":"error","message":"a","event":"guard.tripped"}`: {"", "a"},
		`{"time":"t","level":"info","message":"a"}`:                          {"", "a"},
		`no line break{"time":"t","level":"warning","message":"a"}`:          {"a", "a"},
		"\x1b]title\n" + `{"time":"t","level":"warning","message":"a"}`:      {"a", "a"},
		`{"time":"t","level":"warning"}`:                                     {"", `{"time":"t","level":"warning"}`},
		`{"time":"t","level":`:                                               {"", `{"time":"t","level":`},
		`of the command`:                                                     {"", "of the command"},
	} {
		var told []string
		m := &messages{said: tail.Buffer{Limit: saidMost}, tell: func(text string) { told = append(told, text) }}
		taken := make(chan bool, 1)
		go func() {
			m.take([]byte(line))
			m.take([]byte("\n"))
			taken <- true
		}()
		eventually.Receive(t, "it is read", taken)
		if strings.Join(told, " ") != c.told || m.String() != c.ended {
			t.Errorf("%s: told %q, ended with %q", line, told, m)
		}
		m.take([]byte(`{"time":"t","level":"info","message":"b"}` + "\n" + line + "\n"))
		if want := map[bool]string{true: "a", false: "b"}[c.ended == "a"]; m.String() != want {
			t.Errorf("%s after b: ended with %q", line, m)
		}
	}
}

// A loop that asks offers what it has made so far.
func TestALoopThatAsksOffersItsFiles(t *testing.T) {
	m := batchOfOne(t)
	b, e := m.running(t)
	journal(t, b.State, e.RunID, paused...)
	e.find(b.runDir(e.Loop))
	if v := b.verdict(); v.Loops[0].Ref != "" {
		t.Errorf("it has made nothing: %+v", v.Loops[0])
	}
	if err := m.repo.add(t.Context(), e.Loop); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(e.Tree, "made"), "by the loop")
	m.whole(t)
	if v := b.verdict(); v.Loops[0].Ref != checkpoint.Ref(e.RunID) || gitIn(t, e.Repository, "show", v.Loops[0].Ref+":made") != "by the loop" {
		t.Errorf("%+v", v.Loops[0])
	}
}

// All loops together have one budget: it ends the batch when it is spent, and so does a loop
// that does not report what it spends.
func TestABudgetIsSpent(t *testing.T) {
	m := batchOfOne(t)
	sleeps := endsWhenTold(t)
	for name, c := range map[string]struct {
		limits     Limits
		stands     standing
		cost       float64
		tokens     int64
		iterations int
		halt       string
		told       bool
	}{
		"no budget":                  {Limits{}, over, 0, 0, 1, "", false},
		"money left":                 {Limits{Cost: 5}, running, 4, 0, 1, "", false},
		"no money left":              {Limits{Cost: 5}, running, 5, 0, 1, "$5.00 were spent", true},
		"tokens left":                {Limits{Tokens: 5}, running, 0, 4, 1, "", false},
		"no tokens left":             {Limits{Tokens: 5}, running, 0, 5, 1, "5 tokens were spent", true},
		"tells nothing yet":          {Limits{Cost: 5}, over, 0, 0, 0, "", false},
		"tells no cost":              {Limits{Cost: 5}, over, 0, 9, 1, "reports no cost", false},
		"tells its cost":             {Limits{Cost: 5}, over, 4, 0, 1, "", false},
		"tells its tokens":           {Limits{Tokens: 5}, over, 0, 4, 1, "", false},
		"tells no cost, and asks":    {Limits{Cost: 5}, asking, 0, 9, 1, "reports no cost", false},
		"tells no cost in two":       {Limits{Cost: 5}, over, 0, 9, 2, "reports no cost", false},
		"tells no cost, and waits":   {Limits{Cost: 5}, waiting, 0, 9, 1, "", false},
		"tells no tokens":            {Limits{Tokens: 5}, over, 9, 0, 1, "reports no tokens", false},
		"has begun, and tells none":  {Limits{Cost: 5}, running, 0, 9, 1, "", false},
		"goes on, and tells nothing": {Limits{Cost: 5}, running, 0, 9, 2, "", false},
		"the disk is full":           {Limits{MinFree: 1 << 62}, running, 0, 0, 1, "are free on the disk", true},
		"the disk is full, and idle": {Limits{MinFree: 1 << 62}, asking, 0, 0, 1, "", false},
		"the disk is gone":           {Limits{MinFree: 2}, running, 0, 0, 1, "", false},
		"the disk has room":          {Limits{MinFree: 2}, running, 0, 0, 1, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			b, e := m.running(t)
			b.Limits = c.limits
			if trees := b.Trees; name == "the disk is gone" {
				b.Trees = filepath.Join(trees, "gone")
				defer func() { b.Trees = trees }()
			}
			e.stands, e.cost, e.tokens, e.seen.Iterations = c.stands, c.cost, c.tokens, c.iterations
			stops := name == "goes on, and tells nothing"
			if stops {
				e.process = sleeps
			}
			b.bounds()
			if (b.halt != "") != (c.halt != "") || !strings.Contains(b.halt, c.halt) || b.told != c.told {
				t.Errorf("%q, told %v; want %q, %v", b.halt, b.told, c.halt, c.told)
			}
			if stops {
				if !strings.HasPrefix(e.end.Reason, "it reports no cost") {
					t.Fatalf("it goes on: %q", e.end.Reason)
				}
				b.bounds()
				if exit := endOf(t, sleeps); exit.Code != 7 {
					t.Errorf("it ended with %+v", exit)
				}
			} else if e.end.Reason != "" {
				t.Errorf("it was ended: %q", e.end.Reason)
			}
		})
	}
}

// gitThat replaces git by a shell script that ends by calling the real one, unless it exits
// before, and returns the folder of the script. $real is that git.
func gitThat(t *testing.T, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	script = fmt.Sprintf("#!/bin/sh\nreal='%s'\n%s\nexec \"$real\" \"$@\"\n", real, script)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return dir
}

// failingGit replaces git by one whose call with that number fails. calls counts them.
func failingGit(t *testing.T, at int) (calls func() int) {
	t.Helper()
	dir := gitThat(t, fmt.Sprintf("calls=${0%%/*}/calls\nprintf x >>\"$calls\"\nread -r all <\"$calls\"\n[ ${#all} -ne %d ] || { echo broken >&2; exit 128; }", at))
	return func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "calls"))
		return len(text)
	}
}

// saysWhatFailed fits what is said when a call of [failingGit] failed.
var saysWhatFailed = regexp.MustCompile("broken|no longer a work tree|not the name of a branch")

// Whichever call of git fails, a tree is removed only when its work is in the user's
// repository, a loop is done only then, and a result is taken only when a branch has it.
func TestGitFailsAtAnyCall(t *testing.T) {
	step := rounds.Step(1)
	path := os.Getenv("PATH")
	for name, c := range map[string]func(t *testing.T, b *Batch, e *entry) string{
		"finish": func(t *testing.T, b *Batch, e *entry) string {
			e.seen.Status, e.stands = core.StatusDone, over
			b.finish(e)
			if (e.end.Status == core.StatusDone) != (e.end.ExitCode == 0) || e.end.Status == core.StatusDone && remains(t, e.Tree) && len(e.end.Warnings) == 0 {
				t.Errorf("%+v", e.end)
			}
			if e.end.Status == core.StatusDone || !remains(t, e.Tree) {
				return checkpoint.Ref(e.RunID)
			}
			return ""
		},
		"take": func(t *testing.T, b *Batch, e *entry) string {
			r := &Removal{State: b.State}
			taking, err := r.Take(t.Context(), []string{"a"}, "b")
			if err == nil {
				err = taking.Run(t.Context())
			}
			if remains(t, filepath.Join(b.dir(), takenName, e.RunID)) != (err == nil) {
				t.Errorf("%v, and it counts as taken", err)
			}
			if err == nil {
				return "refs/heads/b"
			}
			if !saysWhatFailed.MatchString(err.Error()) {
				t.Error(err)
			}
			return ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			over := false
			for at := 1; at < 200 && !over; at += step {
				t.Run(strconv.Itoa(at), func(t *testing.T) {
					m := batchOfOne(t)
					_, e := m.running(t)
					b := &Batch{Plan: m.p, Say: &console.Messages{W: t.Output()}, entries: []*entry{e}, cancel: func() {}}
					journal(t, b.State, e.RunID, done...)
					if err := m.repo.add(t.Context(), e.Loop); err != nil {
						t.Fatal(err)
					}
					if err := m.p.write(nil); err != nil {
						t.Fatal(err)
					}
					write(t, filepath.Join(e.Tree, "made"), "by the loop")
					calls := failingGit(t, at)
					ref := c(t, b, e)
					over = calls() < at
					t.Setenv("PATH", path)
					if ref == "" {
						if over {
							t.Error("nothing failed, and it did not end well")
						}
						return
					}
					if got := gitIn(t, e.Repository, "show", ref+":made"); got != "by the loop" {
						t.Errorf("%s has %q", ref, got)
					}
				})
			}
		})
	}
}
