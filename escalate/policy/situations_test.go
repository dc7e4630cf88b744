package policy

import (
	"path/filepath"
	"testing"
)

// The policies under examples/policies are correct, and answer what their tests expect.
func TestSituations(t *testing.T) {
	files, err := filepath.Glob("../../examples/policies/*.yaml")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		p, err := Load(known(t), file)
		if err != nil {
			t.Error(err)
			continue
		}
		if results, err := p.RunTests(); err != nil || len(results) == 0 {
			t.Errorf("%s: %d tests, %v", file, len(results), err)
		}
	}
}
