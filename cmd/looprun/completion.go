package main

import "github.com/looprun/looprun/shell/completion"

// completionCmd prints the scripts that make a shell complete looprun.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

// Help shows an example below the flags.
func (completionCmd) Help() string {
	return `Commands, flags and their values are completed, and so are the ids of runs, the
options of a question that waits, and guards. What stands after -- is completed as the
command that it is. The script calls the looprun that is found in PATH.

  bash    source <(looprun completion bash)          in ~/.bashrc
  zsh     source <(looprun completion zsh)           in ~/.zshrc, after compinit
  fish    looprun completion fish > ~/.config/fish/completions/looprun.fish

Example:
  looprun completion bash > ~/.local/share/bash-completion/completions/looprun`
}

func (c *completionCmd) Run(a *app) error {
	return completion.WriteScript(a.stdout, completion.Shell(c.Shell), "looprun")
}
