package console

import "os"

// InCI reports whether this is CI, which all hosted runners announce.
func InCI() bool {
	v := os.Getenv("CI")
	return v != "" && v != "0" && v != "false"
}
