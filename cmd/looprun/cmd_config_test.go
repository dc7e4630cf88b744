package main

import (
	"testing"

	"github.com/looprun/looprun/internal/config"
)

// testKeys are the keys of looprun.yaml.
func testKeys(t *testing.T) []config.Key {
	t.Helper()
	return config.Keys()
}
