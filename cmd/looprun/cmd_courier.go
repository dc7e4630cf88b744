package main

import (
	"context"
	"os"

	"github.com/looprun/looprun/internal/courier"
)

// courierCmd is the process that carries questions to phones; a run starts it.
type courierCmd struct {
	Start bool `help:"Start it as a process of its own." xor:"do"`
	Stop  bool `help:"End it." xor:"do"`
}

func (c *courierCmd) Run(*app) error {
	self, err := os.Executable()
	switch {
	case err != nil:
		return err
	case c.Start:
		return courier.StartDetached(self)
	case c.Stop:
		return courier.Stop(context.Background())
	}
	return courier.Run(self)
}
