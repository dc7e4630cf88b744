package main

import "testing"

// testKeys are the keys of looprun.yaml.
func testKeys(t *testing.T) []configKey {
	t.Helper()
	model, err := wholeModel()
	if err != nil {
		t.Fatal(err)
	}
	return configKeys(model)
}
