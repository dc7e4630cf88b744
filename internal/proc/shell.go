package proc

import (
	"fmt"
	"os/exec"
	"runtime"
)

// shell runs shell lines: it is a POSIX shell, on Windows too, so that a line means the same
// everywhere.
const shell = "sh"

// Shell returns the command that runs a shell line.
func Shell(line string) []string { return []string{shell, "-c", line} }

// FindShell returns an error, with a remedy, if there is no shell to run lines with.
func FindShell() error {
	if _, err := exec.LookPath(shell); err != nil {
		return fmt.Errorf("there is no %s on PATH, which runs shell lines; %s", shell, shellRemedy(runtime.GOOS))
	}
	return nil
}

func shellRemedy(system string) string {
	if system == "windows" {
		return `install Git for Windows and add its usr\bin folder, where sh.exe is, to PATH`
	}
	return "install a POSIX shell, or put the folder that it is in on PATH"
}
