// Package stuck turns titles into slugs. It has a bug that fix.sh does not find by itself.
package stuck

import "strings"

// Slug turns a title into a form fit for an address: lower case, words joined by dashes.
func Slug(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}
