package rejection

import (
	"bytes"
	"fmt"
)

// Parse reads the JSON document strictly: an unknown key, a key that stands
// twice, a value of another type, text after the document, invalid UTF-8 and
// more than [MaxSize] bytes are errors, each with its place, and all of them
// together. A null is the same as a key that is left out. Which keys are needed
// is for [Rejection.Validate] to say.
func Parse(document []byte) (Rejection, error) {
	if len(document) > MaxSize {
		return Rejection{}, fmt.Errorf("the rejection is larger than %d KiB; shorten its texts and name where the rest is", MaxSize>>10)
	}
	var r Rejection
	if ps := documentShape().Read(bytes.TrimPrefix(document, []byte("\ufeff")), &r); len(ps) > 0 {
		return Rejection{}, ps
	}
	return r, nil
}
