package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/internal/session"
	"github.com/looprun/looprun/internal/tty"
	"github.com/looprun/looprun/scratchpad"
)

// resumeCmd resumes a run.
type resumeCmd struct {
	ID string `arg:"" optional:"" name:"run" help:"The run: its id or a part of it (the latest)."`
	session.ResumeFlags
	StateDir string `placeholder:"DIR" help:"Where runs are kept." key:"state_dir"`
}

func (c *resumeCmd) Run(a *app) error {
	dir, err := c.find(a)
	if err != nil {
		return err
	}
	state, tail, err := scratchpad.Load(dir)
	if err != nil {
		return err
	}
	if err := c.Check(dir); err != nil {
		return err
	}
	return a.end(session.Resume(a.program(), dir, state, tail, c.ResumeFlags))
}

// find returns the run to resume: without a name, the latest that is not inside another run
// that is still there.
func (c *resumeCmd) find(a *app) (string, error) {
	if c.ID != "" && c.ID != scratchpad.LatestName {
		return session.Find(c.StateDir, c.ID)
	}
	state, err := config.StateDir(c.StateDir)
	if err != nil {
		return "", err
	}
	dir, err := c.Latest(state, scratchpad.Outermost)
	switch {
	case err == nil && dir == "":
		err = fmt.Errorf("there are no runs in %s", state)
	case err == nil && !c.Reopen && c.ID == "":
		return a.meant("resume", dir, func(s scratchpad.Summary) bool {
			return slices.Contains([]core.Status{core.StatusPaused, core.StatusInterrupted, core.StatusCrashed}, s.Status) && scratchpad.Outermost(s.Dir)
		})
	}
	return dir, err
}

// couldBeMeant is how many runs, the latest, are considered as alternatives if none is named.
const couldBeMeant = 100

// meant asks which run is meant if it could be another than the latest, listing those that
// wait for an answer first. It fails if nobody can be asked: each run has its own command and
// question.
func (a *app) meant(do, dir string, could func(scratchpad.Summary) bool) (string, error) {
	latest := scratchpad.Summarize(dir)
	if !could(latest) {
		return dir, nil // that is said of it
	}
	state := filepath.Dir(dir)
	ids, err := scratchpad.IDs(state)
	if err != nil {
		return "", err
	}
	all := []scratchpad.Summary{latest}
	for _, id := range ids[:min(len(ids), couldBeMeant)] {
		other := filepath.Join(state, id)
		if id == latest.ID || !scratchpad.HasEvents(other) || !scratchpad.Genuine(other) || scratchpad.Mine(other) != nil {
			continue
		}
		if s := scratchpad.Summarize(other); could(s) {
			all = append(all, s)
		}
	}
	if len(all) == 1 {
		return dir, nil
	}
	waits := func(s scratchpad.Summary) int {
		if s.Pending || s.Status == core.StatusAwaiting {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b scratchpad.Summary) int { return waits(a) - waits(b) })
	ask := a.config.CanAsk()
	var lines []string
	for i, s := range all[:min(len(all), 9)] {
		line := told(s)
		if ask {
			line = fmt.Sprintf("%d  %s", i+1, line)
		}
		lines = append(lines, line)
	}
	list := strings.Join(lines, "\n  ")
	if !ask {
		return "", config.Usage(fmt.Sprintf("%d runs could be meant", len(all)), "name one of them:\n  "+list)
	}
	n, err := tty.Choose(do+" which one?", len(lines), func() {
		a.say.Printf("%d runs could be meant:\n  %s", len(all), list)
	})
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "", errors.New("no run was named")
	}
	return all[n-1].Dir, nil
}

// told describes a run so that a person can distinguish it from others.
func told(s scratchpad.Summary) string {
	text := fmt.Sprintf("%s  %s", s.ID, s.Status)
	if s.Name != "" {
		text += "  " + console.Short(s.Name, 40)
	}
	return text + "  " + console.Short(core.CommandLine(s.Command), 40)
}
