package proc

import (
	"os"
	"strings"
	"testing"

	"github.com/looprun/looprun/internal/eventually"
)

// sleeping is the processes whose last argument is nonce, apart from zombies.
func sleeping(nonce string) (found []procStat) {
	_ = eachProcess(func(s procStat) {
		if !s.alive() {
			return
		}
		b, _ := os.ReadFile("/proc/" + itoa(s.pid) + "/cmdline")
		if strings.HasSuffix(string(b), "\x00"+nonce+"\x00") {
			found = append(found, s)
		}
	})
	return found
}

func gone(t *testing.T, nonce string) {
	t.Helper()
	if left := sleeping(nonce); len(left) > 0 {
		t.Errorf("%d processes left: %+v", len(left), left)
	}
}

func started(t *testing.T, nonce string, n int) {
	t.Helper()
	eventually.Holds(t, "processes started", func() bool { return len(sleeping(nonce)) >= n })
}
