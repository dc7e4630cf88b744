//go:build !notify

package notify

import "context"

// open has no library to ask.
func open(string) (func(ctx context.Context, title, body string) error, error) {
	return nil, ErrNotBuilt
}
