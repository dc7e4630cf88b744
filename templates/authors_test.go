package templates

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/looprun/looprun/core"
)

func TestListAndShow(t *testing.T) {
	var b bytes.Buffer
	set := load(t)
	if err := set.List(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "list.txt", b.String())
	b.Reset()
	if err := set.Show(&b, core.MaxRuntime, false); err != nil || !strings.HasPrefix(b.String(), "# builtin/max_runtime.yaml\n#") || !strings.Contains(b.String(), "action: pause") {
		t.Errorf("show: %v\n%s", err, b.String())
	}
	if err := set.Show(&b, "max_runtim", false); err == nil || err.Error() != `unknown guard "max_runtim"; did you mean "max_runtime"?` {
		t.Errorf("unknown guard: %v", err)
	}
	const all = `unknown guard "nonsense"; use one of weakened, max_iterations, max_runtime, loop_detected, consecutive_errors, max_cost, max_tokens, ` +
		`no_progress, workspace_cycle, turn_loop, rejection, blocked, clarification, ladder_exhausted, *`
	if err := KnownGuard("nonsense"); err == nil || err.Error() != all {
		t.Errorf("a guard that is near to none: %v, want %s", err, all)
	}
	for _, id := range guardIDs() {
		if err := KnownGuard(id); err != nil {
			t.Error(err)
		}
	}
}

func TestRender(t *testing.T) {
	set := load(t)
	q := ask(t, set, core.LoopDetected)
	q.Exclusive = true
	q.Details = append(q.Details, "Findings:", "first\nsecond \x1b[31mred\x1b[0m", "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", strings.Repeat("x", 200))
	golden(t, "text.txt", rendered(q))
}

func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "pack")
	files, err := Init(dir)
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	if err := Check(dir); err != nil {
		t.Errorf("the pack has problems:\n%v", err)
	}
	for _, id := range guardIDs() {
		if starter, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(starter), string(id)) {
			t.Errorf("the pack does not say that there is a guard %s (%v)", id, err)
		}
	}
	for _, file := range files[:2] {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(data), "\n")
		schema, ok := strings.CutPrefix(first, "# yaml-language-server: $schema=./")
		if !ok || !slices.Contains(files, filepath.Join(dir, schema)) {
			t.Errorf("%s begins with %q", file, first)
		}
	}
	if !reflect.DeepEqual(ask(t, load(t, dir), core.MaxIterations), ask(t, load(t), core.MaxIterations)) {
		t.Error("the pack changes what it says it repeats")
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if files, err := Init(dir); !errors.Is(err, fs.ErrExist) || len(files) != 0 {
		t.Errorf("a second time: %v %v", files, err)
	}
	if _, err := os.Stat(files[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something was written though a file was there")
	}
}

// The schemas know the keys that the files are read with.
func TestSchemas(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSchema(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "template.schema.json", b.String())
	b.Reset()
	if err := WriteMessagesSchema(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "messages.schema.json", b.String())
}

// The schemas beside the pack in examples/templates are those of this version.
func TestExampleSchemas(t *testing.T) {
	for name, write := range map[string]func(io.Writer) error{"template": WriteSchema, "messages": WriteMessagesSchema} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		file := "../examples/templates/" + name + ".schema.json"
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, b.Bytes()) {
			t.Errorf("%s is not the schema of this version (%v); go test ./templates -update writes it", file, err)
		}
	}
}
