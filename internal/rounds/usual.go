//go:build !torture

package rounds

const long = false
