package main

import (
	"os"
	"strconv"

	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/proc"
)

// serveCmd shows the runs in a browser, and accepts answers there.
type serveCmd struct {
	Port     uint16   `placeholder:"N" help:"The port to listen on (a free one). With it, a browser stays paired."`
	Host     []string `placeholder:"NAME" help:"A name that a proxy or a forwarded port has, as NAME or NAME:PORT; repeatable." sep:"none"`
	All      bool     `help:"Show all your runs, in any folder."`
	Open     bool     `help:"Open the page in the browser."`
	ReadOnly bool     `help:"Show only: nothing can be answered or resumed."`
	Devices  bool     `help:"List the paired browsers: names, last use, addresses." xor:"devices"`
	Revoke   string   `placeholder:"DEVICE" blank:"no" help:"Remove a paired browser." xor:"devices"`
	StateDir string   `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *serveCmd) Run(a *app) error {
	dir, err := config.StateDir(c.StateDir)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"-looprun", self, "-state-dir", dir, "-port", strconv.Itoa(int(c.Port)), "-revoke", c.Revoke}
	for _, name := range c.Host {
		args = append(args, "-host", name)
	}
	for name, on := range map[string]bool{"-all": c.All, "-open": c.Open, "-read-only": c.ReadOnly, "-devices": c.Devices} {
		if on {
			args = append(args, name)
		}
	}
	return a.become("looprun-serve", self, args, "install it: go install github.com/looprun/looprun/cmd/looprun-serve@latest")
}

// become runs another of looprun's programs in its place, and ends as that program does.
func (a *app) become(name, self string, args []string, remedy string) error {
	program, err := proc.Beside(name)
	if err != nil {
		return config.Usage(name+" is neither beside "+self+" nor on the PATH", remedy)
	}
	return a.execute(program, append([]string{name}, args...))
}
