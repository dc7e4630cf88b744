// Package xdg finds the folders of the user, as the XDG base directory
// specification says.
package xdg

import (
	"os"
	"path/filepath"
)

// Config is looprun's folder for what the user has configured; empty where there
// is no place for it.
func Config() string { return dir("XDG_CONFIG_HOME", ".config") }

// State is looprun's folder for what it knows about the user's runs; empty where
// there is no place for it.
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
