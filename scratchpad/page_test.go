package scratchpad

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

var update = flag.Bool("update", false, "write the golden files")

// stateAfter folds the events.
func stateAfter(t testing.TB, events []core.Event) *core.State {
	t.Helper()
	s := new(core.State)
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestPages(t *testing.T) {
	tripped := story()
	goesOn := tripped[:15] // up to the answer
	better := failing(2)
	better.Signature.Failing, better.Signature.Passed, better.Signature.Checks = 1, 4, []string{"login"}
	better.Signature.Label = "test-fail:1-login"
	pass := core.IterationFinished{Iteration: 3, Outcome: core.OutcomeDone, DurationMS: 900}
	done := append(append([]core.Data{}, goesOn...),
		core.IterationStarted{Iteration: 2}, better, core.IterationStarted{Iteration: 3}, pass,
		core.RunFinished{Ending: core.Ending{Status: core.StatusDone}})
	for name, data := range map[string][]core.Data{
		"started": tripped[:1], "waiting": tripped[:8], "guided": goesOn, "tripped": tripped, "done": done,
	} {
		t.Run(name, func(t *testing.T) {
			golden := filepath.Join("testdata", "page", name+".md")
			got := Render(stateAfter(t, numbered(data...)))
			if *update {
				writeFile(t, golden, string(got))
			}
			if want := readFile(t, golden); string(got) != want {
				t.Errorf("the page is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestNotesAreKept byte for byte, whatever becomes of the page around them.
func TestNotesAreKept(t *testing.T) {
	for name, notes := range map[string]string{
		"empty":             "## Notes",
		"plain":             "## Notes\n\nremember the milk\n",
		"no last line end":  "## Notes\n\nremember the milk",
		"crlf":              "## Notes\r\n\r\none\r\ntwo\r\n",
		"blanks after it":   "## Notes  \n\nx\n",
		"a second heading":  "## Notes\n\none\n\n## Notes\n\ntwo\n",
		"looprun's heading": "## Notes\n\n## Iteration history\n\nNone.\n",
		"not text":          "## Notes\n\xff\x00\x1b[31m\n",
		"large":             "## Notes\n" + strings.Repeat("0123456789abcdef\n", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, SyncOff)
			refresh := func(n int) {
				t.Helper()
				if err := r.Refresh(stateAfter(t, iterations(n)), true); err != nil {
					t.Fatal(err)
				}
			}
			refresh(1)
			page := readFile(t, r.PageFile())
			writeFile(t, r.PageFile(), page[:strings.Index(page, notesHeading)]+notes)
			for n := 2; n <= 4; n++ {
				refresh(n)
				page, own, _ := strings.Cut(readFile(t, r.PageFile()), notesHeading)
				if notesHeading+own != notes {
					t.Fatalf("the notes became %.200q", own)
				}
				if page != string(Render(stateAfter(t, iterations(n)))) {
					t.Fatal("the rest of the page is not what it should be")
				}
			}
		})
	}
}

// TestPageInTheHandsOfOthers is deleted, converted, or rewritten.
func TestPageInTheHandsOfOthers(t *testing.T) {
	r := newRun(t, SyncOff)
	s := stateAfter(t, iterations(2))
	own := string(Render(s))
	refresh := func(before string) string {
		t.Helper()
		writeFile(t, r.PageFile(), before)
		if err := r.Refresh(s, true); err != nil {
			t.Fatal(err)
		}
		return readFile(t, r.PageFile())
	}
	if err := r.Refresh(s, true); err != nil {
		t.Fatal(err)
	}
	fresh := readFile(t, r.PageFile())
	if fresh != own+emptyNotes {
		t.Errorf("the first page is %s", fresh)
	}
	if err := os.Remove(r.PageFile()); err != nil {
		t.Fatal(err)
	}
	if err := r.Refresh(s, true); err != nil || readFile(t, r.PageFile()) != fresh {
		t.Errorf("a deleted page came back as %s, %v", readFile(t, r.PageFile()), err)
	}
	for name, c := range map[string]struct{ before, want string }{
		"heading deleted": {own + "my note\n", own + "## Notes\n\nmy note\n"},
		"rewritten":       {"# Mine\n\nall mine\n", own + "## Notes\n\n# Mine\n\nall mine\n"},
		"emptied":         {"", own + "## Notes\n\n"},
		"only notes":      {"## Notes\nx", own + "## Notes\nx"},
		"converted": {
			strings.ReplaceAll(own+"## Notes\n\nx\n", "\n", "\r\n"),
			own + "## Notes\r\n\r\nx\r\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := refresh(c.before)
			if got != c.want {
				t.Errorf("became\n%s", got)
			}
			if again := refresh(got); again != got {
				t.Errorf("and then\n%s", again)
			}
		})
	}
}

// TestRefresh is rare in a fast loop.
func TestRefresh(t *testing.T) {
	r := newRun(t, SyncOff)
	fast, slow := stateAfter(t, iterations(2)), stateAfter(t, iterations(2))
	fast.Last.DurationMS, slow.Last.DurationMS = 19, 20
	made := func(s *core.State, force bool) bool {
		t.Helper()
		if err := os.WriteFile(r.PageFile(), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := r.Refresh(s, force); err != nil {
			t.Fatal(err)
		}
		return readFile(t, r.PageFile()) != "old"
	}
	if !made(fast, false) {
		t.Error("the first page was not made")
	}
	r.page.made = time.Now().Add(time.Hour) // as if just now, however slow this test is
	if made(fast, false) {
		t.Error("made after a fast iteration")
	}
	if !made(slow, false) {
		t.Error("not made after a slow iteration")
	}
	r.page.made = time.Now().Add(time.Hour)
	if !made(fast, true) {
		t.Error("not made when forced")
	}
	r.page.made = time.Now().Add(-pageEvery)
	if !made(fast, false) {
		t.Error("not made when the last one is old")
	}
}

// TestPageIsNoFile is an error, not a wait and not a loss.
func TestPageIsNoFile(t *testing.T) {
	r := newRun(t, SyncOff)
	if err := os.Mkdir(r.PageFile(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.Refresh(stateAfter(t, iterations(1)), true); err == nil || !strings.Contains(err.Error(), r.PageFile()) {
		t.Errorf("%v", err)
	}
}
