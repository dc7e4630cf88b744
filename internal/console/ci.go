package console

import "os"

// InCI reports whether this is CI, as all hosted runners say it is.
func InCI() bool {
	v := os.Getenv("CI")
	return v != "" && v != "0" && v != "false"
}
