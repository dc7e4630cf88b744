package hooks

import (
	"os"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

// TestHooksThatFail are reported with the first line of what they print.
func TestHooksThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		want    string // empty: it did not fail
	}{
		"fails":              {"cat >/dev/null; echo 'no\033[31m luck'; echo more >&2; exit 3", "it exited with 3: no luck; the run does not depend on it"},
		"fails silently":     {"exit 1", "it exited with 1; the run"},
		"says it on stderr":  {"printf '\\n  \\n\\tbad\\n' >&2; exit 1", "it exited with 1: bad; the run"},
		"is killed":          {"kill -KILL $$", "it exited with 137 (signal: killed)"},
		"is not there":       {"exec /no/such/hook", "it exited with 127"},
		"prints and is fine": {"echo fine; echo fine >&2", ""},
		"reads nothing":      {"exec <&-; :", ""},
		"reads a byte":       {"head -c 1 >/dev/null", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.OnQuestion = c.command
			e := asked
			q := e.Data.(core.QuestionAsked)
			q.Details = []string{strings.Repeat("more than a pipe holds ", 20_000)}
			e.Data = q
			b.observe(e)
			b.Close(t.Context())
			got := b.text()
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) || strings.ContainsAny(got, "\x1b\n") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestHookWithoutAFolder(t *testing.T) {
	b := newBench(t)
	b.Dir, b.OnEnd = b.file("gone"), "true"
	b.observe(over)
	b.Close(t.Context())
	if !strings.Contains(b.text(), "it could not be started") {
		t.Errorf("%q", b.text())
	}
}

// TestHookThatHangs ends at its limit, and those after it run.
func TestHookThatHangs(t *testing.T) {
	for name, command := range map[string]string{
		"sleeps":          "sleep 600",
		"ignores SIGTERM": "trap '' TERM; sleep 600; sleep 600",
		"waits for input": "cat; cat </dev/tty; sleep 600",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Timeout = short
			b.OnQuestion, b.OnTrip = command, "touch after"
			b.observe(asked, tripped)
			b.drained(t)
			b.read(t, "after")
			if !strings.Contains(b.text(), "it took longer than 3s and was ended") {
				t.Errorf("%q", b.text())
			}
		})
	}
}

// TestHookThatPrintsTooMuch is read to its end and not kept.
func TestHookThatPrintsTooMuch(t *testing.T) {
	b := newBench(t)
	b.OnEnd = "head -c 10485760 /dev/zero | tr '\\0' x; exit 1"
	b.observe(over)
	b.Close(t.Context())
	if n := len([]rune(b.text())); n > 450 || !strings.Contains(b.text(), "exited with 1: xxx") {
		t.Errorf("%d characters: %.200q", n, b.text())
	}
}

// TestNestedRunIsNotInsideThisOne: no variable of looprun's reaches a hook.
func TestNestedRunIsNotInsideThisOne(t *testing.T) {
	t.Setenv("LOOPRUN", "1")
	t.Setenv("LOOPRUN_RUN_ID", "outer")
	for name, env := range map[string][]string{
		"the caller's": nil,
		"given":        append(os.Environ(), "LOOPRUN_SOCKET=/x", "LOOPRUNNER=kept"),
		"empty":        {},
	} {
		b := newBench(t)
		b.Env, b.OnEnd = env, "/usr/bin/env >got || /bin/env >got"
		b.observe(over)
		b.Close(t.Context())
		text := "\n" + b.read(t, "got")
		if strings.Contains(text, "\nLOOPRUN=") || strings.Contains(text, "\nLOOPRUN_") {
			t.Errorf("%s: %s", name, text)
		}
		if strings.Contains(text, "\nLOOPRUNNER=kept") != (name == "given") || strings.Contains(text, "\nHOME=") != (name != "empty") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
