package completion

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
)

//go:embed script/bash.sh
var bashScript string

//go:embed script/zsh.zsh
var zshScript string

//go:embed script/fish.fish
var fishScript string

// WriteScript prints the script that makes the shell complete the program's command line. The
// script calls the program by that name, so it must be in PATH, with the command __complete;
// it never runs what was typed.
func WriteScript(w io.Writer, s Shell, program string) error {
	script, ok := map[Shell]string{Bash: bashScript, Zsh: zshScript, Fish: fishScript}[s]
	if !ok {
		return fmt.Errorf("there is no script for the shell %q; there are scripts for bash, zsh and fish", s)
	}
	if !plain(program) || program == "" {
		return fmt.Errorf("a program called %q cannot be completed", program)
	}
	_, err := io.WriteString(w, strings.ReplaceAll(script, "PROGRAM", program))
	return err
}
