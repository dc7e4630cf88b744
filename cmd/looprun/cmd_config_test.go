package main

import (
	"testing"

	"github.com/looprun/looprun/internal/config"
)

// testKeys are the keys of looprun.yaml.
func testKeys(t *testing.T) []config.Key {
	t.Helper()
	model, err := wholeModel()
	if err != nil {
		t.Fatal(err)
	}
	return config.Keys(model)
}
