//go:build unix

package ci

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/looprun/looprun/core"
)

// agent puts a buildkite-agent on the path that does what the script says. It
// finds the folder it is in, where it may write, in $here.
func agent(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	text := "#!/bin/sh\nhere='" + dir + "'\nPATH=/usr/bin:/bin\n" + script
	if err := os.WriteFile(filepath.Join(dir, "buildkite-agent"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	return dir
}

func TestBuildkiteAnnotation(t *testing.T) {
	for status, style := range map[core.Status]string{core.StatusTripped: "error", core.StatusAccepted: "warning", core.StatusDone: ""} {
		dir := agent(t, `for a; do printf '<%s>' "$a"; done > "$here/args"; cat > "$here/page"`)
		v := Verdict{Result: tripped, Summary: report("# The report\n")}
		v.Result.Status, v.Result.RunID = status, "a b;c"
		if err := newTestLog(Buildkite, &bytes.Buffer{}).Finish(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		args, err := os.ReadFile(filepath.Join(dir, "args"))
		if style == "" {
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s was annotated: %q", status, args)
			}
			continue
		}
		if want := "<annotate><--style><" + style + "><--context><looprun-a_b_c>"; string(args) != want {
			t.Errorf("called with %s, want %s", args, want)
		}
		if got := read(t, filepath.Join(dir, "page")); got != "**looprun: "+string(status)+" (loop_detected)**\n\n# The report\n" {
			t.Errorf("the page is %q", got)
		}
	}
}

// An agent that fails or hangs is a warning. What it started does not hold the
// job either.
func TestBuildkiteAgentThatDoesNotAnnotate(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"echo 'no \033[31msuch job' >&2; exit 3", "the build was not annotated: buildkite-agent annotate: exit status 3 no such job"},
		{"sleep 5 & wait", "the build was not annotated: buildkite-agent annotate: it took longer than 200ms"},
	} {
		agent(t, c.script)
		l := newTestLog(Buildkite, &bytes.Buffer{})
		l.patience = 10 * time.Second
		if strings.Contains(c.want, "200ms") {
			l.patience = 200 * time.Millisecond
		}
		if err := l.Finish(t.Context(), Verdict{Result: tripped, Summary: report("x\n")}); err == nil || strings.TrimSpace(err.Error()) != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// An interrupted job has no time for it.
func TestBuildkiteAnnotationWithoutTime(t *testing.T) {
	agent(t, "sleep 5 & wait")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := newTestLog(Buildkite, &bytes.Buffer{}).Finish(ctx, Verdict{Result: tripped})
	if err == nil || !strings.Contains(err.Error(), "there was no time left") {
		t.Error(err)
	}
}

// Opening a pipe that nobody reads would wait for ever.
func TestAPipeInPlaceOfAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	err := New(Options{Provider: GitHub, Log: io.Discard, Getenv: environ("GITHUB_OUTPUT", name)}).Finish(t.Context(), Verdict{Result: tripped})
	if err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Error(err)
	}
}
