//go:build unix

package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// secret stands in every URL of the tests; nothing may show it.
const secret = "s3cr3t"

// program puts a stand-in for looprun-notify on the PATH, and nothing else with that name.
func program(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "looprun-notify"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir
}

// URLs go by standard input alone: anybody can see the arguments of a process.
func TestTheProgramIsAsked(t *testing.T) {
	dir := program(t, `echo "$# $*" >>"${0%/*}/args"; cat >>"${0%/*}/got"`)
	s, err := New("ntfy://" + secret + "@host/topic")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := s.Notify(ctx, "looprun asks", "the message"); err != nil {
		t.Fatal(err)
	}
	args, _ := os.ReadFile(filepath.Join(dir, "args"))
	if string(args) != "0 \n0 \n" {
		t.Errorf("called with %q", args)
	}
	got, _ := os.ReadFile(filepath.Join(dir, "got"))
	said := json.NewDecoder(bytes.NewReader(got))
	for i, want := range []string{"", "looprun asks"} {
		var m struct {
			URLs      []string
			Title     string
			TimeoutMS int64 `json:"timeout_ms"`
		}
		if err := said.Decode(&m); err != nil || m.Title != want || len(m.URLs) != 1 || m.TimeoutMS <= 0 {
			t.Errorf("%d: %s: %v", i, got, err)
		}
	}
	if said.More() {
		t.Errorf("it was asked more than twice: %s", got)
	}
}

func TestWhatItSaysIsTheError(t *testing.T) {
	program(t, `cat >/dev/null; echo "ntfy (URL 1): no" >&2; exit 1`)
	if _, err := New("ntfy://" + secret); err == nil || err.Error() != "ntfy (URL 1): no" {
		t.Errorf("%v", err)
	}
}

func TestOneThatHangs(t *testing.T) {
	program(t, `grep -q '"title":""' && exit; sleep 600`)
	s, err := New("ntfy://" + secret)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Notify(ctx, "t", "b"); err == nil || !strings.Contains(err.Error(), "did not end in time") {
		t.Errorf("%v", err)
	}
}

func TestWithoutTheProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s, err := New("ntfy://user:" + secret + "@host/topic")
	if s != nil || !errors.Is(err, ErrNoProgram) || strings.Contains(err.Error(), secret) {
		t.Errorf("%v, %v", s, err)
	}
	if s, err := New(); err != nil || s.Notify(t.Context(), "t", "b") != nil {
		t.Errorf("nothing is asked for: %v", err)
	}
}
