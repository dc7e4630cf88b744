//go:build unix

package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/rounds"
	"github.com/looprun/looprun/scratchpad"
)

// found starts looprun where it looks for its state directory itself, in a
// repository that just came from somewhere.
func found(t *testing.T, dir string, args ...string) *started {
	t.Helper()
	s := ready(t, dir, args...)
	s.Env = append(s.Env, "LOOPRUN_STATE_DIR=", "LOOPRUN_DIR=")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// A .looprun that came with a repository is not followed to where it leads.
func TestALinkedStateDirectory(t *testing.T) {
	t.Parallel()
	dir, target := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ".git"), 0o700), os.Symlink(target, filepath.Join(dir, scratchpad.StateDirName))); err != nil {
		t.Fatal(err)
	}
	s := found(t, dir, "--", "touch", "ran")
	if got := s.ended(t); got != 125 || s.has("ran")() {
		t.Errorf("ended with %d, want 125", got)
	}
	if said := s.stderr.String(); !strings.Contains(said, "is a symbolic link") || !strings.Contains(said, "--state-dir") {
		t.Error("it does not say why, and what to do")
	}
	if entries, err := os.ReadDir(target); err != nil || len(entries) > 0 {
		t.Errorf("written there: %v, %v", entries, err)
	}
}

// A run that came with a repository is not gone on with: that would run the
// commands of its journal.
func TestARunFromARepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := found(t, dir, "--max-iterations", "1", "--", "sh", "-c", "echo x >> ran; exit 1").ended(t); got != 110 {
		t.Fatalf("ended with %d", got)
	}
	// As somebody has it who cloned the repository.
	s := ready(t, dir, "resume", "--max-iterations", "5")
	s.Env = append(s.Env, "LOOPRUN_STATE_DIR=", "LOOPRUN_DIR=", "XDG_STATE_HOME="+t.TempDir())
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	if got := s.ended(t); got != 125 || len(lines(t, s.file("ran"))) != 1 {
		t.Errorf("ended with %d, want 125; ran %v", got, lines(t, s.file("ran")))
	}
	if !strings.Contains(s.stderr.String(), "--trust-run") {
		t.Error("it does not say why")
	}
}

// The name of a run is looked up, and never a path.
func TestARunIsNoPath(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	if got := begin(t, other, "--max-iterations", "1", "--", "sh", "-c", "echo x >> ran; exit 1").ended(t); got != 110 {
		t.Fatalf("ended with %d", got)
	}
	run, err := scratchpad.Find(filepath.Join(other, "state"), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := begin(t, dir, "--", "true").ended(t); got != 0 {
		t.Fatalf("ended with %d", got)
	}
	relative, err := filepath.Rel(filepath.Join(dir, "state"), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{run, relative, "..", ".", "../state", "/", "*"} {
		for _, command := range []string{"show", "explain", "resume"} {
			s := begin(t, dir, command, name)
			if got := s.ended(t); got != 125 || !strings.Contains(s.stderr.String(), "no run") {
				t.Errorf("looprun %s %s ended with %d", command, name, got)
			}
		}
	}
	if ran := lines(t, filepath.Join(other, "ran")); len(ran) != 1 {
		t.Errorf("ran %v", ran)
	}
}

// valueThatAsks is a value of a key as it could stand in a hostile file.
func valueThatAsks(k config.Key) string {
	switch k.Type() {
	case reflect.TypeFor[config.Codes](), reflect.TypeFor[int](), reflect.TypeFor[*int]():
		return "7"
	case reflect.TypeFor[*config.CountLimit](), reflect.TypeFor[*config.DurationLimit](), reflect.TypeFor[*config.MoneyLimit](), reflect.TypeFor[*config.TokenLimit]():
		return "off"
	case reflect.TypeFor[config.Duration](), reflect.TypeFor[*config.Duration](), reflect.TypeFor[*config.Span]():
		return "9999h"
	case reflect.TypeFor[map[string]int]():
		return "{tripped: 7}"
	case reflect.TypeFor[config.Modes]():
		return "defaults"
	case reflect.TypeFor[config.Keep]():
		return "{runs: 1}"
	case reflect.TypeFor[config.Often](), reflect.TypeFor[config.Weakening]():
		return "off"
	}
	if k.IsBool() {
		return "true"
	}
	if words := k.Words(); len(words) > 0 {
		return words[len(words)-1]
	}
	return "x"
}

// Every key by itself, in a file that was found: what is neither safe
// nor a lower limit runs nothing.
func TestEveryKeyUnasked(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"signature": "{mask: [{pattern: x}]}", "ladder": "[{rung: self_solve, attempts: 1}, {rung: human}]", "hooks": "{on_end: touch ran}",
	}
	used := map[string]bool{}
	for _, k := range testKeys(t) {
		values[k.Name] = valueThatAsks(k)
		used[k.Name] = strings.Contains(k.Trust(), "no consent for it") || strings.Contains(k.Trust(), "no consent to lower it")
	}
	for n, key := range slices.Sorted(maps.Keys(values)) {
		if n%rounds.Step(1) != 0 {
			continue
		}
		t.Run(key, func(t *testing.T) {
			dir := t.TempDir()
			text := fmt.Sprintf("%s: %s\n", key, values[key])
			used, starts := used[key], key
			switch key {
			case "hooks":
				starts = "hook_on_end"
			case "assistant_name", "assistant_model": // they say something of one
				text, used, starts = "assistant: x\n"+text, false, "assistant: x"
			case "when_stuck_guards", "when_stuck_iterations":
				text, used, starts = "when_stuck: x\n"+text, false, "when_stuck: x"
			}
			if err := os.WriteFile(filepath.Join(dir, config.Name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := found(t, dir, "--", "touch", "ran")
			code := s.ended(t)
			if said := s.stderr.String(); used != (code == 0) || used != s.has("ran")() || used == strings.Contains(said, "needs consent: it sets "+starts) {
				t.Errorf("%s: %s ended with %d, and says %s", key, values[key], code, said)
			}
		})
	}
}

// What another user can have put there needs consent whatever it sets, and without
// it does not even say where runs are kept.
func TestAFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const nobody = 65534
	for name, c := range map[string]struct {
		git   bool
		owner int // of the file
		group int // of its folder
		mode  os.FileMode
		says  string // empty: it is used
	}{
		"mine":                                    {false, 0, 0, 0o755, ""},
		"mine, of a repository":                   {true, 0, 0, 0o755, ""},
		"another's":                               {false, nobody, 0, 0o755, "it belongs to another user (uid 65534)"},
		"another's, of a repository":              {true, nobody, 0, 0o755, "it belongs to another user (uid 65534)"},
		"where everyone can write":                {false, 0, 0, 0o777, "others can write to its directory (-rwxrwxrwx)"},
		"where everyone can put files":            {false, 0, 0, 0o777 | os.ModeSticky, "others can write to its directory (-rwxrwxrwx)"},
		"a repository's where everyone can write": {true, 0, 0, 0o777, "others can write to its directory (-rwxrwxrwx)"},
		"where a group can write":                 {true, 0, nobody, 0o775, "others can write to its directory (-rwxrwxr-x)"},
		"where a group can read":                  {true, 0, nobody, 0o755, ""},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir, file := filepath.Join(top, "mine"), filepath.Join(top, config.Name)
			err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(file, fmt.Appendf(nil, "max_iterations: 2\n# consent is for this text: %s\n", name), 0o644))
			if c.git {
				err = errors.Join(err, os.Mkdir(filepath.Join(top, ".git"), 0o700))
			}
			if err := errors.Join(err, os.Chown(file, c.owner, 0), os.Chown(top, -1, c.group), os.Chmod(top, c.mode)); err != nil {
				t.Fatal(err)
			}
			state := filepath.Join(dir, scratchpad.StateDirName)
			if c.says == "" || c.git {
				state = filepath.Join(top, scratchpad.StateDirName)
			}
			s := found(t, dir, "--", "sh", "-c", "touch ran; exit 1")
			code, said := s.ended(t), s.stderr.String()
			if c.says == "" {
				if code != 110 || !strings.Contains(said, "after 2 of 2") {
					t.Errorf("ended with %d", code)
				}
				return
			}
			if code != 125 || s.has("ran")() || !strings.Contains(said, "../looprun.yaml needs consent ("+c.says+"): it sets max_iterations: 2;") {
				t.Errorf("ended with %d, want 125", code)
			}
			for _, args := range [][]string{{"--config", "none", "--max-iterations", "1", "--", "false"}, {"--trust", "--", "false"}, {"--", "false"}} {
				if got := found(t, dir, args...).ended(t); got != 110 {
					t.Errorf("%v ended with %d", args, got)
				}
			}
			if runs, err := scratchpad.IDs(state); err != nil || len(runs) != 3 {
				t.Errorf("runs in %s: %v, %v", state, runs, err)
			}
		})
	}
}

// A command that takes nothing from another user's file goes on without it; one that
// does needs consent too.
func TestAFileOfAnotherUserForOtherCommands(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, file := filepath.Join(top, "mine"), filepath.Join(top, config.Name)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(top, "pack"), 0o700), os.Mkdir(dir, 0o700), os.Chmod(top, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	want := func(code int, args ...string) {
		t.Helper()
		s := found(t, dir, args...)
		if got := s.ended(t); got != code || (code == 125) != strings.Contains(s.stderr.String(), "others can write to its directory") {
			t.Errorf("%v ended with %d, want %d", args, got, code)
		}
	}
	write("check: touch ran\n")
	want(0, "list")
	want(0, "template", "list")
	want(125, "--dry-run", "--", "true")
	write("templates: pack\n")
	want(0, "list")
	want(125, "template", "list")
	write("state_dir: pack\n")
	want(125, "list")
	want(0, "template", "list")
}

// The user's own file is one that only he and root can write, wherever HOME leads.
func TestOnesOwnFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	dir, own := t.TempDir(), t.TempDir()
	folder := filepath.Join(own, "looprun")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, config.Name), []byte("max_errors: 9\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]int{0o755: 0, 0o777: 125} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"--", "true"}, {"config", "show"}, {"config", "check"}} {
			s := ready(t, dir, args...)
			s.Env = append(s.Env, "XDG_CONFIG_HOME="+own)
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			code, asked := want, want == 125
			if args[0] == "config" {
				code = 0
			}
			got, said := s.ended(t), s.stderr.String()
			if got != code || asked != strings.Contains(said, "others can write to its directory") || asked != strings.Contains(said, "--trust") {
				t.Errorf("mode %s: %v ended with %d, want %d", mode, args, got, code)
			}
		}
	}
}

// A repository that another user planted where everyone can write hides no
// looprun.yaml above it.
func TestAPlantedRepository(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	open := filepath.Join(top, "open")
	dir, git := filepath.Join(open, "mine"), filepath.Join(open, ".git")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Mkdir(git, 0o700), os.WriteFile(filepath.Join(top, config.Name), []byte("max_iterations: 2\n"), 0o600), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	want := func(said, state string) {
		t.Helper()
		s := found(t, dir, "--", "false")
		if got := s.ended(t); got != 110 && got != 111 || !strings.Contains(s.stderr.String(), said) {
			t.Errorf("ended with %d, want %q", got, said)
		}
		if runs, err := scratchpad.IDs(filepath.Join(state, scratchpad.StateDirName)); err != nil || len(runs) != 1 {
			t.Errorf("runs in %s: %v, %v", state, runs, err)
		}
	}
	want("of 10 iterations", open)
	if err := os.Chown(git, os.Geteuid()+1, -1); err != nil {
		t.Skip(err)
	}
	want("after 2 of 2", top)
}
