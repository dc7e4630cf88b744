//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/completion"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/inputfile"
	"github.com/looprun/looprun/internal/looptest/shelltest"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/scratchpad"
)

// deferred makes a folder with a run that waits for its answer, and returns the
// folder and the run's id.
func deferred(t *testing.T, name string) (dir, id string) {
	t.Helper()
	dir = t.TempDir()
	s := begin(t, dir, "--detached", "defer", "--name", name, "--loop-threshold", "2", "--", "sh", "-c", stuckWork)
	if code := s.ended(t); code != 102 {
		t.Fatalf("exit code %d, want 102", code)
	}
	ids, err := scratchpad.IDs(filepath.Join(dir, "state"))
	if err != nil || len(ids) != 1 {
		t.Fatalf("runs %q: %v", ids, err)
	}
	return dir, ids[0]
}

const hostileName = "x' \"y\" $(touch pwned) `touch pwned`; touch pwned \x1b]0;z\x07 %n"

// TestTab presses Tab in real shells and looks at what looprun is then called with.
func TestTab(t *testing.T) {
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	for _, shell := range []completion.Shell{completion.Bash, completion.Zsh, completion.Fish} {
		t.Run(string(shell), func(t *testing.T) {
			t.Parallel()
			dir, id := deferred(t, hostileName)
			asked := session.QuestionsIn(filepath.Join(dir, "state", id))[0].ID
			shelltest.Program(t, dir, "looprun", "exec "+file+` "$@"`)
			shelltest.Program(t, dir, "zz-work", "")
			s := shelltest.Start(t, shell, dir, "looprun", "LOOPRUN_STATE_DIR="+filepath.Join(dir, "state"), "XDG_STATE_HOME="+os.Getenv("XDG_STATE_HOME"))
			s.Write("my policy.yaml", "")
			s.Write("other.yaml", "")
			if err := os.Mkdir(filepath.Join(dir, "pack"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, tt := range []struct {
				text, rest string
				want       []string
			}{
				{"looprun pol", "", []string{"policy"}},
				{"looprun policy che", "", []string{"policy", "check"}},
				{"looprun --max-it", "3", []string{"--max-iterations", "3"}},
				{"looprun --color alw", "", []string{"--color", "always"}},
				{"looprun --color=alw", "", []string{"--color=always"}},
				{"looprun --detached def", "", nil}, // defaults, defer
				{"looprun --detached defe", "", []string{"--detached", "defer"}},
				{"looprun --detached deny,lo", "defer", []string{"--detached", "deny,loop_detected=defer"}},
				{"looprun --assistant-for=ask,gu", "", []string{"--assistant-for=ask,guards"}},
				{"looprun --exit-code accep", "0", []string{"--exit-code", "accepted=0"}},
				{"looprun policy test other.yaml --guard ladder", "", []string{"policy", "test", "other.yaml", "--guard", "ladder_exhausted"}},
				{"looprun template show loop", "", []string{"template", "show", "loop_detected"}},
				{"looprun show 2", "", []string{"show", id}},
				{"looprun resume 2", "", []string{"resume", id}},
				{"looprun prune 2", "", []string{"prune", id}},
				{"looprun prune --status done,canc", "", []string{"prune", "--status", "done,cancelled"}},
				{"looprun replay --run ", "", []string{"replay", "--run", id}},
				{"looprun answer canc", "", []string{"answer", "cancel"}},
				{"looprun answer " + id + " new_", "", []string{"answer", id, "new_approach"}},
				{"looprun answer --option canc", "", []string{"answer", "--option", "cancel"}},
				{"looprun answer --question loop", "", []string{"answer", "--question", asked}},
				{"looprun answer new_approach --question loop", "", []string{"answer", "new_approach", "--question", asked}},
				{"looprun policy check my", "", []string{"policy", "check", "my policy.yaml"}},
				{"looprun --policy oth", "", []string{"--policy", "other.yaml"}},
				{"looprun --policy=oth", "", []string{"--policy=other.yaml"}},
				{"looprun --stdin non", "", []string{"--stdin", "none"}},
				{"looprun --stdin oth", "", []string{"--stdin", "other.yaml"}},
				{"looprun template init pa", "", []string{"template", "init", "pack/"}},
				{"looprun -q -- zz-w", "", []string{"-q", "--", "zz-work"}},
				{"looprun -- zz-work oth", "", []string{"--", "zz-work", "other.yaml"}},
				{"looprun completion fi", "", []string{"completion", "fish"}},
			} {
				got := s.Tab(tt.text, tt.rest)
				if last := len(got) - 1; shell == completion.Zsh { // which takes the slash away again
					got[last] = strings.TrimSuffix(got[last], "/")
				}
				if last := len(tt.want) - 1; shell == completion.Zsh && last >= 0 {
					tt.want[last] = strings.TrimSuffix(tt.want[last], "/")
				}
				if tt.want != nil && !slices.Equal(got, tt.want) {
					t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
				}
			}
			if inputfile.IsFile(filepath.Join(dir, "pwned")) {
				t.Error("the name of a run was run")
			}
		})
	}
}

// TestWhatFishIsTold needs no terminal: fish says what it would offer.
func TestWhatFishIsTold(t *testing.T) {
	fish, err := exec.LookPath("fish")
	if err != nil {
		t.Skip("fish is not installed")
	}
	file, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir, id := deferred(t, hostileName)
	for line, want := range map[string]string{
		"looprun policy ":    "test\tShow what a policy would answer, rule by rule. No verify command is run.",
		"looprun show ":      id + "\tpaused (loop_detected), ",
		"looprun answer ":    "cancel\t",
		"looprun --color=ne": "--color=never",
	} {
		cmd := exec.Command(fish, "--no-config", "-c", "looprun completion fish | source; complete -C $argv[1]", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(file)+":"+os.Getenv("PATH"), "HOME="+dir, "LOOPRUN_STATE_DIR="+filepath.Join(dir, "state"))
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains("\n"+string(out), "\n"+want) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	if inputfile.IsFile(filepath.Join(dir, "pwned")) {
		t.Error("the name of a run was run")
	}
}

// Tab is no place to ask for consent or to report mistakes.
func TestCompletionIgnoresBrokenFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"broken":     "check: [\nnonsense",
		"not agreed": "check: touch pwned\nstate_dir: elsewhere\n",
		"empty":      "",
	} {
		dir, id := deferred(t, "")
		if err := os.WriteFile(filepath.Join(dir, config.Name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "state", id, "journal.jsonl"), []byte("{torn"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := begin(t, dir, "__complete", "--shell", "fish", "--", "show", "")
		if code := s.ended(t); code != 0 {
			t.Errorf("%s: exit code %d", name, code)
		}
		if got := s.stdout.String(); got != "words\n\n"+id+"\tunreadable\n" {
			t.Errorf("%s: %q", name, got)
		}
		if got := s.stderr.String(); got != "" {
			t.Errorf("%s: stderr %q", name, got)
		}
	}
}

// Every flag that takes a value from a closed list, a file, a run or a guard
// completes it, whoever adds the flag.
func TestEveryEnumIsCompleted(t *testing.T) {
	parser, err := kong.New(new(cli), kong.Vars{"version": "test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range parser.Model.Leaves(true) {
		words := strings.Fields(n.Path())
		for _, f := range n.Flags {
			r := completed(parser.Model, append(slices.Clone(words), "--"+f.Name, ""))
			switch {
			case f.IsBool() || f.IsCounter() || f.Hidden:
			case f.Enum != "" && len(r.Candidates) == 0:
				t.Errorf("%s --%s: nothing of %q is completed", n.Path(), f.Name, f.Enum)
			case strings.Contains(f.PlaceHolder, "FILE") && r.Mode != completion.Files:
				t.Errorf("%s --%s: no files are completed", n.Path(), f.Name)
			case strings.Contains(f.PlaceHolder, "DIR") && r.Mode != completion.Dirs:
				t.Errorf("%s --%s: no folders are completed", n.Path(), f.Name)
			}
		}
	}
}

// What looprun answer takes: not the review, which is for the prompt.
func TestChoices(t *testing.T) {
	for _, tt := range []struct {
		question core.Question
		want     []completion.Candidate
	}{
		{core.Question{Kind: core.KindSelect, Options: []core.Option{
			{ID: "look", Label: "Look", Action: core.ActionReview}, {ID: "stop", Label: "Stop", Action: core.ActionCancel},
		}}, []completion.Candidate{{Value: "stop", Help: "Stop"}}},
		{core.Question{Kind: core.KindConfirm}, []completion.Candidate{{Value: "yes", Help: "Yes"}, {Value: "no", Help: "No"}}},
		{core.Question{Kind: core.KindText}, nil},
	} {
		if got := choices(tt.question); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.question.Kind, got, tt.want)
		}
	}
}

func TestCompletionNeedsNoState(t *testing.T) {
	var b bytes.Buffer
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("LOOPRUN_STATE_DIR", filepath.Join(dir, "none"))
	parser, err := kong.New(new(cli), kong.Vars{"version": "test"})
	if err != nil {
		t.Fatal(err)
	}
	r := completed(parser.Model, []string{"show", ""})
	if err := r.Write(&b, completion.Fish, false); err != nil || b.String() != "words\n\n" {
		t.Errorf("%q: %v", b.String(), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("it wrote %v: %v", entries, err)
	}
}
