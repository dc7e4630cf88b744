package main

import (
	"os"
	"slices"
)

// fleetCmd runs loops on many machines.
type fleetCmd struct {
	Args []string `arg:"" optional:"" passthrough:"" name:"words" help:"A command of looprun-fleet with its flags, such as submit loops.yaml."`
}

func (c *fleetCmd) Run(a *app) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := slices.Clone(c.Args)
	if a.hasCommand {
		args = append(append(args, "--"), a.command...)
	}
	return a.become("looprun-fleet", self, args, "build it in a clone of looprun: make fleet")
}
