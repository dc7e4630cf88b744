package signature

import (
	"fmt"
	"strconv"
)

// Hash is the 64-bit form of a signature. Zero means "no signature" and equals
// nothing. As text, in JSON too, it is 16 lower-case hex digits.
type Hash uint64

// String returns the 16 hex digits.
func (h Hash) String() string { return fmt.Sprintf("%016x", uint64(h)) }

// MarshalText returns the 16 hex digits; it never fails.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote. Anything but 16 hex digits is an
// error that names the text.
func (h *Hash) UnmarshalText(b []byte) error {
	if len(b) != 16 {
		return fmt.Errorf("signature hash %q: want 16 hex digits", b)
	}
	v, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil {
		return fmt.Errorf("signature hash %q: want 16 hex digits", b)
	}
	*h = Hash(v)
	return nil
}
