// Package convert makes lists out of other lists.
package convert

// Each returns what f returns for each item. A nil list stays nil.
func Each[T, U any](list []T, f func(T) U) []U {
	if list == nil {
		return nil
	}
	out := make([]U, len(list))
	for i, item := range list {
		out[i] = f(item)
	}
	return out
}

// Strings returns the items as strings.
func Strings[T ~string](list []T) []string {
	return Each(list, func(item T) string { return string(item) })
}

// Where returns the items for which keep is true; nil if there are none.
func Where[T any](list []T, keep func(T) bool) (out []T) {
	for _, item := range list {
		if keep(item) {
			out = append(out, item)
		}
	}
	return out
}
