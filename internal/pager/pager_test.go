//go:build unix

package pager

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCommand(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	command := func(pager string) string {
		return Command(func(name string) string {
			if name == "PAGER" {
				return pager
			}
			return ""
		})
	}
	if got := command(""); got != "" {
		t.Errorf("without any it is %q", got)
	}
	for _, name := range []string{"more", "less"} { // the better one last
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := command(" "); got != name {
			t.Errorf("it is %q, want %s", got, name)
		}
	}
	if got := command(" most -x "); got != "most -x" {
		t.Errorf("it is %q", got)
	}
}

func TestShow(t *testing.T) {
	t.Setenv("LESS", "")
	for command, want := range map[string]struct {
		shown bool
		text  string
	}{
		"cat":                   {true, "text\n"},
		`cat; echo "[$LESS]"`:   {true, "text\n[FRX]\n"},
		"exit 1":                {true, ""}, // the person saw what there was to see
		"exec true":             {true, ""},
		"/nonexistent/pager -x": {false, ""},
		"":                      {false, ""},
	} {
		screen, err := os.Create(filepath.Join(t.TempDir(), "screen"))
		if err != nil {
			t.Fatal(err)
		}
		if got := Show(t.Context(), command, "text\n", screen); got != want.shown {
			t.Errorf("%q: shown is %v", command, got)
		}
		b, err := os.ReadFile(screen.Name())
		if err != nil || want.shown && string(b) != want.text {
			t.Errorf("%q shows %q, %v", command, b, err)
		}
		_ = screen.Close()
	}
}

// A pager that waits for keys ends with the context.
func TestShowEndsWithItsContext(t *testing.T) {
	screen, err := os.Create(filepath.Join(t.TempDir(), "screen"))
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if !Show(ctx, "exec sleep 1000", "text\n", screen) {
		t.Error("it was not shown")
	}
}
