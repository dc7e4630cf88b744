package rejection

import (
	"bytes"
	"fmt"
)

// Parse parses the JSON document strictly. An unknown key, a duplicate key, a value of the
// wrong type, text after the document, invalid UTF-8 and more than [MaxSize] bytes are errors.
// All of them are reported together, each with its location. A null is the same as a missing
// key. [Rejection.Validate] checks which keys are required.
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
