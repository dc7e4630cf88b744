package session

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/looprun/looprun/core"
	"github.com/looprun/looprun/internal/config"
	"github.com/looprun/looprun/internal/console"
	"github.com/looprun/looprun/scratchpad"
)

// TrustFlag is the consent to use a run that is not known to be the user's.
type TrustFlag struct {
	TrustRun bool `help:"Accept a run that is not known to be yours, after you have read its commands."`
}

// Open opens a run to resume it, and warns if its events have no mark.
func (t TrustFlag) Open(say *console.Observer, dir string, mode scratchpad.SyncMode) (*scratchpad.Run, *core.State, error) {
	open := scratchpad.Open
	if t.TrustRun {
		open = scratchpad.OpenTrusted
	}
	run, state, _, err := open(dir, mode)
	if err != nil {
		return nil, nil, refusal(dir, err)
	}
	warnUnmarked(say, run)
	return run, state, nil
}

// Check returns an error for an untrusted run before anything of it is used.
func (t TrustFlag) Check(dir string) error {
	if t.TrustRun {
		return nil
	}
	return refusal(dir, scratchpad.Mine(dir))
}

// refusal adds to err how to consent to the run.
func refusal(dir string, err error) error {
	if !errors.Is(err, scratchpad.ErrNotMine) {
		return err
	}
	id := filepath.Base(dir)
	return config.Usage(fmt.Sprintf("run %s was not touched: %v", id, err),
		fmt.Sprintf("to resume it would run the commands in its journal: look at them with looprun show %s, and if you trust them add --trust-run", id))
}

// Latest returns the latest of the user's runs that fits. With consent it also considers
// others' runs, provided that only one fits.
func (t TrustFlag) Latest(stateDir string, fits func(dir string) bool) (string, error) {
	dir, mine, err := scratchpad.Latest(stateDir, fits)
	if err != nil || mine || dir == "" {
		return dir, err
	}
	if !t.TrustRun {
		return "", refusal(dir, scratchpad.Mine(dir))
	}
	other, _, err := scratchpad.Latest(stateDir, func(d string) bool { return d != dir && fits(d) })
	if err == nil && other != "" {
		return "", config.Usage("there are several runs that are not known to be yours", "name the one that you trust: looprun list shows them")
	}
	return dir, err
}

// warnUnmarked warns that the run cannot be recognised as the user's later, and why.
func warnUnmarked(say *console.Observer, run *scratchpad.Run) {
	if run.Unmarked != nil {
		say.Warn("this run cannot be marked as yours (%v); to resume it, add --trust-run", run.Unmarked)
	}
}
