//go:build !unix

package provenance

import "io/fs"

// Doubt is empty: neither modes nor owners say here who can write.
func Doubt(string) string { return "" }

// Planted is false, as above.
func Planted(string) bool { return false }

// Mine is false: it is not known.
func Mine(fs.FileInfo) bool { return false }
