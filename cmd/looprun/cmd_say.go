package main

import (
	"path/filepath"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/session"
)

// orderFlags are the flags of the commands that send an order to a run.
type orderFlags struct {
	Token string `placeholder:"WORD" help:"The word that the run shows on its terminal: needed except on Linux."`
	Via   string `hidden:"" enum:",web,mcp" default:"" help:"From where: the page of looprun serve, or an agent's tools."`
	session.TrustFlag
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

// tell sends the order to the run and prints what the run does now.
func (c *orderFlags) tell(a *app, run string, order core.Order, words, does string) error {
	dir, err := session.Find(c.StateDir, run)
	if err == nil {
		err = c.Order(dir, session.Ordered{Order: order, Words: words, Via: c.Via, Token: c.Token})
	}
	if err == nil {
		a.say.Printf("run %s %s", filepath.Base(dir), does)
	}
	return err
}

// sayCmd gives guidance to an active run.
type sayCmd struct {
	ID    string   `arg:"" name:"run" help:"The run: its id or a part of it."`
	Words []string `arg:"" help:"What its next iteration should know; - reads it from standard input."`
	orderFlags
}

func (c *sayCmd) Run(a *app) error {
	words := strings.Join(c.Words, " ")
	if words == "-" {
		text, err := readDocument(a, "-")
		if err != nil {
			return err
		}
		words = string(text)
	}
	if words = strings.TrimSpace(words); words == "" {
		return config.Usage("there are no words", "write looprun say RUN 'WORDS'")
	}
	return c.tell(a, c.ID, core.OrderSay, words, "passes that on to its next iteration")
}

// pauseCmd pauses an active run.
type pauseCmd struct {
	ID string `arg:"" name:"run" help:"The run: its id or a part of it."`
	orderFlags
}

func (c *pauseCmd) Run(a *app) error {
	return c.tell(a, c.ID, core.OrderPause, "", "pauses after this iteration")
}

// stopCmd cancels an active run.
type stopCmd struct {
	ID string `arg:"" name:"run" help:"The run: its id or a part of it."`
	orderFlags
}

func (c *stopCmd) Run(a *app) error {
	return c.tell(a, c.ID, core.OrderStop, "", "ends as cancelled")
}
