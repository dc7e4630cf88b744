package signature

import (
	"os"
	"testing"
)

// What a tool prints that passes shows no failing tests: a run that ends on it is
// not warned of. STUCKBENCH_DIR names more recordings, in the same format.
func TestPassingOutputsShowNoFailingTests(t *testing.T) {
	dirs := []string{benchDir}
	if d := os.Getenv("STUCKBENCH_DIR"); d != "" {
		dirs = append(dirs, d)
	}
	s, passing, failing := New(Options{}), 0, 0
	for _, dir := range dirs {
		for _, r := range loadBench(t, dir).recordings {
			s.Reset()
			_, _ = s.Stdout().Write(r.data)
			shows := s.SumContent(0).Kind == KindTestFail
			switch {
			case r.Exit == 0:
				if passing++; shows {
					t.Errorf("%s passes, and looks as if tests failed", r.File)
				}
			case shows:
				failing++
			}
		}
	}
	if passing < 10 || failing < 10 {
		t.Errorf("only %d recordings pass and %d fail", passing, failing)
	}
	t.Logf("%d passing, %d with failing tests", passing, failing)
}
