package cli

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/fleet"
)

// What the examples call has these flags, and reads these variables.
func TestExamples(t *testing.T) {
	var variables []string
	for f := range reflect.TypeFor[fleet.Server]().Fields() {
		variables = append(variables, f.Tag.Get("env"))
	}
	flags := regexp.MustCompile(`--[a-z]+(?:[ =]|", ")[^ ",\]\n]+`)
	for file, least := range map[string]int{"looprun-fleet.service": 5, "Dockerfile": 2, "kubernetes.yaml": 5} {
		text, err := os.ReadFile(filepath.Join("../../../examples/fleet", file))
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"worker"}
		for line := range strings.Lines(string(text)) {
			if regexp.MustCompile(`^ExecStart=|^CMD |^ *args:`).MatchString(line) {
				for _, flag := range flags.FindAllString(line, -1) {
					args = append(args, regexp.MustCompile(`[ =]|", "`).Split(flag, 2)...)
				}
			}
		}
		if len(args) != 1+2*least {
			t.Errorf("%s has the flags %q", file, args)
		}
		parser, err := kong.New(new(commands), kong.Vars{"version": "1", "user": "ann", "host": "here"}, kong.BindToProvider(new(app).fleet))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parser.Parse(args); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for _, name := range regexp.MustCompile(`LOOPRUN_[A-Z_]+`).FindAllString(string(text), -1) {
			if !slices.Contains(variables, name) {
				t.Errorf("%s has %s, which is not a variable of looprun-fleet", file, name)
			}
		}
	}
}

// The codec server sends plain text, so it listens on this machine alone.
func TestTheCodecServerIsLocal(t *testing.T) {
	said, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = out
	code := Main([]string{"codec", "--listen", "0.0.0.0:99999"}, "", nil)
	os.Stderr = before
	out.Close()
	if text, err := io.ReadAll(said); err != nil || code != core.ExitFailed || !strings.Contains(string(text), "--listen 0.0.0.0:99999 is not on this machine alone") {
		t.Errorf("%d, %s, %v", code, text, err)
	}
}

// A limit for all loops of a file is named as the file names it.
func TestALimitForAllLoopsIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "loops.yaml")
	if err := os.WriteFile(file, []byte("total_cost: 5\nloops: [{command: a}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fleet.Read(file, ""); err == nil || !strings.Contains(err.Error(), "total_cost and total_tokens") {
		t.Error(err)
	}
}
