package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/engine"
)

// TestRepeatedCheckIsWithheld: what a check prints is shown unless it is the failure that was shown
// last, and all of it where it is too long to wait for.
func TestRepeatedCheckIsWithheld(t *testing.T) {
	long := strings.Repeat("all the same\n", 100_000)
	for _, c := range []struct {
		name   string
		prints []string
		shown  int // iterations
	}{
		{"the same failure", []string{"--- FAIL: A (1ms)\n", "--- FAIL: A (2ms)\n", "--- FAIL: A (3ms)\n"}, 1},
		{"another one in between", []string{"--- FAIL: A\n", "--- FAIL: B\n", "--- FAIL: A\n"}, 3},
		{"a pass in between", []string{"--- FAIL: A\n", "ok", "--- FAIL: A\n"}, 3},
		{"a long one", []string{long + "--- FAIL: A\n", long + "--- FAIL: A\n"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			n := 0
			x := &engine.Executor{Judge: new(engine.DefaultJudge()), Stdout: &out}
			for i, text := range c.prints {
				out.Reset()
				file, code := filepath.Join(t.TempDir(), "printed"), "1"
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if text == "ok" {
					code = "0"
				}
				x.Work, x.Check = engine.Argv("true"), engine.Argv("sh", "-c", `cat "$1"; exit "$2"`, "sh", file, code)
				if _, err := x.Run(t.Context(), core.Iteration{Number: i + 1}); err != nil {
					t.Fatal(err)
				}
				switch got := out.String(); {
				case got == "" && x.Withheld():
				case got == text && !x.Withheld():
					n++
				default:
					t.Fatalf("iteration %d shows %.80q of %.80q, withheld: %v", i+1, got, text, x.Withheld())
				}
			}
			if n != c.shown {
				t.Errorf("%d iterations were shown, want %d", n, c.shown)
			}
		})
	}
}
