package main

import (
	"errors"
	"os/exec"
)

// execute runs a program and ends as it does. Ctrl-C reaches both.
func (a *app) execute(program string, argv []string) error {
	cmd := exec.Command(program, argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stderr
	err := cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		a.code, err = ended.ExitCode(), nil
	}
	return err
}
