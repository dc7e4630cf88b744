package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/looprun/looprun"
)

// dryRun prints what would run.
func (s *session) dryRun(w io.Writer) error {
	dir, err := s.stateDir()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "would run: %s\n", commandLine(s.opts.work(s.command).Argv()))
	if s.opts.Check != "" {
		fmt.Fprintf(w, "check: %s\n", s.opts.Check)
	}
	fmt.Fprintf(w, "in: %s\nstate: %s\n", s.dir, dir)
	config, err := json.MarshalIndent(struct {
		Limits  looprun.Limits `json:"limits"`
		Caps    looprun.Caps   `json:"caps"`
		Options *options       `json:"options"`
	}{s.limits, s.caps, s.opts}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "configuration: %s\n", config)
	return err
}
