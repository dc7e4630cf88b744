package nearest

import (
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	known := []string{"max_iterations", "max_runtime", "loop_detected", "consecutive_errors", "debug", "default", "id"}
	for _, c := range []struct{ word, want string }{
		{"max_iteration", "max_iterations"},
		{"max-iterations", "max_iterations"},
		{"Max_Runtime", "max_runtime"},
		{"loop_detceted", "loop_detected"},
		{"loop", "loop_detected"},
		{"debg", "debug"},
		{"de", ""},
		{"max", ""},
		{"xyz", ""},
		{"", ""},
		{"ab", ""},
		{strings.Repeat("a", 100), ""},
	} {
		if got := Word(c.word, known); got != c.want {
			t.Errorf("Word(%q) = %q, want %q", c.word, got, c.want)
		}
	}
}
