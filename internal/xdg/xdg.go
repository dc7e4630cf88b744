// Package xdg finds the user's folders according to the XDG base directory specification.
package xdg

import (
	"os"
	"path/filepath"
)

// Config returns looprun's folder for the user's configuration; empty if there is no place for
// it.
func Config() string { return dir("XDG_CONFIG_HOME", ".config") }

// State returns looprun's folder for what it knows about the user's runs; empty if there is no
// place for it.
func State() string { return dir("XDG_STATE_HOME", filepath.Join(".local", "state")) }

func dir(variable, below string) string {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "looprun")
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, below, "looprun")
}
