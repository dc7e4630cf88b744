// Package convert makes a list out of each item of another.
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
