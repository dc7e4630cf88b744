package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/scratchpad"
)

// readyMany is a looprun many that has only to be started, in a repository of its own.
func readyMany(t *testing.T, dir string, args ...string) *started {
	t.Helper()
	s := ready(t, dir, append([]string{"many", "--trees", filepath.Join(dir, "disk", "trees")}, args...)...)
	s.Dir = filepath.Join(dir, "project")
	return s
}

const (
	manyLoops = 6
	manyTurns = 4
)

// manyWork notes that it begins, works, and notes that it ends. $1 is the loop.
const manyWork = `echo "$1/$LOOPRUN_ITERATION" >> "$NOTES"; echo "step-$LOOPRUN_ITERATION" >> steps; setsid sleep 300 & sleep 0.03; echo "attempt $LOOPRUN_ITERATION of $1"; test $LOOPRUN_ITERATION = 4`

// looprun many is killed with SIGKILL again and again, alone or with all that it started,
// and goes on each time. In the end each loop is done, in the run that it began with; no
// iteration that is on record has run again, and none is missing.
func TestKilledMany(t *testing.T) {
	t.Parallel()
	for range rounds.Of(1) {
		t.Run("", killMany)
	}
}

func killMany(t *testing.T) {
	dir := t.TempDir()
	repositoryIn(t, filepath.Join(dir, "project"))
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	mark := fmt.Sprintf("%s=%d-%d", killMark, os.Getpid(), rng.Uint64())
	notes := filepath.Join(dir, "notes")
	start := func(args ...string) *started {
		s := readyMany(t, dir, args...)
		s.Env = append(s.Env, mark, "NOTES="+notes)
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	work := []string{
		"--for", "seq " + strconv.Itoa(manyLoops), "--jobs", "3", "--max-iterations", "30", "--max-errors", "off", "--loop-threshold", "off",
		"--kill-after", "1s", "--", "sh", "-c", manyWork, "work", "{}",
	}
	s, onRecord := start(work...), map[string]int{}
	for range min(3, rounds.Of(3)) { // an iteration that was cut off four times is not begun again
		had := len(lines(t, notes))
		until(t, "some iterations have begun", func() bool { return len(lines(t, notes)) > had+rng.IntN(3) || len(marked(mark)) == 0 })
		if rng.IntN(2) == 0 {
			for _, pid := range marked(mark) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			}
		}
		_ = s.Process.Kill()
		if code := s.ended(t); code == 0 {
			break // it was quicker
		}
		until(t, "no process is left", func() bool {
			for _, pid := range marked(mark) { // a process whose guardian was killed with it
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			return len(marked(mark)) == 0
		})
		began := lines(t, notes)
		ranOnce(t, onRecord, began)
		for _, each := range finished(t, s.file("state")) {
			onRecord[each] = count(began, each)
		}
		s = start("--resume")
	}
	if code := s.ended(t); code != 0 {
		t.Fatalf("ended with %d", code)
	}
	ranOnce(t, onRecord, lines(t, notes))
	ids, err := scratchpad.IDs(s.file("state"))
	if err != nil || len(ids) != manyLoops {
		t.Fatalf("%d runs: %v", len(ids), err)
	}
	for _, id := range ids {
		if sum := scratchpad.Summarize(filepath.Join(s.file("state"), id)); sum.Status != core.StatusDone {
			t.Errorf("%s: %+v", id, sum)
		}
		show := exec.Command("git", "show", "refs/looprun/"+id+":steps")
		show.Dir = s.Dir
		out, err := show.CombinedOutput()
		got := strings.Fields(string(out))
		for _, want := range worked(t, filepath.Join(s.file("state"), id)) {
			if err != nil || !slices.Contains(got, want) {
				t.Errorf("%s: %v: there is no %s in %q", id, err, want, got)
			}
		}
	}
	all := finished(t, s.file("state"))
	if slices.Sort(all); len(all) != manyLoops*manyTurns || len(slices.Compact(all)) != len(all) {
		t.Errorf("on record are %v", all)
	}
}

// worked are the steps of a run whose commands were not killed: a kill may come before the
// command has done anything, and where it hits a guardian first, looprun still records that.
func worked(t *testing.T, run string) []string {
	t.Helper()
	steps := []string{"zero"}
	if _, err := scratchpad.Replay(run, func(e core.Event) error {
		if d, ok := e.Data.(core.IterationFinished); ok && d.Outcome != core.OutcomeError {
			steps = append(steps, fmt.Sprintf("step-%d", d.Iteration))
		}
		return nil
	}); err != nil || len(steps) == 1 {
		t.Fatalf("%s: %v: %v", run, err, steps)
	}
	return steps
}

// ranOnce checks that what was on record has not begun again.
func ranOnce(t *testing.T, onRecord map[string]int, began []string) {
	t.Helper()
	for each, n := range onRecord {
		if now := count(began, each); now != n {
			t.Errorf("iteration %s was on record, and had begun %d times, and then %d times", each, n, now)
		}
	}
}

func count(list []string, word string) int {
	n := 0
	for _, w := range list {
		if w == word {
			n++
		}
	}
	return n
}

// finished are the iterations that are on record: loop/number.
func finished(t *testing.T, state string) []string {
	t.Helper()
	ids, err := scratchpad.IDs(state)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, id := range ids {
		name := ""
		_, _ = scratchpad.Replay(filepath.Join(state, id), func(e core.Event) error { // one that was just made has no journal
			switch d := e.Data.(type) {
			case core.RunStarted:
				name = d.Name
			case core.IterationFinished:
				list = append(list, fmt.Sprintf("%s/%d", name, d.Iteration))
			}
			return nil
		})
	}
	return list
}

// The disk fills while loops run: below the floor no other is started, and below half of
// it what runs is interrupted, the setup of a tree as well.
func TestTheDiskOfManyFills(t *testing.T) {
	needs(t, "unshare")
	space := []string{"--user", "--map-root-user", "--mount"}
	if out, err := exec.Command("unshare", append(space, "true")...).CombinedOutput(); err != nil {
		t.Skipf("this machine does not let a user mount a disk: %s", out)
	}
	fill := func(mib int, then string) string {
		return fmt.Sprintf(`head -c %dM /dev/zero > "$HERE/disk/fill"%s`, mib, then)
	}
	const long = `; sleep 30; touch "$HERE/over"`
	for name, c := range map[string]struct {
		args []string
		code int
		said []string
	}{
		"below the floor":          {[]string{"--", "sh", "-c", fill(12, "")}, 125, []string{"1: done", "must stay free", "2: not started", "3: not started"}},
		"below half of it":         {[]string{"--", "sh", "-c", fill(18, long)}, 143, []string{"only [0-9.]+ MiB are free on the disk", "1: interrupted", "2: not started", "3: not started"}},
		"below half in a setup":    {[]string{"--setup", fill(18, long), "--", "true"}, 125, []string{"only [0-9.]+ MiB are free on the disk", "1: not started", "2: not started", "3: not started"}},
		"there is as much as ever": {[]string{"--", "sh", "-c", fill(2, "")}, 0, []string{"3 loops: 3 done"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			repositoryIn(t, filepath.Join(dir, "project"))
			if err := os.Mkdir(filepath.Join(dir, "disk"), 0o700); err != nil {
				t.Fatal(err)
			}
			s := readyMany(t, dir, append([]string{"--for", "seq 3", "--jobs", "1", "--min-free", "16MiB", "--kill-after", "1s"}, c.args...)...)
			s.Env = append(s.Env, "HERE="+dir)
			s.Cmd.Args = slices.Concat([]string{"unshare"}, space, []string{"sh", "-c", `mount -t tmpfs -o size=24m none "$HERE/disk" && exec "$@"`, "sh", s.Path}, s.Cmd.Args[1:])
			var err error
			if s.Path, err = exec.LookPath("unshare"); err != nil {
				t.Fatal(err)
			}
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			if code := s.ended(t); code != c.code {
				t.Errorf("ended with %d, want %d", code, c.code)
			}
			for _, want := range c.said {
				if !regexp.MustCompile(want).MatchString(s.stderr.String()) {
					t.Errorf("it does not say %q", want)
				}
			}
			if s.has("over")() {
				t.Error("what ran came to its end")
			}
		})
	}
}

// A file that cannot be read, as a container leaves them that writes as root, is in no commit.
// A setup that was interrupted has not been done, whatever it exits with.
func TestAnInterruptedSetupRunsAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	repositoryIn(t, filepath.Join(dir, "project"))
	setup := `echo begun >>"$NOTES"; test -e "$NOTES.go" && exit; trap "exit 0" TERM; echo >"$NOTES.begun"; while :; do sleep 0.05; done`
	s := readyMany(t, dir, "--setup", setup, "--for", "echo a", "--", "true")
	s.Env = append(s.Env, "NOTES="+s.file("notes"))
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the setup runs", s.has("notes.begun"))
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := s.ended(t); code == 0 {
		t.Error("a batch that was interrupted is done")
	}
	if err := os.WriteFile(s.file("notes.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again := ready(t, dir, "many", "--resume")
	again.Dir, again.Env = s.Dir, append(again.Env, "NOTES="+s.file("notes"))
	if err := again.Run(); err != nil || len(lines(t, s.file("notes"))) != 2 {
		t.Errorf("%v, and the setup was begun %d times", err, len(lines(t, s.file("notes"))))
	}
}

func TestManyKeepsWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	repositoryIn(t, filepath.Join(dir, "project"))
	s := readyMany(t, dir, "--for", "echo a", "--", "sh", "-c", "echo secret >result.txt; chmod 000 result.txt")
	if os.Geteuid() == 0 { // root reads every file
		other := []string{"unshare", "--user", "--map-user=1000", "--map-group=1000"}
		if out, err := exec.Command(other[0], append(other[1:], "true")...).CombinedOutput(); err != nil {
			t.Skipf("this machine has no other user: %v: %s", err, out)
		}
		s.Cmd.Args = slices.Concat(other, []string{s.Path}, s.Cmd.Args[1:])
		s.Path, _ = exec.LookPath(other[0])
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if code := s.ended(t); code != core.ExitFailed {
		t.Errorf("ended with %d", code)
	}
	found, err := filepath.Glob(filepath.Join(dir, "disk", "trees", "*", "*", "0001-a", "result.txt"))
	if said := s.stderr.String(); err != nil || len(found) != 1 || !strings.Contains(said, "its work tree stays: "+filepath.Dir(found[0])) {
		t.Errorf("found %q, %v, and it says %s", found, err, said)
	}
}
