package main

import (
	"strings"
	"testing"
)

// A wrong command line is reported in the format that it asks for.
func TestEarlyFormat(t *testing.T) {
	for args, want := range map[string]string{
		"": "", "--log-format json": "json", "--log-format=json": "json", "-- x --log-format=json": "", "--log-format": "", "--log-format text -- x": "text",
	} {
		t.Setenv("LOOPRUN_LOG_FORMAT", "")
		if got := early(strings.Fields(args), "--log-format", "LOOPRUN_LOG_FORMAT"); got != want {
			t.Errorf("%q: %q, want %q", args, got, want)
		}
	}
	t.Setenv("LOOPRUN_LOG_FORMAT", "json")
	if got := early([]string{"--color", "x"}, "--log-format", "LOOPRUN_LOG_FORMAT"); got != "json" {
		t.Errorf("by the variable: %q", got)
	}
}
