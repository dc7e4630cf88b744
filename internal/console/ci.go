package console

import (
	"os"
	"time"
)

// CIKill is how long, in CI, a command has to end after a signal, even with a longer --kill-after.
const CIKill = 5 * time.Second

// InCI reports whether this is CI, which all hosted runners announce.
func InCI() bool {
	v := os.Getenv("CI")
	return v != "" && v != "0" && v != "false"
}
