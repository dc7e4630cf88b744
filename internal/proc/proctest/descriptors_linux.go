package proctest

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Descriptors returns the files that this process has open, without numbers, in a fixed order.
func Descriptors(t testing.TB) string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !strings.HasPrefix(to, "/proc/") {
			list = append(list, strings.TrimRight(to, "0123456789[]"))
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}
