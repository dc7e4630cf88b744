//go:build !linux

package main

// isolated does nothing: there are no network namespaces here.
func isolated() (code int, done bool, err error) { return 0, false, nil }
