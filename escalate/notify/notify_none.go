//go:build !notify

package notify

import "context"

// Built reports whether the library was built in.
const Built = false

// open has no library to ask.
func open(string) (func(ctx context.Context, title, body string) error, error) {
	return nil, ErrNotBuilt
}
