package core

import "testing"

func TestACommandIsWrittenAsItIsTyped(t *testing.T) {
	for want, argv := range map[string][]string{
		"go test ./...":               {"sh", "-c", "go test ./..."},
		"/tmp/sh -c 'go test ./...'":  {"/tmp/sh", "-c", "go test ./..."}, // which may be any program
		"run 'a b' '' 'it'\\''s' a-b": {"run", "a b", "", "it's", "a-b"},
	} {
		if got := CommandLine(argv); got != want {
			t.Errorf("%q: %s, want %s", argv, got, want)
		}
	}
}
