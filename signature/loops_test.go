package signature

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// A loop that fixes one error an iteration is never stuck, and one that fixes none is,
// whatever moves in what its tool prints.
func TestLoopsThatGetOn(t *testing.T) {
	raw, err := os.ReadFile("testdata/loops.txt")
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]map[string][]Hash{} // by the errors that are left
	for _, part := range strings.Split(string(raw), "\n@@ ")[1:] {
		head, text, _ := strings.Cut(part, "\n")
		f := strings.Fields(head)
		code, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatal(err)
		}
		if tools[f[0]] == nil {
			tools[f[0]] = map[string][]Hash{}
		}
		tools[f[0]][f[1]] = append(tools[f[0]][f[1]], sign(text+"\n", code).Hash)
	}
	if len(tools) < 45 {
		t.Errorf("only %d tools", len(tools))
	}
	for tool, left := range tools {
		if at, _ := firstTrip([]Hash{left["3"][0], left["2"][0], left["1"][0]}, 2); at > 0 {
			t.Errorf("%s: a loop that gets on is stuck at iteration %d", tool, at)
		}
		for n, h := range left {
			if at, _ := firstTrip([]Hash{h[0], h[1], h[0]}, 3); at != 3 {
				t.Errorf("%s, %s errors: a loop that does not get on is not stuck", tool, n)
			}
		}
	}
}
