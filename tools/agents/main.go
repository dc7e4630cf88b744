// Command agents runs a command against a scripted model: without a network if the system
// allows that, without an account, with a separate environment and home.
//
//	agents -agent claude -script mends -- looprun --agent claude --check 'go test ./...' 'Make the tests pass' -- @FLAGS@
//
// @FLAGS@ stands for the flags that let the agent work without asking and find the model. The
// agents are those that make agents installs. The scripts are those of the tests.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/looprun/looprun/internal/fakemodel"
)

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "agents:", err)
		code = 2
	}
	os.Exit(code)
}

func run() (int, error) {
	name := flag.String("agent", "claude", "whose tools the script calls: "+strings.Join(names(), ", "))
	script := flag.String("script", "mends", "what the model does: "+strings.Join(scripts(), ", "))
	stand := flag.Bool("stand-ins", false, "write what the agents print in each turn of the scripts, for the stand-ins of the manual")
	flag.Parse()
	i := slices.IndexFunc(kits, func(k kit) bool { return k.name == *name })
	steps, ok := stories[*script]
	if !*stand && (i < 0 || !ok || flag.NArg() == 0) {
		flag.Usage()
		return 2, nil
	}
	if code, done, err := isolated(); done || err != nil {
		return code, err
	}
	if *stand {
		return 0, record(standIns)
	}
	home, err := os.MkdirTemp("", "looprun-agents-")
	if err != nil {
		return 2, err
	}
	defer os.RemoveAll(home)
	server := httptest.NewServer(fakemodel.New(kits[i].script(steps)))
	defer server.Close()
	env, err := kits[i].environ(home, server.URL)
	if err != nil {
		return 2, err
	}
	for _, v := range env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			if err := os.Setenv("PATH", path); err != nil { // where the command is looked for
				return 2, err
			}
		}
	}
	if err := kits[i].prepare(".", server.URL); err != nil {
		return 2, err
	}
	cmd := exec.Command(flag.Arg(0), kits[i].fill(flag.Args()[1:], server.URL)...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		if of, ok := errors.AsType[*exec.ExitError](err); ok {
			return of.ExitCode(), nil
		}
		return 2, err
	}
	return 0, nil
}
